"""report.md: the whole story of one sync, for a person with a coffee and a few minutes."""

from nightly_sync.reports import markdown as md
from nightly_sync.reports.model import ReportFacts
from nightly_sync.reports.parts import Fitted, Weight, leave_out, shown
from nightly_sync.reports.sections import all_parts

PATCHES = 200_000  # characters of all patches together; remerge.diff has every line


def render(facts: ReportFacts, where: str = "remerge.diff") -> str:
    """The full report as Markdown; the same facts give the same bytes.

    Only patches are ever left out, the longest first; `where` says where they are.
    """
    parts = all_parts(facts, where)
    pieces = tuple(shown(part) for part in parts)
    patches = [at for at, part in enumerate(parts) if part.weight is Weight.PATCH]
    rest = Fitted(tuple(piece for at, piece in enumerate(pieces) if at not in set(patches)))
    longest_first = sorted(patches, key=lambda at: (-len(pieces[at]), at))
    fitted = leave_out(parts, pieces, longest_first, rest.length + PATCHES, where)
    title = f"# Sync of {md.code(facts.source)} into {md.code(facts.target)}"
    return f"{title}\n\n{fitted.text}\n"
