"""The GitHub forge's pure parts: waiting, refusals, rollups, triggers, logs, App tokens."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from nightly_sync import secrets
from nightly_sync.checks.baseline import conclusive
from nightly_sync.checks.logs import CUT
from nightly_sync.checks.names import UNREADABLE
from nightly_sync.errors import ConfigError
from nightly_sync.forge.base import Check, CheckStatus, Rollup
from nightly_sync.forge.github.address import parse
from nightly_sync.forge.github.auth import AppTokens, ReadTokens
from nightly_sync.forge.github.client import Wire
from nightly_sync.forge.github.client import parse as parse_wire
from nightly_sync.forge.github.hints import hints
from nightly_sync.forge.github.logs import tail
from nightly_sync.forge.github.refusals import (
    GitHubError,
    explain_push,
    is_renamed,
    led_away,
    refusal,
)
from nightly_sync.forge.github.reply import (
    Kind,
    Reply,
    Trouble,
    kind_of,
    limit_pause,
    retry_pause,
    server_time,
)
from nightly_sync.forge.github.rollup import (
    CheckRun,
    Rollups,
    StatusContext,
    newest,
    status_of,
)
from nightly_sync.forge.github.trigger import at_work, first_sign, labelled, with_label

NOW = datetime(2026, 11, 30, 2, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)

# Waiting


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (Trouble(0, "broken"), Kind.RETRY),
        (Trouble(502, ""), Kind.RETRY),
        (Trouble(429, ""), Kind.RETRY),
        (Trouble(429, "", {"retry-after": "5"}), Kind.LIMIT),
        (Trouble(403, "", {"x-ratelimit-remaining": "0"}), Kind.LIMIT),
        (Trouble(403, "You have exceeded a secondary rate limit."), Kind.LIMIT),
        (Trouble(403, "Resource not accessible", {"x-ratelimit-remaining": "9"}), Kind.REFUSED),
        (Trouble(200, "", limited=True), Kind.LIMIT),
        (Trouble(200, "FORBIDDEN"), Kind.REFUSED),
        (Trouble(401, ""), Kind.REFUSED),
        (Trouble(409, ""), Kind.REFUSED),
        (Trouble(422, ""), Kind.REFUSED),
    ],
)
def test_limits_hiccups_and_refusals_are_told_apart(trouble: Trouble, kind: Kind) -> None:
    assert kind_of(trouble) is kind


def test_a_quota_is_waited_for_by_the_servers_own_clock() -> None:
    date = "Mon, 30 Nov 2026 02:30:00 GMT"
    reset = str(int((NOW + 10 * MINUTE).timestamp()))
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset, "date": date}
    assert limit_pause(Trouble(403, "", headers), 0) == 601


def test_a_limit_without_a_time_is_waited_out_a_minute_and_then_longer() -> None:
    waits = [limit_pause(Trouble(403, "secondary rate limit"), tries) for tries in range(9)]
    assert waits[:3] == [60, 120, 240]
    assert max(waits) == 3900


def test_pauses_double_up_to_a_minute_and_are_spread() -> None:
    trouble = Trouble(502, "")
    assert [retry_pause(trouble, tries, 1.0) for tries in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert retry_pause(trouble, 3, 0.0) == 4
    assert retry_pause(trouble, 10**6, 1.0) == 60
    assert retry_pause(Trouble(503, "", {"retry-after": "7"}), 0, 0.5) == 8


@pytest.mark.parametrize("date", ["", "yesterday", "Fri, 31 Dec 9999 23:59:59 -2300"])
def test_an_answer_whose_date_nobody_can_read_has_none(date: str) -> None:
    assert server_time({"date": date}) is None


# Refusals


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (Trouble(401, "Bad credentials"), "not valid, or has expired"),
        (Trouble(403, "Repository was archived so is read-only."), "archived"),
        (Trouble(200, "FORBIDDEN Repository was archived so is read-only."), "archived"),
        (Trouble(403, "Resource not accessible by integration"), "lacks a permission"),
        (Trouble(200, "INSUFFICIENT_SCOPES Your token has not been granted"), "lacks a permission"),
        (Trouble(403, "Resource protected by organization SAML enforcement."), "single sign-on"),
        (Trouble(404, "Not Found"), "may not see it"),
        (Trouble(410, "Gone"), "deletes old logs"),
        (Trouble(422, "Validation Failed", details=("No commits between a and b",)), "no commit"),
        (Trouble(422, "Validation Failed", details=("base: invalid",)), "base: invalid"),
    ],
)
def test_refusals_of_the_api_say_what_to_do(trouble: Trouble, told: str) -> None:
    error = refusal("open the draft", trouble)
    assert str(error).startswith("could not open the draft: ")
    assert told in str(error)
    assert error.status == trouble.status


API = "https://git.acme.dev/api/v3"
BY_NUMBER = "https://git.acme.dev/api/v3/repositories/7/pulls"


@pytest.mark.parametrize(
    ("to", "renamed"),
    [
        (BY_NUMBER, True),
        ("/repositories/7", True),
        (BY_NUMBER.replace("acme", "other"), False),
        ("https://git.acme.dev/login?return_to=/repositories/7", False),
        ("https://git.acme.dev/api/v3/repos/acme/widgets/pulls/", False),
        ("https://[", False),
        ("", False),
    ],
)
def test_only_a_redirect_to_a_number_of_the_same_host_is_a_renaming(to: str, renamed: bool) -> None:
    assert is_renamed(Trouble(301, "", {"location": to}), API) is renamed


def test_a_redirect_names_hosts_and_nothing_that_may_be_secret() -> None:
    to = "https://me:hunter2@login.acme.dev/in?token=hunter2"
    error = led_away("read it", Trouble(302, "", {"location": to}), API)
    assert "git.acme.dev leads to login.acme.dev (HTTP 302)" in str(error)
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("remote: error: GH001: Large files detected.", "Git LFS"),
        ("remote: - Push cannot contain secrets", "looks like a secret"),
        ("remote: Write access to repository not granted.", "Contents: write"),
        (
            "refusing to allow a GitHub App to create or update workflow "
            "`.github/workflows/ci.yml` without `workflows` permission",
            "Workflows: write",
        ),
        ("fatal: Authentication failed for 'https://github.com/a/b'", "has expired"),
        ("remote: Repository not found.", "no such repository"),
        (
            "cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create",
            "a branch a exists",
        ),
    ],
)
def test_refusals_of_pushes_say_what_to_do(said: str, told: str) -> None:
    assert told in explain_push(said, "main2dev/x")


def test_a_push_that_failed_in_unknown_words_is_not_explained() -> None:
    assert explain_push("fatal: the remote end hung up unexpectedly", "x") == ""


def test_an_answer_unlike_githubs_description_is_named() -> None:
    class Thing(Wire):
        number: int

    with pytest.raises(GitHubError, match=r"not as described \(number: "):
        parse_wire(Thing, {"number": "x"}, "read a thing")


# Rollups


def _run(number: int, app: str = "github-actions", **more: Any) -> CheckRun:
    suite = {
        "databaseId": 7,
        "app": {"slug": app},
        "workflowRun": {"workflow": {"id": "W_1", "name": "CI"}},
    }
    facts = {"databaseId": number, "name": "tests", "status": "COMPLETED", "checkSuite": suite}
    return CheckRun.model_validate(facts | more)


def _attempts(**known: int) -> Callable[[int], int | None]:
    return lambda number: known.get(f"job{number}")


def test_a_rerun_job_takes_the_place_of_its_earlier_attempt() -> None:
    runs = [_run(1, conclusion="FAILURE"), _run(2, conclusion="SUCCESS")]
    for order in (runs, runs[::-1]):
        assert newest(order, _attempts(job1=1, job2=2)) == [runs[1]]


def test_two_jobs_of_one_name_in_one_attempt_both_count() -> None:
    runs = [_run(1, conclusion="FAILURE"), _run(2, conclusion="SUCCESS")]
    assert newest(runs, _attempts(job1=1, job2=1)) == runs


def test_where_no_attempt_is_known_every_run_counts() -> None:
    runs = [_run(1, conclusion="FAILURE"), _run(2, conclusion="SUCCESS")]
    assert newest(runs, _attempts(job2=2)) == runs


def test_of_another_apps_runs_the_newest_counts() -> None:
    runs = [_run(2, app="bot", conclusion="SUCCESS"), _run(1, app="bot", conclusion="FAILURE")]
    assert newest(runs, _attempts()) == [runs[0]]


def test_an_unknown_status_is_other() -> None:
    assert status_of("BRAND_NEW") is CheckStatus.OTHER
    assert status_of("in_progress") is CheckStatus.IN_PROGRESS


@pytest.mark.parametrize(
    ("state", "status", "conclusion"),
    [
        ("SUCCESS", CheckStatus.COMPLETED, "SUCCESS"),
        ("ERROR", CheckStatus.COMPLETED, "ERROR"),
        ("PENDING", CheckStatus.PENDING, None),
        ("EXPECTED", CheckStatus.PENDING, None),
        ("BRAND_NEW", CheckStatus.COMPLETED, "BRAND_NEW"),
    ],
)
def test_states_of_commit_statuses(state: str, status: CheckStatus, conclusion: str | None) -> None:
    facts = {"context": "x", "state": state, "createdAt": NOW}
    check = StatusContext.model_validate(facts).check()
    assert (check.status, check.conclusion) == (status, conclusion)


def _check(name: str = "tests", minute: int | None = 0, **more: Any) -> Check:
    start = None if minute is None else NOW + minute * MINUTE
    facts = {"name": name, "status": CheckStatus.COMPLETED, "conclusion": "SUCCESS"}
    return Check.model_validate(facts | {"started_at": start} | more)


def test_a_baseline_is_the_newest_conclusive_result_of_the_very_check() -> None:
    wanted = _check()
    found = [
        _check(minute=1, conclusion="FAILURE"),
        _check(minute=0),
        _check(minute=2, conclusion="CANCELLED"),
        _check(minute=3, status=CheckStatus.IN_PROGRESS),
        _check(minute=4, workflow="Other"),
        _check("other", minute=5),
    ]
    assert conclusive(Rollup(sha="x", checks=tuple(found)), wanted) == found[0]
    assert conclusive(Rollup(sha="x", checks=tuple(found[2:])), wanted) is None


class _Paged:
    """Answers for the client: one page of a rollup after the other."""

    address = parse("https://github.com/acme/widgets")

    def __init__(self, total: int, *pages: list[int | None]):
        self.total, self.pages, self.asked = total, list(pages), list[object]()

    def graphql_reply(self, _: str, doing: str, **variables: object) -> Reply:
        """The next page."""
        self.asked.append(variables["after"])
        nodes = [None if number is None else _node(number) for number in self.pages.pop(0)]
        more = {"hasNextPage": bool(self.pages), "endCursor": f"after {len(self.asked)}"}
        contexts = {"totalCount": self.total, "pageInfo": more, "nodes": nodes}
        shown = {"object": {"statusCheckRollup": {"contexts": contexts}}}
        return Reply(200, {"repository": shown}, {})


def _node(number: int) -> dict[str, Any]:
    suite = {"databaseId": number, "app": None, "workflowRun": None}
    facts = {"databaseId": number, "name": f"t{number}", "status": "COMPLETED"}
    kind = {"__typename": "CheckRun", "id": f"CR_{number}", "checkSuite": suite}
    return {**facts, **kind, "conclusion": "SUCCESS"}


def _read(pages: _Paged) -> list[str]:
    client: Any = pages
    return [check.name for check in Rollups(client).read("sha").rollup.checks]


def test_pages_follow_each_others_cursors() -> None:
    pages = _Paged(3, [1, 2], [3])
    assert _read(pages) == ["t1", "t2", "t3"]
    assert pages.asked == [None, "after 1"]


@pytest.mark.parametrize(
    "pages",
    [
        _Paged(2, [1, None]),  # a check the token may not see
        _Paged(2, [1]),  # fewer than GitHub counts
        _Paged(2, [1], [1]),  # one moved to the next page while we read, and hides another
    ],
)
def test_a_check_that_cannot_be_read_never_passes_for_green(pages: _Paged) -> None:
    client: Any = pages
    *_, last = Rollups(client).read("sha").rollup.checks
    assert (last.name, last.status) == (UNREADABLE, CheckStatus.OTHER)


# Triggers


def test_the_first_sign_of_a_push_is_its_first_check() -> None:
    rollup = Rollup(sha="x", checks=(_check(minute=3), _check(minute=1), _check(minute=None)))
    assert first_sign(rollup, NOW + 9 * MINUTE) == NOW + MINUTE


def test_a_first_check_that_shows_up_late_is_no_older_than_the_push() -> None:
    """Reported: its result was taken for one from before, and CI had "never started"."""
    assert first_sign(Rollup(sha="x"), NOW) == NOW - MINUTE
    assert first_sign(Rollup(sha="x", checks=(_check(minute=0),)), NOW) == NOW - MINUTE


@pytest.mark.parametrize(
    ("checks", "waited", "expected"),
    [
        ((), 5, True),
        ((), 16, False),
        ((_check(minute=-1),), 5, True),
        ((_check(minute=-1),), 16, False),
        ((_check(minute=1),), 5, False),
        ((_check(minute=1, status=CheckStatus.IN_PROGRESS),), 90, True),
        ((_check(minute=None, status=CheckStatus.QUEUED),), 90, True),
    ],
)
def test_what_was_asked_for_is_joined_while_it_is_at_work(
    checks: tuple[Check, ...], waited: int, expected: bool
) -> None:
    now = NOW + waited * MINUTE
    assert at_work(Rollup(sha="x", checks=checks), NOW, now, 15 * MINUTE) is expected


def test_the_end_of_the_sentinel_ends_what_was_asked_for() -> None:
    waiting = _check("approval", minute=1, status=CheckStatus.PENDING)
    rollup = Rollup(sha="x", checks=(_check("gate", minute=1), waiting))
    assert not at_work(rollup, NOW, NOW + 5 * MINUTE, 15 * MINUTE, "gate")
    assert at_work(rollup, NOW, NOW + 5 * MINUTE, 15 * MINUTE, "other")
    again = Rollup(sha="x", checks=(_check("gate", minute=-9), waiting))
    assert at_work(again, NOW, NOW + 5 * MINUTE, 15 * MINUTE, "gate")


def test_what_is_known_to_go_on_is_at_work_between_two_stages_too() -> None:
    built = Rollup(sha="x", checks=(_check(minute=1),))
    assert at_work(built, NOW, NOW + 90 * MINUTE, 15 * MINUTE, "gate", going_on=True)
    ended = Rollup(sha="x", checks=(_check("gate", minute=1),))
    assert not at_work(ended, NOW, NOW + 2 * MINUTE, 15 * MINUTE, "gate", going_on=True)


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_body_tells_when_a_label_was_put_on_and_for_which_commit(end: str) -> None:
    body = with_label(f"What people wrote{end}", "a1", NOW)
    assert body.startswith("What people wrote\n\n<!--")
    assert labelled(body.replace("\n", "\r\n"), "a1") == NOW
    assert labelled(body, "b2") is None
    later = with_label(body, "b2", NOW + MINUTE)
    assert (labelled(later, "a1"), labelled(later, "b2")) == (None, NOW + MINUTE)
    assert later.count("nightly-sync-label") == 1
    assert labelled(with_label("", "a1", NOW), "a1") == NOW


@pytest.mark.parametrize("at", ["soon", "2026-19-39T00:00:00+00:00", "2026-11-30T00:00:00"])
def test_a_time_that_somebody_broke_is_none(at: str) -> None:
    assert labelled(f"<!-- nightly-sync-label: a1 {at} -->", "a1") is None


def test_a_body_without_room_stays_as_it_is() -> None:
    assert with_label("x" * 65_500, "a1", NOW) == "x" * 65_500


@pytest.mark.parametrize(("verified", "count"), [(True, 0), (None, 0), (False, 1)])
def test_an_unsigned_head_is_a_reason_why_ci_never_started(
    verified: bool | None, count: int
) -> None:
    assert len(hints("sync-bot", (), verified, NOW)) == count


# Logs


def test_a_short_log_is_kept_as_it_is() -> None:
    assert tail([b"\xef\xbb\xbfa\r\n", b"b"], 100) == "\ufeffa\r\nb"
    assert tail([], 100) == ""


def test_a_long_log_is_cut_at_a_line_whatever_its_chunks() -> None:
    text = b"".join(b"line %d\n" % number for number in range(1000))
    for size in (1, 7, 64, 10_000):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        assert tail(chunks, 30) == f"{CUT}\nline 997\nline 998\nline 999\n"


def test_a_log_without_end_is_not_read_to_its_end() -> None:
    def endless() -> Any:
        while True:
            yield b"x" * 99 + b"\n"

    assert tail(endless(), 1000, most=10_000).endswith(f"{CUT}\n")


# Tokens


class _GitHub:
    """Hands out installation tokens and remembers what it was asked."""

    def __init__(self, now: datetime):
        self.now = now
        self.asked: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        if request.method == "GET":
            return httpx2.Response(200, json={"id": 5})
        ends = (self.now + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
        return httpx2.Response(201, json={"token": f"ghs_{len(self.asked)}", "expires_at": ends})


def _app_tokens(server: _GitHub) -> AppTokens:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    http = httpx2.Client(transport=httpx2.MockTransport(server))
    address = parse("https://github.com/acme/widgets")
    return AppTokens(address, "42", pem, lambda: server.now, http)


def test_an_apps_token_is_replaced_before_it_ends() -> None:
    server = _GitHub(NOW)
    tokens = _app_tokens(server)
    first = tokens.token()
    server.now = NOW + 54 * MINUTE
    assert tokens.token() == first
    server.now = NOW + 56 * MINUTE
    assert tokens.token() != first
    assert [request.url.path for request in server.asked] == [
        "/repos/acme/widgets/installation",
        "/app/installations/5/access_tokens",
        "/app/installations/5/access_tokens",
    ]


def test_an_apps_token_is_for_one_repository_only() -> None:
    server = _GitHub(NOW)
    _app_tokens(server).token()
    assert json.loads(server.asked[-1].content) == {"repositories": ["widgets"]}


def test_a_rejected_token_is_replaced_once() -> None:
    tokens = _app_tokens(_GitHub(NOW))
    first = tokens.token()
    assert tokens.renew(first)
    second = tokens.token()
    assert tokens.renew(first)
    assert tokens.token() == second != first


def test_an_unset_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = ReadTokens(lambda: secrets.from_environment("env:SYNC_TOKEN"))
    monkeypatch.setenv("SYNC_TOKEN", " \n")
    with pytest.raises(ConfigError, match="variable SYNC_TOKEN is not set"):
        tokens.token()
    monkeypatch.setenv("SYNC_TOKEN", "ghp_x\n")
    assert tokens.token() == "ghp_x"
