"""The blocks of a module: what was synthesized with variables, and what only a module has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nodeless.export.module.switch import Switch, expression
from nodeless.export.module.variables import Variable
from nodeless.karpenter.custom_resource_fields import RESERVED_TAGS
from nodeless.karpenter.custom_resources import DEFAULT, api_of
from nodeless.karpenter.versions import in_effect
from nodeless.resolved.installation import CONTROLLER_LABEL, KUBE_SYSTEM
from nodeless.resolved.module import Module
from nodeless.resolved.names import HASH_LENGTH, NO_PATH, POLICIES, NameRule, short_hash
from nodeless.resolved.partitions import FARGATE, PARTITIONS
from nodeless.sinks.hcl import quoted

Tree = dict[str, Any]

INTERRUPTION = "var.interruption"
# A stack has its tags from the provider; here each resource that can have them names them.
TAGGED_TYPES = frozenset(
    {
        "aws_cloudwatch_event_rule",
        "aws_eks_access_entry",
        "aws_eks_addon",
        "aws_eks_fargate_profile",
        "aws_eks_pod_identity_association",
        "aws_iam_instance_profile",
        "aws_iam_openid_connect_provider",
        "aws_iam_policy",
        "aws_iam_role",
        "aws_iam_service_linked_role",
        "aws_sqs_queue",
    }
)
# What the names of the controller's role and policies end with, because they change with the path.
WITH_PATH = ("controller_role", POLICIES)


def configuration(module: Module, on: Tree, off: Tree | None, variables: Sequence[Variable]) -> Tree:
    """Return the module in Terraform JSON, from its synthesized stacks with and without a queue."""
    tree = Switch(INTERRUPTION, _plain(on), _plain(off)).tree() if off else _plain(on)
    tree["variable"] = {each.name: each.block() for each in variables}
    resources, values = tree["resource"], tree["locals"]
    _look_around(module, tree)
    values |= _names(module)
    for kind in TAGGED_TYPES & resources.keys():
        for block in resources[kind].values():
            block["tags"] = "${var.tags}"
    if module.template.fargate:
        _fargate(module, resources["aws_eks_fargate_profile"]["karpenter"])
    if module.template.identity == "irsa":
        _issuer(module, tree)
    if module.with_helm:
        _charts(module, tree)
    resources["aws_ec2_tag"] = {
        "discovery": {
            "for_each": "${var.tagged_resource_ids}",
            "resource_id": "${each.value}",
            "key": module.installation.tag_key,
            "value": "${var.cluster_name}",
        }
    }
    return tree


def _plain(tree: Any) -> Any:  # noqa: ANN401 - any JSON
    """Copy a tree without CDKTF's own notes."""
    if isinstance(tree, Mapping):
        return {key: _plain(value) for key, value in tree.items() if key != "//"}
    return [_plain(item) for item in tree] if isinstance(tree, list) else tree


def _look_around(module: Module, tree: Tree) -> None:
    """Ask the provider where it is, and stop where the module cannot work."""
    region = _check(
        "var.region == null || self.id == var.region",
        "region must be that of the AWS provider, which is ${self.id}.",
    )
    without = [row.name for row in PARTITIONS if FARGATE in row.not_offered]
    partition = _check(
        f"!contains({expression(without)}, self.partition)",
        "EKS has no Fargate in the partition ${self.partition}: export the module from a cluster with fargate: false.",
    )
    principals = {row.name: row.ec2_principal for row in PARTITIONS}
    tree["data"] = {
        "aws_partition": {"current": {"lifecycle": {"postcondition": [partition]}} if module.template.fargate else {}},
        "aws_region": {"current": {"lifecycle": {"postcondition": [region]}}},
        **tree["data"],
    }
    tree["locals"]["ec2_principals"] = principals
    tree["locals"]["ec2_principal"] = "${local.ec2_principals[data.aws_partition.current.partition]}"


def _check(condition: str, message: str) -> Tree:
    return {"condition": f"${{{condition}}}", "error_message": message}


def _names(module: Module) -> Tree:
    """Return the locals that make every name of the cluster's, cut where AWS allows less."""
    cut, whole = {}, {}
    for rule, key in module.name_rules():
        template = getattr(rule, module.template.names.style) + _end(rule, key)
        before, found, after = template.partition("{cluster}")
        if found:
            ends = "${local.path_part}" if key.startswith(WITH_PATH) else ""
            cut[key] = {"before": before, "after": f"${{local.region_part}}{after}{ends}", "limit": rule.limit}
        else:
            whole[key] = template
    path = module.template.path
    fixed = "" if path == NO_PATH else f"-{short_hash(path)}"
    room = "name.limit - length(name.before) - length(name.after)"
    short = f'"${{substr(var.cluster_name, 0, local.name_room[key] - {HASH_LENGTH + 1})}}-${{local.cluster_hash}}"'
    cluster = f"length(var.cluster_name) <= local.name_room[key] ? var.cluster_name : {short}"
    made = f'join("", [name.before, {cluster}, name.after])'
    return {
        "region_part": '${var.names_with_region ? "-${data.aws_region.current.id}" : ""}',
        "path_part": f'${{var.path == "/" ? "" : "-${{substr(sha256(var.path), 0, {HASH_LENGTH})}}"}}'
        if module.chooses_path
        else fixed,
        "cluster_hash": f"${{substr(sha256(var.cluster_name), 0, {HASH_LENGTH})}}",
        "name_parts": cut,
        "name_room": f"${{{{ for key, name in local.name_parts : key => {room} }}}}",
        "fixed_names": whole,
        "made_names": f"${{{{ for key, name in local.name_parts : key => {made} }}}}",
        "names": "${merge(local.fixed_names, local.made_names, var.names)}",
    }


