"""What the picture of a stack shows, read from its JSON: boxes, and who assumes, sends to and waits for what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.policy import Principal, Statement
from nodeless.report.documents import TRUST, Document, documents
from nodeless.report.layers import reduced
from nodeless.stack_graph import Graph, between_resources, dependencies, references

ASSUMES, SENDS, WAITS = "assumes", "sends", "waits"
# How each kind of arrow reads: what it starts from, then these words, then what it leads to.
SENTENCES = {ASSUMES: "assumes", SENDS: "sends to", WAITS: "is created before"}

ROLE, QUEUE, RULE, TARGET = "aws_iam_role", "aws_sqs_queue", "aws_cloudwatch_event_rule", "aws_cloudwatch_event_target"
# A resource of the type is shown in the box of what it refers to.
BELONGS_TO = {
    "aws_iam_role_policy_attachment": ROLE,
    "aws_iam_role_policy": ROLE,
    "aws_iam_instance_profile": ROLE,
    "aws_eks_access_entry": ROLE,
    "aws_eks_pod_identity_association": ROLE,
    "terraform_data": ROLE,
    "aws_sqs_queue_policy": QUEUE,
}
# Resources of these types are one box together.
TOGETHER = {RULE: "rules", TARGET: "rules", "aws_ec2_tag": "tags"}
KINDS = {
    ROLE: "IAM role",
    QUEUE: "SQS queue",
    "rules": "EventBridge rules",
    "tags": "Tags for discovery",
    "aws_eks_fargate_profile": "Fargate profile",
    "aws_eks_access_entry": "EKS access entry",
    "aws_eks_addon": "EKS add-on",
    "aws_iam_openid_connect_provider": "IAM OIDC provider",
    "aws_iam_service_linked_role": "Service-linked role",
    "helm_release": "Helm release",
}
TITLES = {"rules": "Interruption events", "tags": "Subnets and security groups"}
# The argument that holds the name in AWS or in the cluster.
NAMES = ("name", "fargate_profile_name", "addon_name", "aws_service_name")
SERVICES = {
    "eks-fargate-pods.amazonaws.com": "Fargate pods",
    "pods.eks.amazonaws.com": "EKS Pod Identity",
    "ec2.amazonaws.com": "EC2 instances",
    "ec2.amazonaws.com.cn": "EC2 instances",
}
SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One box: resources of the stack that belong together, or someone outside of it, who has no addresses."""

    key: str
    kind: str
    title: str
    lines: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()

    @property
    def is_outside(self) -> bool:
        """Tell whether the stack does not create it."""
        return not self.addresses


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one box to another."""

    kind: str
    start: str
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The boxes and arrows of one stack."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def picture_of(stack: Mapping[str, Any]) -> Picture:
    """Read the picture of a stack from its JSON."""
    resources = {
        f"{type_}.{name}": block for type_, named in stack.get("resource", {}).items() for name, block in named.items()
    }
    graph = between_resources(dependencies(stack))
    box_of = _boxes_by_address(resources, graph)
    in_use = documents(stack)
    actors = list(_actors(in_use, box_of))
    sources = _event_sources(resources)
    boxes = [_box(key, box_of, resources, in_use, stack.get("locals", {})) for key in dict.fromkeys(box_of.values())]
    outside = dict.fromkeys(box for box, _ in actors)
    arrows = dict.fromkeys(Arrow(ASSUMES, box.key, role) for box, role in actors)
    if sources:
        outside[Box(key="events", kind="AWS events", title="EventBridge, default bus", lines=sources)] = None
        arrows[Arrow(SENDS, "events", "rules")] = None
    arrows |= dict.fromkeys(_sends(graph, box_of))
    directed = {(arrow.start, arrow.end) for arrow in arrows}
    # A target refers to its queue. The arrow that shows where events go says this too, the other way round.
    waits = [edge for edge in _waits(graph, box_of) if edge not in directed and edge[::-1] not in directed]
    return Picture(
        boxes=(*outside, *boxes), arrows=(*arrows, *(Arrow(WAITS, start, end) for start, end in reduced(waits)))
    )


def _boxes_by_address(resources: Mapping[str, Any], graph: Graph) -> dict[str, str]:
    """Decide for every resource which box shows it: its own, or that of what it belongs to."""
    boxes: dict[str, str] = {}
    for address in resources:
        type_ = _type(address)
        owner = BELONGS_TO.get(type_)
        owners = sorted(each for each in graph[address] if _type(each) == owner)
        boxes[address] = TOGETHER.get(type_) or (owners[0] if owners else address)
    for address in resources:
        # A managed policy belongs to the role that it is attached to.
        users = sorted(each for each in resources if address in graph[each] and _type(boxes[each]) == ROLE)
        if _type(address) == "aws_iam_policy" and users:
            boxes[address] = boxes[users[0]]
    return boxes


def _type(address: str) -> str:
    return address.partition(".")[0]


def _actors(in_use: Sequence[Document], box_of: Mapping[str, str]) -> Iterator[tuple[Box, str]]:
    """Yield who may assume which role, as the roles' trust policies say."""
    for document in in_use:
        if document.kind == TRUST:
            for statement in document.statements:
                for principal in statement.principals:
                    yield _actor(principal, statement), box_of[document.address]


