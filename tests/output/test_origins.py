"""Which stacks of an output folder a run with several files owns, replaces and leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeless.output.folder import opened
from nodeless.output.inventory import Inventory, Origins
from nodeless.output.plan import Plan
from nodeless.output.refusals import UnchangedError
from tests.output.trees import CONFIG, INVENTORY, OTHER_CONFIG, build, run

STACK = {"cdk.tf.json": "{}", "nodeless.tftest.hcl": "same"}
BOTH = frozenset({CONFIG, OTHER_CONFIG})


def together(out: Path, origins: dict[str, str], configs: frozenset[str] = BOTH, *, prune: bool = False) -> Plan:
    """Publish every stack of several files in one run."""
    with opened(out, force=False, say=lambda _: None) as folder:
        build(folder.build, dict.fromkeys(origins, STACK))
        return folder.publish(Origins(stacks=origins, configs=configs), prune=prune)


def recorded(out: Path) -> dict[str, str]:
    return {name: row.config for name, row in Inventory.parse((out / INVENTORY).read_bytes()).stacks.items()}


def test_files_that_are_named_together_are_recorded_one_by_one(tmp_path: Path) -> None:
    together(tmp_path, {"a": CONFIG, "b": OTHER_CONFIG})

    assert recorded(tmp_path) == {"a": CONFIG, "b": OTHER_CONFIG}


def test_a_run_with_one_of_the_files_leaves_the_stacks_of_the_other_alone(tmp_path: Path) -> None:
    together(tmp_path, {"a": CONFIG, "b": OTHER_CONFIG})

    plan = run(tmp_path, {"a": STACK}, config=CONFIG, prune=True)

    assert (plan.orphans, plan.pruned) == ((), ())
    assert recorded(tmp_path) == {"a": CONFIG, "b": OTHER_CONFIG}


def test_a_cluster_may_move_from_one_of_the_files_to_the_other(tmp_path: Path) -> None:
    together(tmp_path, {"a": CONFIG, "b": OTHER_CONFIG})

    plan = together(tmp_path, {"a": CONFIG, "b": CONFIG})

    assert (plan.orphans, plan.change_of("b")) == ((), "unchanged")
    assert recorded(tmp_path) == {"a": CONFIG, "b": CONFIG}


def test_a_cluster_that_is_not_chosen_is_recorded_under_the_file_it_is_in_now(tmp_path: Path) -> None:
    together(tmp_path, {"a": CONFIG, "b": CONFIG})

    with opened(tmp_path, force=False, say=lambda _: None) as folder:
        build(folder.build, {"a": STACK})
        folder.publish(Origins(stacks={"a": CONFIG, "b": OTHER_CONFIG}, configs=BOTH), prune=False)

    assert recorded(tmp_path) == {"a": CONFIG, "b": OTHER_CONFIG}
    assert run(tmp_path, {"a": STACK}, config=CONFIG, prune=True).pruned == ()


def test_what_left_both_files_is_left_over(tmp_path: Path) -> None:
    together(tmp_path, {"a": CONFIG, "b": OTHER_CONFIG, "c": OTHER_CONFIG})

    assert together(tmp_path, {"a": CONFIG, "c": OTHER_CONFIG}).orphans == ("b",)
    assert together(tmp_path, {"a": CONFIG, "c": OTHER_CONFIG}, prune=True).pruned == ("b",)


def test_a_file_that_was_run_alone_may_become_an_included_one(tmp_path: Path) -> None:
    run(tmp_path, {"a": STACK, "gone": STACK}, config=OTHER_CONFIG)

    plan = together(tmp_path, {"a": CONFIG, "b": CONFIG})

    assert plan.orphans == ("gone",)
    assert recorded(tmp_path) == {"a": CONFIG, "b": CONFIG, "gone": OTHER_CONFIG}


def test_an_included_file_that_is_run_alone_takes_no_stack_of_the_whole(tmp_path: Path) -> None:
    together(tmp_path, {"a": CONFIG, "b": CONFIG})

    with pytest.raises(UnchangedError, match=f"a stack of {CONFIG}"):
        run(tmp_path, {"a": STACK}, config=OTHER_CONFIG)
