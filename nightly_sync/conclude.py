"""The end of a run: which outcome, and, only then, ready or draft."""

from dataclasses import replace
from functools import partial

from nightly_sync import last_look, outage, publish, report_facts
from nightly_sync.audits.model import Finding, Severity
from nightly_sync.checks.gate import VerdictKind
from nightly_sync.checks.names import is_exempt
from nightly_sync.ci import Watched, judged_again
from nightly_sync.errors import StopForPerson
from nightly_sync.forge.base import Check, PullRequest
from nightly_sync.paths import quote
from nightly_sync.record import Outcome
from nightly_sync.reports import summary
from nightly_sync.reports.model import CheckResult, ChecksFacts, Exemption, ReportFacts, plural
from nightly_sync.session import Session

_OUTCOMES = {
    VerdictKind.FAILED: Outcome.CI_FAILED,
    VerdictKind.PRE_EXISTING_ONLY: Outcome.PRE_EXISTING_ONLY,
    VerdictKind.BLOCKED: Outcome.BLOCKED,
    VerdictKind.STALE: Outcome.STALE,
    VerdictKind.NOT_STARTED: Outcome.CI_NOT_STARTED,
    VerdictKind.RUNNING: Outcome.CI_TIME_LIMIT,
}
_READY = {Outcome.READY, Outcome.READY_NEEDS_LOOK}


def conclude(run: Session, pull: PullRequest, facts: ReportFacts, watched: Watched) -> ReportFacts:
    """Decide, act on it, and say it in the pull request.

    Marks ready only when the checks are green, no audit found an error, the invariants hold and
    origin still is what the checks ran on; otherwise the pull request is a draft. Where somebody
    moved something meanwhile the outcome is STOPPED, here and in the pull request; one that was
    claimed by the label is left as it is.
    """
    final = _decided(run, pull, facts, watched)
    act = partial(_acted_on, run, pull, final, watched)
    return outage.waited_out(run, watched.head.tip, act)


def _acted_on(run: Session, pull: PullRequest, final: ReportFacts, watched: Watched) -> ReportFacts:
    """Every call may be repeated: the comment, which nobody wants twice, comes last."""
    if final.outcome in _READY:
        final = _ready_or_stopped(run, pull, final, watched)
    if final.outcome not in _READY and not _told(run, pull, final):
        return final
    run.forge.comment(pull.number, summary.comment(final))
    return final


def _told(run: Session, pull: PullRequest, final: ReportFacts) -> bool:
    """Make it a draft whose body says why; False, and nothing done, if a person claimed it."""
    now = run.forge.get(pull.number)
    if last_look.is_claimed(run, now):
        return False
    publish.back_to_draft(run, pull)
    publish.update_body(run, pull, final)
    return True


def _decided(run: Session, pull: PullRequest, facts: ReportFacts, watched: Watched) -> ReportFacts:
    facts = facts.model_copy(update={"agent": run.assistant.facts()})
    outcome = decide(facts, watched)
    changes = {
        "outcome": outcome,
        "reason": reason(outcome, facts, watched),
        "checks": checks_facts(watched, run.config.exempt),
        "findings": with_outcomes(facts.findings),
        "pull_request": pull.url,
        "fixes": watched.head.fixes,
    }
    return facts.model_copy(update=changes)


def decide(facts: ReportFacts, watched: Watched) -> Outcome:
    """The outcome of a run whose checks were followed. Pure."""
    if watched.stopped:
        return Outcome.STOPPED
    if facts.agent.limit:
        return Outcome.BUDGET_SPENT
    if watched.timed_out:
        return Outcome.CI_TIME_LIMIT
    if watched.verdict.kind is not VerdictKind.GREEN:
        return _OUTCOMES[watched.verdict.kind]
    if facts.errors:
        return Outcome.DRAFT_FINDINGS
    made_good = watched.verdict.pre_existing or watched.head.tip != watched.head.merge
    look = facts.plan.proposals or facts.findings or facts.warnings or made_good
    return Outcome.READY_NEEDS_LOOK if look else Outcome.READY


