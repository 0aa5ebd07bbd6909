"""The table of resources is what synth writes: the same addresses, the same names."""

from __future__ import annotations

import re

import pytest

from nodeless.resolved.installation import Installation
from nodeless.resolved.inventory import PARTS, POLICY_PURPOSES, inventory
from nodeless.resolved.names import POLICY_KEYS
from nodeless.spec.resolution import load
from tests.conftest import ROOT
from tests.synthesized import Synthesized

EXAMPLES = sorted(file.stem for file in (ROOT / "examples").glob("*.yaml"))
# What other tests compare with a new synthesis of each example.
SYNTHESIZED = ROOT / "tests" / "examples" / "__snapshots__" / "test_examples"


def in_table(installation: Installation) -> dict[str, str | None]:
    rows = inventory(installation)
    assert len({row.address for row in rows}) == len(rows)
    return {row.address: row.name for row in rows}


def snapshot(end: str) -> Synthesized:
    (file,) = (file for file in SYNTHESIZED.glob("*_terraform_that_was_reviewed*") if file.name.endswith(end))
    return Synthesized.read(file)


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_has_the_addresses_and_names_of_every_example(example: str) -> None:
    installations = load(ROOT / "examples" / f"{example}.yaml")

    for row in installations:
        name = example if len(installations) == 1 else f"{example}-{row.stack}"
        assert in_table(row) == snapshot(f"[{name}].json").names()


def test_it_has_the_addresses_and_names_of_the_shortest_file() -> None:
    (found,) = load(ROOT / "clusters.yaml")

    assert in_table(found) == snapshot("reviewed.json").names()


def test_every_row_says_what_it_is_for() -> None:
    rows = [
        row for example in EXAMPLES for found in load(ROOT / "examples" / f"{example}.yaml") for row in inventory(found)
    ]

    assert {row.part for row in rows} == set(PARTS)
    assert all(re.match(r"\S.*\S", row.purpose) for row in rows)


def test_every_policy_has_a_purpose() -> None:
    assert set(POLICY_PURPOSES) == set(POLICY_KEYS)
