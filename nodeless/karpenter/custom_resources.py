"""Karpenter's custom resources: the API a release has, and the node pool and node class it starts with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from nodeless.karpenter.versions import ALWAYS, Release, Window, before, between, in_effect, since, the_one
from nodeless.trees import merged, nested, value_at

Manifest = dict[str, Any]
Spec = Mapping[str, Any]
Named = tuple[str, Spec]

# The API in which a release's pools and classes are written: the newest one that is also the stored one.
ALPHA, BETA, V1 = before(0, 32), between((0, 32), (1, 0)), since(1, 0)
NODE_POOLS = since(0, 32)

# From these patches on v1 is served beside v1beta1, converted by a webhook.
BETA_AND_V1_SERVED = (
    between((0, 33, 6), (0, 34))
    | between((0, 34, 7), (0, 35))
    | between((0, 35, 6), (0, 36))
    | between((0, 36, 3), (0, 37))
    | between((0, 37, 1), (1, 1))
)
# The APIs a release serves. 0.32 still serves alpha, to migrate from.
ALPHA_SERVED, BETA_SERVED, V1_SERVED = before(0, 33), between((0, 32), (1, 1)), BETA_AND_V1_SERVED | since(1, 1)

GROUP = "karpenter.k8s.aws"
DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One generation of the API: what pools and classes are called, and where a pool names its class."""

    name: str
    served: Window
    pool_version: str
    pool_kind: str
    class_version: str
    class_kind: str
    reference: tuple[str, ...]


ALPHA_API = Api(
    name="alpha",
    served=ALPHA_SERVED,
    pool_version="karpenter.sh/v1alpha5",
    pool_kind="Provisioner",
    class_version=f"{GROUP}/v1alpha1",
    class_kind="AWSNodeTemplate",
    reference=("providerRef", "name"),
)
BETA_API = Api(
    name="v1beta1",
    served=BETA_SERVED,
    pool_version="karpenter.sh/v1beta1",
    pool_kind="NodePool",
    class_version=f"{GROUP}/v1beta1",
    class_kind="EC2NodeClass",
    reference=("template", "spec", "nodeClassRef", "name"),
)
V1_API = Api(
    name="v1",
    served=V1_SERVED,
    pool_version="karpenter.sh/v1",
    pool_kind="NodePool",
    class_version=f"{GROUP}/v1",
    class_kind="EC2NodeClass",
    reference=("template", "spec", "nodeClassRef", "name"),
)

APIS: tuple[tuple[Window, Api], ...] = ((ALPHA, ALPHA_API), (BETA, BETA_API), (V1, V1_API))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceInputs:
    """What the default pool and class are made of; a name only known at apply is a Terraform reference."""

    cluster: str
    tag_key: str
    node_role: str
    instance_profile: str | None
    isolated_vpc: bool
    interruption: bool
    tags: Mapping[str, str] = field(default_factory=dict)
    """what the class puts on its instances, beside Karpenter's own tags"""


Setting = Callable[[ResourceInputs], Any]


def discovery(inputs: ResourceInputs) -> dict[str, str]:
    """Select what carries the discovery tag of this cluster."""
    return {inputs.tag_key: inputs.cluster}


def discovery_terms(inputs: ResourceInputs) -> list[Manifest]:
    """Select what carries the discovery tag, as a list of terms."""
    return [{"tags": discovery(inputs)}]


def requirements(inputs: ResourceInputs) -> list[Manifest]:
    """Say which instances fit, as upstream's guide does: current x86 families that are neither tiny nor special.

    Arm would be cheaper, and be picked for every pod that does not forbid it, also for images that are built for x86
    only. Spot comes first where the queue can announce that an instance is taken back; without it, pods would be
    killed unannounced.
    """
    capacity = ["spot", "on-demand"] if inputs.interruption else ["on-demand"]
    return [
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": capacity},
        {"key": f"{GROUP}/instance-category", "operator": "In", "values": ["c", "m", "r"]},
        {"key": f"{GROUP}/instance-generation", "operator": "Gt", "values": ["2"]},
    ]


# A pool limits how many of its nodes are disrupted at once.
BUDGETS = since(0, 34)

# So that a runaway Deployment is a full pool and not a bill; the same in upstream's guide and the blog.
DEFAULT_LIMITS = {"cpu": "1000", "memory": "1000Gi"}
THIRTY_DAYS = 30 * 24 * 60 * 60

