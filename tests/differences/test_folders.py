"""An output folder against a build: what is missing, left over, edited or out of date; nothing is written."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from nodeless.differences.files import State
from nodeless.differences.folders import STALE, UNFINISHED, UNREADABLE, FolderDifference, compare_folders
from nodeless.output.inventory import Origins
from nodeless.output.paths import INVENTORY, MANIFEST
from tests.output.trees import CONFIG, FOREIGN, NEW, OLD, OTHER_CONFIG, Tree, build, contents, run, write

CHART = "assets/karpenter-charts/node-pools"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return a folder that synthesis wrote, with files of the user and of Terraform in it."""
    folder = tmp_path / "out"
    run(folder, NEW)
    write(folder, FOREIGN)
    return folder


def check(out: Path, tree: Tree = NEW, *, config: str = CONFIG, is_whole: bool = True) -> FolderDifference:
    """Compare the folder with a build of these stacks, which must not change it."""
    before = contents(out) if out.exists() else {}
    folder = out.parent / "build"
    shutil.rmtree(folder, ignore_errors=True)
    build(folder, tree)
    found = compare_folders(out, folder, origins=Origins.of(config, tree), is_whole=is_whole)
    assert (contents(out) if out.exists() else {}) == before
    return found


def states(found: FolderDifference) -> dict[str, State]:
    return {file.path: file.state for file in found.files}


def test_what_synthesis_wrote_does_not_differ_whatever_else_is_in_the_folder(out: Path) -> None:
    assert not check(out)
    assert check(out) == FolderDifference()


def test_a_folder_that_is_not_there_lacks_every_stack(tmp_path: Path) -> None:
    found = check(tmp_path / "out")

    assert found.missing == ("added", "changed", "delivered", "same")
    assert (found.files, found.left_over, found.problems) == ((), (), ())


def test_an_old_folder_is_out_of_date_and_lacks_the_new_stack(tmp_path: Path) -> None:
    run(tmp_path / "out", OLD)
    write(tmp_path / "out", FOREIGN)

    found = check(tmp_path / "out")

    assert found.missing == ("added",)
    assert states(found) == {
        f"stacks/changed/{CHART}/Chart.yaml": State.CONTENT,
        "stacks/changed/cdk.tf.json": State.CONTENT,
        "stacks/changed/gitops/values.yaml": State.MISSING,
        "stacks/changed/nodeless.tftest.hcl": State.CONTENT,
        "stacks/delivered/assets/chart/Chart.yaml": State.MISSING,
        "stacks/delivered/cdk.tf.json": State.CONTENT,
        f"stacks/changed/{CHART}/templates/gone.yaml": State.LEFT_OVER,
        "stacks/delivered/gitops/flux/karpenter.yaml": State.LEFT_OVER,
    }
    assert {file.is_edited for file in found.files if file.state is State.CONTENT} == {False}


def test_a_file_that_was_edited_by_hand_is_told_from_an_old_one(out: Path) -> None:
    (out / "stacks/changed/cdk.tf.json").write_text('{"new": 2}', "utf-8")

    (file,) = check(out).files

    assert (file.path, file.is_edited, file.is_outdated) == ("stacks/changed/cdk.tf.json", True, False)


def test_an_edited_file_that_is_no_longer_written_is_left_over(tmp_path: Path) -> None:
    run(tmp_path / "out", OLD)
    gone = f"stacks/changed/{CHART}/templates/gone.yaml"
    (tmp_path / "out" / gone).write_text("edited", "utf-8")

    (file,) = [file for file in check(tmp_path / "out").files if file.path == gone]

    assert (file.state, file.is_edited) == (State.LEFT_OVER, True)


def test_a_file_that_somebody_deleted_is_missing(out: Path) -> None:
    (out / "stacks/same/nodeless.tftest.hcl").unlink()

    assert states(check(out)) == {"stacks/same/nodeless.tftest.hcl": State.MISSING}


