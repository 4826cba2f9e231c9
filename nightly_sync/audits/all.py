"""All audits, and their findings in the order a person should read them.

A new audit is one module and one line here.
"""

from collections.abc import Callable

from nightly_sync.audits import (
    broken_imports,
    duplicates,
    lost_files,
    markers,
    neither_side,
    protected,
    restored_files,
    reverts,
    source_dropped,
    syntax,
    target_dropped,
    undefined,
)
from nightly_sync.audits.facts import AuditFacts
from nightly_sync.audits.model import Finding, Severity
from nightly_sync.audits.ranking import rank

Audit = Callable[[AuditFacts], list[Finding]]

AUDITS: tuple[Audit, ...] = (
    protected.audit,
    markers.audit,
    syntax.audit,
    undefined.audit,
    duplicates.audit,
    broken_imports.audit,
    target_dropped.audit,
    source_dropped.audit,
    lost_files.audit,
    restored_files.audit,
    reverts.audit,
    neither_side.audit,
)


def run_all(facts: AuditFacts) -> tuple[Finding, ...]:
    """Every finding: errors first, by rank, path and line; then warnings by rank and audit.

    Inside one rank and audit, warnings keep the audit's own order, most lines first.
    """
    found = [(at, item) for at, audit in enumerate(AUDITS) for item in audit(facts)]
    ranks = {item.path: rank(item.path, facts.config) for _, item in found}

    def key(pair: tuple[int, Finding]) -> tuple[bool, int, str, int]:
        at, item = pair
        if item.severity is Severity.ERROR:
            return False, ranks[item.path], item.path, item.line or 0
        return True, ranks[item.path], "", at

    return tuple(item for _, item in sorted(found, key=key))
