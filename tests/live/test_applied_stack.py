"""Doctor on a stack that was applied: nothing to say, then one fault after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.live import applied, site as sites
from tests.live.breakage import FAULTS, Breakage, Fault, break_all, new_findings
from tests.live.examined import installation_of, problems, words
from tests.terraform import aws_server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def breakage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Breakage]:
    log = tmp_path_factory.mktemp("applied") / "aws.log"
    with aws_server.running(log, "tests.live.serve_aws") as aws:
        site = sites.create(aws, "demo")
        _, installation = installation_of(site, kubernetes="1.35")
        applied.apply(site, installation)
        yield break_all(site, installation)


def test_a_healthy_account_has_no_finding(breakage: Breakage) -> None:
    assert problems(breakage.healthy) == [], words(problems(breakage.healthy))
    assert breakage.healthy.is_healthy


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_is_found_with_its_fix(breakage: Breakage, fault: Fault) -> None:
    found = list(new_findings(breakage, fault))

    assert [check for check, text, fix in found if fault.says in text and fault.fix in fix] == [fault.check], found
    assert not breakage.after[fault.name][1].is_healthy


def test_a_stack_of_which_nothing_is_left_was_not_applied(breakage: Breakage) -> None:
    rows = {row.check: row.result for row in breakage.at_the_end.rows}

    assert rows["controller-role"].text.startswith("not applied yet: ")
    assert rows["queue"].text.startswith("not applied yet: ")
    # Rules that were left behind, with the faults of before.
    assert {check for check, _ in problems(breakage.at_the_end)} == {"oidc-provider", "spot-role", "event-rules"}
