"""A newer Terraform than the one on the PATH says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.terraform.conftest import LITERAL_CONFIG
from tests.terraform.second_terraform import judge

if TYPE_CHECKING:
    from tests.terraform.conftest import Synth

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]


def test_a_newer_terraform_validates_the_same_stack_without_a_warning(
    synth: Synth, terraform_environment: dict[str, str]
) -> None:
    judgement = judge(synth(LITERAL_CONFIG), terraform_environment)

    assert judgement.diagnostics == ()
    assert tuple(int(part) for part in judgement.version.split(".")[:2]) >= (1, 15)
