"""Mistakes in pools and classes, one at a time, and how to make one in a spec that is right."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from nodeless.spec.guards.custom_resource_checks import places

Spec = dict[str, Any]
Change = Callable[[Spec], Spec]
REQUIREMENTS = "template.spec.requirements"
AT = tuple(REQUIREMENTS.split("."))
GPU = {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Gt", "values": ["0"]}


def put(spec: Spec, template: str, value: object) -> Spec:
    """Write a value where a path of a table points to; into every item of a list, or into a first one."""
    copy = deepcopy(spec)
    _put(copy, template.replace("[]", ".[]").split("."), value)
    return copy


def _put(tree: Any, parts: list[str], value: object) -> None:  # noqa: ANN401 - any YAML
    first, *rest = parts
    if first == "[]":
        if not tree:
            tree.append({} if rest and rest[0] != "[]" else None)
        for index in range(len(tree)):
            if rest:
                _put(tree[index], rest, value)
            else:
                tree[index] = value
    elif not rest:
        tree[first] = value
    else:
        _put(tree.setdefault(first, [] if rest[0] == "[]" else {}), rest, value)


def drop(spec: Spec, template: str) -> Spec:
    """Take out what a path of a table points to."""
    copy = deepcopy(spec)
    above, _, name = template.rpartition(".")
    for _, parent in places(copy, above) if above else [((), copy)]:
        assert isinstance(parent, dict)
        parent.pop(name, None)
    return copy


def puts(template: str, value: object) -> Change:
    return lambda spec: put(spec, template, value)


def drops(template: str) -> Change:
    return lambda spec: drop(spec, template)


def both(one: Change, other: Change) -> Change:
    return lambda spec: other(one(spec))


# Release, which of the two, what is done to its default, where that is found, words of the message.
MISTAKES: dict[str, tuple[str, str, Change, tuple[str | int, ...], str]] = {
    "a misspelt field": ("1.14.1", "pool", puts("wieght", 5), ("wieght",), "did you mean weight"),
    "a field no release has": ("1.14.1", "class", puts("zone", "a"), ("zone",), "write one of"),
    "a map where a list belongs": ("1.14.1", "pool", puts(REQUIREMENTS, {"a": "b"}), AT, "a list"),
    "a text where a map belongs": ("1.14.1", "pool", puts("disruption", "never"), ("disruption",), "a map"),
    "an item that is no map": (
        "1.14.1",
        "class",
        puts("subnetSelectorTerms", ["subnet-1"]),
        ("subnetSelectorTerms", 0),
        "a map",
    ),
    "no reference to a class": (
        "1.14.1",
        "pool",
        drops("template.spec.nodeClassRef"),
        ("template", "spec", "nodeClassRef"),
        "requires",
    ),
    "no template": ("0.37.8", "pool", drops("template"), ("template",), "requires"),
    "no consolidateAfter in v1": (
        "1.14.1",
        "pool",
        drops("disruption.consolidateAfter"),
        ("disruption", "consolidateAfter"),
        "such as 1m",
    ),
    "no disruption before 1.0.4": ("1.0.3", "pool", drops("disruption"), ("disruption",), "consolidateAfter: 1m"),
    "an unknown policy": (
        "1.14.1",
        "pool",
        puts("disruption.consolidationPolicy", "Sometimes"),
        ("disruption", "consolidationPolicy"),
        "Balanced",
    ),
    "the policy of v1beta1": (
        "1.14.1",
        "pool",
        puts("disruption.consolidationPolicy", "WhenUnderutilized"),
        ("disruption", "consolidationPolicy"),
        "write WhenEmptyOrUnderutilized",
    ),
    "a policy of a later release": (
        "1.13.1",
        "pool",
        puts("disruption.consolidationPolicy", "Balanced"),
        ("disruption", "consolidationPolicy"),
        "from 1.14 on",
    ),
    "an operator of a later release": (
        "1.8.8",
        "pool",
        puts(REQUIREMENTS, [{"key": "a/b", "operator": "Gte", "values": ["4"]}]),
        (*AT, 0, "operator"),
        "from 1.9 on",
    ),
    "a duration in days": (
        "1.14.1",
        "pool",
        puts("template.spec.expireAfter", "30d"),
        ("template", "spec", "expireAfter"),
        "720h",
    ),
    "a budget that is a number": (
        "1.14.1",
        "pool",
        puts("disruption.budgets", [{"nodes": 5}]),
        ("disruption", "budgets", 0, "nodes"),
        "in quotes",
    ),
    "a schedule without a duration": (
        "1.14.1",
        "pool",
        puts("disruption.budgets", [{"nodes": "0", "schedule": "@daily"}]),
        ("disruption", "budgets", 0, "duration"),
        "add duration",
    ),
    "more budgets than fifty": (
        "1.14.1",
        "pool",
        puts("disruption.budgets", [{"nodes": "1"}] * 51),
        ("disruption", "budgets"),
        "at most 50",
    ),
    "an unknown reason": (
        "1.14.1",
        "pool",
        puts("disruption.budgets", [{"nodes": "1", "reasons": ["Expired"]}]),
        ("disruption", "budgets", 0, "reasons", 0),
        "Drifted",
    ),
    "a label that is a number": (
        "1.14.1",
        "pool",
        puts("template.metadata.labels", {"team": 7}),
        ("template", "metadata", "labels", "team"),
        "quotes",
    ),
    "labels that are no map": (
        "1.14.1",
        "pool",
        puts("template.metadata.labels", "team"),
        ("template", "metadata", "labels"),
        "a map",
    ),
    "a limit that is no quantity": ("1.14.1", "pool", puts("limits", {"cpu": "many"}), ("limits", "cpu"), "quantity"),
    "a weight out of range": ("1.14.1", "pool", puts("weight", 101), ("weight",), "from 1 to 100"),
    "In without values": (
        "1.14.1",
        "pool",
        puts(REQUIREMENTS, [{"key": "a/b", "operator": "In"}]),
        (*AT, 0, "values"),
        "at least one",
    ),
    "Exists with values": (
        "1.14.1",
        "pool",
        puts(REQUIREMENTS, [{"key": "a/b", "operator": "Exists", "values": ["x"]}]),
        (*AT, 0, "values"),
        "compares with nothing",
    ),
    "Gt with a word": (
        "1.14.1",
        "pool",
        puts(REQUIREMENTS, [GPU | {"values": ["some"]}]),
        (*AT, 0, "values"),
        "one whole number",
    ),
    "a value that is a number": (
        "1.14.1",
        "pool",
        puts(REQUIREMENTS, [GPU | {"values": [0]}]),
        (*AT, 0, "values", 0),
        'write "0"',
    ),
    "values that are no list": (
        "0.31.5",
        "pool",
        puts("requirements", [{"key": "a/b", "operator": "In", "values": "x"}]),
        ("requirements", 0, "values"),
        "a list of texts",
    ),
    "reserved capacity before 1.3": (
        "1.2.8",
        "pool",
        puts(REQUIREMENTS, [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["reserved"]}]),
        (*AT, 0, "values", 0),
        "on-demand",
    ),
    "more minValues than values": (
        "1.14.1",
        "pool",
        puts(REQUIREMENTS, [{"key": "a/b", "operator": "In", "values": ["x"], "minValues": 2}]),
        (*AT, 0, "minValues"),
        "here are 1",
    ),
    "minValues out of range": (
        "1.14.1",
        "pool",
        puts(REQUIREMENTS, [{"key": "a/b", "operator": "Exists", "minValues": 51}]),
        (*AT, 0, "minValues"),
        "from 1 to 50",
    ),
    "a label Karpenter sets": (
        "1.14.1",
        "pool",
        puts("template.metadata.labels", {"karpenter.sh/nodepool": "x"}),
        ("template", "metadata", "labels", "karpenter.sh/nodepool"),
        "remove it",
    ),
    "a requirement on the host name": (
        "1.14.1",
        "pool",
        puts(REQUIREMENTS, [{"key": "kubernetes.io/hostname", "operator": "Exists"}]),
        (*AT, 0, "key"),
        "kubelet",
    ),
    "consolidation twice in alpha": (
        "0.31.5",
        "pool",
        puts("ttlSecondsAfterEmpty", 30),
        ("ttlSecondsAfterEmpty",),
        "keep one",
    ),
    "consolidateAfter with WhenUnderutilized": (
        "0.37.8",
        "pool",
        puts("disruption.consolidateAfter", "30s"),
        ("disruption", "consolidateAfter"),
        "WhenEmpty",
    ),
    "WhenEmpty without consolidateAfter": (
        "0.37.8",
        "pool",
        puts("disruption.consolidationPolicy", "WhenEmpty"),
        ("disruption", "consolidateAfter"),
        "such as 30s",
    ),
    "a fixed size with a weight": (
        "1.14.1",
        "pool",
        both(both(puts("replicas", 2), drops("limits")), puts("weight", 5)),
        ("weight",),
        "no weight",
    ),
    "a fixed size with a limit of cpu": (
        "1.14.1",
        "pool",
        both(puts("replicas", 2), puts("limits", {"cpu": "5"})),
        ("limits", "cpu"),
        "limits.nodes",
    ),
    "a class that is not made": (
        "1.14.1",
        "pool",
        puts("template.spec.nodeClassRef.name", "defualt"),
        ("template", "spec", "nodeClassRef", "name"),
        "write default",
    ),
    "another kind of class": (
        "1.14.1",
        "pool",
        puts("template.spec.nodeClassRef.kind", "NodeClass"),
        ("template", "spec", "nodeClassRef", "kind"),
        "EC2NodeClass",
    ),
    "no provider at all": ("0.31.5", "pool", drops("providerRef"), ("providerRef",), "name: default"),
    "both kinds of provider": (
        "0.31.5",
        "pool",
        puts("provider", {"subnetSelector": {"a": "b"}}),
        ("provider",),
        "remove provider",
    ),
    "a foreign profile in a provider": (
        "0.31.5",
        "pool",
        both(drops("providerRef"), puts("provider", {"instanceProfile": "x"})),
        ("provider", "instanceProfile"),
        "this stack makes",
    ),
    "an effect that is none": (
        "1.14.1",
        "pool",
        puts("template.spec.taints", [{"key": "a", "effect": "Sometimes"}]),
        ("template", "spec", "taints", 0, "effect"),
        "NoSchedule",
    ),
    "no selector of AMIs": ("1.14.1", "class", drops("amiSelectorTerms"), ("amiSelectorTerms",), "al2023@latest"),
    "no selector of subnets": ("0.37.8", "class", drops("subnetSelectorTerms"), ("subnetSelectorTerms",), "discovery"),
    "no selector of subnets in alpha": ("0.31.5", "class", drops("subnetSelector"), ("subnetSelector",), "discovery"),
    "neither role nor profile": ("1.14.1", "class", drops("role"), ("role",), "write role: demo-karpenter-node"),
    "role and profile": (
        "1.14.1",
        "class",
        puts("instanceProfile", "demo-karpenter-instance-profile"),
        ("role",),
        "either",
    ),
    "a role of somebody else": ("1.14.1", "class", puts("role", "KarpenterNodeRole-demo"), ("role",), "nodes.roles"),
    "a role with its path before 1.2": (
        "1.1.10",
        "class",
        puts("role", "team/demo-karpenter-node"),
        ("role",),
        "write demo-karpenter-node",
    ),
    "a profile of somebody else": (
        "1.14.1",
        "class",
        both(drops("role"), puts("instanceProfile", "x")),
        ("instanceProfile",),
        "this stack makes",
    ),
    "a profile of somebody else in alpha": (
        "0.31.5",
        "class",
        puts("instanceProfile", "x"),
        ("instanceProfile",),
        "this stack makes",
    ),
    "a term that selects nothing": (
        "1.14.1",
        "class",
        puts("subnetSelectorTerms", [{}]),
        ("subnetSelectorTerms", 0),
        "tags, id",
    ),
    "no term at all": (
        "1.14.1",
        "class",
        puts("securityGroupSelectorTerms", []),
        ("securityGroupSelectorTerms",),
        "at least one",
    ),
    "an id beside tags": (
        "1.14.1",
        "class",
        puts("subnetSelectorTerms", [{"id": "subnet-1", "tags": {"a": "b"}}]),
        ("subnetSelectorTerms", 0, "id"),
        "alone",
    ),
    "a name that is no id": (
        "1.14.1",
        "class",
        puts("securityGroupSelectorTerms", [{"id": "default"}]),
        ("securityGroupSelectorTerms", 0, "id"),
        "sg-",
    ),
    "an alias without a version": (
        "1.14.1",
        "class",
        puts("amiSelectorTerms", [{"alias": "al2023"}]),
        ("amiSelectorTerms", 0, "alias"),
        "family@version",
    ),
    "an alias of a later release": (
        "1.8.8",
        "class",
        puts("amiSelectorTerms", [{"alias": "windows2025@latest"}]),
        ("amiSelectorTerms", 0, "alias"),
        "from 1.9 on",
    ),
    "a Windows version": (
        "1.14.1",
        "class",
        puts("amiSelectorTerms", [{"alias": "windows2022@v1"}]),
        ("amiSelectorTerms", 0, "alias"),
        "windows2022@latest",
    ),
    "an alias and another family": (
        "1.14.1",
        "class",
        puts("amiFamily", "Bottlerocket"),
        ("amiFamily",),
        "AL2023 or Custom",
    ),
    "an alias and another term": (
        "1.14.1",
        "class",
        puts("amiSelectorTerms", [{"alias": "al2023@latest"}, {"id": "ami-1"}]),
        ("amiSelectorTerms", 0, "alias"),
        "only term",
    ),
    "an AMI id beside tags": (
        "1.14.1",
        "class",
        both(puts("amiFamily", "AL2"), puts("amiSelectorTerms", [{"id": "ami-1", "tags": {"a": "b"}}])),
        ("amiSelectorTerms", 0, "id"),
        "alone",
    ),
    "an AMI without a family": (
        "1.14.1",
        "class",
        puts("amiSelectorTerms", [{"id": "ami-1"}]),
        ("amiFamily",),
        "without an alias",
    ),
    "Ubuntu in v1": (
        "1.14.1",
        "class",
        both(puts("amiSelectorTerms", [{"id": "ami-1"}]), puts("amiFamily", "Ubuntu")),
        ("amiFamily",),
        "before 1.0",
    ),
    "a tag Karpenter sets": (
        "1.14.1",
        "class",
        puts("tags", {"eks:eks-cluster-name": "demo"}),
        ("tags", "eks:eks-cluster-name"),
        "does not set itself",
    ),
    "a tag of the cluster": (
        "0.37.8",
        "class",
        puts("tags", {"kubernetes.io/cluster/demo": "owned"}),
        ("tags", "kubernetes.io/cluster/demo"),
        "does not set itself",
    ),
    "a tag that is a truth value": ("1.14.1", "class", puts("tags", {"spot": True}), ("tags", "spot"), "quotes"),
}
