"""What each key of the contract means: the docstrings below the fields, read only where they are shown.

Pydantic can read them itself, but then with every import of the model, which takes a third of its time.
"""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from nodeless.spec import model


def descriptions(section: type[BaseModel]) -> dict[str, str]:
    """Return the meaning of each key of a section."""
    (definition,) = ast.parse(inspect.getsource(section)).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - the source of a class is a class
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
    """Return the contract as a JSON schema, with the meaning of every key."""
    tree = model.File.model_json_schema()
    for name, section in (("File", tree), *tree["$defs"].items()):
        found = getattr(model, name, None)
        if isinstance(found, type) and issubclass(found, BaseModel):
            for key, text in descriptions(found).items():
                section["properties"][key]["description"] = text
    return tree
