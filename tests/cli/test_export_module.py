"""`nodeless export --module` as a user runs it: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodeless.cli.main import main
from nodeless.export.module.variables import variables
from nodeless.resolved.module import module_of
from nodeless.spec.resolution import installation
from tests.cli.nodeless_process import contents

pytestmark = pytest.mark.slow

MODULE = "modules/karpenter"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_a_module_without_a_file_and_leaves_a_second_time_what_is_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "--module", MODULE]) == 0
    said = capsys.readouterr()
    first = contents(project)
    (project / MODULE / "mine.tf").write_text("# mine\n", "utf-8")

    assert (said.out, said.err) == ("", f"{MODULE}: new, a module for Karpenter 1.14.1\n")
    assert main(["export", "--module", MODULE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "module": MODULE,
        "version": "1.14.1",
        "change": "unchanged",
        "removed": [],
        "kept": [],
    }
    assert contents(project) == first | {f"{MODULE}/mine.tf": b"# mine\n"}

    configuration = b"".join(text for name, text in first.items() if name.endswith(".tf") and "examples" not in name)
    assert b'\nprovider "' not in configuration
    assert b"backend" not in configuration
    page = (project / MODULE / "README.md").read_text("utf-8")
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings[2:] == ["## Requirements", "## Providers", "## Modules", "## Resources", "## Inputs", "## Outputs"]
    for each in variables(module_of(installation(name="template", region="eu-north-1"))):
        assert f"\n| {each.name} | " in page

    (project / MODULE / "fargate.tf").write_text("# changed\n", "utf-8")
    assert main(["export", "--module", MODULE, "--version", "1.13"]) == 2
    assert "fargate.tf" in capsys.readouterr().err
    assert (project / MODULE / "fargate.tf").read_text("utf-8") == "# changed\n"


REFUSED = {
    "a release that does not exist": (["--version", "9.9"], "--version"),
    "a cluster that is not in the file": (["--cluster", "dmo"], "did you mean demo?"),
    "policies that do not fit": (["--cluster", "large"], "a managed policy has at most 6144 characters"),
}
ROLES = "".join(
    f'        r{number}: {{arn: "arn:aws:iam::123456789012:role/{"p" * 480}/{number}", access_entry: false}}\n'
    for number in range(8)
)
FILE = f"""\
defaults: {{region: eu-north-1}}
clusters:
  - name: demo
  - name: large
    nodes:
      roles:
{ROLES}"""


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_module_cannot_be_made_of_is_refused_and_nothing_is_written(
    options: list[str], message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "clusters.yaml").write_text(FILE, "utf-8")

    assert main(["export", "--module", MODULE, *options]) == 2
    assert message in capsys.readouterr().err
    assert not (project / "modules").exists()


def test_a_folder_that_an_inventory_cannot_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--module", "karpenter 1.14"]) == 2
    assert "a folder whose name has letters" in capsys.readouterr().err


WRONG = {
    "no folder": ([], "name one folder"),
    "two folders": (["terraform", "--module", MODULE], "name one folder"),
    "a release without a module": (["terraform", "--version", "1.13"], "--version needs --module"),
    "a template without a module": (["terraform", "--cluster", "demo"], "--cluster needs --module"),
    "JSON": (["--module", MODULE, "--format", "json"], "not for a module"),
    "a release and a template": (["--module", MODULE, "--version", "1.13", "--cluster", "demo"], "leave --version out"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_options_that_do_not_go_together_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["export", *options])
    assert message in capsys.readouterr().err
