"""The sections of the upgrade report, each with the rows of one kind of change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nodeless.finding import Finding
from nodeless.upgrade.chart_key_changes import GONE, NEW, NEW_DEFAULT, RENAMED, KeyChange
from nodeless.upgrade.comparison import CHANGED, ChartChanges, Difference, KubernetesRanges, PolicyChanges, PolicySids
from nodeless.upgrade.file_changes import FileChanges
from nodeless.upgrade.path import Minors
from nodeless.upgrade.sections import Section, headline, sections
from tests.upgrade.made_up import EVERYTHING, FILE_CHANGES, NEW_RELEASE, NONE, OLD, UNCHANGED, statement


def section(title: str, file_changes: FileChanges | None = None, **changes: Any) -> Section:  # noqa: ANN401 - any field
    """Return a section of an upgrade in which only these fields differ."""
    found = [part for part in sections(replace(UNCHANGED, **changes), file_changes) if part.title.startswith(title)]
    assert len(found) == 1, f"{title}: {len(found)}"
    return found[0]


def chart(*keys: KeyChange) -> ChartChanges:
    return replace(UNCHANGED.chart, keys=keys)


def edit(**fields: Any) -> str:  # noqa: ANN401 - any field of an edit
    return str(replace(FILE_CHANGES.edit, **fields))


def test_the_sections_come_in_the_order_of_work() -> None:
    assert [part.title for part in sections(EVERYTHING, FILE_CHANGES)] == [
        "Warnings",
        "Edit",
        "Your Helm values",
        "Also change in clusters.yaml",
        "Stage 1 of 2: 0.37.8 -> 1.0.14 (it converts)",
        "Stage 2 of 2: 1.0.14 -> 1.1.0",
        "Controller permissions",
        "Controller policies (one is split into several)",
        "EventBridge rules",
        "Node role policies",
        "Keys of the karpenter chart",
        "Keys of the karpenter-crd chart",
        "Custom resource kinds",
        "Renamed and changed fields",
        "Added and removed fields",
        "Kubernetes",
        "Notes by release",
    ]


def test_every_row_has_a_cell_for_every_column() -> None:
    for part in sections(EVERYTHING, FILE_CHANGES):
        assert {len(row) for row in part.rows} <= {len(part.header)}, part.title


def test_what_does_not_change_is_named_in_one_line() -> None:
    line = (
        "Controller permissions, Controller policies, EventBridge rules, Node role policies, "
        "Keys of the karpenter chart, Keys of the karpenter-crd chart, Custom resource kinds, "
        "Renamed and changed fields, Added and removed fields, Kubernetes"
    )

    assert list(sections(UNCHANGED, None)) == [Section(title="Unchanged", lines=(line,))]


def test_the_same_release_has_no_sections() -> None:
    assert list(sections(replace(UNCHANGED, after=OLD), None)) == []


def test_the_headline_names_the_cluster_and_the_direction() -> None:
    assert headline(UNCHANGED, None) == "Karpenter 0.37.8 -> 1.1.0"
    assert headline(UNCHANGED, FILE_CHANGES) == "demo (eu-north-1), Karpenter 0.37.8 -> 1.1.0"
    assert headline(replace(UNCHANGED, after=OLD), None) == "Karpenter 0.37.8 -> 0.37.8: nothing changes"
    down = replace(UNCHANGED, before=NEW_RELEASE, after=OLD)
    assert headline(down, None) == "Karpenter 1.1.0 -> 0.37.8: a downgrade"


def test_warnings_and_steps_are_lists() -> None:
    assert section("Warnings", warnings=("one", "two")) == Section(title="Warnings", lines=("one", "two"))
    (stage, _) = EVERYTHING.stages
    assert section("Steps", stages=(stage,)) == Section(
        title="Steps: 0.37.8 -> 1.0.14 (it converts)",
        lines=("Upgrade the control plane", "Apply"),
        numbered=True,
    )


def test_a_statement_shows_its_sid_once_and_each_change_in_a_row() -> None:
    assert section("Controller permissions", statements=EVERYTHING.statements).rows == (
        ("~", "AllowNewName", "renamed", "was AllowOldName"),
        ("", "", "- action", "ec2:Old"),
        ("", "", "+ action", "ec2:New"),
        ("", "", "- resource", "arn:aws:ec2:<region>:*:volume/*"),
        ("", "", "+ condition", "StringEquals a = b"),
        ("+", "AllowMore", "+ action", "iam:More"),
        ("-", "AllowLess", "- action", "iam:Less"),
    )


def test_a_statement_that_only_changes_has_the_sign_of_a_change() -> None:
    change = statement(CHANGED, "Allow", actions=Difference(added=("a:B",), removed=()))

    assert section("Controller permissions", statements=(change,)).rows == (("~", "Allow", "+ action", "a:B"),)


WHOLE, PARTS = PolicySids("whole", ("A", "B")), (PolicySids("one", ("A",)), PolicySids("two", ("B",)))


@pytest.mark.parametrize(
    ("changes", "title", "rows"),
    [
        (
            PolicyChanges(added=PARTS, removed=(WHOLE,), split=True, joined=False),
            "Controller policies (one is split into several)",
            (("-", "whole", "all 2"), ("+", "one", "A"), ("+", "two", "B")),
        ),
        (
            PolicyChanges(added=(WHOLE,), removed=PARTS, split=False, joined=True),
            "Controller policies (several are joined into one)",
            (("-", "one", "A"), ("-", "two", "B"), ("+", "whole", "all 2")),
        ),
        (
            PolicyChanges(added=(WHOLE,), removed=PARTS[:1], split=False, joined=False),
            "Controller policies",
            (("-", "one", "A"), ("+", "whole", "A, B")),
        ),
    ],
    ids=["split", "joined", "neither"],
)
def test_policies_that_are_split_joined_or_replaced(
    changes: PolicyChanges, title: str, rows: tuple[tuple[str, ...], ...]
) -> None:
    found = section("Controller policies", policies=changes)

    assert (found.title, found.rows) == (title, rows)


def test_rules_and_node_role_show_what_is_removed_first() -> None:
    assert section("EventBridge", rules=EVERYTHING.rules).rows == (
        ("-", "Calm", "aws.ec2", "EC2 Calm"),
        ("+", "Storm", "aws.ec2", "EC2 Storm"),
    )
    assert section("Node role", node_role=EVERYTHING.node_role).rows == (("-", "ReadOnly"), ("+", "PullOnly"))


@pytest.mark.parametrize(
    ("change", "row"),
    [
        (KeyChange(change=RENAMED, key="a.b", instead="c.d"), ("~", "a.b", "renamed to c.d", "")),
        (
            KeyChange(change=RENAMED, key="a.b", instead="settings.clusterName", note="0.32 reads both"),
            ("~", "a.b", "renamed to settings.clusterName", "0.32 reads both; nodeless sets it"),
        ),
        (KeyChange(change=GONE, key="a.b", note="remove it"), ("-", "a.b", "removed", "remove it")),
        (KeyChange(change=GONE, key="settings"), ("-", "settings", "removed", "nodeless sets it")),
        (KeyChange(change=NEW, key="a.b"), ("+", "a.b", "new", "")),
        (KeyChange(change=NEW, key="a.b", default="1m"), ("+", "a.b", "new, default 1m", "")),
        (KeyChange(change=NEW, key="setting"), ("+", "setting", "new", "")),
        (
            KeyChange(change=NEW_DEFAULT, key="dnsPolicy", was_default="Default", default="ClusterFirst"),
            ("~", "dnsPolicy", "default Default -> ClusterFirst", "nodeless sets it"),
        ),
    ],
    ids=lambda value: value.change if isinstance(value, KeyChange) else None,
)
def test_a_key_of_the_chart_and_whether_nodeless_sets_it(change: KeyChange, row: tuple[str, ...]) -> None:
    assert section("Keys of the karpenter chart", chart=chart(change)).rows == (row,)


def test_a_key_of_the_crd_chart_and_whether_nodeless_sets_it() -> None:
    assert section("Keys of the karpenter-crd chart", chart=EVERYTHING.chart).rows == (
        ("-", "webhook.port", "removed", "nodeless sets it"),
        ("-", "webhook.other", "removed", ""),
    )


def test_the_version_of_the_chart_is_shown_where_it_is_not_that_of_the_release() -> None:
    changed = replace(UNCHANGED.chart, version_before="v0.34.13", version_after="0.35.12")

    assert section("Keys of the karpenter chart", chart=changed).rows == (
        ("~", "chart version", "v0.34.13 -> 0.35.12", "nodeless sets it"),
    )


def test_kinds_and_fields_of_custom_resources() -> None:
    resources = EVERYTHING.resources

    assert section("Custom resource kinds", resources=resources).rows == (
        ("~", "written as v1beta1 -> v1"),
        ("-", "karpenter.sh/v1beta1 NodePool"),
        ("+", "karpenter.sh/v1 NodePool"),
    )
    assert section("Renamed and", resources=resources).rows == (("~", "pool", "expiry", "spec.old", "spec.new"),)
    assert section("Added and", resources=resources).rows == (
        ("-", "class", "spec.context"),
        ("+", "pool", "spec.replicas"),
    )


def test_kubernetes_is_shown_with_what_both_releases_run_on() -> None:
    shown = section("Kubernetes", kubernetes=EVERYTHING.kubernetes)
    apart = KubernetesRanges(before=Minors(19, 25), after=Minors(26, 36), common=None)

    assert shown.header == ("", "0.37.8", "1.1.0", "both")
    assert shown.rows == (("~", "1.25 to 1.30", "1.26 to 1.31", "1.26 to 1.30"),)
    assert section("Kubernetes", kubernetes=apart).rows == (
        ("~", "1.19 to 1.25", "1.26 to 1.36", "none: upgrade Kubernetes between two stages"),
    )


def test_notes_say_at_which_release_and_who_acts() -> None:
    assert section("Notes", notes=EVERYTHING.notes).rows == (
        ("1.0", "you", "Change the scrape port"),
        ("1.1", "nodeless", "The webhook is removed"),
    )


def test_helm_values_are_renamed_or_no_longer_read() -> None:
    assert section("Your Helm values", FILE_CHANGES).rows == (
        ("~", "logConfig.outputPaths", "write logOutputPaths", ""),
        ("-", "settings.featureGates.drift", "no longer read", "drift is always on"),
    )


def test_findings_are_shown_on_one_line_each() -> None:
    long = replace(FILE_CHANGES, findings=(Finding((), "x" * 200, "must be short", "shorten it"),))

    assert section("Also change in clusters.yaml", FILE_CHANGES).rows == (
        ("clusters[0].node_pools[0].spec", "a|b c `d` *e* <f>", "must be a map", "write spec: {}"),
    )
    ((where, value, *_),) = section("Also change in clusters.yaml", long).rows
    assert (where, len(value)) == ("(the whole file)", 120)


def test_a_file_without_further_changes_has_the_edit_only() -> None:
    titles = [part.title for part in sections(UNCHANGED, replace(FILE_CHANGES, values=(), findings=()))]

    assert titles == ["Edit", "Unchanged"]


def test_the_edit_says_where_what_and_for_whom() -> None:
    version = 'defaults.karpenter.version: "0.37.8" becomes "1.0.14", then "1.1.0"'

    assert edit() == f"clusters.yaml, line 3: {version} (also changes red, blue)"
    assert edit(also_changes=(), write=("1.1.0",)) == (
        'clusters.yaml, line 3: defaults.karpenter.version: "0.37.8" becomes "1.1.0"'
    )
    assert edit(line=None, was=None, also_changes=(), write=("1.1.0",), path="clusters[0].karpenter.version") == (
        'clusters.yaml: add clusters[0].karpenter.version: "1.1.0"'
    )


def test_a_difference_is_true_if_anything_is_added_or_removed() -> None:
    assert not NONE
    assert Difference(added=("a",), removed=())
    assert Difference(added=(), removed=("a",))
