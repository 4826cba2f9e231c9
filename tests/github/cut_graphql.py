"""Cut the GraphQL types that the stand-in executes out of GitHub's own schema.

Listed are object types with the fields to keep. Enums, scalars and input types that these need
come along whole, interfaces and unions with what is left of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from graphql import (
    DocumentNode,
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    InputObjectTypeDefinitionNode,
    InterfaceTypeDefinitionNode,
    NamedTypeNode,
    Node,
    ObjectTypeDefinitionNode,
    ScalarTypeDefinitionNode,
    TypeDefinitionNode,
    UnionTypeDefinitionNode,
    assert_valid_schema,
    build_ast_schema,
    parse,
    print_ast,
)

Types = Mapping[str, TypeDefinitionNode]
Fields = tuple[FieldDefinitionNode, ...]

FIELDS: Mapping[str, str] = {
    "Query": "id node rateLimit repository viewer",
    "Mutation": "convertPullRequestToDraft markPullRequestReadyForReview",
    "ConvertPullRequestToDraftPayload": "clientMutationId pullRequest",
    "MarkPullRequestReadyForReviewPayload": "clientMutationId pullRequest",
    "RateLimit": "cost limit nodeCount remaining resetAt used",
    "Repository": "databaseId id isArchived isPrivate name nameWithOwner object owner pullRequest "
    "pullRequests url viewerPermission",
    "PullRequest": "author baseRefName baseRefOid body closed closedAt commits createdAt "
    "databaseId headRefName headRefOid id isCrossRepository isDraft labels merged number "
    "repository state statusCheckRollup title updatedAt url userContentEdits",
    "UserContentEditConnection": "nodes pageInfo totalCount",
    "UserContentEdit": "diff editedAt id",
    "PullRequestConnection": "nodes pageInfo totalCount",
    "PullRequestCommit": "commit id",
    "PullRequestCommitConnection": "nodes pageInfo totalCount",
    "Label": "id name",
    "LabelConnection": "nodes pageInfo totalCount",
    "Commit": "committedDate id message messageHeadline oid statusCheckRollup url",
    "StatusCheckRollup": "commit contexts id state",
    "StatusCheckRollupContextConnection": "checkRunCount nodes pageInfo statusContextCount "
    "totalCount",
    "CheckRun": "checkSuite completedAt conclusion databaseId detailsUrl externalId id isRequired "
    "name permalink startedAt status summary text title url",
    "CheckSuite": "app branch commit conclusion createdAt databaseId id status updatedAt url "
    "workflowRun",
    "Ref": "id name",
    "App": "databaseId id name slug",
    "WorkflowRun": "createdAt databaseId event id runNumber updatedAt url workflow",
    "Workflow": "databaseId id name url",
    "StatusContext": "context createdAt creator description id isRequired state targetUrl",
    "PageInfo": "endCursor hasNextPage hasPreviousPage startCursor",
    "User": "databaseId id login url",
    "Bot": "databaseId id login url",
}
INTERFACES = ("Actor", "GitObject", "Node", "RepositoryOwner", "RequirableByPullRequest")
UNIONS = ("StatusCheckRollupContext",)
LISTED = frozenset((*FIELDS, *INTERFACES, *UNIONS))
_WHOLE = (EnumTypeDefinitionNode, InputObjectTypeDefinitionNode, ScalarTypeDefinitionNode)


def _bare(node: Node) -> Node:
    """Without descriptions and directives."""
    return replace(node, **{key: _bare_part(key, getattr(node, key)) for key in node.keys})


def _bare_part(key: str, value: Any) -> Any:
    if key in ("description", "directives"):
        return None
    if isinstance(value, tuple):
        return tuple(_bare_part("", part) for part in value)
    return _bare(value) if isinstance(value, Node) else value


def _only(fields: Fields, wanted: Iterable[str]) -> Fields:
    names = set(wanted)
    return tuple(field for field in fields if field.name.value in names)


def _names(types: Iterable[NamedTypeNode]) -> set[str]:
    return {item.name.value for item in types}


def _object(node: ObjectTypeDefinitionNode) -> ObjectTypeDefinitionNode:
    wanted = set(FIELDS[node.name.value].split())
    missing = wanted - {field.name.value for field in node.fields or ()}
    if missing:
        raise LookupError(f"{node.name.value} has no field {', '.join(sorted(missing))}")
    interfaces = tuple(item for item in node.interfaces or () if item.name.value in INTERFACES)
    return replace(node, fields=_only(node.fields or (), wanted), interfaces=interfaces)


def _interface(node: InterfaceTypeDefinitionNode, types: Types) -> InterfaceTypeDefinitionNode:
    """What every kept object of the interface has kept."""
    offers = [
        set(fields.split())
        for name, fields in FIELDS.items()
        if isinstance(kept := types[name], ObjectTypeDefinitionNode)
        and node.name.value in _names(kept.interfaces or ())
    ]
    return replace(node, fields=_only(node.fields or (), set.intersection(*offers)), interfaces=())


def _cut(node: TypeDefinitionNode, types: Types) -> TypeDefinitionNode:
    if isinstance(node, ObjectTypeDefinitionNode):
        return _object(node)
    if isinstance(node, InterfaceTypeDefinitionNode):
        return _interface(node, types)
    if isinstance(node, UnionTypeDefinitionNode):
        return replace(node, types=tuple(t for t in node.types or () if t.name.value in FIELDS))
    return node


def _mentioned(node: Node) -> Iterator[str]:
    """Names of the types that a definition speaks of."""
    if isinstance(node, NamedTypeNode):
        yield node.name.value
    for key in node.keys:
        value = getattr(node, key, None)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Node):
                yield from _mentioned(part)


def _closure(types: Types) -> tuple[TypeDefinitionNode, ...]:
    """The listed types and, of those that come whole, all that these need in turn."""
    kept: dict[str, TypeDefinitionNode] = {}
    waiting = sorted(LISTED)
    while waiting:
        name = waiting.pop()
        if name in kept or name not in types:  # built-in scalars are not defined
            continue
        if name not in LISTED and not isinstance(types[name], _WHOLE):
            raise LookupError(f"{name} is needed, but not listed")
        kept[name] = _cut(types[name], types)
        waiting.extend(_mentioned(kept[name]))
    return tuple(kept[name] for name in sorted(kept))


def cut_graphql(text: str, version: str) -> str:
    """The slice as SDL; raises if it would not be a valid schema of its own."""
    definitions = map(_bare, parse(text, no_location=True).definitions)
    types = {n.name.value: n for n in definitions if isinstance(n, TypeDefinitionNode)}
    kept = DocumentNode(definitions=_closure(types))
    assert_valid_schema(build_ast_schema(kept))
    head = "# A slice of GitHub's GraphQL schema, structure only; cut from @octokit/graphql-schema"
    return f"{head} {version}\n\n{print_ast(kept)}\n"
