"""The parts of a report, in reading order: verdict, numbers, files, lists, findings, the rest."""

from collections import Counter
from collections.abc import Sequence

from nightly_sync.diffs import python_line
from nightly_sync.merge.model import PathPlan, Status
from nightly_sync.reports import markdown as md
from nightly_sync.reports.claude import claude_part
from nightly_sync.reports.excerpt import excerpt
from nightly_sync.reports.files import file_parts
from nightly_sync.reports.findings import findings_part
from nightly_sync.reports.headline import PROSE, head
from nightly_sync.reports.model import (
    CheckResult,
    ReportFacts,
    ToolRun,
    decisions,
    kind_of,
    plural,
    whole_files,
)
from nightly_sync.reports.parts import Part, Weight

LISTED = 100  # paths of one list; plan.json has them all
LOG_LINES = 20  # of a failing check


def all_parts(facts: ReportFacts, where: str) -> tuple[Part, ...]:
    """Every part that has something to say; `where` says where whole patches are."""
    optional = (checks_part(facts), claude_part(facts), tools_part(facts), history_part(facts))
    return (
        Part("Verdict", "", head(facts), Weight.CORE),
        numbers_part(facts),
        *rules_part(facts),
        *file_parts(facts, where),
        *list_parts(facts),
        findings_part(facts),
        *(part for part in optional if part.text),
        reproduce_part(facts),
    )


def numbers_part(facts: ReportFacts) -> Part:
    """Counts, and the line of figures that people and scripts look for."""
    lines = [python_line(facts.stats), ""] if facts.stats else []
    table = md.table(("What", "Number"), _numbers(facts))
    return Part("Numbers", "## Numbers", "\n".join([*lines, table]), Weight.CORE)


def _numbers(facts: ReportFacts) -> list[tuple[str, str]]:
    conflicts = facts.plan.conflicts
    states = Counter(item.status for item in conflicts)
    rows = {
        f"Commits of {md.code(facts.source)} taken in": facts.commits_behind,
        "Conflicted files": len(conflicts),
        "of these settled": states[Status.SETTLED],
        "of these proposals": states[Status.PROPOSAL],
        "of these unresolved": states[Status.UNRESOLVED],
        "Files a rule changed where git merged cleanly": len(facts.plan.paths) - len(conflicts),
        "Errors of the audits": len(facts.errors),
        "Warnings of the audits": len(facts.audit_warnings),
    }
    return [(name, str(number)) for name, number in rows.items()]


def rules_part(facts: ReportFacts) -> tuple[Part, ...]:
    """Conflicts by kind and rule; a file with hunks of two rules counts in both rows."""
    files: Counter[tuple[str, str]] = Counter()
    states: Counter[tuple[str, str, Status]] = Counter()
    for item in facts.plan.conflicts:
        kind = kind_of(item)
        files.update({(kind, rule) for rule, _ in decisions(item)})
        states.update((kind, rule, status) for rule, status in decisions(item))
    rows = [_rule_row(key, count, states) for key, count in sorted(files.items())]
    headers = ("Conflict", "Rule", "Files", "Settled", "Proposals", "Unresolved")
    table = md.table(headers, rows)
    note = "Settled, proposals and unresolved count hunks, or files that were decided as a whole."
    heading = "## Conflicts by kind and rule"
    return (Part("Rules", heading, f"{table}\n\n{note}", Weight.CORE),) if rows else ()


def _rule_row(
    key: tuple[str, str], files: int, states: Counter[tuple[str, str, Status]]
) -> tuple[str, ...]:
    order = (Status.SETTLED, Status.PROPOSAL, Status.UNRESOLVED)
    counts = [str(states[(*key, status)]) for status in order]
    return (md.cell(key[0]), md.code(key[1]), str(files), *counts)


def list_parts(facts: ReportFacts) -> tuple[Part, ...]:
    """Files decided as a whole."""
    whole = whole_files(facts.plan)
    lists = {
        f"Taken whole from {facts.source}": whole.from_source,
        f"Kept from {facts.target}": whole.from_target,
        "Restored": whole.restored,
        "Kept deleted": whole.kept_deleted,
        "Not taken in": whole.not_taken_in,
    }
    by_path = {item.path: item for item in facts.plan.paths}
    return tuple(
        _list(title, [by_path[name] for name in names]) for title, names in lists.items() if names
    )


