"""`from nodeless import ...`: three names, each loaded when it is first used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nodeless
from nodeless.finding import SpecError
from nodeless.spec.resolution import installation
from tests.conftest import ROOT

HEAVY = {"pydantic", "jsii", "cdktf", "constructs"}


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import nodeless", set()),
        ("from nodeless import SpecError", set()),
        ("from nodeless import installation", {"pydantic"}),
        ("from nodeless import Karpenter", {"jsii", "cdktf", "constructs"}),
    ],
)
def test_a_name_loads_what_it_needs_and_no_more(statement: str, heavy: set[str]) -> None:
    program = f"{statement}\nimport json, sys\nprint(json.dumps([*sys.modules]))"

    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )

    assert HEAVY.intersection(json.loads(loaded.stdout)) == heavy


def test_the_names_are_those_of_their_modules() -> None:
    assert nodeless.installation is installation
    assert nodeless.SpecError is SpecError
    assert nodeless.Karpenter.__module__ == "nodeless.stacks.karpenter"


def test_the_three_names_are_all_that_is_offered() -> None:
    assert sorted(dir(nodeless)) == sorted(nodeless.__all__) == ["Karpenter", "SpecError", "installation"]


def test_an_unknown_name_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="module 'nodeless' has no attribute 'karpenterr'"):
        _ = nodeless.karpenterr
    with pytest.raises(ImportError, match="cannot import name 'karpenterr' from 'nodeless'"):
        exec("from nodeless import karpenterr", {})  # noqa: S102 - mypy and ruff would both mend the plain statement


def checkout_without_links(folder: Path, *, as_text: bool) -> Path:
    """Copy the checkout as git writes it where there are no links, or as a copy that leaves them out."""
    (folder / "nodeless").mkdir()
    for entry in (ROOT / "nodeless").iterdir():
        if not entry.is_symlink():
            (folder / "nodeless" / entry.name).symlink_to(entry)
        elif as_text:
            (folder / "nodeless" / entry.name).write_text(str(entry.readlink()), encoding="utf-8")
    (folder / "main.py").write_bytes((ROOT / "main.py").read_bytes())
    return folder


@pytest.mark.parametrize(("as_text", "value"), [(True, "'a file'"), (False, "'(missing)'")])
@pytest.mark.parametrize(
    "arguments", [("main.py",), ("-m", "nodeless", "synth"), ("-c", "from nodeless import Karpenter")]
)
def test_a_checkout_without_its_links_says_so(
    tmp_path: Path, arguments: tuple[str, ...], value: str, *, as_text: bool
) -> None:
    folder = checkout_without_links(tmp_path, as_text=as_text)
    (folder / "clusters.yaml").write_text("clusters: []", encoding="utf-8")

    outcome = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert outcome.returncode == (1 if arguments[0] == "-c" else 2)
    assert ("Traceback" in outcome.stderr) == (arguments[0] == "-c"), "the command shows the message alone"
    for words in (value, "a link to the folder ../", "git -c core.symlinks=true"):
        assert words in outcome.stderr
