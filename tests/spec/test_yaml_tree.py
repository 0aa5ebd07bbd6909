"""YAML 1.2 is read exactly and within bounds: hostile or careless text is a message with its line, never a hang."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from ruamel.yaml import YAML

from nodeless.finding import Finding, SpecError
from nodeless.spec.bounds import DEEPEST
from nodeless.spec.reading import parse
from nodeless.spec.resolution import load

FILE = Path("clusters.yaml")


def tree(text: str) -> Any:  # noqa: ANN401 - any YAML
    return parse(text, FILE)[0]


def refused(text: str) -> list[Finding]:
    with pytest.raises(SpecError) as raised:
        parse(text, FILE)
    return list(raised.value.findings)


def bomb(levels: int) -> str:
    """Write anchors of which each repeats the one before nine times."""
    names = [f"a{number}" for number in range(levels)]
    rows = [f"{names[0]}: &{names[0]} [{', '.join(['x'] * 9)}]"]
    rows += [f"{name}: &{name} [{', '.join([f'*{above}'] * 9)}]" for above, name in pairwise(names)]
    return "\n".join(rows)


SCALARS = {
    "no": "no",
    "on": "on",
    "true": True,
    "False": False,
    "~": None,
    "null": None,
    "": None,
    "12": 12,
    "-7": -7,
    "+5": 5,
    "010": 10,
    "0o10": 8,
    "0x1F": 31,
    "1_000": "1_000",
    "1.5": 1.5,
    ".5": 0.5,
    "1e3": 1000.0,
    "1.": 1.0,
    "2024-01-01": "2024-01-01",
    "2024-13-45": "2024-13-45",
    "1:20": "1:20",
    "0b11": "0b11",
    "=": "=",
    '"12"': "12",
    "'true'": "true",
    "!!str 12": "12",
    "! 12": "12",
    "0x": "0x",
    "\uff11\uff12": "\uff11\uff12",
}


@pytest.mark.parametrize("text", SCALARS)
def test_a_scalar_is_what_yaml_1_2_says(text: str) -> None:
    value = tree(f"key: {text}\n")["key"]

    assert (value, isinstance(value, bool)) == (SCALARS[text], isinstance(SCALARS[text], bool))
    assert json.dumps(value) == json.dumps(SCALARS[text])


def test_a_number_is_shown_as_it_was_written() -> None:
    values = tree("[1.10, 012345678901, 0x1F]")

    assert [str(value) for value in values] == ["1.10", "012345678901", "0x1F"]


REFUSED: dict[str, tuple[str, str, int]] = {
    "a tag": ("a: !!binary aGk=", "without a YAML tag", 1),
    "a tag of one's own": ("a:\n  b: !foo x", "without a YAML tag", 2),
    "a set": ("a: !!set {b}", "without a YAML tag", 1),
    "a typed scalar": ("a: !!int x", "without a YAML tag", 1),
    "a duplicate key": ("a: 1\nb: 2\na: 3", "each key once", 3),
    "a key that is a number": ("a:\n  1: x", "keys must be strings", 2),
    "a key that is null": ("~: x", "keys must be strings", 1),
    "a key that is true": ("true: x", "keys must be strings", 1),
    "a key that is a list": ("? [a]\n: x", "keys must be strings", 1),
    "a control character": ('a: "\\x1b[31m"', "control characters", 1),
    "a NUL": ('a: "\\0"', "control characters", 1),
    "half a character": ('a: "\\ud800"', "control characters", 1),
    "a control character in a key": ('"\\x07": x', "control characters", 1),
    "a character beyond the last": ('a: "\\U00110000"', "a character that exists", 0),
    "an endless number": (f"a: {'9' * 5000}", "at most 100 characters", 1),
    "an endless hexadecimal number": (f"a: 0x{'f' * 5000}", "at most 100 characters", 1),
    "an alias of itself": ("&a {clusters: [*a]}", "outside of its own anchor", 1),
    "an unknown alias": ("a: *b", "an anchor above it", 1),
    "two documents": ("a: 1\n---\nb: 2", "one YAML document", 2),
    "another version": ("%YAML 1.1\n---\na: yes", "YAML 1.2", 2),
    "a merge of a number": ("a:\n  <<: 3", "to merge", 2),
    "a merge of a list of numbers": ("<<: [1]", "to merge", 1),
    "a tab": ("a:\n\tb: 1", "spaces", 2),
    "an open quote": ("a: 'b\nc: d\n", "a closing '", 1),
    "deep lists": ("[" * 250 + "]" * 250, f"at most {DEEPEST} levels", 1),
    "deep maps": ("{a: " * 250 + "}" * 250, f"at most {DEEPEST} levels", 1),
    "anchors that multiply": (bomb(9), "at most 100,000 keys and values", 6),
    "merges that multiply": (
        "\n".join(
            [
                "a0: &a0 {" + ", ".join(f"k{number}: x" for number in range(60)) + "}",
                *(f"a{n}: &a{n} {{<<: *a{n - 1}, x{n}: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 9)),
            ]
        ),
        "at most 100,000 keys and values",
        5,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_its_line_in_no_time(case: str) -> None:
    text, expected, line = REFUSED[case]

    tracemalloc.start()
    began = time.process_time()
    findings = refused(text)
    took = time.process_time() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert expected in findings[0].expected
    assert (findings[0].line or 0) == line
    assert findings[0].fix
    assert str(findings[0]).isprintable() or "\n" in str(findings[0])
    # Bounds that cannot be missed by a busy machine: without its guard, a case takes minutes and gigabytes, or fails.
    assert (took < 60, peak < 400_000_000) == (True, True)


def test_all_that_is_refused_in_a_tree_is_refused_at_once() -> None:
    findings = refused('a: !!binary x\n1: y\nb: "\\x00"\nc: 1\nc: 2\n')

    assert [finding.line for finding in findings] == [1, 2, 3, 5]


def test_an_alias_counts_with_the_levels_above_it() -> None:
    half = DEEPEST // 2
    anchor = "[" * half + "]" * half

    assert tree(f"a: &a {anchor}\nb: " + "[" * (half - 1) + "*a" + "]" * (half - 1))
    assert refused(f"a: &a {anchor}\nb: " + "[" * half + "*a" + "]" * half)


def test_a_merge_key_adds_what_is_not_there_and_keeps_the_line_of_its_source() -> None:
    text = "one: &one\n  a: 1\n  b: 2\ntwo: &two {b: 3, c: 4}\nall:\n  <<: [*one, *two]\n  c: 5\n"
    value, layout = parse(text, FILE)

    assert value["all"] == {"c": 5, "a": 1, "b": 2}
    assert [layout.line_of(("all", key)) for key in ("a", "c", "x")] == [2, 7, 5]


def test_a_quoted_merge_key_is_a_key() -> None:
    assert tree("'<<': {a: 1}") == {"<<": {"a": 1}}


def test_a_mistake_that_comes_through_a_merge_key_is_reported_at_its_source(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    file.write_text(
        "defaults: &base\n  region: eu-north-1\n  karpenter: {versoin: x}\n"
        "clusters:\n  - <<: *base\n    name: demo\n    nodes: {polices: []}\n"
    )

    with pytest.raises(SpecError) as raised:
        load(file)
    assert [(found.where(), found.line) for found in raised.value.findings] == [
        ("clusters[0].karpenter.versoin", 3),
        ("clusters[0].nodes.polices", 7),
    ]


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    # What a YAML writer cannot write, no file holds. The reader takes a `?` in a flow list for the start of a key.
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"])).filter(lambda text: text[:1] != "?"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(PLAIN)
def test_what_another_writer_writes_is_read_back(value: object) -> None:
    written = io.StringIO()
    writer = YAML(typ="safe", pure=True)
    # In flow style this writer leaves out quotes that `: 0` needs.
    writer.default_flow_style = False
    writer.dump({"root": value}, written)

    assert tree(written.getvalue()) == {"root": value}
