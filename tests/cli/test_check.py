"""`nodeless check` as a user runs it: 0 if the folder is what the file gives, 1 with every difference, 2 if refused."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.main import main
from nodeless.version import VERSION
from tests.cli.checking import Check, checking, edit
from tests.cli.nodeless_process import NEEDS_ROOT, contents, run
from tests.terminal import seen_on_a_terminal

pytestmark = pytest.mark.slow

FILE = """\
defaults: {region: eu-north-1}
clusters:
  - name: demo
  - name: delivered
    delivery: gitops
    account: "123456789012"
    endpoint: https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-north-1.eks.amazonaws.com
    oidc_issuer: https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF
"""
DEMO = "cdktf.out/stacks/demo/cdk.tf.json"
CHECK = [sys.executable, "-m", "nodeless", "check"]


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthesized")
    (folder / "clusters.yaml").write_text(FILE, "utf-8")
    outcome = run(folder, f"{shlex.quote(sys.executable)} -m nodeless synth")
    assert outcome.returncode == 0, outcome.stderr
    return folder


@pytest.fixture
def folder(synthesized: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of a synthesized folder, and work in it."""
    copied = tmp_path / "project"
    shutil.copytree(synthesized, copied)
    monkeypatch.chdir(copied)
    return copied


@pytest.fixture
def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    return checking(folder, capsys)


def test_what_synth_wrote_is_what_the_file_gives(check: Check, folder: Path) -> None:
    (folder / "cdktf.out/stacks/demo/.terraform/providers").mkdir(parents=True)
    for name in ("terraform.tfstate", ".terraform.lock.hcl", "demo.tfplan", "mine_override.tf", "assets/mine.yaml"):
        (folder / "cdktf.out/stacks/demo" / name).write_text("mine", "utf-8")

    assert check() == (0, "", "cdktf.out: 2 stacks are what clusters.yaml gives\n")
    assert check("--quiet") == (0, "", "")
    assert check("--only", "demo") == (0, "", "cdktf.out: 1 stack is what clusters.yaml gives\n")


def test_a_hand_edited_statement_is_named_with_file_address_and_line(check: Check, folder: Path) -> None:
    line = edit(folder / DEMO, '"sqs:DeleteMessage"', '"sqs:*"')

    status, said, _ = check()

    assert status == 1
    assert said.splitlines()[:3] == [
        f"{DEMO}: edited by hand",
        "  data.aws_iam_policy_document.controller_interruption",
        f'    line {line}  statement[AllowInterruptionQueueActions].actions[0]: "sqs:*" -> "sqs:DeleteMessage"',
    ]


def test_a_changed_file_says_what_terraform_would_replace(check: Check, folder: Path) -> None:
    edit(folder / "clusters.yaml", "name: demo", "name: demo\n    names: {node_role: other}")

    status, said, _ = check()

    assert status == 1
    assert f"{DEMO}: out of date\n" in said
    assert "  aws_iam_role.node: Terraform would replace it\n" in said
    assert "  aws_eks_access_entry.node: Terraform would replace it\n" in said
    assert "Terraform would replace 6 resources, if what is in cdktf.out was applied.\n" in said
    assert "delivered" not in said


def test_programs_get_one_document(check: Check, folder: Path) -> None:
    line = edit(folder / DEMO, '"sqs:DeleteMessage"', '"sqs:*"')

    status, said, _ = check("--json")

    tree: dict[str, Any] = json.loads(said)
    assert (status, tree["differs"], tree["has_inventory"]) == (1, True, True)
    assert (tree["config"], tree["out"]) == ("clusters.yaml", "cdktf.out")
    assert [tree[key] for key in ("missing_stacks", "left_over_stacks", "problems", "replaced")] == [[], [], [], []]
    mark = json.loads((folder / DEMO).read_text("utf-8"))["//"]["nodeless"]
    assert tree["command"] == "nodeless synth"
    assert tree["files"] == [
        {
            "path": "stacks/demo/cdk.tf.json",
            "state": "content",
            "edited_by_hand": True,
            "out_of_date": False,
            "origin": {"old": mark, "new": mark, "reasons": ["edited"]},
            "differences": [
                {
                    "address": "data.aws_iam_policy_document.controller_interruption",
                    "argument": "statement[AllowInterruptionQueueActions].actions[0]",
                    "line": line,
                    "effect": "none",
                    "old": "sqs:*",
                    "new": "sqs:DeleteMessage",
                }
            ],
        }
    ]


