"""docs/scanners.md shows the table of accepted findings."""

from __future__ import annotations

from tests.docs.markdown import rows, section
from tests.scanners.accepted import ACCEPTED, PAGE


def test_the_page_has_every_accepted_finding_with_its_reason() -> None:
    shown = [tuple(row) for row in rows(section(PAGE, "Accepted findings"))]

    assert shown == [(f"`{row.check}`", f"`{row.address}`", row.where, row.reason) for row in ACCEPTED]
