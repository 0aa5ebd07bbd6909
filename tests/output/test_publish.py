"""What a run changes in an output folder, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeless.output import manifest
from nodeless.output.inventory import Inventory, config_name, config_path
from nodeless.output.paths import WRITTEN
from nodeless.output.present import digest_of
from nodeless.spec.resolution import installation
from nodeless.stacks.files import gitops, terraform_tests
from tests.output.trees import (
    CONFIG,
    FOREIGN,
    INVENTORY,
    NEW,
    OLD,
    OTHER_CONFIG,
    contents,
    run,
    stacks_in,
    write,
    written,
)

BOTH = {**NEW, **{name: files for name, files in OLD.items() if name not in NEW}}


def test_a_first_run_writes_the_tree_the_manifest_and_the_inventory(tmp_path: Path) -> None:
    run(tmp_path / "out", NEW)

    found = contents(tmp_path / "out")
    assert found.keys() == {*written(NEW), "manifest.json", INVENTORY}
    assert written(NEW).items() <= found.items()
    assert stacks_in(tmp_path / "out") == set(NEW)


def test_the_inventory_has_the_digest_of_every_file(tmp_path: Path) -> None:
    run(tmp_path, NEW)

    inventory = Inventory.parse((tmp_path / INVENTORY).read_bytes())
    digests = {f"stacks/{name}/{file}": d for name, row in inventory.stacks.items() for file, d in row.files.items()}
    assert digests == {path: digest_of((tmp_path / path).read_bytes()) for path in written(NEW)}
    assert inventory.manifest == digest_of((tmp_path / "manifest.json").read_bytes())
    assert {row.config for row in inventory.stacks.values()} == {CONFIG}


def test_a_later_run_replaces_our_files_and_no_others(tmp_path: Path) -> None:
    run(tmp_path, OLD)
    write(tmp_path, FOREIGN)

    run(tmp_path, NEW)

    assert {name: text for name, text in contents(tmp_path).items() if name not in {"manifest.json", INVENTORY}} == {
        **written(NEW),
        **FOREIGN,
    }


def test_the_same_tree_again_touches_no_file(tmp_path: Path) -> None:
    run(tmp_path, NEW)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}

    assert run(tmp_path, NEW).changes == ()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_stacks_folder_stays_the_same_folder(tmp_path: Path) -> None:
    """A shell or a running Terraform may be in it."""
    run(tmp_path, OLD)
    before = (tmp_path / "stacks/changed").stat().st_ino

    run(tmp_path, NEW)

    assert (tmp_path / "stacks/changed").stat().st_ino == before


def test_a_file_with_the_new_content_is_taken_over(tmp_path: Path) -> None:
    write(tmp_path, written(NEW))

    run(tmp_path, NEW)
    run(tmp_path, OLD)

    assert (tmp_path / "stacks/changed/cdk.tf.json").read_text("utf-8") == OLD["changed"]["cdk.tf.json"]


def test_a_file_that_is_no_longer_written_stays_if_it_was_changed(tmp_path: Path) -> None:
    run(tmp_path, OLD)
    write(tmp_path, {"stacks/delivered/gitops/flux/karpenter.yaml": "mine"})

    plan = run(tmp_path, NEW)

    assert plan.edited == ("stacks/delivered/gitops/flux/karpenter.yaml",)
    assert (tmp_path / plan.edited[0]).read_text("utf-8") == "mine"
    assert run(tmp_path, NEW).edited == (), "it is the user's now"


def test_folders_that_become_empty_are_removed(tmp_path: Path) -> None:
    run(tmp_path, OLD)

    run(tmp_path, NEW)

    assert not (tmp_path / "stacks/delivered/gitops").exists()
    assert not (tmp_path / "stacks/changed/assets/karpenter-charts/node-pools/templates").exists()


@pytest.mark.parametrize(
    "keys", [{"stack": "s" * 120}, {"name": "n" * 100, "names": {"with_region": True}}], ids=["stack", "with_region"]
)
def test_a_stack_with_the_longest_name_is_known_again(tmp_path: Path, keys: dict[str, Any]) -> None:
    found = installation(**{"name": "demo", "region": "ap-southeast-1", "delivery": "none", **keys})
    tree = {found.stack: OLD["same"]}
    assert len(found.stack) > 100
    run(tmp_path, tree)

    assert run(tmp_path, tree).changes == ()
    assert run(tmp_path, OLD).orphans == (found.stack,)


def test_a_stack_that_left_the_file_stays_and_stays_in_the_manifest(tmp_path: Path) -> None:
    run(tmp_path, NEW)

    for _ in range(2):
        plan = run(tmp_path, OLD)
        assert plan.orphans == ("added",)
        assert written({"added": NEW["added"]}).items() <= contents(tmp_path).items()
        assert stacks_in(tmp_path) == {*OLD, "added"}


def test_a_stack_that_came_back_is_no_orphan(tmp_path: Path) -> None:
    run(tmp_path, NEW)
    run(tmp_path, OLD)

    assert run(tmp_path, NEW).orphans == ()


def test_prune_removes_our_files_of_a_stack_that_left_and_nothing_else(tmp_path: Path) -> None:
    run(tmp_path, NEW)
    mine = {f"stacks/added/{name}": "mine" for name in ("terraform.tfstate", ".terraform.lock.hcl", "assets/mine")}
    write(tmp_path, mine)

    plan = run(tmp_path, OLD, prune=True)

    assert (plan.orphans, plan.pruned) == ((), ("added",))
    assert {name: text for name, text in contents(tmp_path).items() if name.startswith("stacks/added")} == mine
    assert stacks_in(tmp_path) == set(OLD)
    assert run(tmp_path, OLD, prune=True).pruned == ()


def test_prune_keeps_a_file_that_was_changed_and_lists_its_stack(tmp_path: Path) -> None:
    """The cdktf command deletes the folders of stacks that are not listed."""
    run(tmp_path, NEW)
    write(tmp_path, {"stacks/added/cdk.tf.json": "mine"})

    plan = run(tmp_path, OLD, prune=True)

    assert plan.edited == ("stacks/added/cdk.tf.json",)
    assert (tmp_path / "stacks/added/cdk.tf.json").read_text("utf-8") == "mine"
    assert "added" in stacks_in(tmp_path)


def test_prune_removes_the_folder_of_a_stack_if_nothing_else_is_in_it(tmp_path: Path) -> None:
    run(tmp_path, NEW)

    run(tmp_path, OLD, prune=True)

    assert not (tmp_path / "stacks/added").exists()


@pytest.mark.parametrize("prune", [False, True])
def test_the_stacks_of_another_file_are_kept_and_are_no_orphans(tmp_path: Path, *, prune: bool) -> None:
    run(tmp_path, {"theirs": NEW["added"]}, config=OTHER_CONFIG)
    theirs = {name: text for name, text in contents(tmp_path).items() if name.startswith("stacks/")}

    plan = run(tmp_path, OLD, prune=prune)

    assert (plan.orphans, plan.pruned) == ((), ())
    assert theirs.items() <= contents(tmp_path).items()
    assert stacks_in(tmp_path) == {*OLD, "theirs"}
    assert run(tmp_path, {"theirs": NEW["added"]}, config=OTHER_CONFIG).changes == ()


def test_the_stacks_of_another_cdktf_app_are_kept_with_their_entries(tmp_path: Path) -> None:
    theirs = {
        **manifest.entry("their stack"),
        "dependencies": ["network"],
        "annotations": [{"level": "@cdktf/warn", "message": "[]"}],
    }
    tree = {"stacks": {"their stack": theirs, "gone": manifest.entry("gone")}, "version": "0.20.0"}
    write(tmp_path, {"manifest.json": json.dumps(tree), "stacks/their stack/cdk.tf.json": "{}"})

    run(tmp_path, NEW)

    listed = json.loads((tmp_path / "manifest.json").read_text("utf-8"))["stacks"]
    assert listed["their stack"] == theirs
    assert listed.keys() == {*NEW, "their stack"}, "a stack without its file would stop the cdktf command"
    assert (tmp_path / "stacks/their stack/cdk.tf.json").read_text("utf-8") == "{}"


def test_two_apps_may_write_the_manifest_in_turn(tmp_path: Path) -> None:
    """CDKTF itself lists the stacks of its own app only."""
    run(tmp_path, NEW)
    tree = {"stacks": {"theirs": manifest.entry("theirs")}, "version": "0.21.0"}
    write(tmp_path, {"manifest.json": json.dumps(tree), "stacks/theirs/cdk.tf.json": "{}"})

    run(tmp_path, NEW)

    assert stacks_in(tmp_path) == {*NEW, "theirs"}


def test_the_order_of_runs_does_not_change_a_byte(tmp_path: Path) -> None:
    for name, trees in {"one": [NEW], "two": [OLD, NEW], "three": [NEW, OLD, BOTH]}.items():
        for tree in trees:
            run(tmp_path / name, tree)

    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")


@pytest.mark.parametrize(
    ("config", "out", "expected"),
    [
        ("clusters.yaml", "cdktf.out", "clusters.yaml"),
        ("fleet/prod.yaml", "cdktf.out", "fleet/prod.yaml"),
        ("prod.yaml", "deep/down/cdktf.out", "../../prod.yaml"),
        ("fleet/prod.yaml", "infra/cdktf.out", "../fleet/prod.yaml"),
        ("missing.yaml", "cdktf.out", "-"),
    ],
)
def test_a_configuration_file_has_the_same_name_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, out: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, dict.fromkeys(("clusters.yaml", "prod.yaml", "fleet/prod.yaml"), ""))

    assert config_name(Path(config), Path(out)) == config_name(tmp_path / config, tmp_path / out) == expected


def test_a_file_elsewhere_on_the_machine_has_its_name_alone(tmp_path: Path) -> None:
    write(tmp_path, {"clusters.yaml": ""})
    elsewhere = Path("/nowhere/below/the/root/cdktf.out")

    assert config_name(tmp_path / "clusters.yaml", elsewhere) == "clusters.yaml"
    assert config_path(tmp_path / "clusters.yaml", elsewhere) is None


def test_every_file_that_a_stack_may_have_is_known(tmp_path: Path) -> None:
    assert {terraform_tests.FILE, gitops.FOLDER} <= set(WRITTEN)
    with pytest.raises(ValueError, match=r"stacks/demo/\.terraform\.lock\.hcl"):
        run(tmp_path, {"demo": {"cdk.tf.json": "{}", ".terraform.lock.hcl": ""}})
