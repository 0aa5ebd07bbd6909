"""The documented outputs and addresses are exactly those that are synthesized."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.cli.main import main
from nodeless.stacks.outputs import OUTPUTS
from tests.docs.markdown import ROOT, code, rows, section
from tests.synthesized import Synthesized

# Each test synthesizes a whole stack.
pytestmark = pytest.mark.slow

CONTRACT = ROOT / "docs" / "outputs-and-addresses.md"
DEFAULT_OUTPUTS = {code(row[0])[0]: row for row in rows(section(CONTRACT, "Outputs"))}
ADDED_OUTPUTS = {code(row[0])[0]: row for row in rows(section(CONTRACT, "Outputs that some settings add"))}
SETTINGS = sorted({text for row in (*DEFAULT_OUTPUTS.values(), *ADDED_OUTPUTS.values()) for text in code(row[3])})
# What nodeless asks for beside some of these settings.
BESIDE = {
    "identity: pod-identity": ["fargate: false"],
    'karpenter: {policy: palette, version: "1.5"}': ["interruption: false"],
    "delivery: gitops": [
        'account: "123456789012"',
        "endpoint: https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-north-1.eks.amazonaws.com",
        "oidc_issuer: https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF",
    ],
}
OPTIONAL = [(code(row[0]), set(code(row[1]))) for row in rows(section(CONTRACT, "Optional resources and outputs"))]


def everything(stack: Synthesized) -> set[str]:
    return stack.addresses() | {f"output.{name}" for name in stack.tree["output"]}


def first_column(heading: str) -> list[str]:
    return [code(row[0])[0] for row in rows(section(CONTRACT, heading))]


def test_outputs_are_those_of_the_default_stack(default_stack: Synthesized) -> None:
    documented = first_column("Outputs")

    assert sorted(documented) == sorted(default_stack.tree["output"])


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Synthesized]:
    """Synthesize a cluster for each setting that removes or adds an output, and every example."""
    folder = tmp_path_factory.mktemp("outputs")
    clusters = {f"c{number}": [setting, *BESIDE.get(setting, [])] for number, setting in enumerate(SETTINGS)}
    lines = [
        line
        for name, settings in clusters.items()
        for line in (f"  - name: {name}", "    region: eu-north-1", *(f"    {setting}" for setting in settings))
    ]
    own = folder / "clusters.yaml"
    own.write_text("\n".join(["clusters:", *lines, ""]), encoding="utf-8")
    found: dict[str, Synthesized] = {}
    for file in (own, *sorted((ROOT / "examples").glob("*.yaml"))):
        assert main(["synth", "--quiet", "--config", str(file), "--out", str(folder / file.stem)]) == 0
        for stack in (folder / file.stem / "stacks").iterdir():
            name = clusters[stack.name][0] if file == own else f"{file.stem}: {stack.name}"
            found[name] = Synthesized.read(stack / "cdk.tf.json")
    return found


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_removes_and_adds_the_outputs_that_name_it(setting: str, stacks: dict[str, Synthesized]) -> None:
    made = set(stacks[setting].tree["output"])
    also = {setting, *BESIDE.get(setting, [])}

    assert DEFAULT_OUTPUTS.keys() - made == {name for name, row in DEFAULT_OUTPUTS.items() if also & set(code(row[3]))}
    assert made - DEFAULT_OUTPUTS.keys() == {name for name, row in ADDED_OUTPUTS.items() if setting in code(row[3])}


def test_every_output_of_every_example_is_in_the_tables_with_its_type(stacks: dict[str, Synthesized]) -> None:
    documented = {**DEFAULT_OUTPUTS, **ADDED_OUTPUTS}

    assert documented.keys() == {row.name for row in OUTPUTS}
    for stack in stacks.values():
        outputs = stack.tree["output"]
        assert {name: type_of(stack, row["value"]) for name, row in outputs.items()} == {
            name: code(documented[name][1])[0] for name in outputs
        }
        assert not any(row.get("sensitive") for row in outputs.values())
        assert all(code(row[3]) for name, row in DEFAULT_OUTPUTS.items() if name not in outputs)


def type_of(stack: Synthesized, value: str) -> str:
    """Return the type of an output: a structure is a local."""
    name = value.removeprefix("${local.").removesuffix("}")
    local = stack.tree.get("locals", {}).get(name, "")
    return "map" if isinstance(local, dict) else "list" if isinstance(local, list) else "string"


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
