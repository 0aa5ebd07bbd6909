"""What may be in the way of a run, or try to mislead it. Each row works as an attack when its guard is taken out."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeless.finding import SpecError
from nodeless.output import journal
from nodeless.output.folder import opened
from nodeless.output.manifest import entry
from nodeless.output.present import digest_of
from tests.output.trees import (
    CONFIG,
    FOREIGN,
    INVENTORY,
    NEW,
    OLD,
    OTHER_CONFIG,
    contents,
    run,
    write,
    written,
)

JSON = "stacks/changed/cdk.tf.json"
CHART = "stacks/changed/assets/karpenter-charts/node-pools/Chart.yaml"
VICTIM = "the only copy"


def text(path: str, content: str) -> Callable[[Path], None]:
    return lambda out: write(out, {path: content})


def link(path: str, target: str) -> Callable[[Path], None]:
    """Replace what is at a path by a link."""

    def do(out: Path) -> None:
        remove(path)(out)
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).symlink_to(target)

    return do


def folder(path: str) -> Callable[[Path], None]:
    def do(out: Path) -> None:
        remove(path)(out)
        write(out / path, {"mine": "mine"})

    return do


def remove(path: str) -> Callable[[Path], None]:
    def do(out: Path) -> None:
        if (out / path).is_dir() and not (out / path).is_symlink():
            shutil.rmtree(out / path)
        else:
            (out / path).unlink(missing_ok=True)

    return do


def file_instead(path: str) -> Callable[[Path], None]:
    def do(out: Path) -> None:
        remove(path)(out)
        write(out, {path: "mine"})

    return do


def inventory(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Change the inventory, as a pull request may."""

    def do(out: Path) -> None:
        tree = json.loads((out / INVENTORY).read_text("utf-8"))
        change(tree)
        write(out, {INVENTORY: json.dumps(tree)})

    return do


def owns(stack: str, path: str) -> Callable[[Path], None]:
    """Let the inventory say that we wrote a file outside, with its true digest."""
    return inventory(
        lambda tree: tree["stacks"].update(
            {stack: {"config": CONFIG, "files": {path: digest_of(VICTIM.encode()), "cdk.tf.json": "0" * 64}}}
        )
    )


def manifest(tree: object) -> Callable[[Path], None]:
    return text("manifest.json", json.dumps(tree))


def journaled(
    *changes: tuple[str, str | None, str | None], folders: tuple[str, ...] = (), and_write: str | None = None
) -> Callable[[Path], None]:
    """Leave a journal, as a pull request may, and perhaps the file that it is about."""
    files = {journal.JOURNAL: json.dumps({"changes": changes, "folders": folders})}
    return lambda out: write(out, files | ({and_write: VICTIM} if and_write else {}))