def _actor(principal: Principal, statement: Statement) -> Box:
    identifiers = ", ".join(principal.identifiers)
    accounts = [
        value.removeprefix(SERVICE_ACCOUNT).replace(":", "/")
        for condition in statement.conditions
        for value in condition.values
        if value.startswith(SERVICE_ACCOUNT)
    ]
    if principal.type == "Federated" and accounts:
        issuer = identifiers.partition(":oidc-provider/")[2] or identifiers
        return Box(
            key=f"principal {identifiers} {accounts}",
            kind="Service account, through OIDC",
            title=", ".join(accounts),
            lines=("issuer: looked up by Terraform" if "${" in issuer else f"issuer {issuer}",),
        )
    title = SERVICES.get(principal.identifiers[0], identifiers) if principal.identifiers else principal.type
    return Box(key=f"principal {identifiers}", kind="AWS service", title=title, lines=(identifiers,))


def _event_sources(resources: Mapping[str, Any]) -> tuple[str, ...]:
    patterns = [_pattern(block) for address, block in resources.items() if _type(address) == RULE]
    return tuple(sorted({source for pattern in patterns for source in pattern.get("source", ())}))


def _pattern(block: Mapping[str, Any]) -> Mapping[str, Any]:
    pattern = json.loads(block["event_pattern"])
    return pattern if isinstance(pattern, Mapping) else {}


def _sends(graph: Graph, box_of: Mapping[str, str]) -> Iterator[Arrow]:
    for address, needed in graph.items():
        if _type(address) == TARGET:
            yield from (Arrow(SENDS, box_of[address], box_of[each]) for each in sorted(needed) if _type(each) == QUEUE)


def _waits(graph: Graph, box_of: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for address, needed in graph.items():
        for each in sorted(needed):
            if box_of[each] != box_of[address]:
                yield box_of[each], box_of[address]


def _box(
    key: str,
    box_of: Mapping[str, str],
    resources: Mapping[str, Any],
    in_use: Sequence[Document],
    values: Mapping[str, Any],
) -> Box:
    addresses = [address for address, box in box_of.items() if box == key]
    addresses.sort(key=lambda address: address != key)
    counts = {document.address: len(document.statements) for document in in_use if document.kind != TRUST}
    block = resources.get(key, {})
    names = [block[name] for name in NAMES if isinstance(block.get(name), str) and "${" not in block[name]]
    return Box(
        key=key,
        kind=KINDS.get(key) or KINDS.get(_type(key), _type(key)),
        title=TITLES.get(key) or (names[0] if names else key.partition(".")[2]),
        lines=tuple(
            line for address in addresses for line in _lines(address, resources[address], counts, values, owner=key)
        ),
        addresses=tuple(addresses),
    )


def _lines(
    address: str, block: Mapping[str, Any], counts: Mapping[str, int], values: Mapping[str, Any], owner: str
) -> Iterator[str]:
    """Yield what a box says about one of its resources; `owner` is the address of the box."""
    type_, _, name = address.partition(".")
    short = name.removeprefix(f"{owner.partition('.')[2]}_")
    if address in counts:
        label = {"aws_sqs_queue_policy": "queue policy", "aws_iam_role_policy": f"inline policy {short}"}.get(
            type_, short
        )
        yield f"{label}: {counts[address]} statement{'s' if counts[address] != 1 else ''}"
    elif type_ == "helm_release":
        yield from _release_lines(block, values)
    elif type_ in LINES:
        yield from LINES[type_](block)


def _selector(selector: Mapping[str, Any]) -> str:
    labels = "".join(f", {key}={value}" for key, value in selector.get("labels", {}).items())
    return f"namespace {selector['namespace']}{labels}"


def _release_lines(block: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[str]:
    if "version" in block:
        yield f"chart {block['chart']} {block['version']}"
    yield f"namespace {block['namespace']}"
    for text in block.get("values", ()):
        local = text.removeprefix("${yamlencode(local.").removesuffix(")}")
        for manifest in (values.get(local) or {}).get("manifests", ()):
            yield f"{manifest['kind']} {manifest['metadata']['name']}"


def _attached(block: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of a policy that is not the stack's own: that one has a line with its statements."""
    if not any(each.startswith("aws_iam_policy.") for each in references(block["policy_arn"])):
        yield block["policy_arn"].rpartition("/")[2]


LINES: Mapping[str, Callable[[Mapping[str, Any]], Iterable[str]]] = {
    RULE: lambda block: _pattern(block).get("detail-type", ()),
    "aws_iam_role_policy_attachment": _attached,
    "aws_iam_instance_profile": lambda block: (f"instance profile {block['name']}",),
    "aws_eks_access_entry": lambda block: (f"access entry {block.get('type', 'STANDARD')}",),
    "aws_eks_pod_identity_association": lambda block: (
        f"Pod Identity for {block['namespace']}/{block['service_account']}",
    ),
    "aws_eks_fargate_profile": lambda block: map(_selector, block.get("selector", ())),
    "aws_ec2_tag": lambda block: (block["resource_id"],),
}
