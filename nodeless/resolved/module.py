"""An installation whose cluster is not known yet: what differs between clusters is a variable of a Terraform module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nodeless.karpenter.guides import GUIDES
from nodeless.karpenter.packing import WHOLE_KEY
from nodeless.resolved.installation import FargateProfile, Installation, Queue, controller_labels
from nodeless.resolved.names import BY_KEY, Names
from nodeless.resolved.partitions import Partition
from nodeless.resolved.terraform_text import in_terraform

REGION = "${data.aws_region.current.id}"
PARTITION = Partition(
    name="${data.aws_partition.current.partition}",
    dns_suffix="${data.aws_partition.current.dns_suffix}",
    ec2_principal="${local.ec2_principal}",
    regions=(),
    region_pattern="",
)
NAMESPACE = "${var.namespace}"
PATH = "${var.path}"
OIDC_URL = "${var.cluster_oidc_url}"
OIDC_ARN = "${var.cluster_oidc_arn}"
SUBNETS = "${var.cluster_subnet_ids}"


def name_reference(key: str) -> str:
    """Refer to a physical name, which the module makes of the cluster's."""
    return f'${{local.names["{key}"]}}' if "." in key else f"${{local.names.{key}}}"


def with_variables(template: Installation) -> Installation:
    """Return a copy for the cluster that the caller of the module names; pools and classes are the default ones."""
    written = in_terraform(template)
    path = PATH if path_is_a_variable(template) else template.path
    return replace(
        written,
        stack="module",
        name="${var.cluster_name}",
        names=Names(
            cluster="${var.cluster_name}",
            style=template.names.style,
            overrides={key: name_reference(key) for key in BY_KEY},
            path=path,
        ),
        region=REGION,
        partition=PARTITION,
        account=None,
        endpoint="${var.cluster_endpoint}",
        # Nothing in the module uses it: the caller configures the Helm provider. Without it, it would be looked up.
        certificate_authority="${null}",
        oidc_issuer=OIDC_URL,
        oidc_provider_arn=None if template.creates_oidc_provider else OIDC_ARN,
        subnets=(SUBNETS,),
        namespace=NAMESPACE if namespace_is_a_variable(template) else template.namespace,
        service_account="${var.service_account}",
        fargate=written.fargate and _profile(template, written.fargate),
        tagged_subnets=(),
        tagged_security_groups=(),
        path=path,
        permissions_boundary="${var.permissions_boundary}",
        tags={},
        node_classes=(),
        node_pools=(),
    ).with_texts(replicas="${var.replicas}")


def without_interruption(installation: Installation) -> Installation | None:
    """Return the same installation without a queue; None where that cannot be chosen when the module is called.

    A policy in one piece has the permission to read the queue among its statements, and cannot leave it out.
    """
    if not interruption_is_a_variable(installation):
        return None
    return replace(installation, stack="without-interruption", queue=None)


def interruption_is_a_variable(installation: Installation) -> bool:
    """Tell whether the caller of the module decides about the queue."""
    return installation.queue == Queue(kms_key_arn=None) and WHOLE_KEY not in installation.packing.sizes


def namespace_is_a_variable(template: Installation) -> bool:
    """Tell whether the caller may choose the namespace: selectors of the user's own name another one."""
    return template.fargate is None or template.fargate.selectors[0] == (template.namespace, controller_labels(template.namespace))


def path_is_a_variable(template: Installation) -> bool:
    """Tell whether the caller may choose the IAM path: the entries of aws-auth name roles without theirs."""
    return template.access != "aws-auth"


def fixed_features(template: Installation) -> Iterator[str]:
    """Name what was decided when the module was exported, beyond the release."""
    yield f"names in the style `{template.names.style}`"
    yield f"delivery `{template.delivery}`"
    yield f"the controller's identity: `{template.identity}`"
    yield "the controller runs on Fargate" if template.fargate else "the controller runs outside of Fargate"
    yield f"nodes join by `{template.access}`"
    if template.policy in GUIDES:
        yield f"the flat policy of `{template.policy}`"


def _profile(template: Installation, profile: FargateProfile) -> FargateProfile:
    if not namespace_is_a_variable(template):
        return profile
    return replace(profile, selectors=((NAMESPACE, {}), *profile.selectors[1:]))
