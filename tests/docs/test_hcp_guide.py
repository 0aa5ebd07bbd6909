"""What the guide to HCP Terraform tells to set is what a stack needs, and its example makes it from `explain`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest

from nodeless.cli.main import main
from nodeless.finding import SpecError
from nodeless.resolved.deployer import deployer_policies
from nodeless.resolved.installation import Installation
from nodeless.resolved.workspaces import workspace_of
from nodeless.spec.model import Cluster
from nodeless.spec.resolution import installation, load
from tests.docs.markdown import ROOT, blocks, code, rows, section, text_of

GUIDE = ROOT / "docs" / "hcp-terraform.md"
EXAMPLE = ROOT / "examples" / "hcp-terraform"
REMOTE_STATE = ROOT / "docs" / "remote-state.md"
FLEET = """\
defaults: {region: eu-north-1, backend: {type: cloud, organization: acme, workspaces: {project: platform}}}
clusters:
  - name: blue
  - name: green
    stack: verde
    auth: token
    backend: {workspaces: {tags: {app: karpenter, cluster: green}}}
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Resolve the file of the guide."""
    file = tmp_path_factory.mktemp("guide") / "clusters.yaml"
    (block,) = blocks("yaml", GUIDE)
    file.write_text(block.text, encoding="utf-8")
    (found,) = load(file)
    return found


def cloud(**keys: Any) -> Installation:  # noqa: ANN401 - keys of a cluster
    backend = {"type": "cloud", "organization": "acme", **keys.pop("backend", {})}
    return installation(name="demo", region="eu-north-1", backend=backend, **keys)


def test_the_settings_are_those_that_explain_prints(shown: Installation) -> None:
    workspace = workspace_of(shown)
    settings = {row[0].split(",")[0]: code(row[1]) for row in rows(section(GUIDE, "The workspace"))}

    assert workspace is not None
    assert settings["Terraform version"] == [workspace.terraform_version]
    assert settings["working directory"][0] == f"<output folder>/{workspace.working_directory}"
    assert settings["trigger patterns"] == [f"<output folder>/{pattern}" for pattern in workspace.trigger_patterns]


def test_the_versions_are_those_that_stacks_need() -> None:
    needs = {code(row[0])[0].split(":")[0]: row[2] for row in rows(section(GUIDE, "The file")) if len(row) == 3}
    by_map = cloud(auth="token", backend={"workspaces": {"tags": {"a": "b"}}})
    project = cloud(auth="token", backend={"workspaces": {"project": "platform"}})

    assert needs["tags"] == f"Terraform {version_of(by_map)}"
    assert needs["project"] == f"Terraform {version_of(project)}"
    (token,) = (row[1] for row in rows(section(GUIDE, "The file")) if code(row[0]) == ["token"])
    assert f"from Terraform {version_of(cloud(auth='token'))} on" in token


def version_of(found: Installation) -> str:
    workspace = workspace_of(found)
    assert workspace is not None
    return workspace.terraform_version.removeprefix(">= ")


def test_every_way_to_log_in_is_judged_as_nodeless_does() -> None:
    judged = {code(row[0])[0]: row[1] for row in rows(section(GUIDE, "The file")) if len(row) == 2}

    assert set(judged) == set(get_args(Cluster.model_fields["auth"].annotation))
    for auth, words in judged.items():
        try:
            cloud(auth=auth)
        except SpecError:
            assert words.startswith("an error")
        else:
            assert words.startswith("works")


def test_the_role_trusts_the_workspace_of_the_file(shown: Installation) -> None:
    (block,) = blocks("json", GUIDE)
    (statement,) = json.loads(block.text)["Statement"]
    workspace = workspace_of(shown)

    assert workspace is not None
    subject = (
        f"organization:{workspace.organization}:project:{workspace.project}:workspace:{workspace.name}:run_phase:apply"
    )
    assert statement["Condition"] == {
        "StringEquals": {
            f"{workspace.hostname}:aud": "aws.workload.identity",
            f"{workspace.hostname}:sub": subject,
        }
    }
    assert statement["Principal"]["Federated"].endswith(f"{shown.account}:oidc-provider/{workspace.hostname}")


def test_the_deployers_documents_are_the_two_that_it_names(shown: Installation) -> None:
    assert {re.sub(r"-\d+$", "", key) for key in deployer_policies(shown)} == {"plan", "apply"}


def test_the_example_sets_the_variables_that_the_guide_names() -> None:
    named = {code(row[0])[0] for row in rows(section(GUIDE, "Credentials"))}

    assert set(re.findall(r"TFC_\w+", text_of(EXAMPLE / "main.tf"))) == named - {"TFC_AWS_RUN_ROLE_ARN"}


@pytest.mark.slow
def test_the_example_runs_every_stack_in_the_folder_that_synth_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, repository = tmp_path / "clusters.yaml", tmp_path / "repository"
    file.write_text(FLEET, encoding="utf-8")
    assert main(["synth", "--config", str(file), "--out", str(repository / "infra" / "karpenter")]) == 0
    capsys.readouterr()
    assert main(["explain", "--json", "--config", str(file)]) == 0
    root = tmp_path / "root"
    root.mkdir()
    (root / "clusters.json").write_text(capsys.readouterr().out, encoding="utf-8")
    # Without the provider, which needs the network: the part that reads the file.
    shutil.copy(EXAMPLE / "workspaces.tf", root)
    (root / "output.tf").write_text('output "workspaces" {\n  value = local.workspaces\n}\n', encoding="utf-8")
    variables = ["-var=repository=acme/infrastructure", "-var=output_folder=infra/karpenter"]
    terraform(root, "apply", "-auto-approve", "-input=false", *variables)

    workspaces = json.loads(terraform(root, "output", "-json", "workspaces"))
    folders = {row["working_directory"] for row in workspaces.values()}
    assert folders == {stack.parent.relative_to(repository).as_posix() for stack in repository.rglob("cdk.tf.json")}
    for row in workspaces.values():
        assert row["trigger_patterns"] == [f"{row['working_directory']}/**/*"]
    assert {row["name"] for row in workspaces.values()} == {"karpenter-blue", "karpenter-verde"}
    assert workspaces["verde"]["tags"] == {"app": "karpenter", "cluster": "green"}


@pytest.mark.parametrize("folder", ["hcp-terraform", "remote-state"])
def test_the_examples_in_hcl_are_as_terraform_fmt_leaves_them(folder: str) -> None:
    assert terraform(ROOT / "examples" / folder, "fmt", "-check", "-diff") == ""


def terraform(folder: Path, *arguments: str) -> str:
    found = shutil.which("terraform")
    if found is None:
        pytest.skip("no terraform on the PATH")
    environment = {"PATH": str(Path(found).parent), "CHECKPOINT_DISABLE": "1"}
    done = subprocess.run(
        ["terraform", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
