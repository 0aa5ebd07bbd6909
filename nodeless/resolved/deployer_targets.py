"""What the statements of a deployer's policy are about and limited to: the ARNs and conditions of an installation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from nodeless.karpenter.interruption import EVENT_RULES
from nodeless.karpenter.nodes import ACCESS_ENTRY_TYPES, FARGATE_CNI_POLICIES, FARGATE_POLICIES, NODE_POLICIES
from nodeless.karpenter.packing import TITLES
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Condition, string_equals
from nodeless.resolved.adoption_rows import MODULE_CONTROLLER, TERRAFORM_AWS_EKS
from nodeless.resolved.installation import Installation
from nodeless.resolved.lookups import plan_lookups
from nodeless.resolved.permissions import node_role_arns, queue_arn
from nodeless.resolved.roles import (
    NodeRolePlan,
    RolePlan,
    plan_controller,
    plan_extra_node_roles,
    plan_fargate,
    plan_node_role,
)

SPOT_ROLE = "role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"
# EKS makes this role with the account's first Fargate profile. AWS writes its service in both ways.
# https://github.com/aws-controllers-k8s/community/issues/1821
FARGATE_SERVICES = ("eks-fargate.amazonaws.com", "eks-fargate-pods.amazonaws.com")
FARGATE_SERVICE_ROLE = "role/aws-service-role/eks-fargate*.amazonaws.com/AWSServiceRoleForAmazonEKSForFargate"


class Subject(NamedTuple):
    """An installation, and the values its ARNs are built from."""

    installation: Installation
    place: Place


Arns = Callable[[Subject], Iterable[str]]
Conditions = Callable[[Subject], Iterable[Condition]]


# What a statement is about. Names of every release are listed, so that one policy also serves an upgrade.


def roles(subject: Subject) -> Iterator[str]:
    """Return the roles that the stack creates."""
    for plan in (_controller(subject), *_node_role_plans(subject), *_fargate_role_plans(subject)):
        yield _role_arn(subject, plan)


def controller_role(subject: Subject) -> Iterator[str]:
    """Return the controller's role."""
    yield _role_arn(subject, _controller(subject))


def controller_role_of_pods(subject: Subject) -> Iterator[str]:
    """Return the controller's role, if EKS Pod Identity gives it to pods."""
    if subject.installation.identity == "pod-identity":
        yield from controller_role(subject)


def fargate_roles(subject: Subject) -> Iterator[str]:
    """Return the pod execution role, if there is a Fargate profile."""
    yield from (_role_arn(subject, plan) for plan in _fargate_role_plans(subject))


def node_roles(subject: Subject) -> Iterator[str]:
    """Return the node roles that the stack creates."""
    yield from (_role_arn(subject, plan) for plan in _node_role_plans(subject))


def profiled_roles(subject: Subject) -> Iterator[str]:
    """Return the node roles that are put into an instance profile."""
    if subject.installation.instance_profile:
        yield from node_roles(subject)


def inline_roles(subject: Subject) -> Iterator[str]:
    """Return the roles that have an inline policy."""
    for plan in (*_node_role_plans(subject), *_fargate_role_plans(subject)):
        if plan.inline:
            yield _role_arn(subject, plan)


def exclusive_roles(subject: Subject) -> Iterator[str]:
    """Return the roles that keep no policies but their own."""
    if subject.installation.exclusive_policies:
        yield from roles(subject)


def roles_with_other_policies(subject: Subject) -> Iterator[str]:
    """Return the roles that may have policies of others: those of an adoption, and those that are to lose them."""
    if subject.installation.adoption or subject.installation.exclusive_policies:
        yield from roles(subject)


def policies_of_the_module(subject: Subject) -> Iterator[str]:
    """Return the policies of the Terraform module that is adopted: in its own state, the stack's replace them."""
    adoption = subject.installation.adoption
    if adoption and adoption.setup == TERRAFORM_AWS_EKS:
        yield subject.place.iam(f"policy{subject.installation.path}{MODULE_CONTROLLER}*")


def policies(subject: Subject) -> Iterator[str]:
    """Return the managed policies that the controller has in any release."""
    path, names = subject.installation.path, subject.installation.names
    for key in TITLES:
        yield subject.place.iam(f"policy{path}{names.policy(key)}")


