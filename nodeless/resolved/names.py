"""The names of all resources in AWS, in the blog's style or upstream's, cut to the length AWS allows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from nodeless.karpenter.packing import policy_title
from nodeless.resolved.references import inside_expression, is_reference

LONGEST_CLUSTER_NAME = 100
HASH_LENGTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRule:
    """How one name is written in each style, its limit in AWS, and where it must be unique."""

    key: str
    blog: str
    official: str
    limit: int
    scope: str


ACCOUNT, REGION, CLUSTER = "account", "region", "cluster"

NAME_RULES = (
    NameRule(
        key="controller_role",
        blog="{cluster}-karpenter-controller",
        official="{cluster}-karpenter",
        limit=64,
        scope=ACCOUNT,
    ),
    # Upstream's template has no Fargate role; both styles share the blog's name.
    NameRule(
        key="fargate_role",
        blog="{cluster}-karpenter-fargate",
        official="{cluster}-karpenter-fargate",
        limit=64,
        scope=ACCOUNT,
    ),
    NameRule(
        key="node_role",
        blog="{cluster}-karpenter-node",
        official="KarpenterNodeRole-{cluster}",
        limit=64,
        scope=ACCOUNT,
    ),
    NameRule(
        key="instance_profile",
        blog="{cluster}-karpenter-instance-profile",
        official="KarpenterNodeInstanceProfile-{cluster}",
        limit=128,
        scope=ACCOUNT,
    ),
    NameRule(key="queue", blog="{cluster}-karpenter", official="{cluster}", limit=80, scope=REGION),
    NameRule(key="fargate_profile", blog="karpenter", official="karpenter", limit=100, scope=CLUSTER),
)
BY_KEY = {rule.key: rule for rule in NAME_RULES}
NAME_LIMITS = {rule.key: rule.limit for rule in NAME_RULES}

NO_PATH = "/"

POLICY_LIMIT = 128
RULE_LIMIT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one installation's resources: the user's own where given, else the style's, cut to fit.

    The controller's role and policies are replaced when the IAM path changes, and the new ones are created before the
    old ones go. Names are unique whatever their path, so theirs end with a hash of the path.
    """

    cluster: str
    style: str
    overrides: Mapping[str, str]
    path: str = NO_PATH

    @property
    def controller_role(self) -> str:
        """Name the role of the controller."""
        return self._name("controller_role", end=self._path_hash)

    @property
    def fargate_role(self) -> str:
        """Name the pod execution role of Fargate."""
        return self._name("fargate_role")

    @property
    def node_role(self) -> str:
        """Name the role of the nodes."""
        return self._name("node_role")

    @property
    def instance_profile(self) -> str:
        """Name the instance profile of the nodes."""
        return self._name("instance_profile")

    @property
    def queue(self) -> str:
        """Name the interruption queue."""
        return self._name("queue")

    @property
    def fargate_profile(self) -> str:
        """Name the Fargate profile."""
        return self._name("fargate_profile")

    def extra_node_role(self, key: str) -> str:
        """Name an extra node role: as the installation's own, followed by the role's key."""
        return self._with_key("node_role", key)

    def extra_instance_profile(self, key: str) -> str:
        """Name the instance profile of an extra node role."""
        return self._with_key("instance_profile", key)

    def policy(self, key: str) -> str:
        """Name a managed policy of the controller, as upstream does in both styles."""
        return fitted(f"{policy_title(key)}-{{cluster}}{self._path_hash}", self.cluster, POLICY_LIMIT)

    def rule(self, key: str) -> str:
        """Name an EventBridge rule; upstream leaves that to CloudFormation."""
        return fitted(f"{{cluster}}-karpenter-{key.replace('_', '-')}", self.cluster, RULE_LIMIT)

    def _with_key(self, rule: str, key: str) -> str:
        template: str = getattr(BY_KEY[rule], self.style)
        return fitted(f"{template}-{key}", self.cluster, BY_KEY[rule].limit)

    @property
    def _path_hash(self) -> str:
        return "" if self.path == NO_PATH else f"-{short_hash(self.path)}"

    def _name(self, key: str, *, end: str = "") -> str:
        rule = BY_KEY[key]
        template: str = getattr(rule, self.style)
        return self.overrides.get(key) or fitted(f"{template}{end}", self.cluster, rule.limit)


def fitted(template: str, cluster: str, limit: int) -> str:
    """Fill in the cluster's name; where the result is too long for AWS, cut that name and add a hash of it.

    A name only known at apply is cut by the same rule, as a Terraform expression.
    """
    room = limit - len(template.format(cluster=""))
    kept = room - HASH_LENGTH - 1
    if is_reference(cluster):
        if room < LONGEST_CLUSTER_NAME and "{cluster}" in template:
            whole = inside_expression(cluster)
            cut = f'"${{substr({whole}, 0, {kept})}}-${{substr(sha256({whole}), 0, {HASH_LENGTH})}}"'
            cluster = f"${{length({whole}) <= {room} ? {whole} : {cut}}}"
    elif len(cluster) > room:
        cluster = f"{cluster[:kept]}-{short_hash(cluster)}"
    return template.format(cluster=cluster)


def short_hash(text: str) -> str:
    """Return a few characters that tell this text from others."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
