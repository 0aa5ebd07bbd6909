"""A short run of the fuzzer, the same each time: `make fuzz` is the long one."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from nodeless.finding import SpecError
from nodeless.spec.fleet import load_fleet
from nodeless.spec.model import Cluster
from tests.fuzz.files import CASES, Case
from tests.fuzz.hostile import file_of
from tests.fuzz.model_values import Around, around, keys_of, section
from tests.fuzz.subject import ACCEPTED, FAILED, examine, keys_set


class AcceptedError(Exception):
    """A file with the key was accepted; an exception ends the search."""


SHORT = settings(
    max_examples=40,
    database=None,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("kind", CASES)
def test_no_file_ends_in_a_traceback(kind: str, tmp_path: Path) -> None:
    ends: Counter[str] = Counter()

    @SHORT
    @given(CASES[kind])
    def attempt(case: Case) -> None:
        outcome = examine(case, tmp_path)
        ends[outcome.end] += 1
        assert outcome.end != FAILED, outcome.details

    attempt()
    assert kind != "right" or ends[ACCEPTED] > ends.total() // 3, f"few of the files are right: {ends}"


@pytest.mark.parametrize("key", sorted(set(keys_of(Cluster))))
def test_every_key_of_the_model_is_tried_and_accepted_with_some_value(key: str, tmp_path: Path) -> None:
    def with_key(at: Around) -> st.SearchStrategy[dict[str, object]]:
        return section(Cluster, replace(at, wanted=tuple(key.split("."))))

    @settings(SHORT, max_examples=60)
    @given(around().flatmap(with_key))
    def attempt(row: dict[str, object]) -> None:
        file = tmp_path / "clusters.yaml"
        file.write_text(file_of({"clusters": [{**row, "name": "demo"}]}), "utf-8")
        with contextlib.suppress(SpecError):
            (member,) = load_fleet([file])
            if key in keys_set(member.cluster):
                raise AcceptedError

    with pytest.raises(AcceptedError):
        attempt()