def reason(outcome: Outcome, facts: ReportFacts, watched: Watched) -> str:
    """Why, in a sentence or two. Pure."""
    if outcome is Outcome.STOPPED:
        return watched.stopped
    if outcome is Outcome.BUDGET_SPENT:
        return f"Claude: {facts.agent.limit}. {watched.verdict.reason}"
    if outcome is Outcome.DRAFT_FINDINGS:
        first = facts.errors[0]
        count = plural(len(facts.errors), "error")
        return f"The audits found {count}, first {first.kind} in {quote(first.path)}."
    if outcome is Outcome.CI_TIME_LIMIT:
        return f"The time limit was reached. {watched.verdict.reason}"
    said = (watched.verdict.reason, watched.refusal, *watched.hints)
    return " ".join(text for text in said if text)


def _ready_or_stopped(
    run: Session, pull: PullRequest, final: ReportFacts, watched: Watched
) -> ReportFacts:
    """Check, say so, mark, check again; whatever is found then keeps or makes it a draft."""
    try:
        last_look.check(run, pull, watched.head)
        changed = _no_longer_green(run, final, watched)
        if changed:
            return changed
        publish.update_body(run, pull, final)
        run.forge.mark_ready(pull.number, watched.head.tip)
        last_look.check(run, pull, watched.head)
    except StopForPerson as stop:
        return final.model_copy(update={"outcome": Outcome.STOPPED, "reason": str(stop)})
    return _no_longer_green(run, final, watched) or final


def _no_longer_green(run: Session, final: ReportFacts, watched: Watched) -> ReportFacts | None:
    """The facts of a draft, if the checks say something else by now; None if they do not."""
    verdict = judged_again(run, watched)
    if verdict.kind is VerdictKind.GREEN:
        return None
    why = f"After they were green, the checks changed. {verdict.reason}"
    checks = checks_facts(replace(watched, verdict=verdict), run.config.exempt)
    changes = {"outcome": _OUTCOMES[verdict.kind], "reason": why, "checks": checks}
    return final.model_copy(update=changes)


def checks_facts(watched: Watched, exempt: tuple[str, ...]) -> ChecksFacts:
    """What the report shows of the checks. Pure."""
    verdict = watched.verdict
    waiting = (*(check.name for check in verdict.pending), *verdict.missing)
    return ChecksFacts(
        passed=tuple(check.name for check in verdict.passed),
        failed=tuple(_result(check, watched) for check in (*verdict.failed, *verdict.blocking)),
        pre_existing=tuple(_result(check, watched) for check in verdict.pre_existing),
        waiting=waiting,
        notes=watched.notes,
        exempt=tuple(_exemption(check, exempt) for check in verdict.exempt_used),
    )


def _result(check: Check, watched: Watched) -> CheckResult:
    failure = next((item for item in watched.failures if item.check == check), None)
    baseline = watched.baselines.get(check)
    excerpt = f"{failure.title}\n{failure.excerpt}" if failure else ""
    return CheckResult(
        name=check.name,
        conclusion=check.conclusion or check.status,
        url=check.url,
        baseline=baseline.url if baseline else "",
        evidence=f"{baseline.evidence}\n{excerpt}" if baseline else excerpt,
    )


def _exemption(check: Check, patterns: tuple[str, ...]) -> Exemption:
    pattern = next((item for item in patterns if is_exempt(check.name, (item,))), "")
    return Exemption(name=check.name, pattern=pattern)


def with_outcomes(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Say of each finding what became of it, unless a step already did. Pure."""
    return tuple(
        item if item.outcome else item.model_copy(update={"outcome": _fate(item)})
        for item in findings
    )


def _fate(finding: Finding) -> str:
    if finding.severity is Severity.ERROR:
        return "keeps the pull request a draft"
    return "left to the reviewer"


def after_repairs(run: Session, facts: ReportFacts, watched: Watched) -> ReportFacts:
    """The facts of the final tree, where repairs lie on top of the merge."""
    head = watched.head
    if head.tip == facts.head:
        return facts
    repo = run.workspace.repository
    audited = report_facts.with_audits(facts, repo, head.tip, run.config)
    gone = _gone(facts.findings, audited.findings)
    found = audited.model_copy(update={"findings": (*audited.findings, *gone)})
    patched = report_facts.with_diffs(found, repo, head.merge, head.tip)
    return report_facts.with_stats(patched, repo, head.tip, run.config)


def _gone(before: tuple[Finding, ...], now: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings of the merge that the repairs removed; kept as warnings, so that all are told."""
    still = {(item.kind, item.path) for item in now}
    fate = {"severity": Severity.WARNING, "outcome": "gone after the fix commit"}
    return tuple(
        item.model_copy(update=fate) for item in before if (item.kind, item.path) not in still
    )
