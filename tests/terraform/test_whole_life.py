"""A stack through two upgrades and a dozen changes: each plan is exactly what the change is about.

Meanwhile other clusters come into the same file and leave it again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT
from tests.terraform import expected
from tests.terraform.departures import MINE, NEW, OLD
from tests.terraform.lives import CLUSTER
from tests.terraform.project import OUT
from tests.terraform.whole_life import CHANGES

if TYPE_CHECKING:
    from tests.terraform.departures import Departures
    from tests.terraform.whole_life import WholeLife

pytestmark = pytest.mark.terraform

# These hold state, or an identity that others know. A role is replaced only where it gets another name.
HOLDS_STATE = ("aws_sqs_queue.", "aws_eks_fargate_profile.", "aws_eks_access_entry.", "aws_iam_role.")
RENAMED = {"another name for the controller's role": {"aws_iam_role.controller"}}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_does_what_it_is_about_and_nothing_else(whole_life: WholeLife, name: str) -> None:
    change = whole_life.changes[name]

    assert change.said == ""
    assert change.plan.diagnostics == ()
    assert change.actions == change.expected


@pytest.mark.parametrize("name", CHANGES)
def test_nothing_that_holds_state_is_replaced_or_destroyed(whole_life: WholeLife, name: str) -> None:
    ended = whole_life.changes[name].plan.doing("replace", "delete")

    assert {address for address in ended if address.startswith(HOLDS_STATE)} == RENAMED.get(name, set())


@pytest.mark.parametrize("name", CHANGES)
def test_the_policies_are_those_of_the_release_and_fit(whole_life: WholeLife, name: str) -> None:
    change = whole_life.changes[name]

    assert change.policies == expected.policies(change.installation)
    sizes = [len(json.dumps(policy, separators=(",", ":"))) for policy in change.policies.values()]
    assert max(sizes) <= MANAGED_POLICY_LIMIT


def test_the_releases_differ(whole_life: WholeLife) -> None:
    assert whole_life.created.policies != whole_life.changes["an upgrade to the newest release"].policies


def test_everything_settles(whole_life: WholeLife) -> None:
    assert whole_life.settled.is_empty, whole_life.settled


def test_destroyed_nothing_is_left(whole_life: WholeLife) -> None:
    assert whole_life.state_at_the_end == {}
    assert whole_life.left_behind == set()


def test_a_check_that_fails_stops_a_plan_and_no_destroy(whole_life: WholeLife) -> None:
    assert "does not have the audience sts.amazonaws.com" in whole_life.refused_before_the_destroy
    assert whole_life.state_at_the_end == {}


@pytest.fixture(scope="session")
def departures(whole_life: WholeLife) -> Departures:
    return whole_life.departures


def stack(name: str, *files: str) -> set[str]:
    return {f"{OUT}/stacks/{name}/{file}" for file in files}


WRITTEN = ("cdk.tf.json", "nodeless.versions.tf", "nodeless.tftest.hcl")
STATE = f"terraform.{OLD}.tfstate"
NAMED = "{0}/stacks/{1}: warning: {1} is not in clusters.yaml any more; its files are kept"
REMOVED = "{0}/stacks/{1}: removed, because {1} is not in clusters.yaml any more; kept: "


def test_a_cluster_that_is_renamed_keeps_its_stack_and_synth_says_how_to_destroy_it(departures: Departures) -> None:
    said = departures.renamed.said

    assert said.startswith(f"{NAMED.format(OUT, OLD)}. To destroy what it created, run `terraform destroy` in that")
    assert said.endswith("To remove its files after that, run `nodeless synth --prune`\n")
    assert said.count("\n") == 1
    assert departures.renamed.files == departures.applied.files
    assert departures.renamed.files.keys() > {STATE, *stack(OLD, *WRITTEN, MINE)}
    assert departures.renamed.listed == {CLUSTER, OLD, NEW}


def test_after_a_rename_the_old_stack_is_as_before_and_the_new_one_is_all_new(departures: Departures) -> None:
    assert departures.old_after_the_rename.is_empty, departures.old_after_the_rename
    assert len(departures.new_after_the_rename.doing("create")) == len(departures.new_after_the_rename.actions) > 0


def test_prune_before_the_destroy_keeps_the_stack_and_says_why(departures: Departures) -> None:
    early = departures.pruned_too_early

    why = f"because its state still has resources ({departures.resources} in {STATE})"
    assert early.said.startswith(
        f"{NAMED.format(OUT, OLD)}, {why}. To destroy what it created, run `terraform destroy`"
    )
    kept = {STATE, *stack(OLD, *WRITTEN, MINE)}
    assert {file: early.files[file] for file in kept} == {file: departures.applied.files[file] for file in kept}
    assert early.listed == {CLUSTER, OLD, NEW}


def test_the_kept_stack_is_destroyed_and_nothing_is_left_of_it(departures: Departures) -> None:
    assert departures.resources > 10
    assert departures.old_state == {}
    assert departures.left_of_the_old == set()
    assert departures.new_after_the_destroy.is_empty, departures.new_after_the_destroy


def test_prune_after_the_destroy_removes_the_stack_and_nothing_of_the_users(departures: Departures) -> None:
    assert departures.pruned.said.startswith(REMOVED.format(OUT, OLD))
    assert f", {MINE}" in departures.pruned.said
    assert departures.pruned.said.count("\n") == 1
    files = departures.pruned.files
    assert files.keys() == departures.pruned_too_early.files.keys() - stack(OLD, *WRITTEN)
    assert files[f"{OUT}/stacks/{OLD}/{MINE}"] == b"mine"
    assert json.loads(files[STATE])["resources"] == []
    assert departures.pruned.listed == {CLUSTER, NEW}


def test_a_stack_whose_state_is_elsewhere_is_pruned_with_a_warning_and_comes_back(departures: Departures) -> None:
    removed, told = departures.pruned_unseen.said.splitlines()

    assert removed.startswith(REMOVED.format(OUT, NEW))
    assert "warning: the state of renamed was not looked at (the backend http). If it still has resources, put " in told
    assert stack(NEW, *WRITTEN).isdisjoint(departures.pruned_unseen.files)
    assert departures.pruned_unseen.listed == {CLUSTER}
    assert departures.put_back.said == ""
    assert departures.put_back.files.keys() > stack(NEW, *WRITTEN, MINE)
    assert departures.new_put_back.is_empty, departures.new_put_back


def test_a_cluster_that_is_removed_is_destroyed_from_its_kept_stack(departures: Departures) -> None:
    assert departures.removed.said.startswith(f"{NAMED.format(OUT, NEW)}. To destroy")
    assert departures.removed.files.keys() == departures.put_back.files.keys()
    assert departures.removed.listed == {CLUSTER, NEW}
    assert departures.new_state == {}
    assert departures.left_behind == set()
    assert departures.pruned_in_the_end.listed == {CLUSTER}
    assert departures.pruned_in_the_end.files.keys() == departures.removed.files.keys() - stack(NEW, *WRITTEN)


def test_the_cluster_that_stays_is_not_touched_meanwhile(whole_life: WholeLife) -> None:
    assert whole_life.is_untouched_by_departures
    assert whole_life.settled.is_empty, whole_life.settled
