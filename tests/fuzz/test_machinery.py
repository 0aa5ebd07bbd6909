"""The fuzzer notices what it looks for: exceptions, hangs, crashes, too much memory, arguments that do not exist."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from nodeless.finding import Finding, SpecError
from tests.fuzz import subject, workers
from tests.fuzz.files import Case
from tests.fuzz.hostile import Raw, file_of
from tests.fuzz.mistakes import places_in, put
from tests.fuzz.provider_schema import AWS, mistakes
from tests.fuzz.subject import ACCEPTED, FAILED, REFUSED, Outcome, examine
from tests.fuzz.workers import Worker

RIGHT = Case("right", "clusters: [{name: demo, region: eu-north-1}]")


def test_a_right_file_is_accepted_with_the_keys_it_sets(tmp_path: Path) -> None:
    outcome = examine(RIGHT, tmp_path)

    assert (outcome.end, outcome.keys, outcome.clusters) == (ACCEPTED, frozenset({"name", "region"}), 1)
    assert outcome.peak_mb > 0


def raising(error: Exception) -> Any:  # noqa: ANN401 - stands in for any function
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_an_exception_is_a_finding_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "load_fleet", raising(KeyError("x")))

    outcome = examine(RIGHT, tmp_path)
    assert outcome.end == FAILED
    assert outcome.where.startswith("KeyError at ")
    assert "Traceback" in outcome.details


@pytest.mark.parametrize(
    "finding",
    [Finding((), "x", "", "fix"), Finding((), "x", "expected", ""), Finding((), Raw("x"), "a", "b")],
    ids=["nothing expected", "no fix", "an escape sequence"],
)
def test_a_message_that_is_not_whole_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finding: Finding
) -> None:
    if isinstance(finding.value, Raw):
        monkeypatch.setattr(Finding, "lines", lambda *_, **__: iter(["\x1b[31m"]))
    monkeypatch.setattr(subject, "load_fleet", raising(SpecError("x", [finding])))

    assert examine(RIGHT, tmp_path).end == FAILED


def test_the_keys_of_a_refusal_are_counted(tmp_path: Path) -> None:
    text = "clusters: [{name: demo, region: x, nodes: {roles: {gpu: {os: x}}}}]"

    outcome = examine(Case("x", text), tmp_path)
    assert outcome.end == REFUSED
    assert {"region", "nodes.roles.*.os"} <= outcome.keys


def answering(pipe: Connection) -> None:
    """Serve as a worker that does what the case says."""
    while True:
        case = pipe.recv()
        if case.text == "crash":
            os._exit(3)
        if case.text == "hang":
            time.sleep(600)
        slow, large = case.text == "slow", case.text == "large"
        pipe.send((Outcome(ACCEPTED, seconds=9.0 if slow else 0.0, peak_mb=900 if large else 1), None))


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker(answering)
    yield worker
    worker.stop()


@pytest.mark.slow
def test_a_worker_that_hangs_crashes_or_takes_too_much_is_a_finding_and_the_next_case_is_tried(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = {}
    for text in ("fine", "crash", "fine again", "slow", "large", "hang", "fine at last"):
        with monkeypatch.context() as patched:
            # A process takes its time to start; the one that hangs has started.
            patched.setattr(workers, "WALL_SECONDS", 1 if text == "hang" else workers.WALL_SECONDS)
            outcome, _ = worker.try_case(Case("x", text))
        ends[text] = outcome.where if outcome.end == FAILED else ""

    assert ends == {
        "fine": "",
        "crash": "the process ended",
        "fine again": "",
        "slow": "more than 5.0 s",
        "large": "more than 500 MB",
        "hang": "no answer in 1 s",
        "fine at last": "",
    }


BLOCK = {
    "attributes": {
        "name": {"type": "string", "required": True},
        "size": {"type": "number", "optional": True},
        "tags": {"type": ["map", "string"], "optional": True},
        "ids": {"type": ["set", "string"], "optional": True},
        "arn": {"type": "string", "computed": True},
    },
    "block_types": {
        "rule": {
            "nesting_mode": "list",
            "min_items": 1,
            "max_items": 1,
            "block": {"attributes": {"on": {"type": "bool", "required": True}}},
        }
    },
}
SCHEMA = {
    "provider_schemas": {
        AWS: {
            "provider": {"block": {"attributes": {"region": {"type": "string", "optional": True}}}},
            "resource_schemas": {"aws_thing": {"block": BLOCK}},
            "data_source_schemas": {},
            "ephemeral_resource_schemas": {},
        }
    }
}
GOOD: dict[str, Any] = {"name": "x", "size": 3, "tags": {"a": "b"}, "ids": ["x"], "rule": [{"on": True}]}

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an argument that is not there": ({**GOOD, "nmae": "x"}, "nmae: unknown argument"),
    "a missing argument": ({"rule": GOOD["rule"]}, "name: missing"),
    "a missing block": ({"name": "x"}, "rule: missing block"),
    "too many blocks": ({**GOOD, "rule": [{"on": True}] * 2}, "rule: too many blocks"),
    "a block that is not one": ({**GOOD, "rule": "x"}, "rule: not a block"),
    "a wrong value in a block": ({**GOOD, "rule": {"on": "x"}}, "rule.on: 'x' is no bool"),
    "text for a number": ({**GOOD, "size": "x"}, "size: 'x' is no number"),
    "a list for a map": ({**GOOD, "tags": []}, "tags: [] is no ['map', 'string']"),
    "text for a set": ({**GOOD, "ids": "x"}, "ids: 'x' is no ['set', 'string']"),
    "an argument that is only read": ({**GOOD, "arn": "x"}, "arn: read-only"),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_schema_finds_it(case: str) -> None:
    body, expected = WRONG[case]

    assert list(mistakes({"resource": {"aws_thing": {"a": body}}}, SCHEMA)) == [f"aws_thing.a.{expected}"]


def test_the_schema_takes_what_is_right_and_expressions() -> None:
    rows = {"a": GOOD, "b": {**GOOD, "size": "${local.x}", "depends_on": ["aws_thing.a"], "arn": None}}

    assert list(mistakes({"resource": {"aws_thing": rows}, "provider": {"aws": [{"region": "x"}]}}, SCHEMA)) == []
    assert list(mistakes({"data": {"aws_no": {"a": {}}}}, SCHEMA)) == ["data aws_no: unknown"]
    assert list(mistakes({"provider": {"aws": [{"regoin": "x"}]}}, SCHEMA)) == ["provider.aws.regoin: unknown argument"]


def test_scraps_are_written_as_they_are() -> None:
    assert file_of({"clusters": [{"name": Raw("!foo x"), "tags": {"a": [1, None, "\u00e9"]}}]}) == (
        'clusters:\n- "name": !foo x\n  "tags": {"a": [1, null, "\u00e9"]}\n'
    )


def test_every_place_of_a_tree_can_be_changed() -> None:
    places = list(places_in({"a": [1, {"b": 2}]}))

    assert places == [(), ("a",), ("a", 0), ("a", 1), ("a", 1, "b")]
    assert [put({"a": [1, {"b": 2}]}, place, 0) for place in places] == [
        0,
        {"a": 0},
        {"a": [0, {"b": 2}]},
        {"a": [1, 0]},
        {"a": [1, {"b": 0}]},
    ]