def instance_profiles(subject: Subject) -> Iterator[str]:
    """Return the instance profiles."""
    for plan in _node_plans(subject):
        if plan.instance_profile:
            yield subject.place.iam(f"instance-profile{subject.installation.path}{plan.instance_profile}")


def oidc_providers(subject: Subject) -> Iterator[str]:
    """Return the OIDC provider, if the stack creates it; while its issuer is not known, any of this region."""
    if subject.installation.creates_oidc_provider and subject.installation.identity == "irsa":
        yield subject.place.iam(f"oidc-provider/{_issuer_host(subject)}")


def queues(subject: Subject) -> Iterator[str]:
    """Return the interruption queue."""
    arn = queue_arn(subject.installation, subject.place)
    if arn:
        yield arn


def rules(subject: Subject) -> Iterator[str]:
    """Return the event rules of any release."""
    if subject.installation.queue:
        for _, event in EVENT_RULES:
            yield subject.place.regional("events", f"rule/{subject.installation.names.rule(event.key)}")


def cluster(subject: Subject) -> Iterator[str]:
    """Return the cluster."""
    yield subject.place.cluster_arn


def cluster_with(*parts: Arns) -> Arns:
    """Return the cluster if the stack has one of these parts: what is created in a cluster is asked for there."""
    return lambda subject: cluster(subject) if any(any(part(subject)) for part in parts) else ()


def fargate_profiles(subject: Subject) -> Iterator[str]:
    """Return the Fargate profile; EKS adds an id to its name."""
    if subject.installation.fargate:
        yield _in_cluster(subject, "fargateprofile", f"{subject.installation.names.fargate_profile}/*")


def access_entries(subject: Subject) -> Iterator[str]:
    """Return the access entries of the node roles; EKS does not document whether a role's path is part of theirs."""
    if subject.installation.access == "access-entry":
        for arn in _roles_with_entries(subject):
            account, role = arn.split(":")[4], arn.partition(":role/")[2]
            for name in dict.fromkeys((role.rpartition("/")[2], role)):
                yield _in_cluster(subject, "access-entry", f"role/{account}/{name}/*")


def addons(subject: Subject) -> Iterator[str]:
    """Return the add-on CoreDNS, if it runs on Fargate."""
    if subject.installation.fargate and subject.installation.fargate.coredns:
        yield _in_cluster(subject, "addon", "coredns/*")


def associations(subject: Subject) -> Iterator[str]:
    """Return the associations of Pod Identity; EKS gives them an id only."""
    if subject.installation.identity == "pod-identity":
        yield _in_cluster(subject, "podidentityassociation", "*")


def tagged(subject: Subject) -> Iterator[str]:
    """Return the subnets and security groups that get the discovery tag."""
    for kind, ids in (
        ("subnet", subject.installation.tagged_subnets),
        ("security-group", subject.installation.tagged_security_groups),
    ):
        yield from (subject.place.regional("ec2", f"{kind}/{id_}") for id_ in ids)


def spot_role(subject: Subject) -> Iterator[str]:
    """Return the service-linked role for spot, if the stack creates it."""
    if subject.installation.spot_service_linked_role:
        yield subject.place.iam(SPOT_ROLE)


def fargate_service_role(subject: Subject) -> Iterator[str]:
    """Return the service-linked role that EKS needs for a Fargate profile."""
    if subject.installation.fargate:
        yield subject.place.iam(FARGATE_SERVICE_ROLE)


def looked_up_cluster(subject: Subject) -> Iterator[str]:
    """Return the cluster, if the stack looks it up."""
    if plan_lookups(subject.installation).cluster:
        yield from cluster(subject)


def looked_up_subnets(subject: Subject) -> Iterator[str]:
    """Return the wildcard for the lookup of subnets: EC2 knows no resources there."""
    if plan_lookups(subject.installation).subnets:
        yield "*"


def looked_up_security_groups(subject: Subject) -> Iterator[str]:
    """Return the wildcard for the lookup of security groups."""
    if plan_lookups(subject.installation).security_groups:
        yield "*"


def looked_up_oidc_provider(subject: Subject) -> Iterator[str]:
    """Return the account's OIDC provider for the issuer, if the stack looks it up."""
    if plan_lookups(subject.installation).oidc_provider:
        yield subject.place.iam(f"oidc-provider/{_issuer_host(subject)}")


def tags_of_network(subject: Subject) -> Iterator[str]:
    """Return the wildcard for reading discovery tags."""
    if any(tagged(subject)):
        yield "*"


