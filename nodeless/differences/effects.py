"""What Terraform would do about a changed argument: update the resource, or replace it and what refers to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodeless.differences.blocks import RESOURCE, Block
from nodeless.differences.difference import Difference, Effect
from nodeless.differences.items import is_reordered

# The type of a resource -> arguments that cannot be changed: the provider replaces the resource. Of both providers'
# arguments, those that nodeless writes or that somebody may add by hand. tests/terraform compares it with a real plan.
REPLACING: Mapping[str, frozenset[str]] = {
    "aws_cloudwatch_event_rule": frozenset({"event_bus_name", "name", "name_prefix"}),
    "aws_cloudwatch_event_target": frozenset({"event_bus_name", "rule", "target_id"}),
    "aws_ec2_tag": frozenset({"key", "resource_id"}),
    "aws_eks_access_entry": frozenset({"cluster_name", "principal_arn", "type"}),
    "aws_eks_addon": frozenset({"addon_name", "cluster_name"}),
    "aws_eks_fargate_profile": frozenset(
        {"cluster_name", "fargate_profile_name", "pod_execution_role_arn", "selector", "subnet_ids"}
    ),
    "aws_eks_pod_identity_association": frozenset({"cluster_name", "namespace", "service_account"}),
    "aws_iam_instance_profile": frozenset({"name", "name_prefix", "path"}),
    "aws_iam_openid_connect_provider": frozenset({"url"}),
    "aws_iam_policy": frozenset({"description", "name", "name_prefix", "path"}),
    "aws_iam_role": frozenset({"name", "name_prefix", "path"}),
    "aws_iam_role_policies_exclusive": frozenset({"role_name"}),
    "aws_iam_role_policy": frozenset({"name", "name_prefix", "role"}),
    "aws_iam_role_policy_attachment": frozenset({"policy_arn", "role"}),
    "aws_iam_role_policy_attachments_exclusive": frozenset({"role_name"}),
    "aws_iam_service_linked_role": frozenset({"aws_service_name", "custom_suffix"}),
    "aws_sqs_queue": frozenset({"fifo_queue", "name", "name_prefix"}),
    "aws_sqs_queue_policy": frozenset({"queue_url"}),
    "helm_release": frozenset({"name", "namespace"}),
    "terraform_data": frozenset({"triggers_replace"}),
}
# Terraform's own arguments. They say how a resource is handled, and are no part of it.
META_ARGUMENTS = frozenset({"connection", "depends_on", "lifecycle", "provider", "provisioner", "timeouts"})
# Where the order of items counts, and how JSON in a text is written. For the others, lists are sets and JSON is JSON.
LITERAL = frozenset({"helm_release"})

REFERENCE = re.compile(r"(?<![\w.])((?:data\.|ephemeral\.)?[a-z][a-z0-9_]*\.[A-Za-z0-9_-]+)(?:\[[^\]]*\])?(?:\.(\w+))?")


def effect_on(old: Block, new: Block, argument: str, *, is_form: bool) -> Effect:
    """Return what a changed argument does to its resource; a block of another kind has no effect of its own."""
    name = _first(argument)
    if new.kind != RESOURCE or name in META_ARGUMENTS or name in _ignored(new):
        return Effect.NONE
    if is_form and new.type not in LITERAL:
        return Effect.NONE
    return Effect.REPLACE if name in REPLACING.get(old.type, ()) else Effect.UPDATE


def replaced_in_turn(
    before: Mapping[str, Block], after: Mapping[str, Block], found: Iterable[Difference]
) -> Iterator[Difference]:
    """Return the resources that are replaced because of what an unchanged argument refers to.

    What a replaced resource computes, such as its ARN, is not known before the apply, and an argument that
    cannot be changed then replaces its resource too. What it was given is known, and may still be the same.
    """
    changed: dict[str, set[str]] = {}
    replaced: set[str] = set()
    for each in found:
        if each.address not in before or each.address not in after or _is_order(each):
            continue
        if _first(each.argument) not in META_ARGUMENTS | _ignored(after[each.address]):
            changed.setdefault(each.address, set()).add(_first(each.argument))
            if each.effect is Effect.REPLACE:
                replaced.add(each.address)
    kept = [(address, block) for address, block in after.items() if address in before]
    while True:
        more = [
            (address, block, argument, cause)
            for address, block in kept
            for argument, value in _arguments(block)
            if argument not in changed.get(address, ()) and argument not in _ignored(block)
            if (cause := _cause(value, changed, replaced, after))
        ]
        if not more:
            return
        for address, block, argument, cause in more:
            changed.setdefault(address, set()).add(argument)
            if block.kind == RESOURCE and argument in REPLACING.get(block.type, ()):
                replaced.add(address)
                place = (*before[address].place, argument)
                value = block.body[argument]
                yield Difference(address, argument, value, value, Effect.REPLACE, place, cause)


def _is_order(difference: Difference) -> bool:
    values = difference.old, difference.new
    return all(isinstance(each, list) for each in values) and is_reordered(*values)


def _cause(
    value: Any,  # noqa: ANN401 - any JSON
    changed: Mapping[str, set[str]],
    replaced: set[str],
    after: Mapping[str, Block],
) -> str | None:
    """Return the address that a value refers to and whose value there is another one, or is not known."""
    for address, attribute in _references(value):
        block = after.get(address)
        if block is None:
            continue
        # What a data source returns may be another value too, or a local value.
        is_changed = attribute in changed.get(address, ()) or (block.kind != RESOURCE and address in changed)
        if is_changed or (address in replaced and attribute not in dict(_arguments(block))):
            return address
    return None


def _references(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Return each address and attribute in the templates of a value."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, str) and "${" in value:
        yield from ((found[1], found[2] or "") for found in REFERENCE.finditer(value))


def _arguments(block: Block) -> Iterator[tuple[str, Any]]:
    """Return the arguments of a block without Terraform's own; a local value is one argument without a name."""
    if block.kind == "locals" or not isinstance(block.body, Mapping):
        yield "", block.body
        return
    yield from ((name, value) for name, value in block.body.items() if name not in META_ARGUMENTS)


def _ignored(block: Block) -> frozenset[str]:
    """Return the arguments whose changes the block ignores."""
    lifecycle = block.body.get("lifecycle") if isinstance(block.body, Mapping) else None
    ignored = lifecycle.get("ignore_changes") if isinstance(lifecycle, Mapping) else None
    return (
        frozenset(_first(each) for each in ignored if isinstance(each, str))
        if isinstance(ignored, list)
        else frozenset()
    )


def _first(argument: str) -> str:
    return re.split(r"[.\[]", argument, maxsplit=1)[0]