# A row whose setting returns None is left out.
DEFAULT_POOL: tuple[tuple[Window, tuple[str, Setting]], ...] = (
    (ALPHA, ("providerRef.name", lambda _: DEFAULT)),
    (
        BETA,
        (
            "template.spec.nodeClassRef",
            lambda _: {"apiVersion": f"{GROUP}/v1beta1", "kind": "EC2NodeClass", "name": DEFAULT},
        ),
    ),
    (V1, ("template.spec.nodeClassRef", lambda _: {"group": GROUP, "kind": "EC2NodeClass", "name": DEFAULT})),
    (ALPHA, ("requirements", requirements)),
    (NODE_POOLS, ("template.spec.requirements", requirements)),
    (ALPHA, ("limits.resources", lambda _: DEFAULT_LIMITS)),
    (NODE_POOLS, ("limits", lambda _: DEFAULT_LIMITS)),
    # A node is replaced after thirty days at the latest, so that none stays unpatched.
    (ALPHA, ("ttlSecondsUntilExpired", lambda _: THIRTY_DAYS)),
    (BETA, ("disruption.expireAfter", lambda _: "720h")),
    (V1, ("template.spec.expireAfter", lambda _: "720h")),
    (ALPHA, ("consolidation.enabled", lambda _: True)),
    (BETA, ("disruption.consolidationPolicy", lambda _: "WhenUnderutilized")),
    (V1, ("disruption.consolidationPolicy", lambda _: "WhenEmptyOrUnderutilized")),
    # Zero, the API's default, would chase every pod that comes and goes.
    (V1, ("disruption.consolidateAfter", lambda _: "1m")),
    # The API's default, written out: it is what keeps a new AMI or an upgrade from replacing all nodes at once.
    (BUDGETS, ("disruption.budgets", lambda _: [{"nodes": "10%"}])),
)

# From here on a class may name an instance profile instead of a role that Karpenter makes one for.
PROFILE_FIELD = since(0, 32, 2)
ROLE_FIELD_ONLY = between((0, 32), (0, 32, 2))

DEFAULT_CLASS: tuple[tuple[Window, tuple[str, Setting]], ...] = (
    (ALPHA, ("instanceProfile", lambda inputs: inputs.instance_profile)),
    (ROLE_FIELD_ONLY, ("role", lambda inputs: inputs.node_role)),
    # Karpenter makes an instance profile for a role; from an isolated VPC it cannot, as IAM has no endpoint there.
    (PROFILE_FIELD, ("role", lambda inputs: None if inputs.isolated_vpc else inputs.node_role)),
    (PROFILE_FIELD, ("instanceProfile", lambda inputs: inputs.instance_profile if inputs.isolated_vpc else None)),
    (before(0, 35), ("amiFamily", lambda _: "AL2")),
    (between((0, 35), (1, 0)), ("amiFamily", lambda _: "AL2023")),
    # Upstream warns that `latest` replaces nodes whenever AWS publishes an AMI. Here that is wanted: a version written
    # down today would be the unpatched one of next year, in every region and for every Kubernetes; the budget above
    # limits the pace. To choose the moment, give a class of your own with a version: al2023@v20260101.
    (V1, ("amiSelectorTerms", lambda _: [{"alias": "al2023@latest"}])),
    (ALPHA, ("subnetSelector", discovery)),
    (NODE_POOLS, ("subnetSelectorTerms", discovery_terms)),
    (ALPHA, ("securityGroupSelector", discovery)),
    (NODE_POOLS, ("securityGroupSelectorTerms", discovery_terms)),
    # Only a class can tag instances, volumes and launch templates: the provider's default tags do not reach them.
    (ALWAYS, ("tags", lambda inputs: dict(inputs.tags) or None)),
)


def api_of(release: Release) -> Api:
    """Return the API in which the release's resources are written."""
    return the_one(release, APIS)


def default_pool(release: Release, inputs: ResourceInputs) -> Manifest:
    """Return the spec of the pool that is made where none is given."""
    return _spec(release, DEFAULT_POOL, inputs)


def default_class(release: Release, inputs: ResourceInputs) -> Manifest:
    """Return the spec of the class that is made where a pool refers to `default` and none has that name."""
    return _spec(release, DEFAULT_CLASS, inputs)


def all_classes(
    release: Release, inputs: ResourceInputs, pools: Sequence[Named], classes: Sequence[Named]
) -> tuple[Named, ...]:
    """Return the classes given, and before them the default one where it is referred to and not given."""
    referred = {class_named_by(release, spec) for _, spec in pools} if pools else {DEFAULT}
    if DEFAULT in referred - {name for name, _ in classes}:
        return ((DEFAULT, default_class(release, inputs)), *classes)
    return tuple(classes)


def manifests(
    release: Release, inputs: ResourceInputs, pools: Sequence[Named], classes: Sequence[Named]
) -> tuple[Manifest, ...]:
    """Return every class and then every pool as the release's API has them; without a pool, the default one."""
    api = api_of(release)
    pools = pools or ((DEFAULT, default_pool(release, inputs)),)
    return (
        *(
            _manifest(api.class_version, api.class_kind, named)
            for named in all_classes(release, inputs, pools, classes)
        ),
        *(_manifest(api.pool_version, api.pool_kind, named) for named in pools),
    )


def class_named_by(release: Release, pool: Spec) -> str | None:
    """Return the name of the class that a pool refers to, or None if it names none."""
    name = value_at(pool, api_of(release).reference)
    return name if isinstance(name, str) else None


def _manifest(version: str, kind: str, named: Named) -> Manifest:
    name, spec = named
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": deepcopy(dict(spec))}


def _spec(release: Release, rows: Sequence[tuple[Window, tuple[str, Setting]]], inputs: ResourceInputs) -> Manifest:
    spec: Manifest = {}
    for path, setting in in_effect(release, rows):
        value = deepcopy(setting(inputs))
        if value is not None:
            spec = merged(spec, nested(path, value))
    return spec
