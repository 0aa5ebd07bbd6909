"""Whole stacks of different files and releases: applied, planned again, compared with what was asked, and destroyed.

No controller runs here: `karpenter_life` is about that. So pools and classes have nobody who would set a finalizer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nodeless.karpenter.releases import NEWEST, kubernetes_range
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import place_of
from nodeless.trees import merged
from tests.lab import as_asked, played_webhooks, witness
from tests.lab.inventory import inventory
from tests.lab.karpenter_life import releases
from tests.lab.kube import Kube, Object, eventually
from tests.lab.lab import Lab
from tests.lab.witness import Moment
from tests.terraform.account import Account
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.lives import CLUSTER, installation_of
from tests.terraform.runner import Plan, Step
from tools.lab.store import KUBERNETES

Start = Callable[..., AbstractContextManager[Lab]]
Keys = Mapping[str, Any]

# The provider waits 75 seconds for a queue: the stacks that are not about it have none.
NO_QUEUE: Keys = {"interruption": False}
DIGEST = f"sha256:{'0123456789abcdef' * 4}"
DISCOVERY = {"karpenter.sh/discovery": CLUSTER}


@dataclass(frozen=True)
class Variant:
    """A release of Karpenter, the keys of a cluster, and what a destroy leaves in the cluster."""

    keys: Keys
    release: Release = NEWEST
    namespaces_left: frozenset[str] = field(default=frozenset({"karpenter"}))
    """those that Helm created: it does not remove them"""

    @property
    def kubernetes(self) -> str:
        """The newest Kubernetes that the release runs on, up to the one of the lab."""
        return f"1.{min(kubernetes_range(self.release)[1], int(KUBERNETES.split('.')[1]))}"

    @property
    def all_keys(self) -> dict[str, Any]:
        """The keys, with the release."""
        return merged({"karpenter": {"version": str(self.release)}}, dict(self.keys))


def v1_pool(name: str, *, node_class: str, capacity: str, template: Keys, **further: object) -> dict[str, Any]:
    """Write a node pool of the v1 API; `template` is laid over the one that names the class and the capacity."""
    spec = {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": node_class},
        "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": [capacity]}],
    }
    return {"name": name, "spec": {"template": merged({"spec": spec}, dict(template)), **further}}


# The class `default` is nodeless's own.
TWO_POOLS: Keys = {
    "node_classes": [
        {
            "name": "bottlerocket",
            "spec": {
                "amiSelectorTerms": [{"alias": "bottlerocket@latest"}],
                "instanceProfile": f"{CLUSTER}-karpenter-instance-profile",
                "subnetSelectorTerms": [{"tags": DISCOVERY}],
                "securityGroupSelectorTerms": [{"tags": DISCOVERY}],
                "blockDeviceMappings": [{"deviceName": "/dev/xvdb", "ebs": {"volumeSize": "50Gi", "encrypted": True}}],
                "tags": {"team": "batch"},
            },
        }
    ],
    "node_pools": [
        v1_pool(
            "general",
            node_class="default",
            capacity="on-demand",
            template={"metadata": {"labels": {"team": "platform"}}},
            weight=10,
            limits={"cpu": "100"},
        ),
        v1_pool(
            "batch",
            node_class="bottlerocket",
            capacity="spot",
            template={
                "metadata": {"labels": {"team": "batch", "tier": "spare"}, "annotations": {"example.com/owner": "a"}},
                "spec": {
                    "taints": [{"key": "batch", "value": "yes", "effect": "NoSchedule"}],
                    "startupTaints": [{"key": "example.com/starting", "effect": "NoExecute"}],
                    "expireAfter": "48h",
                },
            },
            disruption={
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": "30s",
                "budgets": [{"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}, {"nodes": "20%"}],
            },
        ),
    ],
}
MIRRORED: Keys = {"isolated_vpc": True, "replicas": 3, "image": {"tag": "copied", "digest": DIGEST}}

# Of the post on nodeless clusters; examples/blog.yaml is the same with everything else of the post.
BLOG: Keys = {
    "karpenter": {"policy": "blog"},
    "node_classes": [
        {
            "name": "default",
            "spec": {"subnetSelector": DISCOVERY, "securityGroupSelector": DISCOVERY, "tags": DISCOVERY},
        }
    ],
    "node_pools": [
        {
            "name": "default",
            "spec": {
                "providerRef": {"name": "default"},
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
                "limits": {"resources": {"cpu": "1000", "memory": "1000Gi"}},
                "labels": {"team": "platform"},
                "taints": [{"key": "batch", "value": "yes", "effect": "NoSchedule"}],
                "ttlSecondsUntilExpired": 3600,
            },
        }
    ],
}

# A stack takes a minute and a half, so one stack has several things that have nothing to do with each other.
VARIANTS: dict[str, Variant] = {
    # The one with a queue.
    "in_kube_system": Variant({"karpenter": {"namespace": "kube-system"}}, namespaces_left=frozenset()),
    "the_blogs": Variant({**NO_QUEUE, **BLOG}, Release(0, 25, 0)),
    "alpha_with_logging_and_dns": Variant(
        {**NO_QUEUE, "fargate": {"coredns": True, "logging": True}}, Release(0, 29, 2)
    ),
    "beta": Variant(NO_QUEUE, Release(0, 37, 8)),
    "isolated_with_two_pools": Variant({**NO_QUEUE, "karpenter": MIRRORED, **TWO_POOLS}),
}


@dataclass(frozen=True)
class LivedVariant:
    """What was seen on the way."""

    variant: Variant
    installation: Installation
    plan: Plan
    applied: Counter[str]
    creation: tuple[Step, ...]
    releases: dict[str, str]
    """each Helm release and its status"""
    not_as_asked: list[str]
    named_resources: set[str]
    """the AWS resources that the cluster names"""
    holdings: set[str]
    nodes: list[str]
    """of the controller's pods"""
    profile_created: datetime
    pods_created: list[datetime]
    second_plan: Plan
    destroyed: Counter[str]
    destruction: tuple[Step, ...]
    moments: list[Moment]
    """the parts that were there, again and again during the destroy"""
    objects_left: set[str]
    holdings_left: set[str]
    state_at_the_end: dict[str, dict[str, Any]]
    faults: list[str]


