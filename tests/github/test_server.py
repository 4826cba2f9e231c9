"""The stand-in itself: pull requests, comments, labels, refs, tokens and limits."""

import json
import time
from pathlib import Path

import httpx2
import jwt
import pytest
from openapi_spec_validator import validate

from tests.github import cut_specs, rest, spec
from tests.github.auth import NEEDS
from tests.github.client import BRANCH, Client, Site
from tests.github.server import AppKey
from tests.github.state import Protection


def test_the_slice_is_a_valid_openapi_document() -> None:
    validate(spec.document())


def test_every_operation_of_the_slice_is_served_and_has_its_permissions() -> None:
    described = {route.operation for route in spec.routes()}
    assert described == set(rest.HANDLERS)
    on_repositories = {r.operation for r in spec.routes() if "{repo}" in r.template}
    assert on_repositories - {"apps/get-repo-installation"} == set(NEEDS)


def test_cutting_drops_prose_but_no_property_of_that_name() -> None:
    whole = {
        "type": "object",
        "title": "Label",
        "description": "prose",
        "properties": {"description": {"type": "string", "nullable": True, "example": "x"}},
    }
    kept = {"description": {"type": "string", "nullable": True}}
    assert cut_specs.schema(whole) == {"type": "object", "properties": kept}


def test_the_slices_layout_is_the_same_json_in_lines_of_bounded_width() -> None:
    text = cut_specs.layout(spec.document())
    assert json.loads(text) == spec.document()
    assert text == spec.FILE.read_text().removesuffix("\n")
    assert max(map(len, text.splitlines())) <= cut_specs.WIDTH


def test_the_slice_is_small_and_says_where_it_is_from() -> None:
    folder = Path(cut_specs.__file__).parent
    assert (folder / "openapi.json").stat().st_size < 200_000
    assert (folder / "schema.graphql").stat().st_size < 40_000
    assert "@octokit/openapi " in spec.document()["info"]["title"]
    assert "@octokit/graphql-schema " in (folder / "schema.graphql").read_text()[:200]


@pytest.mark.parametrize("enterprise", [False, True])
def test_both_kinds_of_address_serve_rest_and_graphql(site: Site, enterprise: bool) -> None:
    client = site.client if enterprise else Client(site.github.url, site.token)
    assert client.get().json()["full_name"] == "acme/widgets"
    assert client.rollup(site.head) is None


def test_a_draft_pull_request_is_opened_read_and_closed(site: Site) -> None:
    made = site.open_pull()
    assert (made["draft"], made["state"], made["head"]["sha"]) == (True, "open", site.head)
    changed = site.client.patch("pulls/1", {"state": "closed", "body": "b", "title": "t"}).json()
    assert (changed["state"], changed["body"], changed["title"]) == ("closed", "b", "t")
    assert site.client.get("pulls").json() == []
    assert [p["number"] for p in site.client.get("pulls", state="all").json()] == [1]
    assert len(site.client.get("pulls/1/commits").json()) == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "A pull request already exists for acme:main2dev/01_02_2030."),
        ({"head": "dev", "base": "dev"}, "No commits between dev and dev"),
        ({"head": "nowhere"}, None),
        ({"base": "nowhere"}, None),
    ],
)
def test_pull_requests_that_cannot_be_are_refused(
    site: Site, change: dict[str, str], told: str | None
) -> None:
    site.open_pull()
    fields = {"title": "Sync", "head": BRANCH, "base": "dev", **change}
    refused = site.client.post("pulls", fields)
    assert refused.status_code == 422
    assert refused.json()["errors"][0].get("message") == told


def test_a_body_may_have_65536_characters_and_not_one_more(site: Site) -> None:
    assert site.open_pull(body="é" * 65_536)["number"] == 1
    for path in ("pulls/1", "issues/1/comments"):
        send = site.client.patch if path == "pulls/1" else site.client.post
        refused = send(path, {"body": "é" * 65_537})
        assert refused.status_code == 422
        assert "maximum is 65536 characters" in refused.json()["errors"][0]["message"]


def test_lists_come_in_pages_with_links_to_the_others(site: Site) -> None:
    person = site.github.person(site.repository)
    for number in range(5):
        person.branch(f"work-{number}", BRANCH)
        person.open_pull(f"work-{number}", "dev")
    client = site.client
    response = client.get("pulls", per_page=2)
    seen = [pull["number"] for pull in response.json()]
    while "next" in response.links:
        response = client.http.get(response.links["next"]["url"])
        seen += [pull["number"] for pull in response.json()]
    assert seen == [5, 4, 3, 2, 1]


