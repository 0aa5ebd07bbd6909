"""The resources of one stack: their addresses, their names in AWS or in the cluster, and what each is for.

Tests compare this table with the synthesized JSON. Policy documents are left out: they are text, and look nothing up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nodeless.karpenter.interruption import TARGET_ID
from nodeless.karpenter.place import Place
from nodeless.resolved.addresses import address_part
from nodeless.resolved.charts import chart_releases
from nodeless.resolved.installation import Installation
from nodeless.resolved.interruption import plan_queue
from nodeless.resolved.lookups import plan_lookups
from nodeless.resolved.permissions import place_of
from nodeless.resolved.roles import (
    ExistingNodeRolePlan,
    NodeRolePlan,
    RolePlan,
    plan_controller,
    plan_extra_node_roles,
    plan_fargate,
    plan_node_role,
)

FARGATE, CONTROLLER, NODES = "fargate", "controller", "nodes"
INTERRUPTION, DISCOVERY, HELM, LOOKUPS = "interruption", "discovery", "helm", "lookups"
PARTS = (FARGATE, CONTROLLER, NODES, INTERRUPTION, DISCOVERY, HELM, LOOKUPS)

# What the controller may do with each of its policies.
POLICY_PURPOSES = {
    "controller": "everything the controller may do",
    "node_lifecycle": "launches, tags and terminates instances",
    "iam_integration": "passes the node role to instances, manages instance profiles",
    "eks_integration": "looks up the cluster's endpoint",
    "interruption": "reads and deletes messages of the queue",
    "resource_discovery": "looks up what can be launched",
    "zonal_shift": "follows zonal shifts",
    "extra": "the statements of `extra_statements`",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource or lookup of a stack; `name` is None where it has no name of its own."""

    part: str
    address: str
    purpose: str
    name: str | None = None


def inventory(installation: Installation) -> tuple[Resource, ...]:
    """List the resources of a stack part by part, then what it looks up."""
    # No name has the account in it.
    place = place_of(installation, account=installation.account or "")
    return tuple(
        row
        for rows in (_fargate, _controller, _nodes, _interruption, _discovery, _helm, _lookups)
        for row in rows(installation, place)
    )


def _fargate(installation: Installation, place: Place) -> Iterator[Resource]:
    plan = plan_fargate(installation, place)
    if plan is None:
        return
    yield from _role(FARGATE, plan.role, "runs the controller's pods on Fargate")
    yield Resource(
        part=FARGATE,
        address="aws_eks_fargate_profile.karpenter",
        purpose="the pods that run on Fargate",
        name=plan.profile_name,
    )
    if installation.fargate and installation.fargate.coredns:
        yield Resource(part=FARGATE, address="aws_eks_addon.coredns", purpose="CoreDNS on Fargate", name="coredns")


def _controller(installation: Installation, place: Place) -> Iterator[Resource]:
    # Who is trusted makes no difference to names and addresses.
    plan = plan_controller(installation, place, issuer_host=None)
    yield from _role(CONTROLLER, plan.role, "the controller's role")
    for policy in plan.policies:
        address = f"{plan.role.address}_{policy.key}"
        purpose = POLICY_PURPOSES[policy.key]
        yield Resource(part=CONTROLLER, address=f"aws_iam_policy.{address}", purpose=purpose, name=policy.name)
        yield _attachment(CONTROLLER, address, policy.name)
    yield Resource(
        part=CONTROLLER,
        address=f"terraform_data.{plan.role.address}_policies",
        purpose="keeps old policies until all new ones are attached; nothing in AWS",
    )
    if installation.identity == "pod-identity":
        yield Resource(
            part=CONTROLLER,
            address="aws_eks_pod_identity_association.controller",
            purpose="gives the role to the controller's service account",
        )
    elif installation.creates_oidc_provider:
        yield Resource(
            part=CONTROLLER,
            address="aws_iam_openid_connect_provider.cluster",
            purpose="lets IAM trust the cluster's service account tokens",
        )


def _nodes(installation: Installation, place: Place) -> Iterator[Resource]:
    for plan in (plan_node_role(installation, place), *plan_extra_node_roles(installation, place)):
        if isinstance(plan, ExistingNodeRolePlan):
            yield _access_entry(plan.address)
        else:
            yield from _node_role(plan)


def _node_role(plan: NodeRolePlan) -> Iterator[Resource]:
    address = plan.role.address
    yield from _role(NODES, plan.role, "the role of the nodes")
    if plan.instance_profile:
        yield Resource(
            part=NODES,
            address=f"aws_iam_instance_profile.{address}",
            purpose="gives the role to instances",
            name=plan.instance_profile,
        )
    if plan.access_entry_type:
        yield _access_entry(address)