DIGEST = digest_of(VICTIM.encode())
# Name -> what is done to an output folder that has the old tree, and where the finding is. All of it is refused,
# whether with --force or without.
NEVER = {
    "a stack that is a link": (link("stacks/changed", "../../outside"), "stacks/changed"),
    "a stack that is a file": (file_instead("stacks/changed"), "stacks/changed"),
    "stacks that is a link": (link("stacks", "../outside"), "stacks"),
    "assets that is a link": (link("stacks/changed/assets", "../../../outside"), "stacks/changed/assets"),
    "a JSON that is a link": (link(JSON, "../../../outside/victim"), JSON),
    "a link to nothing": (link(JSON, "nothing"), JSON),
    "a JSON that is a folder": (folder(JSON), JSON),
    "a manifest that is a folder": (folder("manifest.json"), "manifest.json"),
    "a manifest that is a link": (link("manifest.json", "../outside/victim"), "manifest.json"),
    "our own folder as a link": (link(".nodeless", "../outside"), ".nodeless"),
    "our own folder as a file": (file_instead(".nodeless"), ".nodeless"),
    "an inventory that is a folder": (folder(INVENTORY), INVENTORY),
    "a lock that is a link": (link(".nodeless/lock", "../../outside/new"), "--out"),
}
# The same, but --force writes the new tree.
UNLESS_FORCED = {
    "a JSON changed by hand": (text(JSON, "mine"), JSON),
    "an asset changed by hand": (text(CHART, "mine"), CHART),
    "a file where a new one goes": (text("stacks/added/cdk.tf.json", "mine"), "stacks/added/cdk.tf.json"),
    "a file where a GitOps file goes": (text("stacks/changed/gitops/values.yaml", "mine"), "values.yaml"),
    "a manifest that is no JSON": (text("manifest.json", "mine"), "manifest.json"),
    "a manifest nested deeply": (text("manifest.json", "[" * 100_000), "manifest.json"),
    "a manifest with other keys": (manifest({"stacks": {}, "version": "1", "mine": 1}), "manifest.json"),
    "a manifest that leads outside": (manifest({"stacks": {"../../outside": {}}, "version": "1"}), "manifest.json"),
    "a manifest whose whole entry leads outside": (
        manifest({"stacks": {"../../outside": entry("../../outside")}, "version": "1"}),
        "manifest.json",
    ),
    "a manifest whose entry of ours was changed": (
        manifest({"stacks": {"same": {**entry("same"), "annotations": ["mine"]}}, "version": "1"}),
        "manifest.json",
    ),
    "an inventory that is no JSON": (text(INVENTORY, "<<<<<<< HEAD"), INVENTORY),
    "an inventory of another version": (inventory(lambda tree: tree.update(version=2)), INVENTORY),
    "an inventory with a stack outside": (owns("../../outside", "cdk.tf.json"), INVENTORY),
    "an inventory with a file outside": (owns("gone", "assets/../../../../outside/victim"), INVENTORY),
    "an inventory with a state": (owns("gone", "terraform.tfstate"), INVENTORY),
    "an inventory with an absolute path": (owns("gone", "/etc/passwd"), INVENTORY),
    "a journal that leads outside": (journaled(("stacks/../../outside/victim", DIGEST, None)), journal.JOURNAL),
    "a journal that removes a file above the stacks": (
        journaled(("stacks/../cdk.tf.json", DIGEST, None), and_write="cdk.tf.json"),
        journal.JOURNAL,
    ),
    "a journal that removes a state": (journaled(("stacks/changed/terraform.tfstate", DIGEST, None)), journal.JOURNAL),
    "a journal with a folder outside": (journaled((JSON, None, None), folders=("../outside",)), journal.JOURNAL),
    "a journal of files that changed": (journaled((JSON, DIGEST, None)), journal.JOURNAL),
    "a journal without its files": (journaled((JSON, digest_of(b'{"old": 1}'), DIGEST)), journal.JOURNAL),
    "a journal that is no journal": (text(journal.JOURNAL, "[[1, 2, 3]]"), journal.JOURNAL),
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Make an output folder with the old tree and foreign files, beside a folder with a file that must survive."""
    write(tmp_path / "outside", {"victim": VICTIM, "cdk.tf.json": VICTIM})
    folder = tmp_path / "out"
    run(folder, OLD)
    write(folder, FOREIGN)
    return folder


def everything(out: Path) -> dict[str, str]:
    """Return what is in the output folder and outside of it."""
    return contents(out.parent)


def refused(out: Path, **options: Any) -> SpecError:  # noqa: ANN401 - options of a run
    with pytest.raises(SpecError) as raised:
        run(out, NEW, **options)
    assert "nothing was written" in str(raised.value)
    return raised.value


@pytest.mark.parametrize(("attack", "where"), [*NEVER.values(), *UNLESS_FORCED.values()], ids=[*NEVER, *UNLESS_FORCED])
def test_it_is_refused_before_anything_is_touched(out: Path, attack: Callable[[Path], None], where: str) -> None:
    attack(out)
    before = everything(out)

    error = refused(out)

    assert [where in finding.where() for finding in error.findings] == [True]
    assert everything(out) == before


@pytest.mark.parametrize(("attack", "where"), NEVER.values(), ids=NEVER)
def test_force_does_not_go_through_a_link_or_into_a_folder(
    out: Path, attack: Callable[[Path], None], where: str
) -> None:
    attack(out)
    before = everything(out)

    assert where in str(refused(out, force=True))
    assert everything(out) == before


@pytest.mark.parametrize(("attack", "where"), UNLESS_FORCED.values(), ids=UNLESS_FORCED)
def test_force_writes_the_new_tree_and_nothing_else(out: Path, attack: Callable[[Path], None], where: str) -> None:
    assert where
    attack(out)

    run(out, NEW, force=True)

    found = everything(out)
    assert {name: found.get(f"out/{name}") for name in written(NEW)} == written(NEW)
    assert {name: found.get(f"out/{name}") for name in FOREIGN} == FOREIGN
    assert found["outside/victim"] == found["outside/cdk.tf.json"] == VICTIM
    assert found.get("out/cdk.tf.json", VICTIM) == VICTIM
    assert sorted(path.name for path in (out / ".nodeless").iterdir()) == ["inventory.json"]


def test_every_file_in_the_way_is_named_in_one_run(out: Path) -> None:
    write(out, {JSON: "mine", CHART: "mine", "stacks/added/cdk.tf.json": "mine"})

    assert {finding.where() for finding in refused(out).findings} == {JSON, CHART, "stacks/added/cdk.tf.json"}


def test_a_stack_of_another_file_is_not_taken_over(out: Path) -> None:
    before = everything(out)

    error = refused(out, config=OTHER_CONFIG)

    assert {finding.where() for finding in error.findings} == {f"stacks/{name}" for name in OLD}
    assert CONFIG in str(error)
    assert everything(out) == before


def test_a_stack_that_moved_to_another_file_is_taken_over_with_force(out: Path) -> None:
    run(out, NEW, config=OTHER_CONFIG, force=True)

    assert "stacks/changed/gitops/values.yaml" in contents(out)
    assert run(out, OLD, config=OTHER_CONFIG).orphans == ("added",)


@pytest.mark.parametrize("prune", [False, True])
def test_a_stack_that_the_inventory_makes_up_is_not_removed(out: Path, *, prune: bool) -> None:
    """The digest is what protects a file of somebody else at a path of ours."""
    write(out, {"stacks/theirs/cdk.tf.json": "theirs"})
    tree = {"theirs": {"config": CONFIG, "files": {"cdk.tf.json": "0" * 64}}}
    inventory(lambda found: found["stacks"].update(tree))(out)

    run(out, NEW, prune=prune)

    assert (out / "stacks/theirs/cdk.tf.json").read_text("utf-8") == "theirs"


def test_a_file_is_not_removed_through_a_link(out: Path) -> None:
    """The old file in gitops is no longer written; its folder now is a link to another one with the same content."""
    write(out.parent / "outside/flux", {"karpenter.yaml": "old"})
    link("stacks/delivered/gitops", "../../../outside")(out)

    plan = run(out, NEW)

    assert plan.edited == ("stacks/delivered/gitops/flux/karpenter.yaml",)
    assert (out.parent / "outside/flux/karpenter.yaml").read_text("utf-8") == "old"


def test_a_build_folder_that_is_a_link_gives_nothing_to_a_journal(out: Path) -> None:
    write(out.parent / "outside", {JSON: VICTIM})
    link(journal.BUILD, "../../outside")(out)
    journaled((JSON, digest_of(b'{"old": 1}'), DIGEST))(out)

    assert journal.JOURNAL in str(refused(out))
    assert (out.parent / "outside" / JSON).read_text("utf-8") == VICTIM


def test_an_undo_removes_no_folder_outside(out: Path) -> None:
    (out.parent / "outside/empty").mkdir()
    row = [JSON, digest_of(b'{"old": 1}'), DIGEST]
    write(out, {journal.UNDO: json.dumps({"changes": [row], "folders": ["../outside/empty"]})})

    assert journal.UNDO in str(refused(out))
    assert (out.parent / "outside/empty").is_dir()


def test_a_file_that_was_changed_after_a_kill_is_not_overwritten(out: Path) -> None:
    journaled((JSON, digest_of(b'{"old": 1}'), DIGEST))(out)
    write(out, {f"{journal.BUILD}/{JSON}": VICTIM, JSON: "mine"})

    assert journal.JOURNAL in str(refused(out))
    assert (out / JSON).read_text("utf-8") == "mine"
    assert (out / journal.BUILD / JSON).read_text("utf-8") == VICTIM


@pytest.mark.parametrize("name", ["file/out", "link"])
def test_a_folder_that_cannot_be_made_is_refused_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"file": "mine"})
    (tmp_path / "link").symlink_to("nothing/there")
    before = contents(tmp_path)

    with pytest.raises(SpecError, match="a folder that can be written"):
        run(tmp_path / name, NEW)

    assert contents(tmp_path) == before


def test_a_folder_that_did_not_exist_does_not_exist_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no inventory takes"):
        run(tmp_path / "a/b/out", {"demo": {"cdk.tf.json": "{}", "unheard-of": ""}})

    assert list(tmp_path.iterdir()) == []


def test_a_limit_on_the_size_of_files_leaves_the_old_tree(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as a full disk, where no disk has to be filled: the journal is the first file that does not fit."""
    before, limit = everything(out), resource.getrlimit(resource.RLIMIT_FSIZE)
    to_bytes = journal.Journal.to_bytes
    monkeypatch.setattr(journal.Journal, "to_bytes", lambda self: to_bytes(self) + b" " * 1_000_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limit[1]))
    try:
        error = refused(out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    assert os.strerror(errno.EFBIG) in str(error)
    assert everything(out) == before


def test_an_error_about_the_disk_is_one_about_the_folder_whichever_file_it_names(out: Path) -> None:
    """Node names the file that it copies."""
    with pytest.raises(SpecError, match=r"--out\n.*'.*/out'\n.*No space left"), opened(out, force=False, say=print):
        raise OSError(errno.ENOSPC, "No space left on device", "a/chart/of/the/package")


def test_an_error_that_has_nothing_to_do_with_the_folder_is_not_blamed_on_it(out: Path) -> None:
    with pytest.raises(FileNotFoundError), opened(out, force=False, say=print):
        raise FileNotFoundError(errno.ENOENT, "No such file", "a/chart/of/the/package")


def test_a_file_system_mounted_inside_leaves_the_old_tree(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, replace = everything(out), Path.replace

    def mounted(self: Path, target: Path) -> Path:
        if "stacks/delivered" in str(target) and "build" in str(self):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(self), None, str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", mounted)

    assert "mounted inside" in str(refused(out))
    assert everything(out) == before


def test_a_file_system_without_links_is_written_too(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(self: Path, _: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(self))

    monkeypatch.setattr(Path, "hardlink_to", no_links)

    run(out, NEW)

    assert written(NEW).items() <= contents(out).items()
