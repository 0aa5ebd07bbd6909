"""The formats of the upgrade report, on a made-up upgrade with one change of every kind."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
import sys
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from nodeless.finding import Finding
from nodeless.sinks.markdown import escaped
from nodeless.upgrade.report import as_json, as_markdown, as_text, write
from tests.conftest import ROOT
from tests.terminal import seen_on_a_terminal
from tests.upgrade.made_up import EVERYTHING, FILE_CHANGES, UNCHANGED

ON_A_TERMINAL = (
    "from nodeless.upgrade.report import write; from tests.upgrade.made_up import EVERYTHING, FILE_CHANGES; "
    "write(EVERYTHING, FILE_CHANGES, None)"
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")
# Pieces of text that markdown reads as something else.
MARKUP = ("a|b", "a\nb", "a\r\nb", "`a`", "a`b", "<b>", "<!-- a", "*a*", "**a**", "_a_", "~a~", "[a](b)", "\\", "&lt;")


def test_text_is_aligned(snapshot: SnapshotAssertion) -> None:
    text = as_text(EVERYTHING, FILE_CHANGES)

    assert text == snapshot
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_markdown_has_a_heading_and_a_table_per_section(snapshot: SnapshotAssertion) -> None:
    text = as_markdown(EVERYTHING, FILE_CHANGES)

    assert text == snapshot
    assert text.count("\n### ") == 17


def test_a_terminal_gets_tables_in_colour(snapshot: SnapshotAssertion) -> None:
    seen = seen_on_a_terminal([sys.executable, "-c", ON_A_TERMINAL], folder=ROOT, columns=100).replace("\r", "")

    assert "\n".join(line.rstrip() for line in ANSI.sub("", seen).splitlines()) == snapshot
    for coloured in ("\x1b[32m+", "\x1b[31m-", "\x1b[33m~", "\x1b[1;33mWarnings", "\x1b[1;36mEdit"):
        assert coloured in seen


def test_a_narrow_terminal_loses_nothing() -> None:
    seen = seen_on_a_terminal([sys.executable, "-c", ON_A_TERMINAL], folder=ROOT, columns=50)

    assert "────" in seen
    assert "…" not in seen


def test_json_has_everything_by_name() -> None:
    report = json.loads(as_json(EVERYTHING, FILE_CHANGES))

    assert list(report) == [
        *("from", "to", "direction", "file", "actions", "statements", "old_statements", "policies", "rules"),
        *("node_role", "chart", "resources", "kubernetes", "stages", "notes", "warnings"),
    ]
    assert (report["from"], report["to"], report["direction"]) == ("0.37.8", "1.1.0", "upgrade")
    assert report["statements"][2] == {
        "change": "removed",
        "sid": "AllowLess",
        "was": None,
        "policy": None,
        "was_policy": "old-policy",
        "actions": {"added": [], "removed": ["iam:Less"]},
        "resources": {"added": [], "removed": []},
        "conditions": {"added": [], "removed": []},
    }
    assert report["old_statements"] == [{"Sid": "AllowLess", "Effect": "Allow", "Action": "iam:Less"}]
    assert report["policies"]["added"][0] == {"name": "nodes", "statements": ["AllowNewName"]}
    assert report["kubernetes"]["common"] == ["1.26", "1.30"]
    assert report["stages"][1] == {
        "before": "1.0.14",
        "after": "1.1.0",
        "reason": None,
        "kubernetes": ["1.26", "1.30"],
        "steps": ["Apply again"],
    }
    assert report["notes"][0] == {
        "at": [1, 0],
        "who": "you",
        "text": "Change the scrape port",
        "downgrade_warning": "1.0 cannot be undone",
    }


def test_json_has_the_changes_of_the_file() -> None:
    file = json.loads(as_json(EVERYTHING, FILE_CHANGES))["file"]

    assert (file["cluster"], file["region"]) == ("demo", "eu-north-1")
    assert file["edit"] == {
        "file": "clusters.yaml",
        "path": "defaults.karpenter.version",
        "line": 3,
        "was": "0.37.8",
        "write": ["1.0.14", "1.1.0"],
        "also_changes": ["red", "blue"],
    }
    assert file["findings"] == [
        {
            "line": 9,
            "column": 5,
            "path": "clusters[0].node_pools[0].spec",
            "value": "a|b\nc `d` *e* <f>",
            "expected": "must be a map",
            "fix": "write spec: {}",
        }
    ]
    assert json.loads(as_json(EVERYTHING, None))["file"] is None


def test_json_takes_any_value_of_a_file() -> None:
    value = {"when": dt.date(2026, 1, 2), "often": [1, 2.5, True, None], 3: "three"}
    changes = replace(FILE_CHANGES, findings=(Finding((), value, "must be a text", "quote it"),))

    shown = json.loads(as_json(EVERYTHING, changes))["file"]["findings"][0]["value"]

    assert shown == {"when": "2026-01-02", "often": [1, 2.5, True, None], "3": "three"}


@pytest.mark.parametrize("text", MARKUP)
def test_no_value_breaks_out_of_its_cell(text: str) -> None:
    changes = replace(FILE_CHANGES, findings=(Finding((), text, "must be plain", "write it plainly"),))
    markdown = as_markdown(EVERYTHING, changes)

    (row,) = [line for line in markdown.splitlines() if "must be plain" in line]
    assert len(re.findall(r"(?<!\\)\|", row)) == 5
    assert markdown.count("\n") == as_markdown(EVERYTHING, FILE_CHANGES).count("\n")
    assert not re.search(r"(?<!\\)[`<*&\[]", row)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b\n c", r"a\|b c"),
        (r"a\|b", r"a\\\|b"),
        ("`a` *b* <c> [d](e) &amp;", r"\`a\` \*b\* \<c> \[d](e) \&amp;"),
        ("_a_ node_pools __b", r"\_a\_ node_pools \_\_b"),
        ("~ a ~b~", r"~ a \~b\~"),
        ("- a -> b + c", "- a -> b + c"),
    ],
)
def test_markdown_shows_text_as_it_is(text: str, expected: str) -> None:
    assert escaped(text) == expected


@pytest.mark.parametrize(("form", "expected"), [("text", as_text), ("markdown", as_markdown), ("json", as_json)])
def test_the_format_is_the_one_asked_for(form: str, expected: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(expected)

    write(EVERYTHING, FILE_CHANGES, form)

    assert capsys.readouterr().out == expected(EVERYTHING, FILE_CHANGES)


def test_a_pipe_gets_text(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stdout", pipe)

    write(UNCHANGED, None, None)

    assert pipe.getvalue() == as_text(UNCHANGED, None)
