"""What every cluster of a fleet needs to move to a release, or why it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeless.finding import written_path
from nodeless.karpenter.releases import NEWEST, find
from nodeless.karpenter.versions import Release
from nodeless.spec.fleet import load_fleet
from nodeless.upgrade.fleet_moves import CANNOT, ONE_STAGE, THERE, WITH_STOPS, Move, checks, moves
from nodeless.upgrade.for_cluster import for_cluster
from tests.conftest import ROOT
from tests.fleet import members

BETA_POOL = {
    "name": "default",
    "spec": {
        "template": {
            "spec": {
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}],
                "nodeClassRef": {"name": "default"},
            }
        },
        "disruption": {"consolidationPolicy": "WhenUnderutilized", "expireAfter": "720h"},
    },
}


def moved(version: str, to: str | Release = NEWEST, values: object = None, **keys: Any) -> Move:  # noqa: ANN401 - any key of a cluster
    """Find the way of one cluster from a version to another."""
    karpenter = {"version": version, **({"values": values} if values else {})}
    fleet = members({"name": "demo", **keys, "karpenter": {**karpenter, **keys.pop("karpenter", {})}})
    (move,) = moves(fleet, {"demo"}, find(str(to)))
    return move


def keys_of(move: Move) -> list[str]:
    return [reason.where for reason in move.reasons]


def test_a_cluster_that_has_the_release_is_there() -> None:
    move = moved(str(NEWEST))

    assert (move.verdict, move.stages, move.reasons, move.target) == (THERE, (), (), None)


def test_a_minor_that_means_the_release_is_there_too() -> None:
    assert moved(f"{NEWEST.major}.{NEWEST.minor}").verdict == THERE


def test_a_cluster_that_needs_no_stop_moves_in_one_stage() -> None:
    move = moved("1.8.8", "1.14.1", kubernetes="1.31")

    assert (move.verdict, move.stops, move.condition, move.reasons) == (ONE_STAGE, (), None, ())
    assert move.target is not None
    assert str(move.target.release) == "1.14.1"


def test_a_cluster_that_needs_stops_has_their_names() -> None:
    move = moved("0.37.8", "1.14.1", kubernetes="1.29")

    assert (move.verdict, move.stops) == (WITH_STOPS, ("1.0.14",))
    assert [str(stage.after) for stage in move.stages] == ["1.0.14", "1.14.1"]


def test_a_control_plane_that_is_upgraded_between_two_stages_is_a_stop() -> None:
    move = moved("0.33.0", "1.14.1", kubernetes="1.24")

    assert (move.verdict, move.stops) == (WITH_STOPS, ("0.33.12", "Kubernetes 1.25", "1.0.14", "Kubernetes 1.26"))


def test_a_kubernetes_that_the_file_does_not_say_is_a_condition() -> None:
    assert moved("1.8.8", "1.13.1").condition is None
    assert moved("1.4.0", "1.14.1").condition == "Kubernetes 1.26 to 1.32"


def test_a_control_plane_that_is_too_old_holds_a_cluster_back() -> None:
    move = moved("0.37.8", "1.14.1", kubernetes="1.24")

    (reason,) = move.reasons
    assert (move.verdict, reason.where, reason.value) == (CANNOT, "kubernetes", "1.24")
    assert reason.expected == "0.37.8 and 1.0.14 both run on Kubernetes 1.25 to 1.30"
    assert reason.fix == "Upgrade the control plane from Kubernetes 1.24 to 1.25"


def test_a_control_plane_that_is_too_new_ends_the_way() -> None:
    move = moved("1.14.1", "1.1.0", kubernetes="1.34")

    (reason,) = move.reasons
    assert (move.verdict, reason.where, reason.value) == (CANNOT, "kubernetes", "1.34")
    assert "too new" in reason.fix


def test_a_field_that_the_release_does_not_have_holds_a_cluster_back() -> None:
    move = moved("0.37.8", "1.14.1", kubernetes="1.29", node_pools=[BETA_POOL])

    assert move.verdict == CANNOT
    assert "node_pools[0].spec.disruption.expireAfter" in keys_of(move)
    assert all(reason.expected and reason.fix for reason in move.reasons)


def test_a_value_that_the_chart_no_longer_reads_is_named_once_for_all_stages() -> None:
    move = moved("0.37.8", "1.14.1", kubernetes="1.29", values={"logConfig": {"outputPaths": ["stdout"]}})

    (reason,) = move.reasons
    assert (reason.where, reason.value) == ("karpenter.values.logConfig.outputPaths", "[stdout]")
    assert (reason.expected, reason.fix) == ("a key that the chart of 1.0.14 reads", "use logOutputPaths")


def test_a_setting_that_an_older_release_does_not_have_holds_a_downgrade_back() -> None:
    assert keys_of(moved("1.14.1", "1.8.8", karpenter={"zonal_shift": True})) == ["karpenter.zonal_shift"]


def test_a_downgrade_within_an_api_is_a_move() -> None:
    assert moved("1.14.1", "1.8.8").verdict == ONE_STAGE


@pytest.mark.parametrize(("version", "to"), [("1.14.1", "1.0.14"), ("1.0.14", "0.37.8"), ("0.33.12", "0.32.10")])
def test_a_downgrade_across_a_change_of_the_api_cannot_be_made_for_a_fleet(version: str, to: str) -> None:
    move = moved(version, to)

    assert move.verdict == CANNOT
    assert move.reasons[0].where == "karpenter.version"
    assert move.reasons[0].expected.startswith("a downgrade that crosses no change of the API: ")


def test_from_a_release_that_is_not_known_nothing_can_be_said() -> None:
    unknown = f"{NEWEST.major}.{NEWEST.minor + 1}.0"

    move = moved(unknown, karpenter={"version": unknown, "tables": str(NEWEST)})

    assert (move.verdict, str(move.before), keys_of(move)) == (CANNOT, unknown, ["karpenter.version"])
    assert move.reasons[0].fix == "use a newer nodeless"


def test_only_chosen_clusters_are_looked_at() -> None:
    fleet = members({"name": "one"}, {"name": "two"})

    assert [move.stack for move in moves(fleet, {"two"}, NEWEST)] == ["two"]


def test_a_secret_among_the_reasons_is_not_shown() -> None:
    values = {"logConfig": {"outputPaths": ["stdout"], "logEncoding": {"token": "hunter2"}}}

    shown = {reason.where: reason.value for reason in moved("0.37.8", kubernetes="1.29", values=values).reasons}

    assert shown == {
        "karpenter.values.logConfig.outputPaths": "[stdout]",
        "karpenter.values.logConfig.logEncoding.token": "(not shown)",
    }


FILES = [ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]
# Another section of the report on one cluster has these.
ELSEWHERE = ("kubernetes", "karpenter.version", "karpenter.values")


@pytest.mark.parametrize("to", ["0.32.10", "1.0.14", "1.14.1"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_fleet_is_checked_as_one_cluster_is(file: Path, to: str) -> None:
    fleet = load_fleet([file])
    for move in moves(fleet, {member.installation.stack for member in fleet}, find(to)):
        if len(move.stages) == 1:
            _, changes = for_cluster(move.stack, find(to), [file])
            alone = {written_path(row.path[1 if row.path[0] == "defaults" else 2 :]) for row in changes.findings}

            assert {key for key in keys_of(move) if not key.startswith(ELSEWHERE)} == alone


def test_the_checks_across_clusters_see_the_fleet_with_the_new_release() -> None:
    fleet = members(*({"name": f"c{number}"} for number in range(251)), karpenter={"version": "1.8.8"})

    def found(to: str) -> list[tuple[str, str]]:
        result = checks(fleet, moves(fleet, {each.installation.stack for each in fleet}, find(to)))
        return [(check.stack, check.expected) for check in result if "managed policies" in check.expected]

    assert found("1.8.8") == []
    ((stack, expected),) = found("1.14.1")
    assert stack == "c250"
    assert expected.endswith("has 1,500 customer managed policies by default, and all clusters there use 1,506")


def test_clusters_that_do_not_move_are_checked_as_they_are() -> None:
    fleet = members(*({"name": f"c{number}"} for number in range(251)), karpenter={"version": "1.8.8"})

    found = checks(fleet, moves(fleet, {"c0"}, find("1.14.1")))

    assert [check for check in found if "managed policies" in check.expected] == []
