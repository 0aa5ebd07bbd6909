"""The framework that builds the stacks is the one that the environment names; any other is a message."""

from __future__ import annotations

import importlib.util
import tomllib
from importlib.machinery import ModuleSpec

import pytest

from nodeless.imports import framework
from nodeless.imports.framework import FRAMEWORKS, VARIABLE, Framework
from nodeless.imports.setup_error import SetupError
from tests.conftest import ROOT

CDKTF, CDK_TERRAIN = FRAMEWORKS
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def installed(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Let only these packages be found."""
    found = {package: ModuleSpec(package, None) for package in packages}
    monkeypatch.setattr(importlib.util, "find_spec", found.get)


def packages(*frameworks: Framework) -> list[str]:
    return [name for each in frameworks for name in (each.core, *each.providers)]


@pytest.mark.parametrize(("value", "expected"), [(None, CDKTF), ("", CDKTF), ("cdktf", CDKTF), ("cdktn", CDK_TERRAIN)])
def test_the_variable_chooses_and_cdktf_is_the_default(
    monkeypatch: pytest.MonkeyPatch, value: str | None, expected: Framework
) -> None:
    installed(monkeypatch, *packages(*FRAMEWORKS))
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)

    assert framework.chosen() is expected


@pytest.mark.parametrize("value", ["CDKTF", "cdktn ", "pulumi"])
def test_any_other_value_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(VARIABLE, value)

    with pytest.raises(SetupError) as raised:
        framework.chosen()

    assert (raised.value.subject, raised.value.value, raised.value.expected) == (VARIABLE, value, "cdktf or cdktn")
    assert raised.value.fix == "set it to one of them, or unset it to use cdktf"


@pytest.mark.parametrize("missing", packages(CDK_TERRAIN))
def test_a_framework_of_which_a_package_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    installed(monkeypatch, *(name for name in packages(*FRAMEWORKS) if name != missing))
    monkeypatch.setenv(VARIABLE, "cdktn")

    with pytest.raises(SetupError, match=f"{missing} not found") as raised:
        framework.chosen()

    assert raised.value.fix == f"run pip install {' '.join(CDK_TERRAIN.requirements)}, or set {VARIABLE}=cdktf"


def test_the_fix_names_the_versions_of_the_project() -> None:
    assert set(CDKTF.requirements) <= set(PROJECT["dependencies"])
    assert list(CDK_TERRAIN.requirements) == PROJECT["optional-dependencies"]["cdktn"]


def test_the_packages_that_are_looked_for_are_those_that_are_installed() -> None:
    chosen = framework.chosen()

    assert [name for name in packages(chosen) if importlib.util.find_spec(name) is None] == []
    assert [text.partition("==")[0].replace("-", "_") for text in chosen.requirements] == packages(chosen)