def test_it_says_whether_the_file_or_the_version_of_nodeless_is_another_one(
    check: Check, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(folder / "clusters.yaml", "name: demo", "name: demo\n    tags: {a: b}")
    assert check()[1].splitlines()[:2] == [
        f"{DEMO}: out of date",
        "  clusters.yaml gives other settings than those it was made from",
    ]
    edit(folder / "clusters.yaml", "\n    tags: {a: b}", "")
    monkeypatch.setattr("nodeless.resolved.fingerprint.VERSION", "99.0.0")

    status, said, _ = check("--only", "demo")

    assert (status, said.splitlines()[:3]) == (
        1,
        [f"{DEMO}: only the comments differ", f"  nodeless {VERSION} made it, and this is nodeless 99.0.0", ""],
    )
    (file,) = json.loads(check("--only", "demo", "--json")[1])["files"]
    assert (file["origin"]["old"]["version"], file["origin"]["new"]["version"]) == (VERSION, "99.0.0")
    assert file["origin"]["old"]["input"] == file["origin"]["new"]["input"]
    assert file["origin"]["reasons"] == ["version"]


def test_another_version_of_nodeless_is_one_other_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = (folder / DEMO).read_text("utf-8").splitlines()
    monkeypatch.setattr("nodeless.resolved.fingerprint.VERSION", "99.0.0")

    assert main(["synth"]) == 0

    new = (folder / DEMO).read_text("utf-8").splitlines()
    changed = [(before.strip(), after.strip()) for before, after in zip(old, new, strict=True) if before != after]
    assert changed == [(f'"version": "{VERSION}"', '"version": "99.0.0"')]
    assert "2 stacks written" in capsys.readouterr().err


def test_output_without_a_mark_is_named_gently(check: Check, folder: Path) -> None:
    tree = json.loads((folder / DEMO).read_text("utf-8"))
    del tree["//"]["nodeless"]
    (folder / DEMO).write_text(json.dumps(tree, indent=2), "utf-8")
    shutil.rmtree(folder / "cdktf.out/.nodeless")

    status, said, _ = check()

    assert (status, said.splitlines()[:2]) == (
        1,
        [
            f"{DEMO}: only the comments differ",
            "  it does not say what made it: earlier versions of nodeless wrote no mark of origin",
        ],
    )
    (file,) = json.loads(check("--json")[1])["files"]
    assert (file["origin"]["old"], file["origin"]["reasons"]) == (None, ["unmarked"])


def test_programs_get_what_is_absent_as_no_key_and_the_cause_of_a_replacement(check: Check, folder: Path) -> None:
    edit(
        folder / "clusters.yaml",
        "name: demo",
        "name: demo\n    path: /x/\n    permissions_boundary: arn:aws:iam::123456789012:policy/b",
    )

    _, said, _ = check("--json")

    tree = json.loads(said)
    rows = {(row["address"], row["argument"]): row for file in tree["files"] for row in file["differences"]}
    assert "old" not in rows["aws_iam_role.node", "permissions_boundary"]
    assert rows["aws_eks_fargate_profile.karpenter", "pod_execution_role_arn"]["cause"] == "aws_iam_role.fargate"
    assert {"path": "stacks/demo/cdk.tf.json", "address": "aws_eks_fargate_profile.karpenter"} in tree["replaced"]


def test_programs_get_the_line_of_broken_json(check: Check, folder: Path) -> None:
    (folder / DEMO).write_text('{\n"a": }', "utf-8")

    status, said, _ = check("--json")

    (file,) = json.loads(said)["files"]
    assert (status, file["state"], file["problem"], file["line"]) == (1, "invalid", "not JSON: Expecting value", 2)


def test_stacks_that_are_missing_or_left_over_are_named(check: Check, folder: Path) -> None:
    edit(folder / "clusters.yaml", "name: demo", "name: other")

    status, said, _ = check()

    assert status == 1
    assert "cdktf.out/stacks/other: missing; other is in clusters.yaml\n" in said
    assert "cdktf.out/stacks/demo: left over; demo is not in clusters.yaml\n" in said
    assert check("--only", "delivered")[0] == 0


def test_files_of_a_stack_that_are_missing_or_left_over_are_named(check: Check, folder: Path) -> None:
    text = (folder / "clusters.yaml").read_text("utf-8").replace("gitops", "none")
    (folder / "clusters.yaml").write_text(text, "utf-8")
    (folder / "cdktf.out/stacks/demo/nodeless.tftest.hcl").unlink()

    status, said, _ = check()

    assert status == 1
    assert "cdktf.out/stacks/demo/nodeless.tftest.hcl: missing\n" in said
    left = "cdktf.out/stacks/delivered/gitops/values.yaml: left over; it is not part of the stack any more\n"
    assert left in said


def test_a_folder_without_inventory_is_checked_too(check: Check, folder: Path) -> None:
    shutil.rmtree(folder / "cdktf.out/.nodeless")
    (folder / "cdktf.out/manifest.json").unlink()
    assert check()[0] == 0
    edit(folder / DEMO, '"sqs:DeleteMessage"', '"sqs:*"')

    status, said, _ = check()

    # Its mark of origin is the one that it would have today.
    assert (status, said.splitlines()[0]) == (1, f"{DEMO}: edited by hand")


def test_a_folder_that_does_not_exist_lacks_everything_and_is_not_made(check: Check, folder: Path) -> None:
    status, said, _ = check("--out", "none")

    assert status == 1
    assert said.startswith("none/stacks/delivered: missing; delivered is in clusters.yaml\n")
    assert not (folder / "none").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("\n", "\r\n"), "cdktf.out: 1 file differs only in line endings (CRLF)"),
        (lambda text: json.dumps(json.loads(text)), f"{DEMO}: the same content, formatted by another tool"),
        (
            lambda text: json.dumps({**json.loads(text), "//": {}}, indent=2),
            f"{DEMO}: only the comments differ",
        ),
    ],
)
def test_what_another_tool_did_to_the_bytes_is_one_line(
    check: Check, folder: Path, change: Callable[[str], str], said: str
) -> None:
    (folder / DEMO).write_bytes(change((folder / DEMO).read_text("utf-8")).encode())

    status, answer, _ = check()

    assert (status, answer.splitlines()[0]) == (1, said)


