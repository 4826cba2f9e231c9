"""The stand-in's GraphQL: draft and ready, pages, errors, cost."""

from tests.github.ci import Act
from tests.github.client import Client, Site

READY = """mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"""
DRAFT = """mutation($id: ID!) {
  convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft headRefOid } } }"""
PULL = """query {
  repository(owner: "acme", name: "widgets") { pullRequest(number: 1) { id isDraft headRefOid state
    author { login } commits(last: 1) { nodes { commit { oid } } } } } }"""


def test_a_draft_becomes_ready_and_a_draft_again(site: Site) -> None:
    made = site.open_pull()
    pull = site.client.graphql(PULL)["data"]["repository"]["pullRequest"]
    assert (pull["id"], pull["isDraft"], pull["state"]) == (made["node_id"], True, "OPEN")
    assert pull["commits"]["nodes"][0]["commit"]["oid"] == pull["headRefOid"] == site.head
    ready = site.client.graphql(READY, id=pull["id"])["data"]["markPullRequestReadyForReview"]
    assert ready["pullRequest"]["isDraft"] is False
    assert site.client.get("pulls/1").json()["draft"] is False
    draft = site.client.graphql(DRAFT, id=pull["id"])["data"]["convertPullRequestToDraft"]
    assert draft["pullRequest"] == {"isDraft": True, "headRefOid": site.head}


def test_contexts_come_by_hundreds_and_one_reading_is_one_poll(site: Site) -> None:
    acts = [Act(f"job {n}", running=0) for n in range(150)]
    site.github.ci.play(site.repository, site.head, acts)
    first = site.client.rollup(site.head)["contexts"]
    assert (len(first["nodes"]), first["totalCount"]) == (100, 150)
    second = site.client.rollup(site.head, first["pageInfo"]["endCursor"])["contexts"]
    assert (len(second["nodes"]), second["pageInfo"]["hasNextPage"]) == (50, False)
    names = [node["name"] for node in first["nodes"] + second["nodes"]]
    assert names == [act.name for act in acts]
    assert site.github.ci.polls == 1
    assert site.github.requests.cost("graphql") == 2


def test_pages_must_be_asked_for_and_have_100_at_most(site: Site) -> None:
    site.github.ci.play(site.repository, site.head, [Act("tests")])
    query = """query {{ repository(owner: "acme", name: "widgets") {{ object(oid: "{}") {{
      ... on Commit {{ statusCheckRollup {{ contexts{} {{ totalCount }} }} }} }} }} }}"""
    for size, kind in (
        ("", "MISSING_PAGINATION_BOUNDARIES"),
        ("(first: 101)", "EXCESSIVE_PAGINATION"),
    ):
        answer = site.client.graphql(query.format(site.head, size))
        assert answer["errors"][0]["type"] == kind


def test_errors_come_with_status_200_and_a_type(site: Site) -> None:
    query = 'query { repository(owner: "acme", name: "%s") { id } }'
    answer = site.client.graphql(query % "nothing")
    assert answer["data"] == {"repository": None}
    assert answer["errors"][0]["type"] == "NOT_FOUND"
    made = site.open_pull()
    weak = Client(site.github.url, site.github.token(scopes=("read:org",)))
    assert weak.graphql(READY, id=made["node_id"])["errors"][0]["type"] == "INSUFFICIENT_SCOPES"
    weaker = Client(site.github.url, site.github.fine_grained({"contents": "read"}))
    assert weaker.graphql(READY, id=made["node_id"])["errors"][0]["type"] == "FORBIDDEN"
    assert Client(site.github.url).http.post(f"{site.github.url}/graphql").status_code == 401


def test_points_run_out_with_status_200(site: Site) -> None:
    site.github.exhaust(site.token, "graphql", seconds=60)
    answer = site.client.graphql("query { viewer { login } }")
    assert answer["errors"][0]["type"] == "RATE_LIMIT"
    site.github.world.clock.advance(61)
    answer = site.client.graphql("query { viewer { login } rateLimit { cost remaining } }")
    assert answer["data"]["viewer"]["login"] == "sync-bot"
    assert answer["data"]["rateLimit"] == {"cost": 1, "remaining": 4999}


def test_a_query_that_the_schema_does_not_allow_is_a_problem(site: Site) -> None:
    answer = site.client.graphql("query { viewer { shoeSize } }")
    assert "data" not in answer
    assert "shoeSize" in site.github.problems[0]
    site.github.problems.clear()


def test_faults_find_a_mutation_by_its_name(site: Site) -> None:
    made = site.open_pull()
    person = site.github.person(site.repository)
    site.github.faults.before(
        "markPullRequestReadyForReview", lambda: person.push("dev", {"z": "1"})
    )
    before = site.tip("dev")
    site.client.graphql(READY, id=made["node_id"])
    assert site.tip("dev") != before
