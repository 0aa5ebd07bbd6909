"""The files of imports/ pass on what is used, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.imports.facade import CDKTF, FILES, exported, imported, origins

PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def sources() -> list[str]:
    """Return all Python that may use imports/: the stacks, the tests, and the examples in the documents."""
    modules: list[Path] = [*(ROOT / "stacks").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    examples = [block for document in documents for block in PYTHON_BLOCK.findall(document.read_text("utf-8"))]
    return [module.read_text("utf-8") for module in modules] + examples


def used(file: str) -> set[str]:
    return {
        alias.name
        for text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == f"nodeless.imports.{file}"
        for alias in node.names
    }


@pytest.mark.parametrize("file", CDKTF)
def test_every_name_that_is_passed_on_is_used(file: str) -> None:
    assert exported(file) - used(file) == set()
    assert exported(file)


@pytest.mark.parametrize("file", CDKTF)
def test_cdk_terrain_has_the_same_names_in_the_same_modules(file: str) -> None:
    assert origins(f"cdktn/{file}") == origins(file)


@pytest.mark.parametrize("file", FILES)
def test_a_file_loads_only_its_own_framework_and_caches_the_hints_of_the_same_package(file: str) -> None:
    packages = {str(node.module).partition(".")[0] for node in imported(file)}
    text = (ROOT / "imports" / f"{file}.py").read_text("utf-8")

    assert packages - {"constructs"} == {FILES[file]}
    assert re.findall(r"^remember_type_hints\(\"(\w+)\"", text, re.MULTILINE) == [FILES[file]]


@pytest.mark.parametrize("file", FILES)
def test_a_name_keeps_its_name(file: str) -> None:
    tree = ast.parse((ROOT / "imports" / f"{file}.py").read_text("utf-8"))
    renamed = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname not in {None, alias.name}
    ]

    assert renamed == []