def test_a_synth_that_was_killed_is_named(check: Check, folder: Path) -> None:
    (folder / "cdktf.out/.nodeless/journal.json").write_text("{}", "utf-8")

    status, said, _ = check()

    assert status == 1
    assert said.startswith("cdktf.out/.nodeless/journal.json: a run was interrupted")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--only", "dmo"), "a cluster in clusters.yaml: demo, delivered"),
        (("--config", "none.yaml"), "none.yaml"),
        (("--out", "clusters.yaml"), "a folder"),
        (("--out", "x" * 300), "a folder that can be read (File name too long)"),
    ],
)
def test_a_wrong_call_is_refused(check: Check, arguments: tuple[str, ...], expected: str) -> None:
    status, said, error = check(*arguments)

    assert (status, said) == (2, "")
    assert expected in error


@pytest.mark.parametrize("arguments", ["", "--json"])
def test_a_wrong_file_is_refused_before_node_is_started(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "clusters.yaml").write_text("clusters: [{name: demo, region: moon-1}]", "utf-8")

    # This Node does not exist.
    outcome = run(tmp_path, f"{shlex.join(CHECK)} {arguments}", environment={"JSII_NODE": str(tmp_path / "none")})

    assert outcome.returncode == 2
    assert "moon-1" in (outcome.stdout if arguments else outcome.stderr)
    assert {each.name for each in tmp_path.iterdir()} == {"clusters.yaml"}


def test_the_process_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    before = contents(folder)

    outcome = run(folder, shlex.join(CHECK), environment={"TMPDIR": str(tmp_path / "temporary")})

    assert (outcome.returncode, outcome.stdout) == (0, "")
    assert list((tmp_path / "temporary").iterdir()) == []
    assert contents(folder) == before


@NEEDS_ROOT
def test_a_folder_on_a_read_only_disk_is_checked(folder: Path) -> None:
    edit(folder / DEMO, '"sqs:DeleteMessage"', '"sqs:*"')
    line = f"mount --bind . . && mount -o remount,bind,ro . && cd . && ! touch x && exec {shlex.join(CHECK)}"

    outcome = run(folder, f"unshare -m sh -c {shlex.quote(line)}")

    assert outcome.returncode == 1, outcome.stderr
    assert outcome.stdout.startswith(f"{DEMO}: edited by hand\n")


def test_a_file_that_cannot_be_read_is_refused(folder: Path) -> None:
    (folder / DEMO).chmod(0)
    # Root reads everything, unless it gives that up.
    humble = "setpriv --bounding-set=-dac_override,-dac_read_search" if os.geteuid() == 0 else ""
    if humble and not shutil.which("setpriv"):
        pytest.skip("root reads every file, and there is no setpriv to give that up")

    outcome = run(folder, f"exec {humble} {shlex.join(CHECK)}")

    assert outcome.returncode == 2, outcome.stderr
    assert "a folder that can be read (Permission denied)" in outcome.stderr
    assert DEMO in outcome.stderr


@pytest.mark.parametrize("columns", [60, 120])
def test_a_terminal_gets_colours_and_every_word(folder: Path, columns: int) -> None:
    edit(folder / DEMO, '"sqs:DeleteMessage"', '"sqs:*"')
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    plain = subprocess.run(CHECK, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout

    seen = seen_on_a_terminal(
        ["env", f"PYTHONPATH={environment['PYTHONPATH']}", *CHECK], folder=folder, columns=columns, status=1
    )

    assert "\x1b[1m" in seen
    words = _without_colours(seen)
    assert words.split() == plain.split()
    assert max(map(len, words.splitlines())) <= columns


def test_no_color_is_plain(folder: Path) -> None:
    edit(folder / DEMO, '"sqs:DeleteMessage"', '"sqs:*"')
    command = ["env", f"PYTHONPATH={Path(__file__).parents[2]}", "NO_COLOR=1", *CHECK]

    seen = seen_on_a_terminal(command, folder=folder, columns=100, status=1)

    assert "\x1b[31m" not in seen
    assert "36m" not in seen


def _without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
