"""What every generation creates, partition by partition, in files that a reviewer can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nodeless.karpenter.releases import NEWEST
from tests.karpenter.conftest import GOLDEN
from tests.karpenter.generations import BY_LETTER, EXAMPLE_REGIONS, GENERATIONS, rendered

if TYPE_CHECKING:
    from tests.karpenter.conftest import Golden

# Every generation in one partition, and an old, a middle and the newest one in all of them.
EVERYWHERE = ("B", "F", GENERATIONS[-1].letter)
CASES = {
    f"{partition}-{letter}": (partition, letter)
    for partition in EXAMPLE_REGIONS
    for letter in (EVERYWHERE if partition != "aws" else [generation.letter for generation in GENERATIONS])
}


@pytest.mark.parametrize("name", CASES)
def test_a_generation_is_what_its_golden_file_says(name: str, golden: Golden) -> None:
    partition, letter = CASES[name]

    golden(name, rendered(BY_LETTER[letter].last, EXAMPLE_REGIONS[partition]))


def test_no_golden_file_is_left_over(pytestconfig: pytest.Config) -> None:
    left_over = [file for file in GOLDEN.glob("*.json") if file.stem not in CASES]
    if pytestconfig.getoption("update_snapshots"):
        for file in left_over:
            file.unlink()

    assert {file.stem for file in GOLDEN.glob("*.json")} == set(CASES)


@pytest.mark.parametrize("partition", EXAMPLE_REGIONS)
def test_a_partition_changes_nothing_but_names(partition: str) -> None:
    region = EXAMPLE_REGIONS[partition]
    here, usual = (str(rendered(str(NEWEST), each)["controller_policies"]) for each in (region, "eu-north-1"))

    assert here.replace(f"arn:{partition}:", "arn:aws:").replace(region, "eu-north-1") == usual
