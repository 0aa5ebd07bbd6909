"""Exports are accepted by real Terraform, and their plans have the values that those of the output folder have."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.cli.building import built
from nodeless.cli.export import write_cluster
from nodeless.export.blocks import NESTED, Shape
from nodeless.export.files import FORMATS
from nodeless.output.paths import INVENTORY, STACK_JSON, TESTS
from nodeless.spec.resolution import load
from tests.terraform.aws_server import REPOSITORY
from tests.terraform.lives import EXPORTS
from tests.terraform.tools import HELM, WITHOUT_HELM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nodeless.resolved.installation import Installation
    from tests.terraform.conftest import TerraformIn
    from tests.terraform.lives import Life
    from tests.terraform.runner import Terraform
    from tests.terraform.tools import Tools

    Prepare = Callable[[Installation, Path], Terraform]

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

INSTALLATIONS = {
    each.stack: each
    for file in (REPOSITORY / "clusters.yaml", *sorted((REPOSITORY / "examples").glob("*.yaml")))
    for each in load(file, warn=lambda *_: None)
}
SYNTHESIZED = "stacks"
# One run that only plans, after the settings of the tests that travel with a stack.
COMPARED = "compared.tftest.hcl"
RUN = 'run "plan" {\n  command = plan\n}\n'


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build all examples at once, and export them in each format."""
    below = tmp_path_factory.mktemp("exports")
    with built(list(INSTALLATIONS.values())) as source:
        shutil.copytree(source / "stacks", below / SYNTHESIZED)
        for form in FORMATS:
            (below / form / INVENTORY).parent.mkdir(parents=True)
            (below / form / INVENTORY).write_text("{}", "utf-8")
            for installation in INSTALLATIONS.values():
                write_cluster(installation, source, below / form, form)
    return below


@pytest.fixture(scope="module")
def with_helm(folders: Path, terraform_in: TerraformIn, terraform_tools: Tools) -> Terraform | None:
    """Return a folder that has both providers, if there is a Helm provider."""
    if not terraform_tools.offers(HELM):
        return None
    terraform = terraform_in(folders / "hcl" / "demo")
    terraform.init()
    return terraform


@pytest.fixture
def prepared(with_helm: Terraform | None, initialized: Terraform, terraform_in: TerraformIn) -> Prepare:
    """Return what initializes a folder of an installation."""

    def prepare(installation: Installation, folder: Path) -> Terraform:
        like = with_helm if installation.delivery == "helm" else initialized
        if like is None:
            pytest.skip(WITHOUT_HELM)
        terraform = terraform_in(folder)
        if not (folder / ".terraform").exists():
            terraform.init(like=like, backend=False)
        return terraform

    return prepare


def planned(terraform: Terraform) -> dict[str, Any]:
    """Return what a plan changes, resource by resource and output by output, with lookups as in the tests beside it."""
    tests = (terraform.stack / TESTS).read_text("utf-8")
    (terraform.stack / COMPARED).write_text(tests[: tests.index("\nrun ") + 1] + RUN, "utf-8")
    lines = terraform.run("test", "-json", "-verbose", f"-filter={COMPARED}", expect=(0, 1)).splitlines()
    (terraform.stack / COMPARED).unlink()
    messages = [json.loads(line) for line in lines]
    assert [each["diagnostic"] for each in messages if each["type"] == "diagnostic"] == []
    (plan,) = (each["test_plan"] for each in messages if each["type"] == "test_plan")
    changes = {each["address"]: each["change"] for each in plan["resource_changes"]}
    return {"resources": changes, "outputs": plan["output_changes"]}


@pytest.mark.parametrize("stack", INSTALLATIONS)
def test_an_export_plans_what_the_output_folder_plans(stack: str, folders: Path, prepared: Prepare) -> None:
    stacks = [prepared(INSTALLATIONS[stack], folders / form / stack) for form in (SYNTHESIZED, *FORMATS)]
    with ThreadPoolExecutor(2) as threads:
        synthesized, *exported = threads.map(planned, stacks)

    assert len(synthesized["resources"]) > 10
    for plan in exported:
        assert plan == synthesized


