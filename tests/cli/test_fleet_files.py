"""The commands with several files: named with --config, or included."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.cli.choice import Selection, selected
from nodeless.cli.main import main
from nodeless.finding import SpecError
from nodeless.karpenter.releases import find
from nodeless.output.inventory import Origins
from nodeless.spec.resolution import load
from nodeless.upgrade import file_edit
from nodeless.upgrade.for_cluster import for_cluster

TOP = """\
defaults: {region: eu-north-1, karpenter: {version: "1.12.0"}}
include: [teams/*.yaml]
clusters:
  - name: own
"""
A = 'defaults:\n  karpenter: {version: "1.13.0"}\nclusters:\n  - name: a1\n  - name: a2\n'
B = 'clusters:\n  - name: b1\n    karpenter: {version: "1.13.0"}\n  - name: b2\n'
OTHER = "clusters:\n  - {name: other, region: eu-west-1}\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a file that includes two others, and one beside it."""
    monkeypatch.chdir(tmp_path)
    Path("teams").mkdir()
    for name, text in {"clusters": TOP, "teams/a": A, "teams/b": B, "other": OTHER}.items():
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command, and return its exit code, output and messages."""

    def command(*words: str) -> tuple[int, str, str]:
        code = main([*words])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return command


def versions() -> dict[str, str]:
    return {each.name: str(each.version) for each in load(Path("clusters.yaml"))}


def origins(found: Selection, out: str = "cdktf.out") -> Origins:
    return found.origins(Path(out))


def test_every_cluster_of_every_file_is_explained(run: Run) -> None:
    code, out, _ = run("explain", "--json", "--config", "clusters.yaml", "--config", "other.yaml")

    names = [row["stack"] for row in json.loads(out)["clusters"]]
    assert (code, names) == (0, ["own", "a1", "a2", "b1", "b2", "other"])


def test_a_cluster_of_any_file_is_chosen_by_its_name(run: Run) -> None:
    both = ("--config", "clusters.yaml", "--config", "other.yaml")

    assert run("explain", "b2", *both)[0] == 0
    code, _, said = run("explain", "c1", *both)
    assert code == 2
    assert "a cluster in clusters.yaml, other.yaml: own, a1, a2, b1, b2, other" in said


def test_settings_of_all_defaults_are_called_so(run: Run) -> None:
    _, out, _ = run("explain", "a1", "--settings")

    lines = [line.split() for line in out.splitlines()]
    assert ["region:", "eu-north-1", "#", "set", "in", "defaults"] in lines
    assert ["version:", '"1.13.0"', "#", "set", "in", "defaults"] in lines


def test_the_inventory_records_the_file_that_was_named_and_owns_those_it_includes() -> None:
    found = selected([Path("clusters.yaml"), Path("other.yaml")], (), "--only")

    assert origins(found).stacks == {
        **dict.fromkeys(("own", "a1", "a2", "b1", "b2"), "clusters.yaml"),
        "other": "other.yaml",
    }
    assert origins(found).configs == {"clusters.yaml", "teams/a.yaml", "teams/b.yaml", "other.yaml"}


def test_a_part_of_the_clusters_is_a_part_of_the_same_files() -> None:
    found = selected([Path("clusters.yaml")], ["a1"], "--only")

    assert [each.stack for each in found.installations] == ["a1"]
    assert found.not_chosen == ["own", "a2", "b1", "b2"]
    assert set(origins(found).stacks) == {"own", "a1", "a2", "b1", "b2"}


# The cluster that is upgraded, the file that is edited, and what the message says about it.
EDITED = {
    "at a cluster of an included file": ("b1", "teams/b.yaml", "teams/b.yaml:3: clusters[0].karpenter.version"),
    "added to a cluster of an included file": ("a2", "teams/a.yaml", "teams/a.yaml:6: clusters[1].karpenter.version"),
    "where the including file has the default": ("b2", "teams/b.yaml", "teams/b.yaml:5: clusters[1].karpenter.version"),
    "in the first file": ("own", "clusters.yaml", "clusters.yaml:5: clusters[0].karpenter.version"),
}


@pytest.mark.parametrize("case", EDITED)
def test_an_upgrade_edits_the_file_that_has_the_cluster(run: Run, folder: Path, case: str) -> None:
    cluster, edited, said = EDITED[case]
    before = {file: file.read_bytes() for file in folder.rglob("*.yaml")}
    old = versions()

    code, _, err = run("upgrade", cluster, "--to", "1.13.1", "--write")

    assert code == 0, err
    assert f"{said}: 1.13.1" in err
    assert versions() == {**old, cluster: "1.13.1"}
    assert [file for file, data in before.items() if file.read_bytes() != data] == [folder / edited]


def test_an_upgrade_says_whom_else_the_defaults_of_an_including_file_change() -> None:
    _, changes = for_cluster("b2", find("1.13.1"), [Path("clusters.yaml")])

    assert (changes.edit.file, changes.edit.path, changes.edit.line) == (
        "clusters.yaml",
        "defaults.karpenter.version",
        1,
    )
    assert changes.edit.also_changes == ("own",)


def test_an_upgrade_without_a_name_needs_one_where_several_files_have_a_default(run: Run) -> None:
    code, _, err = run("upgrade", "--to", "1.13.1", "--write")

    assert code == 2
    assert "several files have a version under defaults: clusters.yaml, teams/a.yaml" in err
    Path("teams/a.yaml").write_text(A[A.index("clusters") :], encoding="utf-8")
    assert run("upgrade", "--to", "1.13.1", "--write")[0] == 0
    assert 'version: "1.13.1"' in Path("clusters.yaml").read_text(encoding="utf-8")


def test_an_upgrade_finds_only_what_is_wrong_with_its_own_cluster() -> None:
    Path("teams/b.yaml").write_text(B + "    path: /x/\n    names: {policies: {zonal_shift: z}}\n", encoding="utf-8")

    _, changes = for_cluster("b1", find("1.13.1"), [Path("clusters.yaml")])

    assert changes.findings == ()


def test_a_file_that_is_changed_meanwhile_is_not_overwritten(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    edit = file_edit.with_version

    def slowly(*arguments: object) -> file_edit.Edited:
        edited = edit(*arguments)  # type: ignore[arg-type] # passed on as they are
        Path("teams/b.yaml").write_text(f"{B}# changed\n", encoding="utf-8")
        return edited

    monkeypatch.setattr(file_edit, "with_version", slowly)
    code, _, err = run("upgrade", "b1", "--to", "1.13.1", "--write")

    assert code == 2
    assert "somebody has changed it since: run it again" in err
    assert Path("teams/b.yaml").read_text(encoding="utf-8") == f"{B}# changed\n"


def test_standard_input_is_not_edited_beside_a_file(run: Run) -> None:
    code, _, err = run("upgrade", "b1", "--to", "1.13.1", "--write", "--config", "clusters.yaml", "--config", "-")

    assert code == 2
    assert "a file that can be written" in err


def test_a_mistake_in_any_file_is_one_of_the_run(run: Run) -> None:
    Path("teams/a.yaml").write_text(A + "    tgas: {}\n", encoding="utf-8")
    Path("other.yaml").write_text("clusters: [{name: a1, region: eu-west-1}]\n", encoding="utf-8")

    code, _, err = run("synth", "--config", "clusters.yaml", "--config", "other.yaml")

    assert code == 2
    assert "teams/a.yaml:6:5: unknown key: tgas" in err
    assert "other.yaml:1:19: wrong value for name: 'a1'" in err
    assert "clusters[0] in teams/a.yaml has this one" in err
    assert err.splitlines()[-1] == "teams/a.yaml, other.yaml: 2 problems, nothing was written"
    with pytest.raises(SpecError):
        selected([Path("clusters.yaml"), Path("other.yaml")], (), "--only")


@pytest.mark.slow
def test_synth_and_check_agree_about_all_files_wherever_a_cluster_is(run: Run) -> None:
    both = ("--config", "clusters.yaml", "--config", "other.yaml")
    assert run("synth", "--quiet", *both)[0] == 0
    stacks = {file.parent.name: file.read_bytes() for file in Path("cdktf.out/stacks").glob("*/cdk.tf.json")}
    assert stacks.keys() == {"own", "a1", "a2", "b1", "b2", "other"}

    # The clusters of one file move to another with the same settings.
    Path("teams/a.yaml").rename("teams/c.yaml")
    assert run("check", "--quiet", *both)[0] == 0
    code, out, err = run("synth", "--json", *both)

    assert (code, err, json.loads(out)["orphaned"]) == (0, "", [])
    assert {row["change"] for row in json.loads(out)["stacks"]} == {"unchanged"}


@pytest.fixture
def others(folder: Path) -> Path:
    """Make two files with the same name in two folders, and one that includes another of that name."""
    texts = {"a": "one", "b": "two", "x/team": "three"}
    for name, cluster in texts.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "clusters.yaml").write_text(f"clusters: [{{name: {cluster}, region: eu-north-1}}]\n")
    (folder / "x" / "main.yaml").write_text("include: [team/*.yaml]\n")
    return folder


