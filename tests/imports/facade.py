"""What the files of imports/ take from the framework and from the providers, read from their source."""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "imports"
# File -> the package it takes its names from.
CDKTF = {"aws": "cdktf_cdktf_provider_aws", "helm": "cdktf_cdktf_provider_helm", "cdk": "cdktf"}
CDK_TERRAIN = {"cdktn/aws": "cdktn_provider_aws", "cdktn/helm": "cdktn_provider_helm", "cdktn/cdk": "cdktn"}
FILES = CDKTF | CDK_TERRAIN


def imported(file: str) -> list[ast.ImportFrom]:
    """Return the import statements of a file that name another package."""
    tree = ast.parse((FOLDER / f"{file}.py").read_text("utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = [node for node in found if isinstance(node, ast.ImportFrom) and str(node.module).startswith("nodeless.")]
    rest = [node for node in found if node not in ours]
    assert all(isinstance(node, ast.ImportFrom) for node in rest), "use `from ... import`"
    return [node for node in rest if isinstance(node, ast.ImportFrom)]


def exported(file: str) -> set[str]:
    """Return the names that a file passes on."""
    return {alias.asname or alias.name for node in imported(file) for alias in node.names}


def origins(file: str) -> dict[str, str]:
    """Return the module of each name that a file passes on, below the package that the file is about."""
    return {
        alias.name: str(node.module).removeprefix(FILES[file]).removeprefix(".")
        for node in imported(file)
        for alias in node.names
    }


def provider_modules(file: str) -> set[str]:
    """Return the modules of the provider that a file imports from."""
    return set(origins(file).values())


def camel_case(module: str) -> str:
    """Return the name of a module in the provider's JavaScript index."""
    first, *rest = module.split("_")
    return first + "".join(part.capitalize() for part in rest)
