"""A run for some clusters of a file leaves the stacks of the others as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeless.output.inventory import Inventory, config_name
from nodeless.output.plan import CHANGED, NEW as NEW_STACK, UNCHANGED
from tests.output.trees import INVENTORY, NEW, OLD, contents, run, stacks_in, write, written

ONE = {"changed": NEW["changed"]}
OTHERS = set(OLD) - set(ONE)


@pytest.mark.parametrize("prune", [False, True])
def test_the_other_stacks_stay_listed_recorded_and_as_they_are(tmp_path: Path, *, prune: bool) -> None:
    run(tmp_path, OLD)
    write(tmp_path, {"stacks/same/nodeless.tftest.hcl": "changed by hand"})
    others = {name: text for name, text in contents(tmp_path).items() if name.split("/")[1:2] not in ([], ["changed"])}

    plan = run(tmp_path, ONE, not_chosen=OTHERS, prune=prune)

    assert (plan.orphans, plan.pruned, plan.edited) == ((), (), ())
    found = contents(tmp_path)
    assert {name: found[name] for name in others if name.startswith("stacks/")} == {
        name: text for name, text in others.items() if name.startswith("stacks/")
    }
    assert written(ONE).items() <= found.items()
    assert stacks_in(tmp_path) == set(OLD)
    assert set(Inventory.parse((tmp_path / INVENTORY).read_bytes()).stacks) == set(OLD)


def test_a_stack_that_left_the_file_is_still_an_orphan(tmp_path: Path) -> None:
    run(tmp_path, OLD)

    plan = run(tmp_path, ONE, not_chosen=OTHERS - {"same"})
    assert plan.orphans == ("same",)

    assert run(tmp_path, ONE, not_chosen=OTHERS - {"same"}, prune=True).pruned == ("same",)
    assert stacks_in(tmp_path) == set(OLD) - {"same"}


def test_a_stack_that_was_never_written_is_not_listed(tmp_path: Path) -> None:
    run(tmp_path, ONE, not_chosen={"never"})

    assert stacks_in(tmp_path) == set(ONE)


def test_all_at_once_and_one_after_the_other_give_the_same(tmp_path: Path) -> None:
    run(tmp_path / "once", NEW)
    for name in NEW:
        run(tmp_path / "each", {name: NEW[name]}, not_chosen=set(NEW) - {name})

    assert contents(tmp_path / "once") == contents(tmp_path / "each")


def test_a_plan_says_what_becomes_of_each_stack(tmp_path: Path) -> None:
    first = run(tmp_path, OLD)
    assert {first.change_of(name) for name in OLD} == {NEW_STACK}

    plan = run(tmp_path, NEW)

    assert {name: plan.change_of(name) for name in NEW} == {
        "same": UNCHANGED,
        "changed": CHANGED,
        "delivered": CHANGED,
        "added": NEW_STACK,
    }


def test_a_part_of_a_stacks_files_is_a_change(tmp_path: Path) -> None:
    run(tmp_path, OLD)
    (tmp_path / "stacks/same/nodeless.tftest.hcl").unlink()

    assert run(tmp_path, OLD).change_of("same") == CHANGED


def test_standard_input_has_no_name_that_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-").write_text("a file of this name", encoding="utf-8")

    assert config_name(Path("-"), Path("out")) == "-"
