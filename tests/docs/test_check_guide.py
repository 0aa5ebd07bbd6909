"""The page on check: its tables are the code's, its example is what check prints, its pipelines run in a repository."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nodeless.cli.main import main, parser
from nodeless.differences.difference import Effect
from nodeless.differences.effects import REPLACING
from nodeless.differences.files import Reason, State
from nodeless.resolved.fingerprint import origin_of
from nodeless.spec.resolution import load
from tests.docs.markdown import ROOT, blocks, code, rows, section

PAGE = ROOT / "docs" / "check.md"
GITHUB, GITLAB = ROOT / "docs/ci/github-actions.yml", ROOT / "docs/ci/gitlab-ci.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
FILE = "clusters:\n  - name: demo\n    region: eu-north-1\n"
STACK = "terraform/stacks/demo/cdk.tf.json"


def yaml(file: Path) -> Any:  # noqa: ANN401 - any YAML
    # As GitHub, GitLab and pre-commit read it, where `on` is a text.
    return YAML(typ="safe").load(file.read_text("utf-8"))


def github_commands() -> list[str]:
    (job,) = yaml(GITHUB)["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


def gitlab_commands() -> list[str]:
    (job,) = yaml(GITLAB).values()
    return list(job["script"])


def hook() -> dict[str, Any]:
    (found,) = yaml(HOOKS)
    return dict(found)


def args_in_the_page() -> list[str]:
    (block,) = (block for block in blocks("yaml", PAGE) if "repos:" in block.text)
    ((used,),) = (repository["hooks"] for repository in YAML(typ="safe").load(block.text)["repos"])
    assert used["id"] == hook()["id"]
    return list(used["args"])


def hook_commands() -> list[str]:
    return [shlex.join([*shlex.split(hook()["entry"]), *args_in_the_page()])]


def test_it_lists_the_arguments_that_replace_a_resource() -> None:
    table = {code(row[0])[0]: set(code(row[1])) for row in rows(section(PAGE, "What Terraform would replace"))}

    assert table == REPLACING


def test_it_shows_the_files_for_pipelines() -> None:
    shown = [block.text for block in blocks("yaml", PAGE)]

    assert shown[:2] == [file.read_text("utf-8") for file in (GITHUB, GITLAB)]


def test_it_names_every_state_effect_and_key_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = {name: row[1] for row in rows(section(PAGE, "For programs")) for name in code(row[0])}
    (tmp_path / "clusters.yaml").write_text(FILE, "utf-8")

    assert main(["check", "--config", str(tmp_path / "clusters.yaml"), "--out", str(tmp_path / "out"), "--json"]) == 1

    assert {*json.loads(capsys.readouterr().out), "differences", "origin"} == table.keys()
    assert {*State} <= set(code(table["files"]))
    assert {*Effect} <= set(code(table["differences"]))
    assert {*Reason} <= set(code(table["origin"]))


def test_it_shows_what_check_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clusters.yaml").write_text(FILE, "utf-8")
    # Node, which may have been started in another folder, needs the whole path.
    assert main(["synth", "--out", str(tmp_path / "cdktf.out")]) == 0
    capsys.readouterr()
    stack = Path("cdktf.out/stacks/demo/cdk.tf.json")
    stack.write_text(stack.read_text("utf-8").replace('"sqs:DeleteMessage"', '"sqs:*"'), "utf-8")
    Path("clusters.yaml").write_text(f"{FILE}    names: {{fargate_role: pods}}\n", "utf-8")
    shown, _ = blocks("text", PAGE)

    assert main(["check"]) == 1

    assert _without_lines(capsys.readouterr().out) == _without_lines(shown.text)


def test_it_shows_what_check_prints_for_an_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clusters.yaml").write_text(FILE, "utf-8")
    assert main(["export", "terraform"]) == 0
    file = Path("terraform/demo/controller.tf")
    mark = Path("terraform/demo/versions.tf").read_text("utf-8").splitlines()[:2]
    file.write_text(file.read_text("utf-8").replace('"sqs:DeleteMessage"', '"sqs:*"'), "utf-8")
    capsys.readouterr()
    _, shown = blocks("text", PAGE)

    assert main(["check", "--out", "terraform"]) == 1

    assert capsys.readouterr().out.startswith(shown.text)
    assert [block.text.splitlines() for block in blocks("hcl", PAGE)] == [mark]


def test_it_shows_the_mark_of_the_default_file() -> None:
    (shown,) = blocks("json", PAGE)
    (demo,) = load(ROOT / "clusters.yaml")

    assert json.loads(shown.text) == {"//": {"nodeless": origin_of(demo).to_tree()}}


def _without_lines(text: str) -> str:
    return re.sub(r"line \d+", "line N", text)


def test_the_files_for_pipelines_have_the_keys_that_their_services_read() -> None:
    workflow, (job,) = yaml(GITHUB), yaml(GITLAB).values()
    (check,) = workflow["jobs"].values()

    assert workflow.keys() == {"name", "on", "permissions", "jobs"}
    assert check.keys() == {"runs-on", "steps"}
    assert all(step.keys() & {"uses", "run"} for step in check["steps"])
    assert job.keys() == {"image", "rules", "script"}


def test_the_hook_has_the_keys_that_pre_commit_reads() -> None:
    known = {"id", "name", "description", "entry", "language", "files", "pass_filenames", "require_serial"}

    assert hook().keys() == known
    assert (hook()["language"], hook()["pass_filenames"]) == ("python", False)
    program, *arguments = shlex.split(hook()["entry"])
    assert program == "nodeless"
    parser().parse_args([*arguments, *args_in_the_page()])


@pytest.mark.parametrize(
    ("path", "is_ours"),
    [
        ("clusters.yaml", True),
        ("karpenter/clusters.yml", True),
        (STACK, True),
        ("stacks/demo/nodeless.tftest.hcl", True),
        ("cdktf.out/stacks/demo/assets/karpenter-charts/node-pools/Chart.yaml", True),
        ("cdktf.out/stacks/demo/gitops/flux/karpenter.yaml", True),
        ("terraform/.nodeless/inventory.json", True),
        ("terraform/stacks/demo/.terraform.lock.hcl", False),
        ("terraform/stacks/demo/mine_override.tf", False),
        ("my-clusters.yaml", False),
        ("README.md", False),
    ],
)
def test_the_hook_runs_for_the_file_and_for_the_output(
    path: str,
    is_ours: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert bool(re.search(hook()["files"], path)) == is_ours


def git(repository: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=repository, check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Return an environment whose `nodeless` is this checkout, and whose pip has nothing to do."""
    folder = tmp_path_factory.mktemp("bin")
    programs = {
        "nodeless": f'PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} -m nodeless "$@"',
        "pip": '[ "$*" = "install ./nodeless-0.1.0-py3-none-any.whl" ]',
    }
    for name, line in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n", "utf-8")
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory, environment: Mapping[str, str]) -> Path:
    """Return a repository with a file and its output, all of it committed."""
    if not shutil.which("git"):
        pytest.skip("no git on the PATH")
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "clusters.yaml").write_text(FILE, "utf-8")
    subprocess.run(["nodeless", "synth", "--out", "terraform"], cwd=folder, env=environment, check=True, timeout=300)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Karpenter")
    return folder