def test_a_stack_that_left_the_file_is_left_over(out: Path) -> None:
    found = check(out, {name: files for name, files in NEW.items() if name != "added"})

    assert found.left_over == ("added",)
    assert (found.files, found.missing, found.problems) == ((), (), ())


def test_stacks_of_another_file_are_not_left_over(out: Path) -> None:
    run(out, {"other": {"cdk.tf.json": "{}", "nodeless.tftest.hcl": ""}}, config=OTHER_CONFIG)

    assert not check(out)


def test_a_stack_of_another_file_with_the_same_name_is_named(out: Path) -> None:
    found = check(out, {"same": NEW["same"]}, config=OTHER_CONFIG)

    assert found.problems == (("stacks/same", f"a stack of {CONFIG}, not of {OTHER_CONFIG}"),)


def test_a_configuration_from_a_pipe_counts_as_the_one_of_the_stacks(out: Path) -> None:
    assert not check(out, config="-")
    assert check(out, {"same": NEW["same"]}, config="-").left_over == ("added", "changed", "delivered")


def test_a_part_of_the_stacks_says_nothing_about_the_others(out: Path) -> None:
    assert not check(out, {"same": NEW["same"]}, is_whole=False)
    shutil.rmtree(out / "stacks/same")
    assert check(out, {"same": NEW["same"]}, is_whole=False).missing == ("same",)


@pytest.mark.parametrize("manifest", [True, False])
def test_without_an_inventory_the_files_are_compared_all_the_same(
    out: Path,
    manifest: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    shutil.rmtree(out / ".nodeless")
    if not manifest:
        (out / MANIFEST).unlink()
    assert check(out) == FolderDifference(has_inventory=False)

    (out / "stacks/same/cdk.tf.json").write_text('{"edited": 1}', "utf-8")
    (file,) = check(out).files

    assert (file.state, file.is_edited, file.is_outdated) == (State.CONTENT, None, None)


def test_without_an_inventory_a_stack_with_our_tests_is_left_over_and_no_other(out: Path) -> None:
    shutil.rmtree(out / ".nodeless")
    write(out / "stacks", {"theirs/cdk.tf.json": "{}", "mine/main.tf": "", "tested/nodeless.tftest.hcl": ""})

    assert check(out, {name: files for name, files in NEW.items() if name != "added"}).left_over == ("added",)


def test_a_manifest_that_somebody_changed_differs(out: Path) -> None:
    tree = json.loads((out / MANIFEST).read_text("utf-8"))
    tree["stacks"]["same"]["constructPath"] = "other"
    (out / MANIFEST).write_text(json.dumps(tree, indent=2, sort_keys=True), "utf-8")

    assert states(check(out)) == {MANIFEST: State.CONTENT}


@pytest.mark.parametrize("text", ["", "{}", "not JSON", '{"version": 2, "manifest": null, "stacks": {}}'])
def test_an_inventory_that_cannot_be_read_is_named_and_not_used(out: Path, text: str) -> None:
    (out / INVENTORY).write_text(text, "utf-8")

    found = check(out)

    assert found.problems == ((INVENTORY, UNREADABLE),)
    assert (found.files, found.has_inventory) == ((), False)


def test_an_inventory_that_is_a_link_is_named(out: Path) -> None:
    (out / INVENTORY).rename(out / "elsewhere")
    (out / INVENTORY).symlink_to(out / "elsewhere")

    assert check(out).problems == ((INVENTORY, "a link; move it away"),)


def test_an_inventory_that_does_not_match_the_files_is_named(tmp_path: Path) -> None:
    run(tmp_path / "out", OLD)
    write(
        tmp_path / "out",
        {f"stacks/{stack}/{file}": text for stack, files in NEW.items() for file, text in files.items()},
    )
    for file in (
        f"stacks/changed/{CHART}/templates/gone.yaml",
        "stacks/delivered/gitops/flux/karpenter.yaml",
        MANIFEST,
    ):
        (tmp_path / "out" / file).unlink()

    assert check(tmp_path / "out").problems == ((INVENTORY, STALE),)


@pytest.mark.parametrize("name", [".nodeless/journal.json", ".nodeless/undo.json"])
def test_a_run_that_was_killed_is_named(out: Path, name: str) -> None:
    (out / name).write_text("{}", "utf-8")

    assert check(out).problems == ((name, UNFINISHED),)


def test_what_is_in_the_way_is_named(out: Path) -> None:
    (out / "stacks/same/cdk.tf.json").unlink()
    (out / "stacks/same/cdk.tf.json").mkdir()
    (out / "stacks/changed/gitops/values.yaml").unlink()
    (out / "stacks/changed/gitops").rmdir()
    (out / "stacks/changed/gitops").symlink_to(out / "stacks/delivered")

    found = check(out)

    assert dict(found.problems) == {
        "stacks/same/cdk.tf.json": "a folder; move it away",
        "stacks/changed/gitops": "a link; move it away",
    }


def test_line_ends_of_a_checkout_are_no_edits(out: Path) -> None:
    files = [
        out / "stacks/same/cdk.tf.json",
        out / "stacks/changed/nodeless.tftest.hcl",
        out / MANIFEST,
        out / INVENTORY,
    ]
    tree = {
        **NEW,
        "changed": {**NEW["changed"], "nodeless.tftest.hcl": "two\nlines\n"},
        "same": {"cdk.tf.json": "{\n}"},
    }
    run(out, tree)
    for file in files:
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))

    found = check(out, tree)

    assert set(states(found).values()) == {State.LINE_ENDINGS}
    assert len(found.files) == 3
    assert {file.is_edited for file in found.files} == {False}


