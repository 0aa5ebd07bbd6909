"""What fails where the resources of a stack exist already, and what the documented imports do."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.docs.markdown import code, rows, text_of
from tests.terraform.existing_resources import ERRORS, GUIDE, documented

if TYPE_CHECKING:
    from tests.terraform.existing_resources import Existing

pytestmark = pytest.mark.terraform


def test_an_import_takes_over_what_exists_and_replaces_nothing(existing: Existing) -> None:
    named = {line.split()[2] for line in documented().splitlines() if line.strip().startswith("to = ")}

    assert existing.imported == named
    assert existing.plan.doing("delete", "replace") == set()
    assert existing.plan.doing("create").isdisjoint(existing.imported)


def test_without_an_import_the_plan_passes_and_the_apply_fails(existing: Existing) -> None:
    assert existing.plan_without.doing("create") >= set(ERRORS)
    # Of each error the message comes first, then the address.
    told = {after: message for message, after in pairwise(existing.error.splitlines()) if after in ERRORS}
    assert set(told) == set(ERRORS), existing.error
    assert {address for address, error in ERRORS.items() if error not in told[address]} == set()


def test_the_guide_names_the_same_errors() -> None:
    told = {code(row[0])[0]: row[1] for row in rows(text_of(GUIDE)) if len(row) == 3 and row[1].startswith("fails")}

    for address, error in ERRORS.items():
        assert error in told[address.partition(".")[0]]