def test_a_head_filter_needs_its_owner(site: Site) -> None:
    person = site.github.person(site.repository)
    person.branch("work", BRANCH)
    person.open_pull("work", "dev")
    site.open_pull()
    named = [p["head"]["ref"] for p in site.client.get("pulls", head=f"acme:{BRANCH}").json()]
    assert named == [BRANCH]
    assert len(site.client.get("pulls", head=BRANCH).json()) == 2


def test_a_fork_does_not_pass_for_a_branch_of_the_repository(site: Site) -> None:
    site.github.person(site.repository).open_pull(BRANCH, "dev", fork="mallory/widgets")
    (pull,) = site.client.get("pulls").json()
    assert pull["head"]["repo"]["full_name"] == "mallory/widgets"
    assert site.client.get("pulls", head=f"acme:{BRANCH}").json() == []


def test_labels_are_made_once_whatever_their_case(site: Site) -> None:
    site.open_pull()
    client = site.client
    assert client.get("labels/nightly-sync/manual").status_code == 404
    new = {"name": "nightly-sync/manual", "color": "ededed"}
    assert client.post("labels", new).status_code == 201
    again = client.post("labels", new | {"name": "Nightly-Sync/Manual"})
    assert again.json()["errors"][0]["code"] == "already_exists"
    assert client.get("labels/nightly-sync%2Fmanual").json()["name"] == "nightly-sync/manual"
    added = client.post("issues/1/labels", {"labels": ["Nightly-sync/manual", "run ci"]}).json()
    assert [label["name"] for label in added] == ["nightly-sync/manual", "run ci"]
    assert client.delete("issues/1/labels/run%20ci").status_code == 200
    assert client.delete("issues/1/labels/run%20ci").status_code == 404


def test_only_collaborators_can_be_asked_for_a_review(site: Site) -> None:
    site.open_pull()
    site.github.person(site.repository, "alice")
    path = "pulls/1/requested_reviewers"
    asked = site.client.post(path, {"reviewers": ["alice"]}).json()
    assert [user["login"] for user in asked["requested_reviewers"]] == ["alice"]
    assert site.client.post(path, {"reviewers": ["mallory"]}).status_code == 422
    assert site.client.post(path, {"reviewers": ["sync-bot"]}).status_code == 422


def test_refs_with_slashes_are_found_written_either_way(site: Site) -> None:
    client = site.client
    for name in (BRANCH, BRANCH.replace("/", "%2F")):
        found = client.get(f"git/ref/heads/{name}").json()
        assert (found["ref"], found["object"]["sha"]) == (f"refs/heads/{BRANCH}", site.head)
        assert client.get(f"branches/{name}").json()["commit"]["sha"] == site.head
    assert client.delete(f"git/refs/heads/{BRANCH}").status_code == 204
    assert client.delete(f"git/refs/heads/{BRANCH}").status_code == 422
    assert client.get(f"git/ref/heads/{BRANCH}").status_code == 404


def test_deleting_its_branch_closes_a_pull_request(site: Site) -> None:
    site.open_pull()
    site.client.delete(f"git/refs/heads/{BRANCH}")
    assert site.client.get("pulls/1").json()["state"] == "closed"


def test_a_branch_can_be_made_for_a_baseline_but_not_inside_a_branch(site: Site) -> None:
    new = {"ref": "refs/heads/baseline", "sha": site.tip("dev")}
    assert site.client.post("git/refs", new).status_code == 201
    assert site.client.post("git/refs", new).json()["message"] == "Reference already exists"
    clash = site.client.post("git/refs", new | {"ref": "refs/heads/dev/x"})
    assert clash.status_code == 422


def test_required_checks_are_told_by_protection_and_by_rulesets(site: Site) -> None:
    client, github = site.client, site.github
    path = "branches/dev/protection/required_status_checks"
    assert client.get(path).json()["message"] == "Branch not protected"
    github.protect(site.repository, Protection("dev", required_checks=("tests",)))
    github.protect(site.repository, Protection("de*", ruleset=True, required_checks=("gate",)))
    assert client.get(path).json()["contexts"] == ["tests"]
    shown = client.get("branches/dev").json()["protection"]
    assert shown["required_status_checks"]["contexts"] == ["tests"]
    rules = {rule["type"]: rule for rule in client.get("rules/branches/dev").json()}
    checks = rules["required_status_checks"]["parameters"]["required_status_checks"]
    assert checks == [{"context": "gate"}]