def test_fmt_would_change_nothing_in_any_export(folders: Path, initialized: Terraform) -> None:
    assert initialized.elsewhere(folders / "hcl").run("fmt", "-check", "-diff", "-recursive", expect=(0, 3)) == ""
    assert len([*(folders / "hcl").rglob("*.tf")]) > 100


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_validates_and_its_tests_pass(form: str, folders: Path, prepared: Prepare) -> None:
    terraform = prepared(INSTALLATIONS["delivered"], folders / form / "delivered")

    assert terraform.validate() == ()
    found = terraform.test()
    assert len(found) == 3
    assert set().union(*found.values()) == set()


def test_a_folder_that_was_copied_alone_says_where_its_state_would_be(
    folders: Path,
    prepared: Prepare,
    tmp_path: Path,
) -> None:
    copied = tmp_path / "copied" / "delivered"
    shutil.copytree(folders / "hcl" / "delivered", copied, ignore=shutil.ignore_patterns(".terraform*"))

    found = prepared(INSTALLATIONS["delivered"], copied).test()

    said = set().union(*found.values())
    assert len(said) == 1
    assert f"This stack was copied: its state would be in {tmp_path}/terraform.delivered.tfstate." in str(said)


@pytest.mark.parametrize("form", EXPORTS)
def test_switching_to_an_export_in_the_same_state_is_an_empty_plan(form: str, life: Life) -> None:
    plan = life.exported_plans[form]

    assert plan.diagnostics == ()
    assert plan.is_empty


def keys_of(body: Mapping[str, Any], shape: Mapping[str, Shape], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of every argument and block in a body, as far as the table says that there are blocks."""
    for key, value in body.items():
        if key not in ("//", "lifecycle", "depends_on"):
            yield (*path, key)
            for inner in value if isinstance(value, list) and key in shape else []:
                yield from keys_of(inner, shape[key].blocks, (*path, key))


def is_block(schema: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Ask the schema of a provider; an argument that it does not have is an error."""
    *above, last = path
    for each in above:
        schema = schema["block_types"][each]["block"]
    assert (last in schema.get("block_types", {})) != (last in schema.get("attributes", {})), path
    return last in schema.get("block_types", {})


def in_table(shape: Mapping[str, Shape], path: tuple[str, ...]) -> bool:
    for each in path[:-1]:
        shape = shape[each].blocks
    return path[-1] in shape


def all_blocks(shape: Mapping[str, Shape], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, inner in shape.items():
        yield (*path, key)
        yield from all_blocks(inner.blocks, (*path, key))


def test_the_table_of_blocks_is_that_of_the_providers(
    folders: Path, initialized: Terraform, with_helm: Terraform | None
) -> None:
    terraform = with_helm or initialized
    schemas = json.loads(terraform.run("providers", "schema", "-json"))["provider_schemas"]
    by_section: dict[str, dict[str, Any]] = {"resource": {}, "data": {}, "ephemeral": {}, "provider": {}}
    for source, schema in schemas.items():
        by_section["provider"][source.rpartition("/")[2]] = schema["provider"]
        for section, name in (
            ("resource", "resource_schemas"),
            ("data", "data_source_schemas"),
            ("ephemeral", "ephemeral_resource_schemas"),
        ):
            by_section[section] |= schema.get(name, {})

    for (section, kind), shape in NESTED.items():
        for path in all_blocks(shape):
            assert is_block(by_section[section][kind]["block"], path), (section, kind, path)
    compared = set()
    for file in (folders / SYNTHESIZED).glob(f"*/{STACK_JSON}"):
        tree = json.loads(file.read_text("utf-8"))
        for section, types in by_section.items():
            for kind, below in tree.get(section, {}).items():
                bodies = below if section == "provider" else below.values()
                for path in {path for body in bodies for path in keys_of(body, NESTED.get((section, kind), {}), ())}:
                    if kind in types:
                        compared.add((section, kind))
                        of_provider = is_block(types[kind]["block"], path)
                        assert in_table(NESTED.get((section, kind), {}), path) == of_provider, (section, kind, path)
    assert len(compared) > 20
