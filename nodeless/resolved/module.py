"""An installation whose cluster is not known yet: what differs between clusters is a variable of a Terraform module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nodeless.karpenter.guides import GUIDES
from nodeless.karpenter.interruption import event_rules
from nodeless.karpenter.packing import WHOLE_KEY
from nodeless.resolved.installation import FargateProfile, Installation, Queue, controller_labels
from nodeless.resolved.names import BY_KEY, NAME_RULES, POLICIES, RULES, NameRule, Names
from nodeless.resolved.partitions import Partition
from nodeless.resolved.terraform_text import in_terraform

PARTITION = Partition(
    name="${data.aws_partition.current.partition}",
    dns_suffix="${data.aws_partition.current.dns_suffix}",
    ec2_principal="${local.ec2_principal}",
    regions=(),
    region_pattern="",
)
REGION = "${data.aws_region.current.id}"
NAMESPACE = "${var.namespace}"
PATH = "${var.path}"
SUBNETS = "${var.cluster_subnet_ids}"
NO_KEY_OF_ITS_OWN = Queue(kms_key_arn=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """What a module is made of: the cluster it was taken from, and the same with variables in place of its values.

    `without_queue` differs from `installation` in nothing but interruption handling. It is None where the caller of the
    module cannot choose: a policy in one piece has the permission to read the queue among its statements, and a key of
    the user's own belongs to one queue.
    """

    template: Installation
    installation: Installation
    without_queue: Installation | None

    @property
    def chooses_namespace(self) -> bool:
        """Tell whether the caller names the namespace: selectors of the user's own fix it."""
        return self.installation.namespace == NAMESPACE

    @property
    def chooses_path(self) -> bool:
        """Tell whether the caller names the IAM path: the entries of aws-auth are written without one."""
        return self.installation.path == PATH

    @property
    def with_helm(self) -> bool:
        """Tell whether the module installs the charts."""
        return self.template.delivery == "helm"

    def name_rules(self) -> Iterator[tuple[NameRule, str]]:
        """Yield each name that the module makes with its key: of roles, of the release's policies and of its rules."""
        template, installation = self.template, self.installation
        for rule in NAME_RULES:
            if (
                (rule.key.startswith("fargate") and not template.fargate)
                or (rule.key == "instance_profile" and not template.instance_profile)
                or (rule.key == "queue" and not installation.queue)
            ):
                continue
            yield rule, rule.key
        for key in installation.packing.sizes:
            yield BY_KEY[f"{POLICIES}.{key}"], f"{POLICIES}.{key}"
        for event in event_rules(installation.release) if installation.queue else ():
            yield BY_KEY[f"{RULES}.{event.key}"], f"{RULES}.{event.key}"
        for role in (role for role in template.node_roles if role.arn is None):
            yield BY_KEY["node_role"], f"node_role.{role.key}"
            if template.instance_profile:
                yield BY_KEY["instance_profile"], f"instance_profile.{role.key}"


def module_of(template: Installation) -> Module:
    """Put variables in place of what differs between clusters; pools and classes become the default ones."""
    switched = _with_variables(template, queue=template.queue or NO_KEY_OF_ITS_OWN)
    if template.policy not in GUIDES and switched.queue == NO_KEY_OF_ITS_OWN:
        without = replace(switched, stack="without-interruption", queue=None)
        if WHOLE_KEY not in switched.packing.sizes:
            return Module(template=template, installation=switched, without_queue=without)
    fixed = _with_variables(template, queue=template.queue)
    return Module(template=template, installation=fixed, without_queue=None)


def _with_variables(template: Installation, *, queue: Queue | None) -> Installation:
    written = in_terraform(template)
    path = template.path if template.access == "aws-auth" else PATH
    namespace, fargate = _namespace(template, written.fargate)
    return replace(
        written,
        stack="module",
        name="${var.cluster_name}",
        names=_names(template, path),
        region=REGION,
        partition=PARTITION,
        account=None,
        endpoint="${var.cluster_endpoint}",
        # Nothing in the module uses it: its caller configures the Helm provider. Without it, it would be looked up.
        certificate_authority="${null}",
        oidc_issuer="https://${local.oidc_issuer}",
        oidc_provider_arn=None if template.creates_oidc_provider else "${var.cluster_oidc_arn}",
        subnets=(SUBNETS,),
        namespace=namespace,
        service_account="${var.service_account}",
        fargate=fargate,
        queue=queue,
        tagged_subnets=(),
        tagged_security_groups=(),
        path=path,
        permissions_boundary="${var.permissions_boundary}",
        tags={},
        node_classes=(),
        node_pools=(),
        # Terraform takes import blocks only in a root module.
        adoption=None,
    ).with_texts(replicas="${var.replicas}")


def _names(template: Installation, path: str) -> Names:
    extra = (f"{rule}.{role.key}" for rule in ("node_role", "instance_profile") for role in template.node_roles)
    references = {key: _name(key) for key in (*BY_KEY, *extra)}
    return Names(cluster="${var.cluster_name}", style=template.names.style, overrides=references, path=path)


def _name(key: str) -> str:
    return f'${{local.names["{key}"]}}' if "." in key else f"${{local.names.{key}}}"


def _namespace(template: Installation, fargate: FargateProfile | None) -> tuple[str, FargateProfile | None]:
    """Return the namespace and the profile that selects it; selectors of the user's own keep both as they are."""
    if fargate is None:
        return NAMESPACE, None
    first, *others = fargate.selectors
    if first != (template.namespace, controller_labels(template.namespace)):
        return template.namespace, fargate
    # The labels depend on the namespace: they are an expression of the module's.
    return NAMESPACE, replace(fargate, selectors=((NAMESPACE, {}), *others))
