"""Comments and labels; a pull request is an issue here."""

from tests.github import render
from tests.github.call import Call, Handler, Reply, paged
from tests.github.errors import ApiError, invalid, not_found
from tests.github.state import Comment, Event, Label, Repository, World
from tests.github.texts import LONGEST_LABEL, check_comment, check_length


def _comment_shape(call: Call, comment: Comment) -> render.Shape:
    return render.comment(call.world, call.repo, comment)


def list_comments(call: Call) -> Reply:
    """Comments of a pull request, oldest first."""
    number = call.pull("issue_number").number
    found = [comment for comment in call.repo.comments if comment.number == number]
    return paged(call, found, lambda comment: _comment_shape(call, comment))


def create_comment(call: Call) -> Reply:
    """Comment; a comment may start CI, a second later."""
    pull, text, world = call.pull("issue_number"), str(call.body["body"]), call.world
    check_comment(text)
    now = world.clock.now()
    comment = Comment(world.id(), pull.number, call.caller.account, text, now, now)
    call.repo.comments.append(comment)
    world.tell(Event("comment", call.repo, pull.head_sha, text, pull.head, pull), call.token)
    return Reply(201, _comment_shape(call, comment))


def _comment(call: Call) -> Comment:
    wanted = call.number("comment_id")
    found = next((comment for comment in call.repo.comments if comment.id == wanted), None)
    if found is None:
        raise not_found()
    return found


def get_comment(call: Call) -> Reply:
    """One comment."""
    return Reply(200, _comment_shape(call, _comment(call)))


def update_comment(call: Call) -> Reply:
    """Replace a comment's text."""
    comment = _comment(call)
    check_length("IssueComment", "body", call.body["body"])
    comment.body, comment.updated_at = str(call.body["body"]), call.world.clock.now()
    return Reply(200, _comment_shape(call, comment))


def delete_comment(call: Call) -> Reply:
    """Remove a comment."""
    call.repo.comments.remove(_comment(call))
    return Reply(204)


def _label_shape(call: Call, label: Label) -> render.Shape:
    return render.label(call.world, call.repo, label)


def list_labels(call: Call) -> Reply:
    """Labels of the repository."""
    return paged(call, call.repo.labels, lambda label: _label_shape(call, label))


def get_label(call: Call) -> Reply:
    """One label by name."""
    label = call.repo.label(call.params["name"])
    if label is None:
        raise not_found()
    return Reply(200, _label_shape(call, label))


def create_label(call: Call) -> Reply:
    """Create a label; one that exists, whatever its case, is refused."""
    name = str(call.body["name"])
    if call.repo.label(name):
        raise invalid("Label", "name", "already_exists")
    label = _make_label(call.world, call.repo, name)
    label.color = str(call.body.get("color", label.color))
    label.description = call.body.get("description")
    return Reply(201, _label_shape(call, label))


def _make_label(world: World, repo: Repository, name: str) -> Label:
    if len(name) > LONGEST_LABEL:
        message = f"name is too long (maximum is {LONGEST_LABEL} characters)"
        raise invalid("Label", "name", "custom", message)
    label = Label(world.id(), name)
    repo.labels.append(label)
    return label


def labels_of_pull(call: Call) -> Reply:
    """Labels that a pull request has."""
    names = call.pull("issue_number").labels
    labels = [label for name in names if (label := call.repo.label(name))]
    return paged(call, labels, lambda label: _label_shape(call, label))


def add_labels(call: Call) -> Reply:
    """Label a pull request; GitHub makes the labels that do not exist."""
    pull, repo, world = call.pull("issue_number"), call.repo, call.world
    for name in _names(call.body):
        label = repo.label(name) or _make_label(world, repo, name)
        if label.name not in pull.labels:
            pull.labels.append(label.name)
            event = Event("label", repo, pull.head_sha, label.name, pull.head, pull)
            world.tell(event, call.token)
    pull.updated_at = world.clock.now()
    return Reply(200, [_label_shape(call, found) for n in pull.labels if (found := repo.label(n))])


def _names(body: object) -> list[str]:
    items = body.get("labels", []) if isinstance(body, dict) else body
    listed = items if isinstance(items, list) else [items]
    return [str(item["name"] if isinstance(item, dict) else item) for item in listed]


def remove_label(call: Call) -> Reply:
    """Take a label off a pull request."""
    pull, label = call.pull("issue_number"), call.repo.label(call.params["name"])
    if label is None or label.name not in pull.labels:
        raise ApiError(404, "Label does not exist")
    pull.labels.remove(label.name)
    return Reply(200, [_label_shape(call, f) for n in pull.labels if (f := call.repo.label(n))])


OPERATIONS: dict[str, Handler] = {
    "issues/list-comments": list_comments,
    "issues/create-comment": create_comment,
    "issues/get-comment": get_comment,
    "issues/update-comment": update_comment,
    "issues/delete-comment": delete_comment,
    "issues/list-labels-for-repo": list_labels,
    "issues/get-label": get_label,
    "issues/create-label": create_label,
    "issues/list-labels-on-issue": labels_of_pull,
    "issues/add-labels": add_labels,
    "issues/remove-label": remove_label,
}
