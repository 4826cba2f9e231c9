"""The first lines of every report: the verdict in words, and what needs a person."""

from nightly_sync.audits.model import Finding
from nightly_sync.merge.model import PathPlan, Status
from nightly_sync.record import Outcome
from nightly_sync.reports import markdown as md
from nightly_sync.reports.categories import riskiest
from nightly_sync.reports.model import CheckResult, ReportFacts, kind_of, plural

SHOWN = 10  # of each sort, in the list of what needs a person
PROSE = 300  # characters of evidence in one line
REASON = 4 * PROSE  # characters of why it ended so; several things may have come together

WORDS = {
    Outcome.NOTHING_TO_DO: "Nothing to do: the target already has all that the source has.",
    Outcome.READY: "Ready: every resolution is settled and every required check is green.",
    Outcome.READY_NEEDS_LOOK: "Ready, with something to look at: no check stands in the way.",
    Outcome.DRAFT_FINDINGS: "Still a draft: the audits found errors.",
    Outcome.CI_FAILED: "Still a draft: checks fail that pass on the target.",
    Outcome.CI_NOT_STARTED: "Still a draft: the checks never started.",
    Outcome.CI_TIME_LIMIT: "Still a draft: the checks did not finish in time.",
    Outcome.PRE_EXISTING_ONLY: "Checks fail, and each of them fails on the target too.",
    Outcome.BUDGET_SPENT: "Still a draft: Claude's budget ran out before it was done.",
    Outcome.BLOCKED: "Still a draft: a check ended without a result that counts.",
    Outcome.STALE: "Stopped: the branch moved while this run looked at it.",
    Outcome.UNRESOLVED: "Stopped: a person has to decide conflicts first.",
    Outcome.REVERTED: "Stopped: an earlier sync was reverted on the target.",
    Outcome.UNRELATED: "Stopped: source and target have no common history.",
    Outcome.SHALLOW: "Stopped: the clone's history is cut off.",
    Outcome.MISSING_BRANCH: "Stopped: a branch is missing.",
    Outcome.PREFIX_CLASH: "Stopped: a branch is in the way of the sync branch's name.",
    Outcome.FOREIGN_COMMIT: "Stopped: someone else's commit is on the sync branch.",
    Outcome.STOPPED: "Stopped: a person has to look first.",
    Outcome.FAILED: "Failed.",
}


def verdict(facts: ReportFacts) -> str:
    """How it ended, or in a preview how it would go, in one plain sentence."""
    return _preview(facts) if facts.outcome is None else WORDS[facts.outcome]


def _preview(facts: ReportFacts) -> str:
    plan = facts.plan
    if plan.unresolved:
        return f"Stopped: a person has to decide {plural(len(plan.unresolved), 'file')}."
    if facts.errors:
        return f"Not ready: the audits found {plural(len(facts.errors), 'error')}."
    if plan.proposals or facts.audit_warnings or facts.warnings or facts.failed_tools:
        return "Needs a look: nothing is wrong for certain, but not all of it is settled."
    if plan.conflicts:
        return f"Settled: rules with evidence decided {plural(len(plan.conflicts), 'file')}."
    return "Clean: git merged without a conflict."


def head(facts: ReportFacts) -> str:
    """Verdict, reason, and the list of what needs a person."""
    lines = [f"**{md.inline(verdict(facts))}**"]
    if facts.reason:
        lines.append(md.inline(facts.reason, REASON))
    return "\n\n".join([*lines, _needs(facts)])


def _needs(facts: ReportFacts) -> str:
    items = needs(facts)
    if not items:
        return "Nothing needs a person."
    return "\n".join(["What needs a person:", "", *(f"- {item}" for item in items)])


def needs(facts: ReportFacts) -> tuple[str, ...]:
    """What a person should do, most urgent first, as Markdown without bullets."""
    unresolved = [_decide(item) for item in facts.plan.unresolved]
    errors = [_error(item) for item in facts.errors]
    failed = [_check(item) for item in (facts.checks.failed if facts.checks else ())]
    warnings = [f"Read: {md.inline(text, PROSE)}" for text in facts.warnings]
    tools = [f"Failed {item.kind}: {md.code(item.name)}" for item in facts.failed_tools]
    lists = (unresolved, errors, failed, tools, warnings)
    return tuple(line for lines in lists for line in _first(lines)) + _looks(facts)


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - SHOWN
    return lines if more <= 0 else [*lines[:SHOWN], f"and {more} more of these, listed below"]


def _decide(item: PathPlan) -> str:
    why = " ".join(item.messages) or item.evidence
    return f"Decide {md.path(item.path)} ({kind_of(item)}): {md.inline(why, PROSE)}"


def _error(item: Finding) -> str:
    return f"Repair {place(item)}: {item.kind}. {md.inline(item.evidence, PROSE)}"


def place(item: Finding) -> str:
    """Where a finding is: path and line."""
    return md.path(item.path) + (f" line {item.line}" if item.line else "")


def _check(item: CheckResult) -> str:
    return f"Failing check: {md.link(item.name, item.url)}"


def _looks(facts: ReportFacts) -> tuple[str, ...]:
    shown = [item.path for item in riskiest(facts) if item.status is Status.PROPOSAL]
    looks = []
    if shown:
        names = md.capped(shown, md.path, SHOWN)
        looks.append(f"Look at {plural(len(shown), 'proposal')}, riskiest first: {names}")
    if facts.fixes:
        made = "; ".join(md.inline(line, PROSE) for line in facts.fixes[:SHOWN])
        looks.append(f"Look at {plural(len(facts.fixes), 'repair')} in the fix commit: {made}")
    if facts.audit_warnings:
        looks.append(f"Look at {plural(len(facts.audit_warnings), 'warning')} of the audits")
    return tuple(looks)
