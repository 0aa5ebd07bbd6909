"""CDKTF and CDK Terrain write the same Terraform, but for what one table names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.frameworks.differences import DIFFERENCES, EMPTY, ON_ONE_LINE, ON_TWO_LINES, Row, leaves
from tests.frameworks.environment import PYTHONS, needs_cdk_terrain, run

pytestmark = [pytest.mark.slow, needs_cdk_terrain]

Output = dict[str, str]
Difference = tuple[str, tuple[str, ...], object, object]
TWO_LINES = re.compile(r"(?<=[\[{])\n *(?=[\]}])")


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


def differences(outputs: dict[str, Output]) -> set[Difference]:
    """Return file name, path and the two values of whatever differs in the JSON files."""
    pairs = [(Path(name).name, text, outputs["cdktn"][name]) for name, text in outputs["cdktf"].items()]
    return {each for file, ours, theirs in pairs if file.endswith(".json") for each in _between(file, ours, theirs)}


def _between(file: str, cdktf: str, cdktn: str) -> Iterator[Difference]:
    ours, theirs = (dict(leaves(json.loads(text))) for text in (cdktf, cdktn))
    for path in ours.keys() | theirs.keys():
        if ours.get(path) != theirs.get(path):
            yield file, path, ours.get(path), theirs.get(path)
    if TWO_LINES.search(cdktf) and not TWO_LINES.search(cdktn):
        yield file, EMPTY, ON_TWO_LINES, ON_ONE_LINE


def row_of(file: str, path: tuple[str, ...], cdktf: object, cdktn: object) -> Row | None:
    found = (row for row in DIFFERENCES if (row.file, row.path, row.cdktf, row.cdktn) == (file, path, cdktf, cdktn))
    return next(found, None)


def test_every_example_is_there(outputs: dict[str, Output]) -> None:
    built = {name.partition("/")[0] for name in outputs["cdktf"] if name.endswith("/cdk.tf.json")}

    assert built == {"clusters", "small-app", *(file.stem for file in (ROOT / "examples").glob("*.yaml"))}


def test_both_write_the_same_files(outputs: dict[str, Output]) -> None:
    assert outputs["cdktn"].keys() == outputs["cdktf"].keys()


def test_the_other_files_are_the_same_byte_for_byte(outputs: dict[str, Output]) -> None:
    others = [name for name in outputs["cdktf"] if not name.endswith(".json")]

    assert others
    assert [name for name in others if outputs["cdktf"][name] != outputs["cdktn"][name]] == []


def test_only_what_the_table_names_differs(outputs: dict[str, Output]) -> None:
    assert [each for each in differences(outputs) if row_of(*each) is None] == []


def test_every_row_of_the_table_still_occurs(outputs: dict[str, Output]) -> None:
    used = {row_of(*each) for each in differences(outputs)}

    assert [row for row in DIFFERENCES if row not in used] == []


def test_apart_from_the_rows_the_text_is_the_same(outputs: dict[str, Output]) -> None:
    values = {f'"{row.cdktn}"': f'"{row.cdktf}"' for row in DIFFERENCES}
    for name, text in outputs["cdktf"].items():
        pairs = zip(TWO_LINES.sub("", text).splitlines(), outputs["cdktn"][name].splitlines(), strict=True)
        for ours, theirs in ((ours, theirs) for ours, theirs in pairs if ours != theirs):
            key, _, value = theirs.partition(": ")
            assert f"{key}: {values.get(value.rstrip(','))}" == ours.rstrip(","), name
