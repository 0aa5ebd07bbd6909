"""The JSON schema of clusters.yaml, and the description of each key: the docstring below its field in the model.

Pydantic can read these docstrings itself, but at every import of the model; that would be a third of the import time.
"""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from nodeless.spec import backends, model
from nodeless.spec.model import OWN_KEYS


def descriptions(section: type[BaseModel]) -> dict[str, str]:
    """Return the description of each key of a section."""
    (definition,) = ast.parse(inspect.getsource(section)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - the source of a class is a class definition; for mypy
    return {
        field.target.id: text.value.value
        for field, text in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def schema() -> dict[str, Any]:
    """Return the JSON schema of clusters.yaml, with a description of every key."""
    tree = model.File.model_json_schema()
    for name, section in (("File", tree), *tree["$defs"].items()):
        found = getattr(model, name, None) or getattr(backends, name, None)
        if isinstance(found, type) and issubclass(found, BaseModel):
            for key, text in descriptions(found).items():
                section["properties"][key]["description"] = text
    # A place for anchors, which nobody reads.
    tree["patternProperties"] = {f"^{OWN_KEYS}": {}}
    return tree
