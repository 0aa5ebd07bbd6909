"""`nodeless export` as a user runs it: what it writes, replaces, removes and leaves alone, and what it says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.cli.main import main
from nodeless.output.paths import INVENTORY
from tests.cli.nodeless_process import contents

pytestmark = pytest.mark.slow

FILE = "defaults: {region: eu-north-1, delivery: none}\nclusters: [{name: one}, {name: two}]\n"
ONE = "defaults: {region: eu-north-1, delivery: none}\nclusters: [{name: one}]\n"
WRITTEN = (
    *("backend.tf", "checks.tf", "controller.tf", "data.tf", "fargate.tf", "interruption.tf", "locals.tf"),
    *(
        "nodes.tf",
        "outputs.tf",
        "providers.tf",
        "removed.tf",
        "versions.tf",
        "README.md",
        ".gitignore",
        "nodeless.tftest.hcl",
    ),
)

Answer = tuple[int, str, str]
Export = Callable[..., Answer]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    (folder / "clusters.yaml").write_text(FILE, "utf-8")
    assert main(["export", str(folder / "terraform"), "--config", str(folder / "clusters.yaml")]) == 0
    return folder


@pytest.fixture
def folder(exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a folder with an export, and work in it."""
    copied = tmp_path / "project"
    shutil.copytree(exported, copied)
    monkeypatch.chdir(copied)
    monkeypatch.delenv("CDKTF_OUTDIR", raising=False)
    return copied


@pytest.fixture
def export(folder: Path, capsys: pytest.CaptureFixture[str]) -> Export:
    def command(*words: str, to: str = "terraform") -> Answer:
        assert folder == Path.cwd()
        capsys.readouterr()
        status = main(["export", to, *words])
        seen = capsys.readouterr()
        return status, seen.out, seen.err

    return command


def test_each_cluster_has_a_folder_with_files_by_concern(folder: Path) -> None:
    files = contents(folder / "terraform")

    assert {*files} == {INVENTORY, *(f"{cluster}/{name}" for cluster in ("one", "two") for name in WRITTEN)}
    assert b".terraform/\n*.tfstate\n" in files["one/.gitignore"]
    assert b"# Karpenter for one\n" in files["one/README.md"]


def test_the_same_file_gives_the_same_bytes(folder: Path, export: Export) -> None:
    before = contents(folder)

    assert export() == (0, "", "terraform: 2 stacks written (2 unchanged)\n")
    assert contents(folder) == before
    assert export("--quiet") == (0, "", "")


def test_another_format_replaces_the_files_and_names_what_it_removed(folder: Path, export: Export) -> None:
    status, out, err = export("--format", "json", "--quiet")

    assert (status, out) == (0, "")
    gone = {line.partition(":")[0] for line in err.splitlines()}
    assert gone == {
        f"terraform/{cluster}/{name}" for cluster in ("one", "two") for name in WRITTEN if ".tf" in name
    } - {f"terraform/{cluster}/{name}" for cluster in ("one", "two") for name in ("nodeless.tftest.hcl", "versions.tf")}
    assert all(line.endswith(": removed, because it is no longer part of the export") for line in err.splitlines())
    assert {file.name for file in (folder / "terraform").rglob("*.tf")} == {"versions.tf"}
    tree = json.loads((folder / "terraform/one/interruption.tf.json").read_text("utf-8"))
    assert tree["locals"]["interruption_spot_event_pattern"]["source"] == ["aws.ec2"]


def test_state_lock_file_and_a_users_own_files_stay(folder: Path, export: Export) -> None:
    own = {
        "terraform/one/mine.tf": "# mine",
        "terraform/one/.terraform.lock.hcl": "# lock",
        "terraform/one/terraform.tfstate": "{}",
        "terraform.one.tfstate": "{}",
        "terraform/notes.md": "notes",
    }
    for path, text in own.items():
        (folder / path).write_text(text, "utf-8")

    assert export("--format", "json")[0] == 0
    assert export("--format", "hcl", "--force")[0] == 0

    assert {path: (folder / path).read_text("utf-8") for path in own} == own


