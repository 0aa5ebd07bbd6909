"""The documented outputs and addresses are exactly those that are synthesized."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, code, rows, section
from tests.synthesized import Synthesized

# Each test synthesizes a whole stack.
pytestmark = pytest.mark.slow

CONTRACT = ROOT / "docs" / "outputs-and-addresses.md"
OPTIONAL = [(code(row[0]), set(code(row[1]))) for row in rows(section(CONTRACT, "Optional resources and outputs"))]


def everything(stack: Synthesized) -> set[str]:
    return stack.addresses() | {f"output.{name}" for name in stack.tree["output"]}


def first_column(heading: str) -> list[str]:
    return [code(row[0])[0] for row in rows(section(CONTRACT, heading))]


def test_outputs_are_those_of_the_default_stack(default_stack: Synthesized) -> None:
    documented = first_column("Outputs")

    assert sorted(documented) == sorted(default_stack.tree["output"])


def test_addresses_are_those_of_the_default_stack(default_stack: Synthesized) -> None:
    documented = first_column("Resources")

    assert sorted(documented) == sorted(default_stack.addresses())


@pytest.mark.parametrize(("configuration", "added"), OPTIONAL, ids=[" ".join(row[0]) for row in OPTIONAL])
def test_an_option_adds_what_the_table_says_and_nothing_else(
    configuration: list[str],
    added: set[str],
    default_stack: Synthesized,
    synthesize: Callable[[Path], Synthesized],
    tmp_path: Path,
) -> None:
    file = tmp_path / "clusters.yaml"
    default = (ROOT / "clusters.yaml").read_text(encoding="utf-8")
    file.write_text(default + "".join(f"    {key}\n" for key in configuration), encoding="utf-8")

    assert everything(synthesize(file)) - everything(default_stack) == added


def test_a_release_before_the_split_has_one_policy(synthesize: Callable[[Path], Synthesized], tmp_path: Path) -> None:
    file = tmp_path / "clusters.yaml"
    default = (ROOT / "clusters.yaml").read_text(encoding="utf-8")
    file.write_text(f'{default}    karpenter: {{version: "1.8.8"}}\n', encoding="utf-8")

    policies = synthesize(file).all("aws_iam_policy")

    assert [f"aws_iam_policy.{name}" for name in policies] == ["aws_iam_policy.controller_controller"]
    assert "`aws_iam_policy.controller_controller`" in section(CONTRACT, "Resources")
