"""The JSON schema of clusters.yaml, and the description of each key: the docstring below its field in the model.

Pydantic can read these docstrings itself, but at every import of the model; that would be a third of the import time.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterable
from copy import deepcopy
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from nodeless.resolved.partitions import FARGATE, PARTITIONS
from nodeless.spec import backends, model
from nodeless.spec.guards.backends import RULES
from nodeless.spec.schema_names import SCHEMA_ID
from nodeless.trees import steps

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REF, DEFINITIONS = "$ref", "#/$defs/"
CLUSTER = "Cluster"
# A map without the keys that it must have in the end: another map of the file may have them.
PARTIAL = "Partial"

POD_IDENTITY: Schema = {"identity": {"const": "pod-identity"}}
FARGATE_REGIONS = "|".join(row.region_pattern for row in PARTITIONS if FARGATE not in row.not_offered)
# What guards refuse and a schema can say: if these keys of a cluster, then those.
COMBINATIONS: tuple[tuple[Schema, Schema], ...] = (
    (POD_IDENTITY, {"properties": {"fargate": {"const": False}, "oidc_provider": {"const": "existing"}}}),
)
# The same about keys that may also be under defaults, if there are any.
COMBINATIONS_WITHOUT_DEFAULTS: tuple[tuple[Schema, Schema], ...] = (
    ({**POD_IDENTITY, "region": {"pattern": f"^(?:{FARGATE_REGIONS})$"}}, {"required": ["fargate"]}),
    (
        {
            "auth": {"const": "exec"},
            "backend": {"properties": {"type": {"enum": ["cloud", "remote"]}}, "required": ["type"]},
        },
        {"properties": {"delivery": {"enum": ["gitops", "none"]}}, "required": ["delivery"]},
    ),
)
# Of these keys of a section only one may have a value.
ALTERNATIVES = {"Workspaces": ("name", "tags"), "RemoteWorkspaces": ("name", "prefix")}
HAS_VALUE: Schema = {
    "anyOf": [{"type": "string"}, {"type": "array", "minItems": 1}, {"type": "object", "minProperties": 1}]
}


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


def schema() -> Schema:
    """Return the JSON schema of clusters.yaml, with a description of every key.

    It refuses nothing that synth accepts, but for a wrong value under defaults that every cluster replaces.
    """
    tree = model.File.model_json_schema()
    definitions: Schema = tree["$defs"]
    for name, section in (("File", tree), *definitions.items()):
        found = getattr(model, name, None) or getattr(backends, name, None)
        if isinstance(found, type) and issubclass(found, BaseModel):
            for key, text in descriptions(found).items():
                section["properties"][key]["description"] = text
    _tidy(tree)
    _add_rules(definitions)
    needed = definitions[CLUSTER]["required"]
    partial = _partial({REF: f"{DEFINITIONS}{CLUSTER}"}, definitions)
    properties = tree["properties"]
    properties["defaults"] = {
        "anyOf": [partial, {"type": "null"}],
        "description": properties["defaults"]["description"],
    }
    properties["clusters"]["items"] = partial
    del properties["clusters"]["default"]
    properties["include"] = {
        "anyOf": [{"type": "array", "items": {"type": "string", "minLength": 1}}, {"type": "null"}],
        "description": properties["include"]["description"],
    }
    # A place for anchors, which nobody reads.
    tree["patternProperties"] = {f"^{model.OWN_KEYS}": {}}
    whole = {REF: f"{DEFINITIONS}{CLUSTER}", "allOf": _combinations(COMBINATIONS_WITHOUT_DEFAULTS)}
    return {
        "$schema": DIALECT,
        "$id": SCHEMA_ID,
        **tree,
        "title": "clusters.yaml of nodeless",
        "anyOf": [
            {"required": ["clusters"]},
            {"required": ["include"], "properties": {"include": {"type": "array", "minItems": 1}}},
        ],
        "allOf": [
            _if_defaults({}, otherwise=_each_cluster(whole)),
            *(_if_defaults({"required": [key]}, otherwise=_each_cluster({"required": [key]})) for key in needed),
        ],
    }


def schema_text() -> str:
    """Write the schema as a file."""
    return f"{json.dumps(schema(), indent=2)}\n"


def _tidy(node: Any) -> None:  # noqa: ANN401 - any part of a schema
    """Refuse keys of maps whose pattern they do not match; leave out titles, which repeat the keys."""
    if isinstance(node, dict):
        if "patternProperties" in node:
            node["additionalProperties"] = False
        if isinstance(node.get("title"), str):
            del node["title"]
        # A keyword of OpenAPI; the types of backends are constants.
        node.pop("discriminator", None)
    for below in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _tidy(below)


def _add_rules(definitions: Schema) -> None:
    cluster = definitions[CLUSTER]
    cluster["allOf"] = _combinations(COMBINATIONS)
    for section, keys in ALTERNATIVES.items():
        both = {"properties": dict.fromkeys(keys, HAS_VALUE), "required": list(keys)}
        definitions[section]["not"] = both
    _add_backend_rules(definitions)


def _combinations(rows: Iterable[tuple[Schema, Schema]]) -> list[Schema]:
    return [{"if": {"properties": keys, "required": list(keys)}, "then": then} for keys, then in rows]


def _add_backend_rules(definitions: Schema) -> None:
    """Add what guards say of a backend's keys: `workspaces.tags[]` is the items of a list in another section."""
    for section in [row for row in definitions.values() if row["properties"].get("type", {}).get("const") in RULES]:
        for rule in RULES[section["properties"]["type"]["const"]]:
            node = section
            for step in steps(rule.key):
                node = definitions[node[REF].removeprefix(DEFINITIONS)] if REF in node else node
                node = node["items"] if step == "[]" else node["properties"][step]
            node.setdefault("allOf", []).append({"pattern": f"^(?:{rule.pattern})$"})


def _if_defaults(have: Schema, *, otherwise: Schema) -> Schema:
    """Apply a schema where the file has no defaults that match."""
    return {"if": {"properties": {"defaults": {"type": "object", **have}}, "required": ["defaults"]}, "else": otherwise}


def _each_cluster(schema_: Schema) -> Schema:
    return {"properties": {"clusters": {"items": schema_}}}


def _partial(node: Schema, definitions: Schema) -> Schema:
    """Copy a schema for a map that is merged with another: nothing is required in it, but in lists, which are not.

    The copy of a definition is a definition too, if it differs.
    """
    copied = {key: value for key, value in node.items() if key != "required"}
    if REF in node:
        copied[REF] = _partial_definition(node[REF].removeprefix(DEFINITIONS), definitions)
    for key in ("properties", "patternProperties"):
        if key in node:
            copied[key] = {name: _partial(below, definitions) for name, below in node[key].items()}
    for key in ("anyOf", "oneOf"):
        if key in node:
            del copied[key]
            # A backend without its type may be one of several.
            copied["anyOf"] = [_partial(below, definitions) for below in node[key]]
    return copied


def _partial_definition(name: str, definitions: Schema) -> str:
    partial = f"{PARTIAL}{name}"
    if partial not in definitions:
        copied = _partial(definitions[name], definitions)
        if copied == definitions[name]:
            return f"{DEFINITIONS}{name}"
        definitions[partial] = deepcopy(copied)
    return f"{DEFINITIONS}{partial}"