def _list(title: str, items: Sequence[PathPlan]) -> Part:
    lines = [f"- {md.path(item.path)}: {md.inline(item.evidence, PROSE)}" for item in items]
    more = len(lines) - LISTED
    rest = [f"- and {more} more, see plan.json"] if more > 0 else []
    heading = f"## {md.inline(title)}: {plural(len(items), 'file')}"
    return Part(title, heading, "\n".join([*lines[:LISTED], *rest]))


def checks_part(facts: ReportFacts) -> Part:
    """What passed, what failed and why, what did not count."""
    checks = facts.checks
    if checks is None:
        return Part("Checks", "", "")
    lines = [
        f"- Passed: {_names(checks.passed)}",
        *(f"- **Failed**: {check_line(item)}" for item in checks.failed),
        *(f"- Fails on the target too: {check_line(item)}" for item in checks.pre_existing),
        *(f"- Not finished: {md.code(name)}" for name in checks.waiting),
        *(f"- Exempt: {md.code(x.name)} by pattern {md.code(x.pattern)}" for x in checks.exempt),
        *(f"- {md.inline(note, PROSE)}" for note in checks.notes),
    ]
    logs = [_log(item) for item in (*checks.failed, *checks.pre_existing) if item.evidence]
    return Part("Checks", "## Checks", "\n\n".join(["\n".join(lines), *logs]))


def _names(names: Sequence[str]) -> str:
    return f"{len(names)} ({', '.join(md.code(name) for name in names)})" if names else "none"


def check_line(item: CheckResult) -> str:
    """A check's name, with its link and conclusion, and a link to its run on the target."""
    ended = f", {md.inline(item.conclusion)}" if item.conclusion else ""
    there = f", {md.link('on the target', item.baseline)}" if item.baseline else ""
    return f"{md.link(item.name, item.url)}{ended}{there}"


def _log(item: CheckResult) -> str:
    text = excerpt(item.evidence, "see the check's own log", LOG_LINES)
    return md.details(f"Why {item.name} failed", md.fence(text))


def tools_part(facts: ReportFacts) -> Part:
    """Formatters and linters."""
    lines = [_tool(item) for item in facts.tools]
    return Part("Formatters and linters", "## Formatters and linters", "\n".join(lines))


def _tool(item: ToolRun) -> str:
    files = md.capped(item.files, md.path, 10)
    result = "ok" if item.ok else "**failed**"
    tail = [f"files: {files}"] if files else []
    message = [md.inline(item.message, PROSE)] if item.message else []
    return f"- {item.kind} {md.code(item.name)}: {'; '.join([result, *message, *tail])}"


def history_part(facts: ReportFacts) -> Part:
    """What the two branches' history says about this merge."""
    lines = [text for text in (facts.divergence, *facts.warnings) if text]
    text = "\n".join(f"- {md.inline(line, 2 * PROSE)}" for line in lines)
    return Part("History", "## History", text)


def reproduce_part(facts: ReportFacts) -> Part:
    """The commands that show the same again."""
    names = f"Source: {facts.source} at {facts.plan.source}"
    ours = f"Target: {facts.target} at {facts.plan.target}"
    text = "\n".join([*_commands(facts)])
    places = f"- {md.inline(names)}\n- {md.inline(ours)}"
    return Part("Reproduce", "## How to reproduce", f"{places}\n\n{md.fence(text)}", Weight.CORE)


def _commands(facts: ReportFacts) -> list[str]:
    if not facts.merge_commit:
        return [f"git merge-tree --write-tree {facts.plan.target} {facts.plan.source}"]
    commands = [f"git show --remerge-diff {facts.merge_commit}"]
    if facts.head and facts.head != facts.merge_commit:
        commands.append(f"git diff {facts.merge_commit} {facts.head}")
    return commands