def _access_entry(address: str) -> Resource:
    return Resource(part=NODES, address=f"aws_eks_access_entry.{address}", purpose="lets nodes join the cluster")


def _interruption(installation: Installation, place: Place) -> Iterator[Resource]:
    plan = plan_queue(installation, place)
    if plan is None:
        return
    yield Resource(
        part=INTERRUPTION, address="aws_sqs_queue.interruption", purpose="the interruption queue", name=plan.name
    )
    yield Resource(
        part=INTERRUPTION,
        address="aws_sqs_queue_policy.interruption",
        purpose="allows only the rules below to send to the queue",
    )
    for rule in plan.rules:
        key = f"interruption_{rule.key}"
        yield Resource(
            part=INTERRUPTION, address=f"aws_cloudwatch_event_rule.{key}", purpose=rule.description, name=rule.name
        )
        yield Resource(
            part=INTERRUPTION,
            address=f"aws_cloudwatch_event_target.{key}",
            purpose="sends these events to the queue",
            name=TARGET_ID,
        )


def _discovery(installation: Installation, _: Place) -> Iterator[Resource]:
    for tagged in (*installation.tagged_subnets, *installation.tagged_security_groups):
        yield Resource(
            part=DISCOVERY,
            address=f"aws_ec2_tag.discovery_{address_part(tagged)}",
            purpose=f"lets Karpenter find {tagged} by the tag {installation.tag_key}",
        )
    if installation.spot_service_linked_role:
        yield Resource(
            part=DISCOVERY,
            address="aws_iam_service_linked_role.spot",
            purpose="AWSServiceRoleForEC2Spot, with which EC2 runs spot instances",
        )


def _helm(installation: Installation, _: Place) -> Iterator[Resource]:
    if installation.delivery != "helm":
        return
    crds, controller = chart_releases(installation, controller={})
    yield _release("karpenter_crd", "the custom resource definitions", crds.chart)
    if installation.fargate and installation.fargate.logging:
        yield _release("fargate_logging", "sends the logs of pods on Fargate to CloudWatch Logs")
    yield _release("karpenter", f"the controller, {controller.version}", controller.chart)
    yield _release("node_pools", "node classes and node pools")


def _release(address: str, purpose: str, name: str | None = None) -> Resource:
    return Resource(
        part=HELM, address=f"helm_release.{address}", purpose=purpose, name=name or address.replace("_", "-")
    )


def _lookups(installation: Installation, _: Place) -> Iterator[Resource]:
    plan = plan_lookups(installation)
    tag = f"by the tag {installation.tag_key}"
    rows = (
        (plan.account, "data.aws_caller_identity.current", "the account", None),
        (plan.cluster, "data.aws_eks_cluster.cluster", "the cluster, as EKS describes it", installation.name),
        (plan.subnets, "data.aws_subnets.fargate", f"the subnets for Fargate, {tag}", None),
        (plan.security_groups, "data.aws_security_groups.cluster", "the cluster's security groups", None),
        (plan.security_groups, "data.aws_security_groups.nodes", f"the nodes' security groups, {tag}", None),
        (
            plan.oidc_provider,
            "data.aws_iam_openid_connect_provider.existing",
            "the account's OIDC provider for the cluster",
            None,
        ),
        *(
            (
                installation.delivery == "helm" and installation.auth == auth,
                f"{section}.aws_eks_cluster_auth.cluster",
                "the token with which the Helm provider logs in",
                installation.name,
            )
            for auth, section in (("ephemeral", "ephemeral"), ("token", "data"))
        ),
    )
    for is_there, address, purpose, name in rows:
        if is_there:
            yield Resource(part=LOOKUPS, address=address, purpose=purpose, name=name)


def _role(part: str, plan: RolePlan, purpose: str) -> Iterator[Resource]:
    yield Resource(part=part, address=f"aws_iam_role.{plan.address}", purpose=purpose, name=plan.name)
    for key, arn in plan.attached:
        yield _attachment(part, f"{plan.address}_{key}", arn.rpartition("/")[2])
    for key, _ in plan.inline:
        yield Resource(
            part=part,
            address=f"aws_iam_role_policy.{plan.address}_{key}",
            purpose="a policy in the role itself",
            name=key,
        )

    if plan.exclusive:
        for kind, what in (("policies", "inline"), ("policy_attachments", "managed")):
            yield Resource(
                part=part,
                address=f"aws_iam_role_{kind}_exclusive.{plan.address}",
                purpose=f"removes other {what} policies from the role",
            )


def _attachment(part: str, address: str, policy: str) -> Resource:
    return Resource(part=part, address=f"aws_iam_role_policy_attachment.{address}", purpose=f"attaches {policy}")
