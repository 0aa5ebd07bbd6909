"""Compares two releases: permissions, policies, event rules, node role, charts, custom resources and Kubernetes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nodeless.karpenter.chart import chart_version
from nodeless.karpenter.chart_key_rows import CRD_CHART_KEYS
from nodeless.karpenter.controller import DUTIES
from nodeless.karpenter.grant import Grant
from nodeless.karpenter.interruption import EventRule, event_rules
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.packing import EXTRA_KEY, WHOLE_KEY, fits_whole, pack, policy_title
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Condition, Document, Policy, Statement, document
from nodeless.karpenter.releases import kubernetes_range
from nodeless.karpenter.versions import Release
from nodeless.upgrade.chart_key_changes import KeyChange, key_changes
from nodeless.upgrade.path import NOT_A_SUPERSET, Minors, Note, Stage, common_kubernetes, notes, stages, warnings
from nodeless.upgrade.resource_changes import ResourceChanges, resource_changes

# What the report shows instead of a cluster's own values if no cluster is given.
PLACEHOLDERS = Place(
    partition="aws", dns_suffix="amazonaws.com", region="<region>", account="<account>", cluster="<cluster>"
)

# Statements that upstream renamed: the old Sid and the new one.
RENAMED_STATEMENTS = {
    "AllowScopedEC2InstanceActions": "AllowScopedEC2InstanceAccessActions",
    "AllowMachineMigrationTagging": "AllowScopedResourceTagging",
}
# Statements of releases without Sids: an action that only this statement allows, and the Sid it got later.
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
    """What one release creates for one cluster."""

    release: Release
    policies: tuple[Policy, ...]
    rules: tuple[EventRule, ...]
    node_policies: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is added to a list and removed from it."""

    added: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementChange:
    """How one statement changes.

    `was` is its earlier Sid if it is renamed; `policy` and `was_policy` are the policies it is in, after and before.
    """

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
    """The managed policies that are added and removed; `split` if one is split into several, `joined` the reverse."""

    added: tuple[PolicySids, ...]
    removed: tuple[PolicySids, ...]
    split: bool
    joined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChanges:
    """The EventBridge rules that are added and removed."""

    added: tuple[EventRule, ...]
    removed: tuple[EventRule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartChanges:
    """What changes in both charts: how the version is written, and the keys they read."""

    version_before: str
    version_after: str
    keys: tuple[KeyChange, ...]
    crd_keys: tuple[KeyChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesRanges:
    """The Kubernetes minors that each release runs on, and those that both run on."""

    before: Minors
    after: Minors
    common: Minors | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """Everything that differs between two releases, and the path from one to the other.

    `old_statements` are the IAM statements that the new release does not have, ready for `extra_statements`.
    """

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
    stages: tuple[Stage, ...]
    notes: tuple[Note, ...]
    warnings: tuple[str, ...]

    @property
    def direction(self) -> str:
        """Return whether it is an upgrade, a downgrade or the same release."""
        return SAME if self.before == self.after else UPGRADE if self.before < self.after else DOWNGRADE


def contents_without_cluster(release: Release) -> Contents:
    """Return what a release creates, with placeholders for the values of a cluster."""
    grant = Grant(
        place=PLACEHOLDERS,
        release=release,
        node_role_arns=(PLACEHOLDERS.iam("role/<node role>"),),
        queue_arn=PLACEHOLDERS.regional("sqs", "<queue>"),
    )
    packed = pack(grant, whole=fits_whole(grant))
    return Contents(
        release=release,
        policies=tuple(
            Policy(key=key, name=f"{policy_title(key)}-{PLACEHOLDERS.cluster}", statements=group)
            for key, group in packed.items()
        ),
        rules=event_rules(release),
        node_policies=tuple(name for _, name in node_policies(release, ipv6=False)),
    )


def compare(old: Contents, new: Contents, *, cluster: str | None = None, kubernetes: int | None = None) -> Upgrade:
    """Compare what two releases create for the same cluster."""
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
        stages=stages(before, after, cluster=cluster, kubernetes=kubernetes),
        notes=notes(before, after),
        warnings=(*warnings(before, after), *_superset_warning(statements, before, after)),
    )


def condition_text(condition: Condition) -> str:
    """Write a condition on one line."""
    return f"{condition.test} {condition.variable} = {' or '.join(condition.values)}"


def _statement_changes(old: Sequence[Policy], new: Sequence[Policy]) -> tuple[StatementChange, ...]:
    """Compare statement by statement: those of the new release in its order, then those that are removed."""
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
    """Return the old statements that the new release does not have unchanged, as IAM JSON."""
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
    """Warn if the new policy does not allow everything that the old one allows."""
    narrower = any(
        change.actions.removed or change.resources.removed or change.conditions.added or change.change == REMOVED
        for change in changes
        if change.change != ADDED
    )
    return (NOT_A_SUPERSET.format(before=before, after=after),) if narrower else ()


def _by_identity(policies: Iterable[Policy]) -> dict[str, tuple[Policy, Statement]]:
    """Map each statement by its newest Sid; `extra_statements` are left out, since they do not change."""
    return {
        RENAMED_STATEMENTS.get(title, title): (policy, statement)
        for policy in policies
        if policy.key != EXTRA_KEY
        for statement in policy.statements
        for title in [_title(statement)]
    }


def _title(statement: Statement) -> str:
    """Return the Sid of a statement, or what it allows for releases without Sids."""
    if statement.sid:
        return statement.sid
    known = (name for action, name in BEFORE_SIDS.items() if action in statement.actions)
    return next(known, f"({', '.join(statement.actions)})")


def _sids(policy: Policy) -> tuple[str, ...]:
    return tuple(_title(statement) for statement in policy.statements)


def _actions(policies: Iterable[Policy]) -> list[str]:
    return sorted({action for policy in policies for row in policy.statements for action in row.actions})


def _difference(old: Sequence[str], new: Sequence[str]) -> Difference:
    return Difference(
        added=tuple(item for item in new if item not in old), removed=tuple(item for item in old if item not in new)
    )
