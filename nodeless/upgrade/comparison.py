"""What differs between two releases in one place: permissions, policies, rules, node role, charts, custom resources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nodeless.karpenter.chart import chart_version
from nodeless.karpenter.chart_key_rows import CRD_CHART_KEYS
from nodeless.karpenter.controller import DUTIES, Grant
from nodeless.karpenter.interruption import EventRule, event_rules
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.packing import EXTRA_KEY, WHOLE_KEY, fits_whole, pack, policy_title
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Condition, Document, Policy, Statement, document
from nodeless.karpenter.releases import kubernetes_range
from nodeless.karpenter.versions import Release
from nodeless.upgrade.chart_key_changes import KeyChange, key_changes
from nodeless.upgrade.path import NOT_A_SUPERSET, Leg, Minors, Note, common_kubernetes, legs, notes, warnings
from nodeless.upgrade.resource_changes import ResourceChanges, resource_changes

# Where no cluster is named, these stand for its values.
ANYWHERE = Place(
    partition="aws", dns_suffix="amazonaws.com", region="<region>", account="<account>", cluster="<cluster>"
)

# A statement that got another Sid, or got one at all: its earlier name, or what it allowed, and its later name.
RENAMED_STATEMENTS = {
    "AllowScopedEC2InstanceActions": "AllowScopedEC2InstanceAccessActions",
    "AllowMachineMigrationTagging": "AllowScopedResourceTagging",
}
BEFORE_SIDS = {
    "ec2:RunInstances": "(EC2, prices and parameters, unscoped)",
    "sqs:ReceiveMessage": "AllowInterruptionQueueActions",
    "iam:PassRole": "AllowPassingInstanceRole",
    "eks:DescribeCluster": "AllowAPIServerEndpointDiscovery",
}

NOTHING = Statement(actions=())

ADDED, REMOVED, CHANGED = "added", "removed", "changed"
UPGRADE, DOWNGRADE, SAME = "upgrade", "downgrade", "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What one release makes in one place."""

    release: Release
    policies: tuple[Policy, ...]
    rules: tuple[EventRule, ...]
    node_policies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a list gains and loses."""

    added: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementChange:
    """What becomes of one statement, and in which policy it stands."""

    change: str
    sid: str
    was: str | None
    policy: str | None
    was_policy: str | None
    actions: Difference
    resources: Difference
    conditions: Difference


class PolicySids(NamedTuple):
    """A managed policy and the statements in it."""

    name: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChanges:
    """Which managed policies come and go; split is one policy that becomes several, joined the reverse."""

    added: tuple[PolicySids, ...]
    removed: tuple[PolicySids, ...]
    split: bool
    joined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChanges:
    """Which EventBridge rules come and go."""

    added: tuple[EventRule, ...]
    removed: tuple[EventRule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartChanges:
    """What differs in the two charts: how the version is written, and the keys they read."""

    version_before: str
    version_after: str
    keys: tuple[KeyChange, ...]
    crd_keys: tuple[KeyChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesRanges:
    """The Kubernetes minors 1.x of both releases, and those they share."""

    before: Minors
    after: Minors
    common: Minors | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """Everything that differs between two releases, and the way from one to the other."""

    before: Release
    after: Release
    actions: Difference
    statements: tuple[StatementChange, ...]
    old_statements: tuple[Document, ...]
    policies: PolicyChanges
    rules: RuleChanges
    node_role: Difference
    chart: ChartChanges
    resources: ResourceChanges
    kubernetes: KubernetesRanges
    legs: tuple[Leg, ...]
    notes: tuple[Note, ...]
    warnings: tuple[str, ...]

    @property
    def direction(self) -> str:
        """Tell an upgrade from a downgrade."""
        return SAME if self.before == self.after else UPGRADE if self.before < self.after else DOWNGRADE


def contents_anywhere(release: Release) -> Contents:
    """Contents a release for a cluster that is not named."""
    grant = Grant(
        place=ANYWHERE,
        release=release,
        node_role_arns=(ANYWHERE.iam("role/<node role>"),),
        queue_arn=ANYWHERE.regional("sqs", "<queue>"),
    )
    packed = pack(grant, whole=fits_whole(grant))
    return Contents(
        release=release,
        policies=tuple(
            Policy(key=key, name=f"{policy_title(key)}-{ANYWHERE.cluster}", statements=group)
            for key, group in packed.items()
        ),
        rules=event_rules(release),
        node_policies=tuple(name for _, name in node_policies(release, ipv6=False)),
    )


def compare(old: Contents, new: Contents, *, cluster: str | None = None, kubernetes: int | None = None) -> Upgrade:
    """Compare two pictures of the same place."""
    before, after = old.release, new.release
    statements = _statement_changes(old.policies, new.policies)
    return Upgrade(
        before=before,
        after=after,
        actions=_difference(_actions(old.policies), _actions(new.policies)),
        statements=statements,
        old_statements=_old_statements(old.policies, new.policies),
        policies=_policy_changes(old.policies, new.policies),
        rules=RuleChanges(
            added=tuple(rule for rule in new.rules if rule not in old.rules),
            removed=tuple(rule for rule in old.rules if rule not in new.rules),
        ),
        node_role=_difference(old.node_policies, new.node_policies),
        chart=ChartChanges(
            version_before=chart_version(before),
            version_after=chart_version(after),
            keys=key_changes(before, after),
            crd_keys=key_changes(before, after, CRD_CHART_KEYS),
        ),
        resources=resource_changes(before, after),
        kubernetes=KubernetesRanges(
            before=Minors(*kubernetes_range(before)),
            after=Minors(*kubernetes_range(after)),
            common=common_kubernetes(before, after),
        ),
        legs=legs(before, after, cluster=cluster, kubernetes=kubernetes),
        notes=notes(before, after),
        warnings=(*warnings(before, after), *_superset_warning(statements, before, after)),
    )


def condition_text(condition: Condition) -> str:
    """Write a condition on one line."""
    return f"{condition.test} {condition.variable} = {' or '.join(condition.values)}"


def _statement_changes(old: Sequence[Policy], new: Sequence[Policy]) -> tuple[StatementChange, ...]:
    """Compare statement by statement, those that stay and come in the new order, those that go after them."""
    was, now = _by_identity(old), _by_identity(new)
    changes = [_statement_change(was.get(identity), now.get(identity)) for identity in {**now, **was}]
    return tuple(change for change in changes if change is not None)


def _statement_change(
    old: tuple[Policy, Statement] | None, new: tuple[Policy, Statement] | None
) -> StatementChange | None:
    (old_policy, before), (new_policy, after) = old or (None, NOTHING), new or (None, NOTHING)
    actions = _difference(before.actions, after.actions)
    resources = _difference(before.resources, after.resources)
    conditions = _difference([*map(condition_text, before.conditions)], [*map(condition_text, after.conditions)])
    kept = bool(old and new)
    title = _title(after if new else before)
    was = _title(before) if kept and _title(before) != title else None
    if kept and not (actions or resources or conditions or was):
        return None
    return StatementChange(
        change=CHANGED if kept else ADDED if new else REMOVED,
        sid=title,
        was=was,
        policy=new_policy.name if new_policy else None,
        was_policy=old_policy.name if old_policy else None,
        actions=actions,
        resources=resources,
        conditions=conditions,
    )


def _old_statements(old: Sequence[Policy], new: Sequence[Policy]) -> tuple[Document, ...]:
    """Return the old release's statements that the new one does not have as they are, as IAM writes them."""
    kept = {statement for policy in new for statement in policy.statements}
    gone = [row for policy in old for row in policy.statements if row not in kept]
    rows: tuple[Document, ...] = tuple(document(gone)["Statement"])
    return rows


