"""`nodeless explain` of one cluster, and the policies of the deployers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nodeless.cli.main import main

FILE = """\
defaults: {region: eu-north-1}
clusters:
  - name: first
    account: "123456789012"
    delivery: none
  - name: second
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "clusters.yaml"
    file.write_text(FILE, encoding="utf-8")
    return file


def test_a_cluster_can_be_chosen(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "second", "--config", str(config)]) == 0

    printed = YAML(typ="safe").load(capsys.readouterr().out)
    assert [cluster["name"] for cluster in printed["clusters"]] == ["second"]


@pytest.mark.parametrize("options", [[], ["--deployer"]])
def test_a_cluster_that_is_not_in_the_file_is_refused(
    options: list[str], config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "third", "--config", str(config), *options]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"a cluster in {config}: first, second" in printed.err


def test_the_deployers_policies_are_json_by_cluster_and_document(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "--deployer", "--config", str(config)]) == 0

    printed = capsys.readouterr()
    policies = json.loads(printed.out)
    assert {cluster: list(documents) for cluster, documents in policies.items()} == {
        "first": ["plan", "apply", "apply-2"],
        "second": ["plan", "apply", "apply-2"],
    }
    assert all(set(each) == {"Version", "Statement"} for documents in policies.values() for each in documents.values())


def test_what_the_policies_leave_open_is_told_beside_them(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--deployer", "--config", str(config)]) == 0

    notes = capsys.readouterr().err.splitlines()
    assert [note.partition(": note: ")[0] for note in notes] == ["second", "second"]
    assert "no account" in notes[0]
    assert "access entry" in notes[1]


def test_one_clusters_policies_have_the_same_shape(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "first", "--deployer", "--config", str(config)]) == 0

    printed = capsys.readouterr()
    assert list(json.loads(printed.out)) == ["first"]
    assert printed.err == ""