def live(start: Start, name: str) -> LivedVariant:
    """Go through the life of a variant."""
    variant = VARIANTS[name]
    with start(releases=[str(variant.release)], kubernetes=variant.kubernetes) as lab, played_webhooks.played(lab):
        account = Account(lab.world)
        objects, holdings = inventory(lab.kube), account.holdings()
        terraform = lab.stack(variant.all_keys)
        terraform.init()
        installation = installation_of(terraform)
        plan, applied, creation = terraform.plan(), terraform.apply(), terraform.steps
        place = place_of(installation, account=ACCOUNT)
        pods = running_pods(lab.kube, installation.replicas)
        seen: dict[str, Any] = {
            "releases": releases(lab.kube),
            "not_as_asked": as_asked.not_as_asked(lab.kube, installation, place, endpoint=lab.plane.url),
            "named_resources": as_asked.named_resources(lab.kube, installation),
            "holdings": account.holdings(),
            "nodes": [pod["spec"]["nodeName"] for pod in pods],
            "profile_created": account.fargate_profile(installation.names.fargate_profile)["createdAt"],
            "pods_created": [datetime.fromisoformat(pod["metadata"]["creationTimestamp"]) for pod in pods],
            "second_plan": terraform.replan(),
        }
        with witness.watching(lab, installation) as moments:
            destroyed = terraform.destroy()
        return LivedVariant(
            variant=variant,
            installation=installation,
            plan=plan,
            applied=applied,
            creation=creation,
            **seen,
            destroyed=destroyed,
            destruction=terraform.steps,
            moments=moments,
            objects_left=inventory(lab.kube) - objects,
            holdings_left=account.holdings() - holdings,
            state_at_the_end=terraform.state(),
            faults=lab.machines.faults,
        )


def running_pods(kube: Kube, replicas: int) -> list[Object]:
    """Return the controller's pods when all of them run: for Helm, all but one are enough."""

    def running() -> list[Object]:
        pods = [pod for pod in kube.items(played_webhooks.PODS) if pod["status"]["phase"] == "Running"]
        return pods if len(pods) == replicas else []

    return eventually(running, f"{replicas} pods of the controller run")
