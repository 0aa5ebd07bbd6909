"""What a statement of an IAM policy allows, in words that need no knowledge of IAM's syntax."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nodeless.karpenter.policy import Principal, Statement
from nodeless.resolved.arn_words import EVERYTHING, KINDS, are_several, listed, meant, things
from nodeless.resolved.condition_words import circumstances, limits


class Deed(NamedTuple):
    """An action in words: what is done, and to what: a kind of resource, or words of its own."""

    verb: str
    object: str
    only_reads: bool = False


# The object of an action that can be done to any kind of resource.
RESOURCES = "resources"


def _look_up(what: str, *, verb: str = "look up") -> Deed:
    return Deed(verb, what, only_reads=True)


DEEDS = {
    "arc-zonal-shift:GetManagedResource": _look_up("zonal shifts"),
    "ec2:AssignIpv6Addresses": Deed("assign", "IPv6 addresses"),
    "ec2:CreateFleet": Deed("create", "ec2:fleet"),
    "ec2:CreateLaunchTemplate": Deed("create", "ec2:launch-template"),
    "ec2:CreateTags": Deed("tag", RESOURCES),
    "ec2:DeleteLaunchTemplate": Deed("delete", "ec2:launch-template"),
    "ec2:DescribeAvailabilityZones": _look_up("availability zones"),
    "ec2:DescribeCapacityReservations": _look_up("ec2:capacity-reservation"),
    "ec2:DescribeImages": _look_up("ec2:image"),
    "ec2:DescribeInstanceStatus": _look_up("ec2:instance", verb="look up the health of"),
    "ec2:DescribeInstanceTypeOfferings": _look_up("where instance types are offered"),
    "ec2:DescribeInstanceTypes": _look_up("instance types"),
    "ec2:DescribeInstances": _look_up("ec2:instance"),
    "ec2:DescribeLaunchTemplates": _look_up("ec2:launch-template"),
    "ec2:DescribeNetworkInterfaces": _look_up("ec2:network-interface"),
    "ec2:DescribePlacementGroups": _look_up("ec2:placement-group"),
    "ec2:DescribeSecurityGroups": _look_up("ec2:security-group"),
    "ec2:DescribeSpotPriceHistory": _look_up("spot prices"),
    "ec2:DescribeSubnets": _look_up("ec2:subnet"),
    "ec2:DescribeTags": _look_up("tags"),
    "ec2:RunInstances": Deed("launch", "ec2:instance"),
    "ec2:TerminateInstances": Deed("terminate", "ec2:instance"),
    "eks:DescribeCluster": _look_up("eks:cluster"),
    "iam:AddRoleToInstanceProfile": Deed("add roles to", "iam:instance-profile"),
    "iam:CreateInstanceProfile": Deed("create", "iam:instance-profile"),
    "iam:DeleteInstanceProfile": Deed("delete", "iam:instance-profile"),
    "iam:GetInstanceProfile": _look_up("iam:instance-profile"),
    "iam:ListInstanceProfiles": _look_up("iam:instance-profile", verb="list"),
    "iam:PassRole": Deed("pass", "iam:role"),
    "iam:RemoveRoleFromInstanceProfile": Deed("remove roles from", "iam:instance-profile"),
    "iam:TagInstanceProfile": Deed("tag", "iam:instance-profile"),
    "kms:Decrypt": Deed("decrypt with", "kms:key"),
    "kms:GenerateDataKey": Deed("make data keys with", "kms:key"),
    "logs:CreateLogGroup": Deed("create", "logs:log-group"),
    "logs:CreateLogStream": Deed("create log streams in", "logs:log-group"),
    "logs:DescribeLogStreams": _look_up("logs:log-group", verb="look up log streams of"),
    "logs:PutLogEvents": Deed("write to", "logs:log-group"),
    "pricing:GetProducts": _look_up("on-demand prices"),
    "sqs:DeleteMessage": Deed("delete messages of", "sqs"),
    "sqs:GetQueueAttributes": _look_up("sqs", verb="look up the attributes of"),
    "sqs:GetQueueUrl": _look_up("sqs", verb="look up the URL of"),
    "sqs:ReceiveMessage": Deed("receive messages of", "sqs"),
    "sqs:SendMessage": Deed("send messages to", "sqs"),
    "ssm:GetParameter": _look_up("ssm:parameter"),
    "sts:AssumeRole": Deed("assume", "this role"),
    "sts:AssumeRoleWithWebIdentity": Deed("assume", "this role"),
    "sts:TagSession": Deed("tag", "its sessions"),
}
# The resources that a launch names beside what it creates are what it is launched with.
LAUNCHES = frozenset({"ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"})

PRINCIPALS = {
    "Service": ("the service", "the services"),
    "Federated": ("holders of a token of", "holders of a token of"),
}


def in_words(statement: Statement) -> str:
    """Write what a statement allows or denies: who may do what, to which resources, and when."""
    is_allowed = statement.effect == "Allow"
    when = list(circumstances(statement.conditions))
    only_if = f", {'only ' if is_allowed else ''}if {', and '.join(when)}" if when else ""
    return f"{_who(statement.principals, is_allowed=is_allowed)} {_what(statement)}{only_if}"


def deed_of(action: str) -> Deed:
    """Find the words of an action; one that is not known, or a pattern, keeps its name."""
    service, _, name = action.partition(":")
    if action == EVERYTHING:
        return Deed("call", "any action")
    if name == EVERYTHING:
        return Deed("call", f"any action of {service}")
    return DEEDS.get(action) or Deed("call", action)


def _who(principals: Sequence[Principal], *, is_allowed: bool) -> str:
    if any(EVERYTHING in (principal.type, *principal.identifiers) for principal in principals):
        return "everyone may" if is_allowed else "nobody may"
    return f"{listed(list(map(_named, principals)))} {'may' if is_allowed else 'may not'}".lstrip()


def _named(principal: Principal) -> str:
    one, several = PRINCIPALS.get(principal.type, (principal.type, principal.type))
    return f"{one if len(principal.identifiers) == 1 else several} {things(principal.identifiers)}"


def _what(statement: Statement) -> str:
    deeds, arns = list(map(deed_of, statement.actions)), statement.resources
    limit = limits(statement.conditions, several=are_several(arns))
    meanings = list(map(meant, arns))
    objects, kinds = {deed.object for deed in deeds}, {row.kind for row in meanings}
    places = {row.where for row in meanings}
    if objects == kinds and len(places) == 1 and all(row.name == EVERYTHING for row in meanings):
        return f"{_done(deeds)}{places.pop()}{limit}"
    if EVERYTHING not in arns and arns and (objects == {RESOURCES} or (len(objects) == 1 and objects == kinds)):
        return f"{listed(_verbs(deeds))} {things(arns)}{limit}"
    return f"{_done(deeds)}{_beside(statement, is_limited=bool(limit))}{limit}"


def _done(deeds: Sequence[Deed]) -> str:
    """Write what is done to everything of a kind; what has the same verb, or the same object, is said together."""
    if len({deed.object for deed in deeds}) == 1:
        return f"{listed(_verbs(deeds))} {_several(deeds[0].object)}"
    phrases = [
        f"{verb} {listed([_several(deed.object) for deed in deeds if deed.verb == verb])}" for verb in _verbs(deeds)
    ]
    has_lists = len(phrases) < len({(deed.verb, deed.object) for deed in deeds})
    return f"{', '.join(phrases[:-1])}, and {phrases[-1]}" if has_lists and len(phrases) > 1 else listed(phrases)


def _verbs(deeds: Iterable[Deed]) -> list[str]:
    return list(dict.fromkeys(deed.verb for deed in deeds))


def _several(what: str) -> str:
    return KINDS[what][1] if what in KINDS else what


def _beside(statement: Statement, *, is_limited: bool) -> str:
    """Write the resources of a statement whose actions do not say them."""
    if EVERYTHING in statement.resources:
        only_reads = all(deed_of(action).only_reads for action in statement.actions)
        return "" if is_limited or only_reads else " (any resource)"
    if not statement.resources:
        return ""
    word = "with" if LAUNCHES.issuperset(statement.actions) else "on"
    return f" {word} {things(statement.resources)}"
