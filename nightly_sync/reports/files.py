"""The heart of the report: each conflicted file with rule, evidence, commits and patch."""

import shlex
from collections.abc import Iterable

from nightly_sync import paths
from nightly_sync.audits.model import Finding
from nightly_sync.conflicts import Kind
from nightly_sync.diffs import FileDiff
from nightly_sync.merge.model import HunkPlan, PathPlan, Status, Take, Touch
from nightly_sync.reports import markdown as md
from nightly_sync.reports.categories import Group, groups
from nightly_sync.reports.excerpt import excerpt
from nightly_sync.reports.findings import finding_line
from nightly_sync.reports.headline import PROSE
from nightly_sync.reports.model import ReportFacts, kind_of, plural
from nightly_sync.reports.parts import Part, Weight

COMMITS = 3  # a side, named for each file
TITLE = 72  # characters of a subject
HUNKS = 20  # places named in one line


def file_parts(facts: ReportFacts, where: str) -> tuple[Part, ...]:
    """Headings of the categories, and below each its files, riskiest first.

    `where` says where the reader finds the patches that are not here.
    """
    diffs = {item.path: item for item in facts.diffs}
    found = _by_path(facts.findings)
    parts = [part for group in groups(facts) for part in _group(group, facts, diffs, found)]
    title = Part("Files", "## Files, riskiest first", _legend(facts, where), Weight.CORE)
    return (title, *parts) if parts else ()


def _legend(facts: ReportFacts, where: str) -> str:
    final = "the final files" if facts.diffs_are_final else "the files of the merge commit"
    source, target = md.code(facts.source), md.code(facts.target)
    return (
        "*settled*: the evidence decides. *proposal*: someone should look. *unresolved*: a person "
        f"has to decide. Hunks by line, with their lines before / on {target} / on {source}. "
        f"Patches, for what is not settled, lead from git's own merge to {final}; "
        f"those that are not here are in {md.inline(where)}."
    )


def _by_path(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for item in findings:
        found.setdefault(item.path, []).append(item)
    return found


def _group(
    group: Group,
    facts: ReportFacts,
    diffs: dict[str, FileDiff],
    found: dict[str, list[Finding]],
) -> list[Part]:
    count = plural(len(group.paths), "file")
    heading = f"### {md.inline(group.name)}: {count}"
    parts = [Part(group.name, heading, "", Weight.ENTRY, heading)]
    for item in group.paths:
        parts.append(_entry(item, facts, found.get(item.path, [])))
        diff = diffs.get(item.path)
        if diff and item.status is not Status.SETTLED:
            parts.append(_patch(diff, facts))
    return parts


def _entry(item: PathPlan, facts: ReportFacts, findings: list[Finding]) -> Part:
    lines = [
        _what(item, facts),
        *_hunks(item, facts),
        *_commits(facts.source, item.source_commits),
        *_commits(facts.target, item.target_commits),
        *_messages(item),
        *(finding_line(finding) for finding in findings),
    ]
    text = "\n".join(f"- {line}" for line in lines)
    name = f"{md.path(item.path)}: {item.status}"
    return Part(paths.quote(item.path), f"#### {name}", text, Weight.ENTRY, f"- {name}")


def _what(item: PathPlan, facts: ReportFacts) -> str:
    evidence = md.inline(item.evidence, PROSE)
    if item.hunks or item.status is Status.UNRESOLVED:
        return f"{kind_of(item)}: {evidence}"
    return f"{kind_of(item)}, {_taken(item.take, facts)} by rule {md.code(item.rule)}: {evidence}"


def _taken(take: Take | None, facts: ReportFacts) -> str:
    words = {
        Take.SOURCE: f"took {md.code(facts.source)}",
        Take.TARGET: f"took {md.code(facts.target)}",
        Take.BASE: "took the common ancestor's",
        Take.DELETE: "deleted",
        Take.TEXT: "took a text of its own",
        None: "left open",
    }
    return words[take]


def _hunks(item: PathPlan, facts: ReportFacts) -> list[str]:
    """One line for all hunks that were decided alike, the least certain first."""
    alike: dict[tuple[int, str], list[HunkPlan]] = {}
    for hunk in item.hunks:
        how = f"{_taken(hunk.take, facts)} by rule {md.code(hunk.rule)} ({hunk.status})"
        why = md.inline(hunk.evidence, PROSE)
        alike.setdefault((_RANK[hunk.status], f"{how}: {why}"), []).append(hunk)
    return [f"{_places(hunks)}: {what}" for (_, what), hunks in sorted(alike.items(), key=_first)]


_RANK = {Status.UNRESOLVED: 0, Status.PROPOSAL: 1, Status.SETTLED: 2}


def _first(entry: tuple[tuple[int, str], list[HunkPlan]]) -> tuple[int, int]:
    (rank, _), hunks = entry
    return rank, hunks[0].line


def _places(hunks: list[HunkPlan]) -> str:
    return f"{plural(len(hunks), 'hunk')} at {md.capped(hunks, _place, HUNKS)}"


def _place(hunk: HunkPlan) -> str:
    return f"{hunk.line} ({hunk.base_lines}/{hunk.target_lines}/{hunk.source_lines})"


def _messages(item: PathPlan) -> list[str]:
    """git's own words, where they say more than that two sides changed the same lines."""
    if set(item.kinds) <= {Kind.CONTENTS, Kind.ADD_ADD}:
        return []
    return [f"git: {md.inline(text, PROSE)}" for text in item.messages if text not in item.evidence]


def _commits(side: str, commits: tuple[Touch, ...]) -> list[str]:
    if not commits:
        return []
    names = md.capped(commits, _touch, COMMITS, "; ")
    return [f"touched on {md.code(side)} by {names}"]


def _touch(item: Touch) -> str:
    sha = md.code(item.sha[:10])
    if item.pull_request is None:
        return f"{sha} {md.inline(item.subject, TITLE)}"
    title = item.subject.removesuffix(f"(#{item.pull_request})")
    return f"{md.reference(item.pull_request)} ({sha}) {md.inline(title, TITLE)}"


def _patch(diff: FileDiff, facts: ReportFacts) -> Part:
    title = f"Patch of {paths.quote(diff.path)}: +{diff.added} / -{diff.deleted}"
    text = md.fence(excerpt(diff.text, f"see {_command(diff.path, facts)}"), "diff")
    return Part(title, "", text, Weight.PATCH, stub="")


def _command(name: str, facts: ReportFacts) -> str:
    if facts.diffs_are_final or not facts.merge_commit:
        return "remerge.diff"
    return f"git show --remerge-diff {facts.merge_commit} -- {shlex.quote(name)}"
