"""`nodeless doctor` finds nothing in what Terraform applied, and each fault that is planted in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.live.breakage import FAULTS, Fault, new_findings
from tests.live.examined import problems, words

if TYPE_CHECKING:
    from tests.live.breakage import Breakage

pytestmark = [pytest.mark.terraform, pytest.mark.slow]


def test_an_applied_stack_has_no_finding(examined: Breakage) -> None:
    assert problems(examined.healthy) == [], words(problems(examined.healthy))
    assert all("not applied yet" not in row.result.text for row in examined.healthy.rows)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_is_found_with_its_fix(examined: Breakage, fault: Fault) -> None:
    found = list(new_findings(examined, fault))

    assert [check for check, text, fix in found if fault.says in text and fault.fix in fix] == [fault.check], found
