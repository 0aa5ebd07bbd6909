"""CDKTF and CDK Terrain write the same Terraform, but for what one table names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.frameworks.differences import DIFFERENCES, EMPTY, MANIFEST, STACK, Row, as_cdktf, occurs
from tests.frameworks.environment import EXAMPLES, PYTHONS, needs_cdk_terrain, run

pytestmark = [pytest.mark.slow, needs_cdk_terrain]

Output = dict[str, str]
# CDKTF's way to write an empty list or map.
ON_TWO_LINES = re.compile(r"(?<=[\[{])\n *(?=[\]}])")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Output]:
    """Return the text of every file that each framework writes."""
    found = {}
    for framework in PYTHONS:
        folder = tmp_path_factory.mktemp(framework)
        run(framework, "-m", "tests.frameworks.all_stacks", str(folder))
        files = (file for file in sorted(folder.rglob("*")) if file.is_file())
        found[framework] = {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}
    return found


@pytest.fixture(scope="module")
def pairs(outputs: dict[str, Output]) -> list[tuple[str, str, str]]:
    """Return each file that a framework writes itself, with its two texts."""
    names = [name for name in outputs["cdktf"] if Path(name).name in {STACK, MANIFEST}]
    return [(name, outputs["cdktf"][name], outputs["cdktn"][name]) for name in names]


def test_every_example_is_there(outputs: dict[str, Output]) -> None:
    built = {name.partition("/")[0] for name in outputs["cdktf"] if name.endswith("/cdk.tf.json")}

    assert built == {"small-app", *EXAMPLES}
    assert {file.parent for file in (ROOT / "examples").rglob("clusters.yaml")} <= {
        file.parent for file in EXAMPLES.values()
    }


def test_both_write_the_same_files(outputs: dict[str, Output]) -> None:
    assert outputs["cdktn"].keys() == outputs["cdktf"].keys()


def test_the_other_files_are_the_same_byte_for_byte(outputs: dict[str, Output]) -> None:
    others = [name for name in outputs["cdktf"] if Path(name).name not in {STACK, MANIFEST}]

    assert others
    assert [name for name in others if outputs["cdktf"][name] != outputs["cdktn"][name]] == []


def test_only_what_the_table_names_differs(pairs: list[tuple[str, str, str]]) -> None:
    for name, cdktf, cdktn in pairs:
        assert as_cdktf(json.loads(cdktn), Path(name).name) == json.loads(cdktf), name


def test_keys_are_in_the_same_order_and_only_empty_lists_and_maps_are_written_differently(
    pairs: list[tuple[str, str, str]],
) -> None:
    for name, cdktf, cdktn in pairs:
        written = json.dumps(as_cdktf(json.loads(cdktn), Path(name).name), indent=2, ensure_ascii=False)
        assert written == ON_TWO_LINES.sub("", cdktf).rstrip("\n"), name


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: f"{row.file} {'.'.join(row.path)}")
def test_every_row_of_the_table_still_occurs(row: Row, pairs: list[tuple[str, str, str]]) -> None:
    texts = [(cdktf, cdktn) for name, cdktf, cdktn in pairs if Path(name).name == row.file]

    if row.path == EMPTY:
        assert any(ON_TWO_LINES.search(cdktf) for cdktf, _ in texts)
        assert not any(ON_TWO_LINES.search(cdktn) for _, cdktn in texts)
    else:
        assert any(occurs(row, json.loads(cdktf), json.loads(cdktn)) for cdktf, cdktn in texts)
