"""A made-up upgrade with one change of every kind, for the tests of the report."""

from __future__ import annotations

from nodeless.finding import Finding
from nodeless.karpenter.interruption import EventRule
from nodeless.karpenter.versions import Release
from nodeless.sinks.excerpts import Mark
from nodeless.upgrade.chart_key_changes import GONE, NEW, NEW_DEFAULT, RENAMED, KeyChange
from nodeless.upgrade.comparison import (
    ADDED,
    CHANGED,
    REMOVED,
    ChartChanges,
    Difference,
    KubernetesRanges,
    PolicyChanges,
    PolicySids,
    RuleChanges,
    StatementChange,
    Upgrade,
)
from nodeless.upgrade.file_changes import Edit, FileChanges, ValueChange
from nodeless.upgrade.path import NODELESS, YOU, Minors, Note, Stage
from nodeless.upgrade.resource_changes import FieldChange, FieldNews, ResourceChanges

OLD, STOP, NEW_RELEASE = Release(0, 37, 8), Release(1, 0, 14), Release(1, 1, 0)
NONE = Difference(added=(), removed=())


def statement(
    change: str,
    sid: str,
    *,
    was: str | None = None,
    actions: Difference = NONE,
    resources: Difference = NONE,
    conditions: Difference = NONE,
) -> StatementChange:
    return StatementChange(
        change=change,
        sid=sid,
        was=was,
        policy=None if change == REMOVED else "new-policy",
        was_policy=None if change == ADDED else "old-policy",
        actions=actions,
        resources=resources,
        conditions=conditions,
    )


def rule(title: str) -> EventRule:
    return EventRule(title.lower(), title, "aws.ec2", f"EC2 {title}", f"{title} happens")


UNCHANGED = Upgrade(
    before=OLD,
    after=NEW_RELEASE,
    actions=NONE,
    statements=(),
    old_statements=(),
    policies=PolicyChanges(added=(), removed=(), split=False, joined=False),
    rules=RuleChanges(added=(), removed=()),
    node_role=NONE,
    chart=ChartChanges(version_before="0.37.8", version_after="0.37.8", keys=(), crd_keys=()),
    resources=ResourceChanges(
        kinds_added=(),
        kinds_removed=(),
        written_before="v1",
        written_after="v1",
        fields=(),
        fields_added=(),
        fields_removed=(),
    ),
    kubernetes=KubernetesRanges(before=Minors(25, 30), after=Minors(25, 30), common=Minors(25, 30)),
    stages=(),
    notes=(),
    warnings=(),
)

EVERYTHING = Upgrade(
    before=OLD,
    after=NEW_RELEASE,
    actions=Difference(added=("ec2:New",), removed=("ec2:Old",)),
    statements=(
        statement(
            CHANGED,
            "AllowNewName",
            was="AllowOldName",
            actions=Difference(added=("ec2:New",), removed=("ec2:Old",)),
            resources=Difference(added=(), removed=("arn:aws:ec2:<region>:*:volume/*",)),
            conditions=Difference(added=("StringEquals a = b",), removed=()),
        ),
        statement(ADDED, "AllowMore", actions=Difference(added=("iam:More",), removed=())),
        statement(REMOVED, "AllowLess", actions=Difference(added=(), removed=("iam:Less",))),
    ),
    old_statements=({"Sid": "AllowLess", "Effect": "Allow", "Action": "iam:Less"},),
    policies=PolicyChanges(
        added=(PolicySids("nodes", ("AllowNewName",)), PolicySids("roles", ("AllowMore",))),
        removed=(PolicySids("everything", ("AllowOldName", "AllowLess")),),
        split=True,
        joined=False,
    ),
    rules=RuleChanges(added=(rule("Storm"),), removed=(rule("Calm"),)),
    node_role=Difference(added=("PullOnly",), removed=("ReadOnly",)),
    chart=ChartChanges(
        version_before="v0.37.8",
        version_after="1.1.0",
        keys=(
            KeyChange(change=RENAMED, key="old.name", instead="new.name"),
            KeyChange(change=GONE, key="settings.gone", note="remove it"),
            KeyChange(change=NEW, key="settings.new"),
            KeyChange(change=NEW, key="settings.fresh", default="10s"),
            KeyChange(change=NEW_DEFAULT, key="settings.clusterName", was_default="a", default="b"),
        ),
        crd_keys=(KeyChange(change=GONE, key="webhook.port"), KeyChange(change=GONE, key="webhook.other")),
    ),
    resources=ResourceChanges(
        kinds_added=("karpenter.sh/v1 NodePool",),
        kinds_removed=("karpenter.sh/v1beta1 NodePool",),
        written_before="v1beta1",
        written_after="v1",
        fields=(FieldChange(kind="pool", meaning="expiry", was="spec.old", now="spec.new"),),
        fields_added=(FieldNews("pool", "spec.replicas"),),
        fields_removed=(FieldNews("class", "spec.context"),),
    ),
    kubernetes=KubernetesRanges(before=Minors(25, 30), after=Minors(26, 31), common=Minors(26, 30)),
    stages=(
        Stage(
            before=OLD,
            after=STOP,
            reason="it converts",
            kubernetes=Minors(25, 30),
            steps=("Upgrade the control plane", "Apply"),
        ),
        Stage(before=STOP, after=NEW_RELEASE, reason=None, kubernetes=Minors(26, 30), steps=("Apply again",)),
    ),
    notes=(
        Note((1, 0), YOU, "Change the scrape port", "1.0 cannot be undone"),
        Note((1, 1), NODELESS, "The webhook is removed"),
    ),
    warnings=("Avoid 1.1.0: use 1.1.1",),
)

FILE_CHANGES = FileChanges(
    cluster="demo",
    region="eu-north-1",
    edit=Edit(
        file="clusters.yaml",
        path="defaults.karpenter.version",
        line=3,
        was="0.37.8",
        write=("1.0.14", "1.1.0"),
        also_changes=("red", "blue"),
    ),
    values=(
        ValueChange(key="logConfig.outputPaths", change=RENAMED, instead="logOutputPaths", note=None),
        ValueChange(key="settings.featureGates.drift", change=GONE, instead=None, note="drift is always on"),
    ),
    findings=(
        Finding(
            ("clusters", 0, "node_pools", 0, "spec"),
            "a|b\nc `d` *e* <f>",
            "must be a map",
            "write spec: {}",
            mark=Mark(9, 5),
        ),
    ),
)
