"""`nodeless check` for what `nodeless export` wrote: it finds out the kind and the format, and writes nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nodeless.cli.main import main
from nodeless.version import VERSION
from tests.cli.checking import Check, checking, edit

pytestmark = pytest.mark.slow

FILE = "defaults: {region: eu-north-1, delivery: none}\nclusters: [{name: one}, {name: two}]\n"
HCL, JSON, MODULE = "terraform", "json", "modules/karpenter"
# The user's own, and Terraform's.
OWN = (
    "one/mine.tf",
    "one/terraform.tfstate",
    "one/.terraform.lock.hcl",
    "one/assets/mine.yaml",
    "notes.md",
    "x/main.tf",
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    (folder / "clusters.yaml").write_text(FILE, "utf-8")
    config = ["--config", str(folder / "clusters.yaml")]
    assert main(["export", str(folder / HCL), *config]) == 0
    assert main(["export", str(folder / JSON), "--format", "json", *config]) == 0
    assert main(["export", "--module", str(folder / MODULE), "--version", "1.13.1"]) == 0
    return folder


@pytest.fixture
def folder(exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a folder with exports, and work in it."""
    copied = tmp_path / "project"
    shutil.copytree(exported, copied)
    monkeypatch.chdir(copied)
    return copied


@pytest.fixture
def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    return checking(folder, capsys)


@pytest.mark.parametrize("out", [HCL, JSON])
@pytest.mark.parametrize("with_inventory", [True, False])
def test_what_export_wrote_is_what_the_file_gives(
    check: Check,
    folder: Path,
    out: str,
    with_inventory: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    for path in OWN:
        (folder / out / path).parent.mkdir(exist_ok=True)
        (folder / out / path).write_text("mine", "utf-8")
    if not with_inventory:
        shutil.rmtree(folder / out / ".nodeless")

    assert check("--out", out) == (0, "", f"{out}: 2 stacks are what clusters.yaml gives\n")
    assert check("--out", out, "--only", "two", "--quiet") == (0, "", "")


def test_a_hand_edited_statement_of_hcl_has_file_address_and_line(check: Check, folder: Path) -> None:
    line = edit(folder / HCL / "one/controller.tf", '"sqs:DeleteMessage"', '"sqs:*"')

    status, said, _ = check("--out", HCL)

    first, second, third, *_ = said.splitlines()
    assert (status, first) == (1, "terraform/one/controller.tf: edited by hand")
    assert second == "  data.aws_iam_policy_document.controller_interruption"
    assert third.startswith(f'    line {line}  actions = ["sqs:*", ')
    assert "`nodeless export terraform --force`" in said


def test_a_hand_edited_statement_of_json_has_file_address_argument_and_line(check: Check, folder: Path) -> None:
    line = edit(folder / JSON / "one/controller.tf.json", '"sqs:DeleteMessage"', '"sqs:*"')

    status, said, _ = check("--out", JSON)

    assert (status, said.splitlines()[:3]) == (
        1,
        [
            "json/one/controller.tf.json: edited by hand",
            "  data.aws_iam_policy_document.controller_interruption",
            f'    line {line}  statement[AllowInterruptionQueueActions].actions[0]: "sqs:*" -> "sqs:DeleteMessage"',
        ],
    )
    assert "`nodeless export json --format json --force`" in said


@pytest.mark.parametrize(("out", "ending"), [(HCL, "tf"), (JSON, "tf.json")])
def test_a_changed_file_says_what_is_replaced_and_that_the_file_changed(
    check: Check, folder: Path, out: str, ending: str
) -> None:
    edit(folder / "clusters.yaml", "{name: one}", "{name: one, names: {node_role: other}}")

    status, said, _ = check("--out", out)

    assert status == 1
    assert f"{out}/one/nodes.{ending}: out of date\n  aws_" in said
    assert "  aws_iam_role.node: Terraform would replace it\n" in said
    mark = f"{out}/one/versions.tf: only the comments differ\n  clusters.yaml gives other settings than"
    assert mark in said
    assert "/two/" not in said


def test_what_is_missing_and_left_over_is_named(check: Check, folder: Path) -> None:
    edit(folder / "clusters.yaml", "[{name: one}, {name: two}]", "[{name: one, interruption: false}, {name: three}]")
    (folder / HCL / "one/README.md").unlink()

    status, said, _ = check("--out", HCL)

    assert status == 1
    assert "terraform/one/README.md: missing\n" in said
    assert "terraform/one/interruption.tf: left over; it is not part of the stack any more\n" in said
    assert "terraform/three: missing; three is in clusters.yaml\n" in said
    assert "terraform/two: left over; two is not in clusters.yaml\n" in said


def test_a_folder_of_which_only_the_inventory_is_left_is_an_export(check: Check, folder: Path) -> None:
    for name in ("one", "two"):
        shutil.rmtree(folder / HCL / name)

    assert "terraform/one: missing; one is in clusters.yaml\n" in check("--out", HCL)[1]


def test_each_cluster_has_its_own_format(check: Check, folder: Path) -> None:
    assert main(["export", str(folder / HCL), "--format", "json", "--only", "two"]) == 0

    assert check("--out", HCL)[:2] == (0, "")


def test_programs_get_the_kind_of_folder_by_its_command_and_the_origin(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodeless.resolved.fingerprint.VERSION", "99.0.0")

    status, said, _ = check("--out", HCL, "--json")

    tree = json.loads(said)
    assert (status, tree["out"], tree["command"]) == (1, HCL, "nodeless export terraform")
    assert [(file["path"], file["state"]) for file in tree["files"]] == [
        (f"{name}/versions.tf", "metadata") for name in ("one", "two")
    ]
    assert tree["files"][0]["origin"]["old"]["version"] == VERSION
    assert tree["files"][0]["origin"]["reasons"] == ["version"]


def test_a_module_is_compared_with_what_the_same_options_give(check: Check, folder: Path) -> None:
    command = ("--module", MODULE, "--version", "1.13.1")
    said = f"{MODULE}: the module is what `nodeless export --module {MODULE} --version 1.13.1` gives\n"
    assert check(*command) == (0, "", said)
    line = edit(folder / MODULE / "nodes.tf", "AmazonEKSWorkerNodePolicy", "AdministratorAccess")

    status, said, _ = check(*command)

    assert status == 1
    assert said.startswith(f"{MODULE}/nodes.tf: edited by hand\n")
    assert f"    line {line}  " in said
    assert f"`nodeless export {' '.join(command)} --force`" in said


def test_a_module_of_another_release_or_cluster_is_made_from_other_settings(check: Check) -> None:
    for options in ((), ("--cluster", "one")):
        status, said, _ = check("--module", MODULE, *options)

        assert status == 1
        assert f"{MODULE}/versions.tf: " in said
        assert " gives other settings than those it was made from\n" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--version", "1.13.1"), "--version needs --module"),
        (("--cluster", "one"), "--cluster needs --module"),
        (("--module", MODULE, "--only", "one"), "--only and --workers are not for a module"),
        (("--module", MODULE, "--version", "1.13.1", "--cluster", "one"), "leave --version out"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["check", *arguments])

    assert (refused.value.code, folder.exists()) == (2, True)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["modules/none", "file"])
def test_a_module_that_is_not_there_is_refused(check: Check, folder: Path, name: str) -> None:
    (folder / "file").write_text("", "utf-8")

    status, said, error = check("--module", name)

    assert (status, said) == (2, "")
    assert "expected  the folder of a module\n" in error
