"""The example of a fleet: files of two teams, each with its own accounts, under the defaults of one file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # its types are not installed

from nodeless.spec.fleet import load_fleet
from nodeless.spec.reading import read
from nodeless.spec.schema import schema
from nodeless.spec.schema_names import editor_line
from tests.conftest import ROOT

FLEET = ROOT / "examples" / "fleet"
FILES = sorted(FLEET.rglob("*.yaml"))


def test_every_cluster_has_a_stack_a_group_and_an_account() -> None:
    found = {
        each.installation.stack: (Path(each.group).name, each.installation.account)
        for each in load_fleet([FLEET / "clusters.yaml"])
    }

    assert found == {
        "warehouse-test": ("data.yaml", "111122223333"),
        "warehouse-production": ("data.yaml", "444455556666"),
        "shop-eu-north-1": ("web.yaml", "777788889999"),
        "shop-us-east-1": ("web.yaml", "777788889999"),
    }


def test_all_have_the_defaults_of_the_fleet_and_of_their_group() -> None:
    members = [each.installation for each in load_fleet([FLEET / "clusters.yaml"])]

    assert {each.namespace for each in members} == {"kube-system"}
    assert {each.tags["organization"] for each in members} == {"example"}
    assert [each.tags["team"] for each in members] == ["data", "data", "web", "web"]
    assert [str(each.version) for each in members] == ["1.14.1", "1.13.1", "1.14.1", "1.14.1"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_file_passes_the_schema_and_names_it(file: Path) -> None:
    assert [*Draft202012Validator(schema()).iter_errors(read(file)[0])] == []
    named = os.path.relpath(ROOT / "docs" / "clusters.schema.json", file.parent)
    assert file.read_text(encoding="utf-8").splitlines()[0] == editor_line(named)
