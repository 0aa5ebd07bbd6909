"""YAML as Kubernetes tools read it, whatever version of YAML they read."""

from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from nodeless.stacks.files.yaml_text import yaml_text
from tests.sinks.nasty import TEXTS

TREES = [
    {"yes": "yes", "on": "on", "number": "010", "octal": "0o10", "time": "12:30", "null": "~", "text": "a: b"},
    {"truth": True, "count": 3, "nothing": None, "empty": {}, "list": [], "lines": "one\ntwo\n"},
    [{"groups": ["a", "b"]}, "x"],
    {text: text for text in TEXTS},
]


@pytest.mark.parametrize("version", [(1, 1), (1, 2)], ids=str)
@pytest.mark.parametrize("tree", TREES, ids=range(len(TREES)))
def test_what_is_written_is_what_is_read(tree: object, version: tuple[int, int]) -> None:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = version

    assert isinstance(tree, dict | list)
    assert yaml.load(yaml_text(tree)) == tree


@pytest.mark.parametrize("text", ["08", "+.5", "1e3", "0x1F", "1_000", "2024-01-01", "yes", "=", "<<", "~", "", ".NaN"])
def test_what_could_be_something_else_has_quotes(text: str) -> None:
    assert yaml_text({"key": text, text: "value"}) == f"key: '{text}'\n'{text}': value\n"


@pytest.mark.parametrize(
    "text", ["720h", "10%", "1000Gi", "m5.large", "al2023@latest", "v1.2.3", "arn:aws:iam::1:role/a"]
)
def test_what_is_text_to_every_reader_has_none(text: str) -> None:
    assert yaml_text({"key": text}) == f"key: {text}\n"


def test_a_part_that_is_shared_is_written_twice() -> None:
    shared = {"a": "b"}

    assert yaml_text({"one": shared, "two": shared}) == "one:\n  a: b\ntwo:\n  a: b\n"


def test_a_long_line_stays_one_line() -> None:
    text = yaml_text({"arn": "word " * 100 + "${reference}"})

    assert text.count("\n") == 1


def test_documents_are_parted_by_dashes() -> None:
    assert yaml_text({"a": 1}, {"b": 2}) == "a: 1\n---\nb: 2\n"