def test_a_folder_that_cannot_be_written_is_checked_all_the_same(out: Path) -> None:
    for folder, folders, _ in os.walk(out):
        for each in folders:
            (Path(folder) / each).chmod(0o555)
    try:
        assert not check(out)
    finally:
        for folder, folders, _ in os.walk(out):
            for each in folders:
                (Path(folder) / each).chmod(0o755)


def test_what_would_be_replaced_is_listed_by_file(out: Path) -> None:
    trees = [
        {"same": {**NEW["same"], "cdk.tf.json": json.dumps({"resource": {"aws_iam_role": {"node": {"name": name}}}})}}
        for name in ("one", "two")
    ]
    run(out, trees[0], force=True)

    assert list(check(out, trees[1], is_whole=False).replaced()) == [("stacks/same/cdk.tf.json", "aws_iam_role.node")]


def _marked(version: str, value: int) -> str:
    return json.dumps({"//": {"nodeless": {"version": version, "input": f"sha256:{'0' * 64}"}}, "locals": {"a": value}})


@pytest.mark.parametrize(
    ("version", "is_edited", "is_outdated"), [("1", True, False), ("2", None, True), ("none", None, None)]
)
def test_without_an_inventory_the_mark_of_origin_tells_for_every_file_of_its_stack(
    tmp_path: Path,
    version: str,
    is_edited: bool | None,  # noqa: FBT001 - a parameter of the test
    is_outdated: bool | None,  # noqa: FBT001 - a parameter of the test
) -> None:
    tree = {"demo": {"cdk.tf.json": _marked("1", 1), "nodeless.tftest.hcl": "new", "gitops/values.yaml": "new"}}
    run(tmp_path / "out", tree)
    shutil.rmtree(tmp_path / "out/.nodeless")
    write(tmp_path / "out/stacks/demo", {"cdk.tf.json": _marked(version, 2), "nodeless.tftest.hcl": "old"})
    (tmp_path / "out/stacks/demo/gitops/values.yaml").unlink()

    *files, missing = sorted(check(tmp_path / "out", tree).files, key=lambda file: file.state is State.MISSING)

    assert [(file.is_edited, file.is_outdated) for file in files] == [(is_edited, is_outdated)] * 2
    assert (missing.state, missing.is_edited, missing.is_outdated) == (State.MISSING, None, None)