@pytest.mark.parametrize("name", ["fargate.tf", "README.md"])
def test_a_file_that_was_changed_by_hand_is_named_and_nothing_is_written(
    name: str, folder: Path, export: Export
) -> None:
    file = folder / "terraform/one" / name
    file.write_text("mine", "utf-8")
    (folder / "clusters.yaml").write_text(FILE.replace("delivery: none", "delivery: none, tags: {a: b}"), "utf-8")
    (folder / "terraform/two" / name).unlink()
    before = contents(folder)

    status, out, err = export()

    assert (status, out) == (2, "")
    assert f"terraform: one/{name}\n  value     'changed since nodeless wrote it'" in err
    assert "nothing was written" in err
    assert contents(folder) == before
    assert export("--force")[0] == 0
    assert file.read_text("utf-8") != "mine"


def test_a_file_that_was_there_before_is_not_overwritten(folder: Path, export: Export) -> None:
    (folder / "other/one").mkdir(parents=True)
    (folder / "other/one/nodes.tf").write_text("# mine", "utf-8")

    status, _, err = export(to="other")

    assert status == 2
    assert "other: one/nodes.tf\n  value     'a file that nodeless did not write'" in err
    assert "name another folder" in err
    assert "--out" not in err
    assert {*contents(folder / "other")} == {"one/nodes.tf"}


def test_an_inventory_cannot_name_a_file_that_is_not_ours(folder: Path, export: Export) -> None:
    file = folder / "terraform" / INVENTORY
    tree = json.loads(file.read_text("utf-8"))
    tree["stacks"]["one"]["files"]["../../clusters.yaml"] = "0" * 64
    file.write_text(json.dumps(tree), "utf-8")
    before = contents(folder)

    status, _, err = export()

    assert status == 2
    assert "not an inventory of this nodeless" in err
    assert contents(folder) == before


def test_a_cluster_that_left_the_file_is_named_and_pruned_on_request(folder: Path, export: Export) -> None:
    (folder / "clusters.yaml").write_text(ONE, "utf-8")
    (folder / "terraform/two/mine.tf").write_text("# mine", "utf-8")

    status, _, err = export()

    assert status == 0
    assert "terraform/two: warning: two is not in clusters.yaml any more; its files are kept" in err
    assert "run `nodeless export terraform --prune`" in err
    assert "cdktf" not in err
    status, _, err = export("--prune")
    assert "terraform/two: removed, because two is not in clusters.yaml any more; kept: mine.tf\n" in err
    assert {*contents(folder / "terraform/two")} == {"mine.tf"}


def test_with_only_the_other_clusters_stay_as_they_are(folder: Path, export: Export) -> None:
    (folder / "clusters.yaml").write_text(FILE.replace("delivery: none", "delivery: none, tags: {a: b}"), "utf-8")
    before = contents(folder / "terraform/two")

    status, out, _ = export("--only", "one", "--json")

    assert status == 0
    said = json.loads(out)
    assert said["clusters"] == [{"stack": "one", "cluster": "one", "change": "changed"}]
    assert (said["not_chosen"], said["removed"], said["orphaned"]) == (["two"], [], [])
    assert (said["dir"], said["format"], said["states_to_move"]) == ("terraform", "hcl", [])
    assert contents(folder / "terraform/two") == before


def test_the_folder_of_synth_is_refused(folder: Path, export: Export) -> None:
    assert main(["synth", "--only", "one", "--out", str(folder / "cdktf.out")]) == 0
    before = contents(folder)

    status, _, err = export("--force", to="cdktf.out")

    assert status == 2
    assert "`nodeless synth` writes to this one" in err
    assert contents(folder) == before


def test_a_state_that_an_export_elsewhere_does_not_reach_is_named(folder: Path, export: Export) -> None:
    (folder / "terraform.one.tfstate").write_text("{}", "utf-8")
    (folder / "terraform.two.tfstate").write_text("{}", "utf-8")
    (folder / "other").mkdir()
    (folder / "other/terraform.two.tfstate").write_text("{}", "utf-8")

    assert "warning" not in export("--force")[2], "beside the output folder, it is the same state"
    _, out, err = export("--json", to="other/terraform")

    assert json.loads(out)["states_to_move"] == [{"from": "terraform.one.tfstate", "to": "other/terraform.one.tfstate"}]
    assert err == (
        "other/terraform.one.tfstate: warning: the state that `nodeless synth` uses is terraform.one.tfstate. "
        "To go on with it, move it to other/terraform.one.tfstate\n"
    )


def test_a_wrong_file_leaves_no_folder(folder: Path, export: Export) -> None:
    (folder / "clusters.yaml").write_text("clusters: [{name: one}]\n", "utf-8")

    status, out, err = export(to="new")

    assert (status, out) == (2, "")
    assert "nothing was written" in err
    assert not (folder / "new").exists()
