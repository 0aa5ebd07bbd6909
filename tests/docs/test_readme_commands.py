"""The README's commands, run in order in an empty folder as a reader would, against a stand-in for AWS.

Three things differ from a reader's machine: pip takes the dependencies from this environment instead of the network,
AWS is moto, and Terraform takes its providers from a mirror.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, blocks
from tests.live import command, site
from tests.synthesized import Synthesized
from tests.terraform import aws_server, tools

README = ROOT / "README.md"
BLOCKS = blocks("sh", README)
COMMANDS = [block for block in BLOCKS if not block.note]

# Blocks that are not run here, by their note.
ELSEWHERE = {
    "clone": ("make synth", "make test"),
    "apply": ("terraform plan", "terraform apply"),
}
CLUSTER = "demo"
VERBS = ("init", "doctor", "synth", "check", "explain", "report", "export")

pytestmark = [pytest.mark.slow, pytest.mark.terraform]


@dataclass(frozen=True)
class Journey:
    """The folder, and how each block ended; a block that cannot run here has a reason instead."""

    folder: Path
    outcomes: Mapping[int, subprocess.CompletedProcess[str]]
    reasons: Mapping[int, str]


def linked_dependencies(folder: Path) -> Path:
    """Link everything that is installed here, except nodeless and pip, so that pip finds it without a download."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.lstrip("_").startswith(("nodeless", "pip", "editable_impl_nodeless")):
            (folder / path.name).symlink_to(path)
    return folder


def environment(scratch: Path, aws: aws_server.AwsServer) -> dict[str, str]:
    """Return what the reader's shell has: this Python, an account, nothing of the checkout."""
    programs = scratch / "bin"
    programs.mkdir()
    # Not the one of this environment, which would find the checkout.
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    ours = ("PIP_", "PYTHON", "TF_", "VIRTUAL_ENV", "CDKTF_", "NODELESS_")
    inherited = {name: value for name, value in command.environment(aws).items() if not name.startswith(ours)}
    return {
        **inherited,
        "PATH": os.pathsep.join((str(programs), os.environ["PATH"])),
        "PYTHONPATH": str(linked_dependencies(scratch / "dependencies")),
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def terraform_settings(scratch: Path) -> dict[str, str]:
    """Return the variables with which Terraform finds every provider of the stack."""
    found = tools.find(os.environ, Path.home())
    if not found.offers(tools.HELM):
        raise tools.Unavailable(tools.WITHOUT_HELM)
    cache, config = scratch / "plugin-cache", scratch / "terraform.rc"
    cache.mkdir()
    config.write_text(found.cli_config(cache), "utf-8")
    return {"TF_CLI_CONFIG_FILE": str(config), "TF_IN_AUTOMATION": "1"}


def run(block: Block, folder: Path, settings: Mapping[str, str], shell: Path) -> subprocess.CompletedProcess[str]:
    """Run a block in the shell of the block before it: the same folder, the same variables."""
    before = f'. {shell}\ncd "$PWD"\n' if shell.exists() else ""
    return subprocess.run(
        ["sh", "-e", "-c", f"{before}{block.text}\nexport -p > {shell}\n"],
        cwd=folder,
        env=settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """Run the README from its top to its end."""
    scratch, folder = tmp_path_factory.mktemp("scratch"), tmp_path_factory.mktemp("empty")
    # `make wheel`, and "with that file in an empty folder".
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=600,
    )
    outcomes, reasons = {}, {}
    with aws_server.running(scratch / "aws.log", "tests.live.serve_aws") as aws:
        site.create(aws, CLUSTER)
        settings = environment(scratch, aws)
        for block in COMMANDS:
            if "terraform" in block.text:
                try:
                    settings |= terraform_settings(scratch)
                except tools.Unavailable as unavailable:
                    reasons[block.line] = str(unavailable)
                    continue
            outcomes[block.line] = run(block, folder, settings, scratch / "shell")
        yield Journey(folder, outcomes, reasons)


@pytest.mark.parametrize("block", COMMANDS, ids=str)
def test_every_command_does_what_it_says(block: Block, journey: Journey) -> None:
    if reason := journey.reasons.get(block.line):
        pytest.skip(reason)
    outcome = journey.outcomes[block.line]

    assert outcome.returncode == 0, f"{block}\n{outcome.stdout}{outcome.stderr}"


def test_what_is_written_is_there(journey: Journey) -> None:
    stack = Synthesized.read(journey.folder / "cdktf.out" / "stacks" / CLUSTER / "cdk.tf.json")

    assert {path.name for path in journey.folder.iterdir()} >= {
        "clusters.yaml",
        "cdktf.out",
        "infra",
        "report.html",
        "venv",
    }
    assert stack.only("aws_eks_fargate_profile")["cluster_name"] == CLUSTER


def test_the_installed_command_is_not_the_checkout(journey: Journey) -> None:
    said = subprocess.run(
        [journey.folder / "venv" / "bin" / "python", "-c", "import nodeless; print(nodeless.__file__)"],
        cwd=journey.folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert Path(said.strip()).is_relative_to(journey.folder / "venv")


def test_the_path_has_every_verb_that_a_reader_needs() -> None:
    typed = "".join(block.text for block in COMMANDS)

    assert [verb for verb in VERBS if f"nodeless {verb}" not in typed] == []
    assert "pip install" in typed
    assert "terraform validate" in typed


def test_only_a_few_expected_commands_are_not_run() -> None:
    others = {block.note: block.text for block in BLOCKS if block.note}

    assert len([block for block in BLOCKS if block.note]) == len(ELSEWHERE)
    assert {
        note: [line for line in text.splitlines() if not line.startswith(ELSEWHERE[note])]
        for note, text in others.items()
    } == {note: [] for note in ELSEWHERE}
