"""Did every trap of the demo get the answer it is there for? Pure."""

from collections.abc import Iterable, Iterator

from nightly_sync import paths
from nightly_sync.audits.model import Finding
from nightly_sync.demo.model import DemoSite, Trap
from nightly_sync.merge.model import MergePlan


def check(site: DemoSite, plan: MergePlan, findings: Iterable[Finding]) -> list[str]:
    """A sentence for each trap whose rule or findings are not the expected ones; empty is good.

    A trap's findings are compared whole: one that is missing counts as much as one too many.
    """
    rules = {item.path: item.rule for item in plan.paths}
    found: dict[str, set[str]] = {}
    for finding in findings:
        found.setdefault(finding.path, set()).add(finding.kind)
    return [
        f"{trap.name} ({paths.quote(trap.path)}): {problem}"
        for trap in site.traps
        for problem in _problems(trap, rules.get(trap.path), found.get(trap.path, set()))
    ]


def _problems(trap: Trap, rule: str | None, kinds: set[str]) -> Iterator[str]:
    if rule != trap.rule:
        yield f"rule {trap.rule or 'none'} expected, {rule or 'none'} found"
    if kinds != set(trap.findings):
        expected, got = (", ".join(sorted(names)) or "none" for names in (trap.findings, kinds))
        yield f"findings {expected} expected, {got} found"