# What a statement is limited to, beside its resources.


def boundary(subject: Subject) -> Iterator[Condition]:
    """Create roles with the boundary of the file only, if it has one."""
    boundary = subject.installation.permissions_boundary
    if boundary:
        yield Condition("ArnEquals", "iam:PermissionsBoundary", (boundary,))


def policy_of_the_controller(subject: Subject) -> Iterator[Condition]:
    """Attach the controller's own policies only."""
    yield Condition("ArnEquals", "iam:PolicyARN", tuple(policies(subject)))


def policy_of_fargate(subject: Subject) -> Iterator[Condition]:
    """Attach the policies of the pod execution role only."""
    names = (name for _, name in (*FARGATE_POLICIES, *FARGATE_CNI_POLICIES))
    yield Condition("ArnEquals", "iam:PolicyARN", tuple(map(subject.place.managed_policy, names)))


def policy_of_nodes(subject: Subject) -> Iterator[Condition]:
    """Attach the policies of node roles only: those of any release, and those that the file adds."""
    own = (subject.place.managed_policy(name) for _, (_, name) in NODE_POLICIES)
    extra = (arn for role in subject.installation.node_roles for arn in role.policies)
    arns = dict.fromkeys((*own, *subject.installation.node_policies, *extra))
    yield Condition("ArnEquals", "iam:PolicyARN", tuple(arns))


def passed_to(*services: str) -> Conditions:
    """Pass a role to these services only."""
    return lambda _: (string_equals("iam:PassedToService", *services),)


def passed_to_ec2(subject: Subject) -> Iterator[Condition]:
    """Pass a role to EC2 only."""
    yield string_equals("iam:PassedToService", subject.installation.partition.ec2_principal)


def for_service(*services: str) -> Conditions:
    """Create the service-linked role of these services only."""
    return lambda _: (string_equals("iam:AWSServiceName", *services),)


def of_nodes(subject: Subject) -> Iterator[Condition]:
    """Let node roles in as nodes: without these limits, a deployer could let itself in as an administrator."""
    yield string_equals("eks:accessEntryType", *ACCESS_ENTRY_TYPES.values())
    yield Condition("ArnLike", "eks:principalArn", tuple(_roles_with_entries(subject)))


def to_the_queue(subject: Subject) -> Iterator[Condition]:
    """Send events to the queue only."""
    # The key has one value for each target of a request.
    yield Condition("ForAllValues:ArnEquals", "events:TargetArn", tuple(queues(subject)))


def discovery_tag(subject: Subject) -> Iterator[Condition]:
    """Write the discovery tag only."""
    yield Condition("ForAllValues:StringEquals", "aws:TagKeys", (subject.installation.tag_key,))


def _roles_with_entries(subject: Subject) -> Iterator[str]:
    """Return the node roles whose access entry the stack creates."""
    own, *extra = node_role_arns(subject.installation, subject.place)
    yield own
    for role, arn in zip(subject.installation.node_roles, extra, strict=True):
        if not role.has_access_entry:
            yield arn


def _issuer_host(subject: Subject) -> str:
    issuer = subject.installation.oidc_issuer
    if issuer:
        return issuer.removeprefix("https://")
    return f"oidc.eks.{subject.place.region}.{subject.place.dns_suffix}/id/*"


def _controller(subject: Subject) -> RolePlan:
    host = _issuer_host(subject) if subject.installation.identity == "irsa" else None
    return plan_controller(subject.installation, subject.place, issuer_host=host).role


def _fargate_role_plans(subject: Subject) -> Iterator[RolePlan]:
    plan = plan_fargate(subject.installation, subject.place)
    if plan:
        yield plan.role


def _node_plans(subject: Subject) -> Iterator[NodeRolePlan]:
    yield plan_node_role(subject.installation, subject.place)
    for plan in plan_extra_node_roles(subject.installation, subject.place):
        if isinstance(plan, NodeRolePlan):
            yield plan


def _node_role_plans(subject: Subject) -> Iterator[RolePlan]:
    yield from (plan.role for plan in _node_plans(subject))


def _role_arn(subject: Subject, plan: RolePlan) -> str:
    return subject.place.iam(f"role{plan.path}{plan.name}")


def _in_cluster(subject: Subject, kind: str, rest: str) -> str:
    return subject.place.regional("eks", f"{kind}/{subject.place.cluster}/{rest}")