def test_files_with_the_same_name_in_other_folders_are_recorded_by_their_paths(others: Path) -> None:
    out = others / "infra" / "cdktf.out"
    first, second = others / "a/clusters.yaml", others / "b/clusters.yaml"

    both = origins(selected([first, second], (), "--only"), str(out))
    alone = origins(selected([first], (), "--only"), str(out))
    including = origins(selected([others / "x/main.yaml"], (), "--only"), str(out))

    assert both.stacks == {"one": "../a/clusters.yaml", "two": "../b/clusters.yaml"}
    assert alone.configs == {"../a/clusters.yaml"}
    assert including.configs == {"../x/main.yaml", "../x/team/clusters.yaml"}


def test_files_that_cannot_be_told_apart_from_the_folder_are_refused(others: Path) -> None:
    files = [others / "a/clusters.yaml", others / "b/clusters.yaml"]

    with pytest.raises(SpecError, match=r"is recorded there as clusters\.yaml too"):
        origins(selected(files, (), "--only"), "/nowhere/below/the/root")


def test_an_included_file_far_from_the_folder_claims_no_stack_of_another_with_its_name(others: Path) -> None:
    found = origins(selected([others / "x/main.yaml"], (), "--only"), "/nowhere/below/the/root")

    assert found.configs == {"main.yaml"}