def test_commits_know_their_pull_requests(site: Site) -> None:
    site.open_pull()
    (found,) = site.client.get(f"commits/{site.head}/pulls").json()
    assert found["number"] == 1
    shas = [commit["sha"] for commit in site.client.get("commits", sha=BRANCH).json()]
    assert shas[0] == site.head
    assert site.client.get(f"commits/{BRANCH}").json()["sha"] == site.head
    assert site.client.get(f"commits/{'0' * 40}").status_code == 422


# Who asks


def test_tokens_that_are_unknown_or_expired_are_bad_credentials(site: Site) -> None:
    old = site.github.token(expires_in=10)
    assert Client(site.github.url, old).get().status_code == 200
    site.github.world.clock.advance(11)
    for token in (old, "ghp_never_heard_of"):
        refused = Client(site.github.url, token).get()
        assert (refused.status_code, refused.json()["message"]) == (401, "Bad credentials")


def test_a_token_knows_whose_it_is(site: Site) -> None:
    answer = site.client.http.get(f"{site.github.ghes_url}/user")
    assert (answer.json()["login"], answer.headers["X-OAuth-Scopes"]) == (
        "sync-bot",
        "repo, workflow",
    )
    assert site.client.get().json()["permissions"]["push"] is True


def test_a_classic_token_without_the_scope_finds_nothing(site: Site) -> None:
    client = Client(site.github.url, site.github.token(scopes=("read:org",)))
    assert client.get().status_code == 200
    fields = {"title": "t", "head": BRANCH, "base": "dev"}
    assert client.post("pulls", fields).status_code == 404
    site.repository.private = True
    assert client.get().status_code == 404


def test_a_fine_grained_token_is_told_what_it_may_not(site: Site) -> None:
    token = site.github.fine_grained({"contents": "write", "pull_requests": "write"})
    client = Client(site.github.url, token)
    site.open_pull()
    assert client.post("issues/1/comments", {"body": "x"}).status_code == 201
    site.github.workflow(site.repository, "CI", "ci.yml")
    refused = client.post("actions/workflows/ci.yml/dispatches", {"ref": "dev"})
    message = "Resource not accessible by personal access token"
    assert (refused.status_code, refused.json()["message"]) == (403, message)


def _app_jwt(key: AppKey, **claims: float) -> str:
    now = int(time.time())
    facts = {"iat": now - 60, "exp": now + 540, "iss": str(key.id), **claims}
    return jwt.encode(facts, key.private_key, algorithm="RS256")


def test_an_app_gets_tokens_that_live_an_hour(site: Site) -> None:
    key = site.github.app()
    asking = Client(site.github.url, _app_jwt(key))
    place = asking.get("installation").json()
    assert place["id"] == key.installation
    made = asking.http.post(place["access_tokens_url"]).json()
    client = Client(site.github.url, made["token"])
    assert client.get("branches/dev").status_code == 200
    assert client.http.get(f"{site.github.url}/user").status_code == 403
    site.github.world.clock.advance(3601)
    assert client.get("branches/dev").status_code == 401
    assert asking.http.post(place["access_tokens_url"]).status_code == 201


def test_an_apps_signature_is_checked(site: Site) -> None:
    key, other = site.github.app(), site.github.app("other")
    forged = AppKey(key.id, key.installation, other.private_key)
    for token in (
        _app_jwt(forged),
        _app_jwt(key, exp=time.time() - 120),
        _app_jwt(key, exp=time.time() + 3600),
        site.token,
    ):
        assert Client(site.github.url, token).get("installation").status_code == 401


def test_an_archived_repository_is_read_only(site: Site) -> None:
    site.repository.archived = True
    assert site.client.get().json()["archived"] is True
    refused = site.client.post("labels", {"name": "x"})
    message = "Repository was archived so is read-only."
    assert (refused.status_code, refused.json()["message"]) == (403, message)


# How often


