"""Which file of an export each block is in, in which order, and why it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from nodeless.export.hcl import Block, Tree, address, blocks_of
from nodeless.resolved.inventory import (
    CONTROLLER,
    DISCOVERY,
    FARGATE,
    HELM,
    INTERRUPTION,
    LOOKUPS,
    NODES,
    Resource,
)
from nodeless.stack_graph import references

# Files by concern, in the order in which a reader meets them.
VERSIONS, BACKEND, PROVIDERS = "versions", "backend", "providers"
OF_PART = {
    LOOKUPS: "data",
    FARGATE: "fargate",
    CONTROLLER: "controller",
    NODES: "nodes",
    INTERRUPTION: "interruption",
    DISCOVERY: "discovery",
    HELM: "charts",
}
OF_SECTION = {
    "provider": PROVIDERS,
    "locals": "locals",
    "output": "outputs",
    "variable": "variables",
    "check": "checks",
    "import": "imports",
    "moved": "moved",
    "removed": "removed",
}
# For what no table knows.
OTHER = "main"
FILES = (VERSIONS, BACKEND, *dict.fromkeys((PROVIDERS, *OF_PART.values(), *OF_SECTION.values())), OTHER)

# Blocks with a type of a provider.
TYPED = ("resource", "data", "ephemeral")
# The token of the Helm provider is beside it.
LOGIN = "*.aws_eks_cluster_auth.*"
DOCUMENT = "data.aws_iam_policy_document."

# The type of a resource -> what a policy document says that it refers to.
DOCUMENTS = {
    "aws_iam_role": "Who may assume the role.",
    "aws_iam_policy": "What the policy allows.",
    "aws_iam_role_policy": "What the role's own policy allows.",
    "aws_sqs_queue_policy": "Who may send to the queue.",
}
# Addresses, a key below them, and the reason for it.
REASONS = (
    ("data.*", ("lifecycle", "postcondition"), "The plan stops if what it finds cannot work."),
    ("aws_eks_fargate_profile.*", ("lifecycle", "ignore_changes"), "A subnet that is found later does not replace it."),
    ("aws_eks_addon.*", ("preserve",), "It stays when the stack is destroyed: the cluster still needs its DNS."),
    ("aws_iam_role.*", ("lifecycle", "create_before_destroy"), "A new one is there before the old one goes."),
    ("helm_release.karpenter_crd", ("take_ownership",), "Those that exist already are taken over."),
    ("helm_release.karpenter", ("depends_on",), "Until it is gone, everything stays that it needs to terminate nodes."),
    (
        "helm_release.node_pools",
        ("depends_on",),
        "Destroyed first, while the controller can still terminate the nodes.",
    ),
)
# Blocks that are no resources: an address and the reason for it.
OTHER_REASONS = {
    "provider.aws": "Credentials are found in the usual ways; none are in these files.",
    "provider.helm": "Logs in to the cluster with a token that is fetched in each run.",
    "locals": "Objects and not text, so that a changed setting is one changed line.",
    "check.local_state": "Warns if the folder was copied, because its state would be somewhere else then.",
    "removed": "Terraform forgets it and does not destroy it: another tool manages it now.",
}


def files(tree: Tree, resources: Sequence[Resource]) -> dict[str, tuple[Block, ...]]:
    """Divide a stack's Terraform JSON into files; `resources` has the place and the purpose of what it creates."""
    found: dict[str, list[Block]] = {}
    for file, block in (*_settings(tree.get("terraform", {})), *_ordered(tree, resources)):
        found.setdefault(file, []).append(block)
    return {file: tuple(found[file]) for file in FILES if file in found}


def _settings(settings: Tree) -> Iterator[tuple[str, Block]]:
    """Divide the block `terraform`: the state may move, and the versions do not change with it."""
    where = {key: value for key, value in settings.items() if key in ("backend", "cloud")}
    rest = {key: value for key, value in settings.items() if key not in where and key != "//"}
    if rest:
        yield VERSIONS, Block("terraform", (), rest, "Only arguments that exist at both ends of these ranges are used.")
    if where:
        yield BACKEND, Block("terraform", (), where, "Where the state of this cluster is.")


def _ordered(tree: Tree, resources: Sequence[Resource]) -> Iterator[tuple[str, Block]]:
    """Return every other block: resources in the order of their table, each after the documents it refers to."""
    every = list(blocks_of(tree))
    blocks = {address(block): block for block in every if block.section in TYPED}
    known = {each.address: each for each in resources}
    placed: set[str] = set()
    for name in (*(name for name in known if name in blocks), *(name for name in blocks if name not in known)):
        file = _file(name, known.get(name))
        for each in (*_documents(blocks[name], blocks, known), name):
            if each not in placed:
                placed.add(each)
                yield file, replace(blocks[each], comment=_why(each, blocks, known, name))
    for block in every:
        if block.section not in (*TYPED, "terraform"):
            yield OF_SECTION.get(block.section, OTHER), replace(block, comment=OTHER_REASONS.get(address(block), ""))


def _file(name: str, row: Resource | None) -> str:
    if fnmatchcase(name, LOGIN):
        return PROVIDERS
    return OF_PART[row.part] if row else OTHER


def _documents(block: Block, blocks: Mapping[str, Block], known: Mapping[str, Resource]) -> Iterable[str]:
    """Return the policy documents that a block refers to; the table of resources does not have them."""
    return (each for each in dict.fromkeys(references(block.body)) if each in blocks and each not in known)


def _why(name: str, blocks: Mapping[str, Block], known: Mapping[str, Resource], beside: str) -> str:
    """Say what a block is for, and why it is as it is."""
    if name.startswith(DOCUMENT):
        return DOCUMENTS.get(beside.partition(".")[0], "")
    if name not in known:
        return ""
    purpose = known[name].purpose
    reasons = [
        reason for pattern, path, reason in REASONS if fnmatchcase(name, pattern) and _has(blocks[name].body, path)
    ]
    return "\n".join([f"{purpose[:1].upper()}{purpose[1:]}.", *reasons])


def _has(body: Any, path: Sequence[str]) -> bool:  # noqa: ANN401 - any JSON
    for key in path:
        body = body.get(key) if isinstance(body, Mapping) else None
    return bool(body)
