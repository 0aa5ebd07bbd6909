"""The file is read as YAML 1.2, with the line of every mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodeless.finding import SpecError
from nodeless.sinks.excerpts import Mark
from nodeless.spec.resolution import load


def refused(folder: Path, text: str | bytes) -> SpecError:
    file = folder / "clusters.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SpecError) as raised:
        load(file)
    return raised.value


def test_a_duplicate_key_is_refused_with_its_line(tmp_path: Path) -> None:
    error = refused(tmp_path, "clusters:\n  - name: demo\n    region: eu-north-1\n    name: other\n")

    (problem,) = error.findings
    assert (problem.value, problem.line) == ("name", 4)
    assert (problem.problem, problem.expected) == ("duplicate key: name", "each key once")
    assert (problem.column, problem.first) == (5, Mark(2, 5, 4))


def test_broken_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, "clusters:\n  - name: demo\n   region: x\n").findings

    assert (problem.problem, problem.line, problem.column) == ("wrong indentation", 3, 4)
    assert problem.fix == "begin the line with 4 spaces instead of 3"


@pytest.mark.parametrize("text", [b"\xff\xfe\x00", b"clusters: \x00"], ids=["not UTF-8", "a control character"])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, text: bytes) -> None:
    assert len(refused(tmp_path, text).findings) == 1


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(SpecError):
            load(path)


def test_a_mistake_is_reported_with_the_line_it_stands_on(tmp_path: Path) -> None:
    error = refused(tmp_path, "defaults:\n  region: moon-1\nclusters:\n  - name: demo\n  - name: two\n    regon: x\n")

    assert [(problem.where(), problem.line) for problem in error.findings] == [
        ("defaults.region", 2),
        ("clusters[1].regon", 6),
    ]


def test_the_message_shows_the_place_and_names_path_value_expected_and_fix(tmp_path: Path) -> None:
    error = refused(tmp_path, "clusters:\n  - name: demo\n    region: moon-1\n")

    assert str(error) == (
        f"{tmp_path}/clusters.yaml:3:13: wrong value for region: 'moon-1'\n"
        "3 |     region: moon-1\n"
        "  |             ^^^^^^\n"
        "  path      clusters[0].region\n"
        f"  expected  {error.findings[0].expected}\n"
        f"  fix       {error.findings[0].fix}\n"
        "\n"
        f"{tmp_path}/clusters.yaml: 1 problem"
    )
    assert error.findings[0].fix.startswith("write one such as")


def test_words_that_yaml_1_1_read_as_truth_values_are_text(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text("clusters:\n  - {name: demo, region: eu-north-1, tags: {country: no, switch: on}}\n")

    (installation,) = load(file)

    assert installation.tags == {"country": "no", "switch": "on"}
