"""The names of all resources in AWS, in the style of the blog, of upstream or of another tool, cut to fit AWS."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nodeless.karpenter.interruption import EVENT_RULES
from nodeless.karpenter.packing import TITLES, WHOLE_KEY, policy_title
from nodeless.resolved.references import inside_expression, is_reference

LONGEST_CLUSTER_NAME = 100
HASH_LENGTH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRule:
    """How one name is written in each style, its limit in AWS, and where it must be unique.

    A tool that makes no such thing has no name for it: its style has upstream's.
    """

    key: str
    blog: str
    official: str
    limit: int
    scope: str
    eksctl: str | None = None
    terraform_aws_eks: str | None = None

    def template(self, style: str) -> str:
        """Return the name in a style."""
        template: str | None = getattr(self, style.replace("-", "_"))
        return template or self.official


STYLES = ("blog", "official", "eksctl", "terraform-aws-eks")


ACCOUNT, REGION, CLUSTER = "account", "region", "cluster"

NAME_RULES = (
    NameRule(
        key="controller_role",
        blog="{cluster}-karpenter-controller",
        official="{cluster}-karpenter",
        limit=64,
        scope=ACCOUNT,
        eksctl="eksctl-{cluster}-iamservice-role",
        terraform_aws_eks="KarpenterController",
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
        eksctl="eksctl-KarpenterNodeRole-{cluster}",
        terraform_aws_eks="Karpenter-{cluster}",
    ),
    NameRule(
        key="instance_profile",
        blog="{cluster}-karpenter-instance-profile",
        official="KarpenterNodeInstanceProfile-{cluster}",
        limit=128,
        scope=ACCOUNT,
        eksctl="eksctl-KarpenterNodeInstanceProfile-{cluster}",
        terraform_aws_eks="Karpenter-{cluster}",
    ),
    NameRule(
        key="queue",
        blog="{cluster}-karpenter",
        official="{cluster}",
        limit=80,
        scope=REGION,
        terraform_aws_eks="Karpenter-{cluster}",
    ),
    NameRule(key="fargate_profile", blog="karpenter", official="karpenter", limit=100, scope=CLUSTER),
)
NAME_LIMITS = {rule.key: rule.limit for rule in NAME_RULES}

NO_PATH = "/"

POLICY_LIMIT = 128
RULE_LIMIT = 64
POLICIES, RULES = "policies", "rules"
POLICY_KEYS = tuple(TITLES)
RULE_KEYS = tuple(rule.key for _, rule in EVENT_RULES)


def _same_in_all_styles(key: str, name: str, limit: int, scope: str, *, eksctl: str | None = None) -> NameRule:
    return NameRule(key=key, blog=name, official=name, limit=limit, scope=scope, eksctl=eksctl)


# Names of which there are several, under `names.policies` and `names.rules`: policies are named as upstream does, rules
# as in the blog, because upstream leaves that to CloudFormation.
KEYED_NAME_RULES = (
    *(
        _same_in_all_styles(
            f"{POLICIES}.{key}",
            f"{policy_title(key)}-{{cluster}}",
            POLICY_LIMIT,
            ACCOUNT,
            # eksctl has one policy for everything.
            eksctl=f"eksctl-{policy_title(key)}-{{cluster}}" if key == WHOLE_KEY else None,
        )
        for key in POLICY_KEYS
    ),
    *(
        _same_in_all_styles(f"{RULES}.{key}", f"{{cluster}}-karpenter-{key.replace('_', '-')}", RULE_LIMIT, REGION)
        for key in RULE_KEYS
    ),
)
BY_KEY = {rule.key: rule for rule in (*NAME_RULES, *KEYED_NAME_RULES)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one installation's resources: the user's own where given, else the style's, cut to fit.

    The controller's role and policies are replaced when the IAM path changes, and the new ones are created before the
    old ones go. Names are unique whatever their path, so theirs end with a hash of the path.

    With a region, it follows the cluster's name, so that a cluster of the same name in another region has other names.
    """

    cluster: str
    style: str
    overrides: Mapping[str, str]
    path: str = NO_PATH
    region: str | None = None

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
        """Name a managed policy of the controller."""
        return self._name(f"{POLICIES}.{key}", end=self._path_hash)

    def rule(self, key: str) -> str:
        """Name an EventBridge rule."""
        return self._name(f"{RULES}.{key}")

    def own(self) -> dict[str, str]:
        """Return the names of the user's own that are not those of the style anyway."""
        usual = replace(self, overrides={})
        return {key: name for key, name in self.overrides.items() if name != usual.by_key(key)}

    def by_key(self, key: str) -> str:
        """Name what a key of `overrides` stands for."""
        if key in NAME_LIMITS:
            return str(getattr(self, key))
        kind, _, rest = key.partition(".")
        return {POLICIES: self.policy, RULES: self.rule}.get(kind, lambda role: self._with_key(kind, role))(rest)

    def _with_key(self, rule: str, key: str) -> str:
        given = self.overrides.get(f"{rule}.{key}")
        return given or self._fitted(f"{self._template(rule)}-{key}", BY_KEY[rule].limit)

    @property
    def _path_hash(self) -> str:
        return "" if self.path == NO_PATH else f"-{short_hash(self.path)}"

    def _name(self, key: str, *, end: str = "") -> str:
        return self.overrides.get(key) or self._fitted(f"{self._template(key)}{end}", BY_KEY[key].limit)

    def _template(self, key: str) -> str:
        return BY_KEY[key].template(self.style)

    def _fitted(self, template: str, limit: int) -> str:
        place = f"{{cluster}}-{self.region}" if self.region else "{cluster}"
        return fitted(template.replace("{cluster}", place), self.cluster, limit)


def fitted(template: str, cluster: str, limit: int) -> str:
    """Fill in the cluster's name; where the result is too long for AWS, cut that name and add a hash of it.

    A name only known at apply is cut by the same rule, as a Terraform expression.
    """
    room = limit - len(template.format(cluster=""))
    kept, hashed = room - HASH_LENGTH - 1, HASH_LENGTH
    if kept <= 0:
        # A long key of a role and a long region leave hardly any room: part of the hash is all that fits.
        kept, hashed = 0, min(room, HASH_LENGTH)
    if is_reference(cluster):
        if room < LONGEST_CLUSTER_NAME and "{cluster}" in template:
            whole = inside_expression(cluster)
            start = f"${{substr({whole}, 0, {kept})}}-" if kept else ""
            cut = f'"{start}${{substr(sha256({whole}), 0, {hashed})}}"'
            cluster = f"${{length({whole}) <= {room} ? {whole} : {cut}}}"
    elif len(cluster) > room:
        digest = short_hash(cluster)[:hashed]
        cluster = f"{cluster[:kept]}-{digest}" if kept else digest
    return template.format(cluster=cluster)


def short_hash(text: str) -> str:
    """Return a few characters that tell this text from others."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
