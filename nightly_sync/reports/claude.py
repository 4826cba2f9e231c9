"""Claude's part in a run as Markdown: what it cost, what it was refused, what it left."""

from collections.abc import Mapping

from nightly_sync.agent.budget import Spent
from nightly_sync.agent.facts import AgentFacts, AgentRefusal
from nightly_sync.reports import markdown as md
from nightly_sync.reports.model import ReportFacts, plural
from nightly_sync.reports.parts import Part

PROSE = 300  # characters of one reason
LISTED = 30  # refusals, and things left; the transcript has them all
FILES = 20  # rows of what single files cost

_COLUMNS = ("What", "Answers", "Read", "From cache", "Written", "Seconds", "Money")


def claude_part(facts: ReportFacts) -> Part:
    """The section; empty where Claude has no part in it."""
    agent = facts.agent
    if not agent.enabled:
        return Part("Claude", "", "")
    blocks = [_state(agent), _bill(agent), _refused(agent), _left(agent)]
    if agent.transcript:
        blocks.append(f"Everything that was said: {md.path(agent.transcript)}")
    return Part("Claude", "## Claude", "\n\n".join(block for block in blocks if block))


def _state(agent: AgentFacts) -> str:
    reasons = (agent.problem, agent.limit, agent.commands_off)
    lines = [f"- {md.inline(reason, PROSE)}" for reason in reasons if reason]
    sent_back = sum(agent.rejected.values())
    if sent_back:
        kinds = ", ".join(f"{md.code(kind)} {number}" for kind, number in agent.rejected.items())
        lines.append(f"- {plural(sent_back, 'problem')} of its answers went back to it: {kinds}")
    return "\n".join(lines)


def _bill(agent: AgentFacts) -> str:
    if not agent.spent.turns:
        return ""
    files = sorted(agent.by_file.items(), key=lambda item: -item[1].output)
    named = {f"file {name}": cost for name, cost in files[:FILES] if name}
    rows = {f"all, by {agent.model}": agent.spent, **_tasks(agent), **named}
    return md.table(_COLUMNS, [_row(name, cost) for name, cost in rows.items()])


def _tasks(agent: AgentFacts) -> Mapping[str, Spent]:
    return {f"task {name}": cost for name, cost in agent.by_task.items()}


def _row(name: str, cost: Spent) -> tuple[str, ...]:
    money = "no price" if cost.money is None else f"{cost.money:.2f}"
    counts = (cost.turns, cost.input + cost.cache_write, cost.cache_read, cost.output)
    return (md.code(name), *(f"{count:,}" for count in counts), f"{cost.seconds:.0f}", money)


def _refused(agent: AgentFacts) -> str:
    lines = [_refusal(item) for item in agent.refusals]
    return _listed(f"Refused: {plural(len(lines), 'change')} that no task may make.", lines)


def _refusal(item: AgentRefusal) -> str:
    return f"- {md.path(item.path)}, {md.code(item.kind)}: {md.inline(item.evidence, PROSE)}"


def _left(agent: AgentFacts) -> str:
    lines = [f"- {md.inline(text, PROSE)}" for text in agent.left]
    return _listed("Left undone:", lines)


def _listed(title: str, lines: list[str]) -> str:
    if not lines:
        return ""
    more = len(lines) - LISTED
    rest = [f"- and {more} more, see the transcript"] if more > 0 else []
    return "\n".join([title, "", *lines[:LISTED], *rest])


def claude_line(agent: AgentFacts) -> str:
    """The bill in one line, for the summary; "" where nothing was asked."""
    cost = agent.spent
    if not cost.turns:
        return agent.problem
    money = "" if cost.money is None else f", money {cost.money:.2f}"
    return (
        f"Claude: {plural(cost.turns, 'answer')}, {cost.read:,} tokens read "
        f"({cost.cache_read:,} from the cache), {cost.output:,} written{money}; "
        f"{plural(len(agent.refusals), 'change')} refused, "
        f"{sum(agent.rejected.values())} problems sent back"
    )