def _policy_changes(old: Sequence[Policy], new: Sequence[Policy]) -> PolicyChanges:
    names_old, names_new = {policy.name for policy in old}, {policy.name for policy in new}
    keys_old, keys_new = {policy.key for policy in old}, {policy.key for policy in new}
    duties = {duty.key for duty in DUTIES}
    return PolicyChanges(
        added=tuple(PolicySids(policy.name, _sids(policy)) for policy in new if policy.name not in names_old),
        removed=tuple(PolicySids(policy.name, _sids(policy)) for policy in old if policy.name not in names_new),
        split=WHOLE_KEY in keys_old - keys_new and bool(duties & keys_new),
        joined=WHOLE_KEY in keys_new - keys_old and bool(duties & keys_old),
    )


def _superset_warning(changes: Iterable[StatementChange], before: Release, after: Release) -> tuple[str, ...]:
    """Warn where the new release's policy does not allow all that the old one's does."""
    narrower = any(
        change.actions.removed or change.resources.removed or change.conditions.added or change.change == REMOVED
        for change in changes
        if change.change != ADDED
    )
    return (NOT_A_SUPERSET.format(before=before, after=after),) if narrower else ()


def _by_identity(policies: Iterable[Policy]) -> dict[str, tuple[Policy, Statement]]:
    """Find each statement by the name it ends up with; the user's own never change."""
    return {
        RENAMED_STATEMENTS.get(title, title): (policy, statement)
        for policy in policies
        if policy.key != EXTRA_KEY
        for statement in policy.statements
        for title in [_title(statement)]
    }


def _title(statement: Statement) -> str:
    """Name a statement by its Sid, or by what it allows where the release's template has no Sids."""
    if statement.sid:
        return statement.sid
    known = [name for action, name in BEFORE_SIDS.items() if action in statement.actions]
    return known[0] if known else f"({', '.join(statement.actions)})"


def _sids(policy: Policy) -> tuple[str, ...]:
    return tuple(_title(statement) for statement in policy.statements)


def _actions(policies: Iterable[Policy]) -> list[str]:
    return sorted({action for policy in policies for row in policy.statements for action in row.actions})


def _difference(old: Sequence[str], new: Sequence[str]) -> Difference:
    return Difference(
        added=tuple(item for item in new if item not in old), removed=tuple(item for item in old if item not in new)
    )