def _end(rule: NameRule, key: str) -> str:
    """Return what the name of an extra node role ends with: its key."""
    return "" if rule.key == key else f"-{key.partition('.')[2]}"


def _fargate(module: Module, profile: Tree) -> None:
    profile["subnet_ids"] = "${var.cluster_subnet_ids}"
    if module.chooses_namespace:
        # In kube-system a bare namespace would also catch CoreDNS and every other pod there.
        labels = f'var.namespace == "{KUBE_SYSTEM}" ? {expression(CONTROLLER_LABEL)} : null'
        profile["selector"][0]["labels"] = f"${{{labels}}}"


def _issuer(module: Module, tree: Tree) -> None:
    tree["locals"]["oidc_issuer"] = '${replace(var.cluster_oidc_url, "https://", "")}'
    if not module.template.creates_oidc_provider:
        tree["resource"]["aws_iam_role"]["controller"]["lifecycle"]["precondition"] = [
            _check(
                'endswith(var.cluster_oidc_arn, ":oidc-provider/${local.oidc_issuer}")',
                "cluster_oidc_arn must be the provider of the issuer in cluster_oidc_url.",
            )
        ]


def _charts(module: Module, tree: Tree) -> None:
    """Let the caller add Helm values, pools and classes."""
    releases, values = tree["resource"]["helm_release"], tree["locals"]
    given = "[for values in [var.helm_values] : yamlencode(values) if length(values) > 0]"
    releases["karpenter"]["values"] = f"${{concat([yamlencode(local.karpenter_values)], {given})}}"
    if module.chooses_namespace:
        releases["karpenter_crd"]["create_namespace"] = f'${{var.namespace != "{KUBE_SYSTEM}"}}'
    releases["node_pools"]["depends_on"] = [*releases["node_pools"]["depends_on"], "aws_ec2_tag.discovery"]
    api = api_of(module.template.release)
    default_class, default_pool, *others = values.pop("node_pools_values")["manifests"]
    tags = default_class["spec"].pop("tags", {})
    spec = default_class["spec"]
    default_class["spec"] = (
        "${merge(local.default_node_class_spec, "
        "{ for key, value in { tags = local.instance_tags } : key => value if length(value) > 0 })}"
    )
    reference = ".".join(("item", "spec", *api.reference))
    named = f'[for item in var.node_pools : try({reference}, "")]'
    wants_default = (
        f'!contains([for item in var.node_classes : item.name], "{DEFAULT}") && '
        f'(length(var.node_pools) == 0 || contains({named}, "{DEFAULT}"))'
    )
    manifests = (
        "[for item in [local.default_node_class] : item if local.wants_default_class]",
        f"[for item in var.node_classes : {_manifest(api.class_version, api.class_kind)}]",
        "[for item in [local.default_node_pool] : item if length(var.node_pools) == 0]",
        f"[for item in var.node_pools : {_manifest(api.pool_version, api.pool_kind)}]",
        *(("[local.smoke_test]",) if others else ()),
    )
    values |= {
        "instance_tags": _instance_tags(module, tags),
        "default_node_class_spec": spec,
        "default_node_class": default_class,
        "default_node_pool": default_pool,
        **({"smoke_test": others[0]} if others else {}),
        "wants_default_class": f"${{{wants_default}}}",
        "node_pools_values": {"manifests": f"${{concat({', '.join(manifests)})}}"},
    }


def _manifest(version: str, kind: str) -> str:
    return (
        f"{{ apiVersion = {quoted(version)}, kind = {quoted(kind)}, "
        "metadata = { name = item.name }, spec = item.spec }"
    )


def _instance_tags(module: Module, of_the_policy: Mapping[str, str]) -> str:
    """Leave out the tags that Karpenter sets itself; the one that a guide's policy asks for comes last."""
    reserved = in_effect(module.template.release, RESERVED_TAGS)
    pattern = "|".join(re.escape(each).replace(r"\*", ".*") for each in reserved)
    kept = f" if !can(regex({quoted(f'^(?:{pattern})$')}, key))" if pattern else ""
    own = f"{{ for key, value in var.tags : key => value{kept} }}"
    return f"${{merge({own}, {expression(of_the_policy)})}}"