def test_an_answer_that_is_known_costs_nothing(site: Site) -> None:
    first = site.client.get("pulls")
    left = int(first.headers["X-RateLimit-Remaining"])
    known = {"If-None-Match": first.headers["ETag"]}
    again = site.client.http.get(f"{site.client.base}/pulls", headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert int(again.headers["X-RateLimit-Remaining"]) == left
    site.open_pull()
    changed = site.client.http.get(f"{site.client.base}/pulls", headers=known)
    assert changed.status_code == 200


def test_a_used_up_quota_refuses_until_it_is_reset(site: Site) -> None:
    site.github.exhaust(site.token, seconds=60)
    refused = site.client.get()
    assert (refused.status_code, refused.headers["X-RateLimit-Remaining"]) == (403, "0")
    assert "API rate limit exceeded" in refused.json()["message"]
    limits = site.client.http.get(f"{site.github.url}/rate_limit").json()
    assert limits["resources"]["core"]["remaining"] == 0
    site.github.world.clock.advance(61)
    assert site.client.get().status_code == 200


def test_a_secondary_limit_leaves_quota_and_starts_again_for_the_impatient(site: Site) -> None:
    site.github.limits.slow_down(retry_after=30)
    refused = site.client.get()
    assert (refused.status_code, refused.headers["Retry-After"]) == (403, "30")
    assert int(refused.headers["X-RateLimit-Remaining"]) > 0
    site.github.world.clock.advance(20)
    assert site.client.get().status_code == 403
    site.github.world.clock.advance(20)
    assert site.client.get().status_code == 403
    site.github.world.clock.advance(31)
    assert site.client.get().status_code == 200
    assert site.github.limits.early == 3


# What goes wrong


def test_faults_hit_the_next_requests_that_match_and_no_others(site: Site) -> None:
    site.github.faults.fail(r"GET .*/pulls", times=2)
    site.github.faults.reset(r"/labels")
    client = site.client
    assert [client.get("pulls").status_code for _ in range(3)] == [502, 502, 200]
    assert client.get().status_code == 200
    with pytest.raises(httpx2.TransportError):
        client.get("labels")
    assert client.get("labels").status_code == 200


def test_an_answer_can_get_lost_after_the_deed(site: Site) -> None:
    site.github.faults.lose(r"POST .*/pulls")
    with pytest.raises(httpx2.TransportError):
        site.open_pull()
    assert [pull["number"] for pull in site.client.get("pulls").json()] == [1]


def test_a_page_can_be_cut_or_slow(site: Site) -> None:
    site.github.faults.cut("/pulls")
    with pytest.raises(httpx2.TransportError):
        site.client.get("pulls")
    site.github.faults.slow(60, "/pulls")
    with pytest.raises(httpx2.TimeoutException):
        site.client.http.get(f"{site.client.base}/pulls", timeout=0.05)


def test_something_can_happen_right_before_and_after_a_request(site: Site) -> None:
    seen: list[str] = []
    site.github.faults.before("/labels", lambda: seen.append("before"))
    site.github.faults.after("/labels", lambda: seen.append("after"), skip=1)
    site.client.get("labels")
    site.client.get("labels")
    site.client.get("labels")
    assert seen == ["before", "after"]


def test_a_bug_in_here_is_a_problem_and_ends_the_connection(site: Site) -> None:
    site.github.faults.before("/labels", lambda: site.tip("no such branch"))
    with pytest.raises(httpx2.TransportError):
        site.client.get("labels")
    assert "no such branch" in site.github.problems[0]
    site.github.problems.clear()


def test_requests_that_github_does_not_describe_are_problems(site: Site) -> None:
    client = site.client
    assert client.post("pulls", {"title": 1, "head": BRANCH, "base": "dev"}).status_code == 422
    assert client.get("pulls", state="opened").status_code == 422
    assert client.get("pulls", per_pgae=1).status_code == 422
    assert client.get("stargazers").status_code == 404
    assert client.http.post(f"{client.base}/pulls", content=b"{").status_code == 400
    problems = list(site.github.problems)
    site.github.problems.clear()
    assert len(problems) == 4
    assert "per_pgae" in problems[2]


def test_requests_are_recorded_and_searched_for_secrets(site: Site) -> None:
    site.open_pull()
    site.client.post("issues/1/comments", {"body": "hello"})
    requests = site.github.requests
    assert [entry.operation for entry in requests.all] == ["pulls/create", "issues/create-comment"]
    assert len(requests.of("POST .*comments")) == 1
    assert requests.leaks(site.token) == []
    site.client.post("issues/1/comments", {"body": f"look: {site.token}"})
    site.client.get("labels", page=1)
    assert len(requests.leaks(site.token)) == 1
    assert requests.cost("core") == 4
