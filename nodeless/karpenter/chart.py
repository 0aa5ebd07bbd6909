"""Where a release's Helm charts come from, and the values they are installed with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.custom_resources import BETA_AND_V1_SERVED
from nodeless.karpenter.versions import ALWAYS, Release, Window, before, in_effect, since, the_one
from nodeless.trees import merged, nested

Values = dict[str, Any]

REPOSITORY = "oci://public.ecr.aws/karpenter"
CONTROLLER_CHART = "karpenter"
CRD_CHART = "karpenter-crd"
# The controller's image, in the same registry.
IMAGE = "controller"

# Chart versions, and image tags with them, lost the `v` of the git tag at 0.35; late patches of older minors kept it.
VERSION_PREFIX: tuple[tuple[Window, str], ...] = ((before(0, 35), "v"), (since(0, 35), ""))

# One pod on Fargate is billed by the next size up, after 256 MiB are added for the node's own components:
# 1 vCPU and 1792 Mi are exactly the size of 1 vCPU and 2 GB.
FARGATE_RESOURCES = {"cpu": "1", "memory": "1792Mi"}
RESOURCES = {"cpu": "1", "memory": "1Gi"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartInputs:
    """What the values are made of; a value that is only known later is a Terraform reference."""

    cluster: str
    endpoint: str | None
    region: str
    queue: str | None
    service_account: str
    role_arn: str | None
    replicas: int
    fargate: bool
    isolated_vpc: bool
    zonal_shift: bool
    instance_profile: str | None
    version: str = ""
    """the version of the chart, which is also the tag of its image"""
    image_repository: str | None = None
    image_tag: str | None = None
    image_digest: str | None = None


Setting = Callable[[ChartInputs], Any]


def resources(inputs: ChartInputs) -> dict[str, str]:
    """Give the controller what one Fargate size holds, or what upstream's guide asks for elsewhere."""
    return dict(FARGATE_RESOURCES if inputs.fargate else RESOURCES)


def whole_image(inputs: ChartInputs) -> str | None:
    """Write the image in one line, as the oldest chart wants it; what is not given is upstream's."""
    if not (inputs.image_repository or inputs.image_tag or inputs.image_digest):
        return None
    repository = inputs.image_repository or f"{REPOSITORY.removeprefix('oci://')}/{IMAGE}"
    image = f"{repository}:{inputs.image_tag or inputs.version}"
    return f"{image}@{inputs.image_digest}" if inputs.image_digest else image


ZONE_SPREAD = [
    {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"},
]

# A row whose setting returns None is left out.
VALUES: tuple[tuple[Window, tuple[str, Setting]], ...] = (
    (before(0, 32), ("settings.aws.clusterName", lambda inputs: inputs.cluster)),
    (before(0, 32), ("settings.aws.clusterEndpoint", lambda inputs: inputs.endpoint)),
    (before(0, 32), ("settings.aws.interruptionQueueName", lambda inputs: inputs.queue)),
    (before(0, 32), ("settings.aws.defaultInstanceProfile", lambda inputs: inputs.instance_profile)),
    (before(0, 32), ("settings.aws.isolatedVPC", lambda inputs: inputs.isolated_vpc or None)),
    (since(0, 32), ("settings.clusterName", lambda inputs: inputs.cluster)),
    (since(0, 32), ("settings.clusterEndpoint", lambda inputs: inputs.endpoint)),
    (since(0, 32), ("settings.interruptionQueue", lambda inputs: inputs.queue)),
    (since(0, 32), ("settings.isolatedVPC", lambda inputs: inputs.isolated_vpc or None)),
    (since(1, 12), ("settings.enableZonalShift", lambda inputs: inputs.zonal_shift or None)),
    (ALWAYS, ("serviceAccount.name", lambda inputs: inputs.service_account)),
    (
        ALWAYS,
        (
            "serviceAccount.annotations",
            lambda inputs: inputs.role_arn and {"eks.amazonaws.com/role-arn": inputs.role_arn},
        ),
    ),
    (before(0, 26), ("controller.image", whole_image)),
    (since(0, 26), ("controller.image.repository", lambda inputs: inputs.image_repository)),
    (since(0, 26), ("controller.image.tag", lambda inputs: inputs.image_tag)),
    (since(0, 26), ("controller.image.digest", lambda inputs: inputs.image_digest)),
    (ALWAYS, ("replicas", lambda inputs: inputs.replicas)),
    # The chart asks for nothing since 0.26: without requests Fargate gives a pod a quarter of a vCPU.
    (ALWAYS, ("controller.resources.requests", resources)),
    (ALWAYS, ("controller.resources.limits", resources)),
    # Fargate has no instance metadata to ask for the region.
    (
        ALWAYS,
        (
            "controller.env",
            lambda inputs: [{"name": "AWS_REGION", "value": inputs.region}] if inputs.fargate else None,
        ),
    ),
    # The cluster's DNS may be waiting for the nodes this pod is to launch, so it asks the VPC's resolver.
    (ALWAYS, ("dnsPolicy", lambda inputs: "Default" if inputs.fargate else None)),
    # Every Fargate pod is a node of its own, in the zone of the subnet Fargate picks: a hard spread from 1.0 on
    # can leave the second replica pending for good.
    (since(1, 0), ("topologySpreadConstraints", lambda inputs: ZONE_SPREAD if inputs.fargate else None)),
)


def chart_version(release: Release) -> str:
    """Write the release the way its chart is tagged."""
    return f"{the_one(release, VERSION_PREFIX)}{release}"


def values(release: Release, inputs: ChartInputs) -> Values:
    """Return the controller chart's values, nested."""
    tree: Values = {}
    for path, setting in in_effect(release, VALUES):
        value = setting(inputs)
        if value is not None:
            tree = merged(tree, nested(path, value))
    return tree


def crd_values(release: Release, *, namespace: str) -> Values:
    """Return the CRD chart's values: where the conversion webhook listens, in the releases that have one."""
    webhook = {"enabled": True, "serviceName": CONTROLLER_CHART, "serviceNamespace": namespace, "port": 8443}
    return {"webhook": webhook} if release in BETA_AND_V1_SERVED else {}