@pytest.fixture
def repository(committed: Path, tmp_path: Path) -> Path:
    """Return a clone of it, to work in."""
    git(tmp_path, "clone", "--quiet", str(committed), "clone")
    return tmp_path / "clone"


def checkout(repository: Path) -> Path:
    """Commit what is tracked, and check it out elsewhere, as a pipeline does."""
    git(repository, "commit", "--quiet", "--all", "--allow-empty", "--message", "More")
    git(repository.parent, "clone", "--quiet", str(repository), "checkout")
    return repository.parent / "checkout"


PIPELINES = pytest.mark.parametrize(
    "commands", [github_commands(), gitlab_commands(), hook_commands()], ids=["GitHub", "GitLab", "pre-commit"]
)


def run(commands: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run the commands as a runner does: each in a shell, until one fails."""
    outcome = None
    for command in commands:
        outcome = subprocess.run(
            ["sh", "-e", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if outcome.returncode:
            break
    assert outcome is not None
    return outcome.returncode, outcome.stdout + outcome.stderr


@pytest.mark.slow
@PIPELINES
def test_a_pipeline_passes_what_was_committed_and_stops_what_was_edited(
    commands: list[str], repository: Path, environment: Mapping[str, str]
) -> None:
    clean = checkout(repository)
    assert run(commands, clean, environment) == (0, "terraform: 1 stack is what clusters.yaml gives\n")

    text = (clean / STACK).read_text("utf-8")
    (clean / STACK).write_text(text.replace('"sqs:DeleteMessage"', '"sqs:*"'), "utf-8")
    status, said = run(commands, clean, environment)

    assert status == 1
    assert said.startswith(f"{STACK}: edited by hand\n  data.aws_iam_policy_document.controller_interruption\n")


@pytest.mark.slow
@pytest.mark.parametrize("commands", [github_commands(), gitlab_commands()], ids=["GitHub", "GitLab"])
def test_a_pipeline_finds_a_stack_that_nobody_committed(
    commands: list[str], repository: Path, environment: Mapping[str, str]
) -> None:
    (repository / "clusters.yaml").write_text(f"{FILE}  - {{name: new, region: eu-north-1}}\n", "utf-8")
    subprocess.run(
        ["nodeless", "synth", "--out", "terraform"], cwd=repository, env=environment, check=True, timeout=300
    )

    # The folder of the new stack is not tracked, and so is not part of the commit.
    status, said = run(commands, checkout(repository), environment)

    assert status == 1
    assert said.startswith("terraform/stacks/new: missing; new is in clusters.yaml\n")


@pytest.mark.slow
def test_a_checkout_with_other_line_ends_is_named_as_such_and_gitattributes_prevents_it(
    repository: Path, environment: Mapping[str, str]
) -> None:
    def checked(name: str) -> tuple[int, str]:
        git(repository.parent, "-c", "core.autocrlf=true", "clone", "--quiet", str(repository), name)
        return run(gitlab_commands(), repository.parent / name, environment)

    status, said = checked("converted")
    assert status == 1
    assert re.match(r"terraform: \d files differ only in line endings \(CRLF\)\n", said)

    (repository / "terraform/.gitattributes").write_text("* -text\n", "utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message", "Keep line endings")
    assert checked("kept")[0] == 0


@pytest.mark.slow
def test_pre_commit_runs_the_hook(repository: Path, environment: Mapping[str, str], tmp_path: Path) -> None:
    if not shutil.which("pre-commit"):
        pytest.skip("no pre-commit on the PATH")
    # The same hook with the nodeless of this checkout: by itself pre-commit would install another one.
    local = {**hook(), "language": "system", "args": args_in_the_page()}
    config = {"repos": [{"repo": "local", "hooks": [local]}]}
    (repository / ".pre-commit-config.yaml").write_text(json.dumps(config), "utf-8")
    git(repository, "add", ".")
    own = {**environment, "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"), "PRE_COMMIT_COLOR": "never"}

    assert run([f"pre-commit validate-manifest {shlex.quote(str(HOOKS))}"], repository, own) == (0, "")
    assert run(["pre-commit run --all-files"], repository, own)[0] == 0

    (repository / "README.md").write_text("mine", "utf-8")
    assert "no files to check" in run(["pre-commit run --files README.md"], repository, own)[1]

    text = (repository / STACK).read_text("utf-8")
    (repository / STACK).write_text(text.replace('"sqs:DeleteMessage"', '"sqs:*"'), "utf-8")
    status, said = run([f"pre-commit run --files {STACK}"], repository, own)
    assert status == 1
    assert f"{STACK}: edited by hand" in said
