"""Validates one cluster: pydantic's errors in our words, and what is left without the wrong keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from nodeless.finding import MISSING, Finding, Path
from nodeless.sinks.excerpts import NOT_SHOWN
from nodeless.spec import advice
from nodeless.spec.bounds import MOST_FINDINGS
from nodeless.spec.model import Cluster
from nodeless.spec.secrets import HIDDEN
from nodeless.spec.text_type import REFERENCES, REFUSED
from nodeless.suggestions import closest
from nodeless.trees import holds, value_at

BACKEND = "backend"
UNKNOWN_KEY = "extra_forbidden"
MISSING_KEY = "missing"
WRONG_TAG = "union_tag_invalid"

# pydantic's error types in the operator's words: what is expected, and the fix. Braces hold the error's own context.
EXPLAINED = {
    REFUSED: ("{expected}", "{fix}"),
    "literal_error": ("one of {expected}", "write one of these"),
    WRONG_TAG: ("one of {expected_tags}", "write one of these"),
    "union_tag_not_found": ("a backend has a type", "add a type, such as `type: s3`"),
    "bool_type": ("true or false", "write true or false, without quotes"),
    "int_type": ("a whole number", "write a number, without quotes"),
    "string_type": ("a string", "write text, in quotes where YAML would read something else"),
    "list_type": ("a list", "write one item per line, each after a dash"),
    "dict_type": ("a map", "write `key: value` lines below it"),
    "model_type": ("a map", "write `key: value` lines below it"),
    "model_attributes_type": ("a map", "write `key: value` lines below it"),
    "greater_than_equal": ("{ge} or more", "write a larger number"),
    "less_than_equal": ("{le} or less", "write a smaller number"),
    "too_long": ("at most {max_length} of these", "remove some"),
    "too_short": ("at least {min_length} of these", "add one"),
    "string_pattern_mismatch": ("text that matches {pattern}", "remove other characters"),
}
# For some types of errors the value itself says what to write.
ADVICE: Mapping[str, advice.Advise] = {
    "bool_type": advice.in_place_of_a_switch,
    "int_type": advice.in_place_of_a_number,
    "string_type": advice.in_place_of_a_text,
    "list_type": advice.in_place_of_a_list,
    "dict_type": advice.in_place_of_a_map,
    "union_tag_not_found": advice.without_a_type,
    "model_type": advice.in_place_of_a_map,
    "model_attributes_type": advice.in_place_of_a_map,
}
UNEXPLAINED = ("{msg}", "docs/configuration.md says what this key takes")

# Placeholders for required keys that are wrong or missing, so that checks on other keys can run. No guard that reads
# such a key runs.
PLACEHOLDERS: Mapping[Path, object] = {("name",): "placeholder", ("region",): "eu-north-1"}
ITEM_PLACEHOLDERS: Mapping[str, object] = {"name": "placeholder", "spec": {}}
NAMED_LISTS = ("node_pools", "node_classes")

# Taking a key out can show that its section is incomplete, which takes another round; sections nest three deep.
ROUNDS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """What validation found: the cluster without its wrong keys, and which paths no guard may rely on."""

    cluster: Cluster | None
    findings: tuple[Finding, ...] = ()
    unreadable: tuple[Path, ...] = ()


def validated(keys: Mapping[str, Any], *, references: bool = False) -> Validated:
    """Validate one cluster; paths are below the cluster."""
    cluster, mistakes = _validate(keys, references=references)
    if cluster is not None:
        return Validated(cluster=cluster)
    each = (_finding(keys, path, detail) for path, detail in mistakes[: MOST_FINDINGS + 1])
    findings = tuple(advice.without_consequences(advice.manifests(keys, each, NAMED_LISTS)))
    if len(mistakes) > MOST_FINDINGS:
        return Validated(cluster=None, findings=findings)
    left: dict[str, Any] = _copy(keys)
    unreadable: list[Path] = []
    for _ in range(ROUNDS):
        taken = [(_take_out(left, path), detail) for path, detail in mistakes]
        unreadable += [path for path, detail in taken if detail["type"] != UNKNOWN_KEY]
        cluster, mistakes = _validate(left, references=references)
        if cluster is not None:
            break
    return Validated(cluster=cluster, findings=findings, unreadable=tuple(unreadable))


Mistake = tuple[Path, Mapping[str, Any]]


def _validate(keys: Mapping[str, Any], *, references: bool) -> tuple[Cluster | None, list[Mistake]]:
    try:
        return Cluster.model_validate(keys, context={REFERENCES: references}), []
    except ValidationError as error:
        return None, [(path_in_file(keys, detail["loc"]), dict(detail)) for detail in error.errors(include_url=False)]


def _finding(keys: Mapping[str, Any], path: Path, detail: Mapping[str, Any]) -> Finding:
    kind = detail["type"]
    path = (*path, "type") if kind == WRONG_TAG else path
    value = value_at(keys, path)
    if kind == UNKNOWN_KEY:
        fix, problem = _right_key(path, detail["loc"]), f"unknown key: {path[-1]}"
        return Finding(path, value, "a documented key", fix, problem=problem, at_key=True)
    if kind == MISSING_KEY:
        return Finding(path, MISSING, "this key is required", advice.added(path))
    expected, fix = EXPLAINED.get(kind, UNEXPLAINED)
    context = {"msg": detail["msg"], **detail.get("ctx", {})}
    close = closest(str(value), _choices(context)) if isinstance(value, str) else None
    better = f"write {close}" if close else ADVICE[kind](path, value) if kind in ADVICE else None
    return Finding(
        path,
        NOT_SHOWN if HIDDEN in context else value,
        expected.format(**context),
        better or fix.format(**context),
        at_key=detail["loc"][-1:] == ("[key]",),
        is_secret=HIDDEN in context,
    )


def _choices(context: Mapping[str, Any]) -> list[str]:
    """Return the words that a key takes, as pydantic lists them."""
    return re.findall(r"'([^']*)'", str(context.get("expected_tags", context.get("expected", ""))))


def _right_key(path: Path, location: Path) -> str:
    """Suggest a key of the same section, or say where in the file this one belongs."""
    key = str(path[-1])
    known = _keys_of_backend(location) or _keys_of_section(path[:-1])
    right = advice.right_key(key, path[:-1], known)
    if right:
        return right
    elsewhere = [
        ".".join([*section, key])
        for section, keys in _all_sections()
        if key in keys and section[:1] != (BACKEND,)  # the keys of a backend mean something only there
    ]
    if elsewhere:
        return f"move it to {elsewhere[0]}"
    close = closest(key, known)
    if close:
        return f"did you mean {close}?"
    return "remove it; docs/configuration.md lists every key"


def _keys_of_backend(location: Path) -> frozenset[str]:
    """Return the keys of the backend that a location is in: there it names the backend's type."""
    backends = advice.backends()
    kind = str(location[1]) if len(location) == len((BACKEND, "type", "key")) and location[0] == BACKEND else ""
    return frozenset(backends[kind].model_fields) if kind in backends else frozenset()


def _keys_of_section(path: Path) -> frozenset[str]:
    wanted = tuple(step for step in path if isinstance(step, str))
    # In a map with keys of the user's own, such as nodes.roles, the key is a step that no section has.
    return frozenset(
        key
        for section, keys in _all_sections()
        if section == wanted or (section == wanted[:-1] and not keys & {wanted[-1]})
        for key in keys
    ) or frozenset(Cluster.model_fields)


@cache
def _all_sections() -> tuple[tuple[tuple[str, ...], frozenset[str]], ...]:
    return tuple(_sections(Cluster, ()))


def _sections(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    yield path, frozenset(model.model_fields)
    for key, field in model.model_fields.items():
        for below in _models_in(field.annotation):
            yield from _sections(below, (*path, key))


def _models_in(hint: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - any annotation
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    for argument in get_args(hint):
        yield from _models_in(argument)


def path_in_file(tree: Any, location: Iterable[str | int]) -> Path:  # noqa: ANN401 - any YAML
    """Keep of pydantic's location what is a path in the file, without the names of union members."""
    path: list[str | int] = []
    steps = tuple(location)
    for number, step in enumerate(steps):
        if holds(tree, (step,)):
            tree = tree[step]
        # After a key that is wrong itself, pydantic adds a step of its own.
        elif not isinstance(tree, Mapping) or number < len(steps) - 1 or step == "[key]":
            continue
        path.append(step)
    return tuple(path)


def _copy(tree: Any) -> Any:  # noqa: ANN401 - any YAML
    """Copy maps and lists, so that no two places share one: what is taken out of one place stays in the other."""
    if isinstance(tree, Mapping):
        return {key: _copy(value) for key, value in tree.items()}
    return [_copy(item) for item in tree] if isinstance(tree, list) else tree


def _take_out(tree: dict[str, Any], path: Path) -> Path:
    """Remove what a path leads to, or the smallest part around it that can go; return the path that is gone."""
    if path in PLACEHOLDERS:
        tree[str(path[0])] = PLACEHOLDERS[path]
        return path
    if len(path) == len(("node_pools", 0, "spec")) and path[0] in NAMED_LISTS and path[-1] in ITEM_PLACEHOLDERS:
        value_at(tree, path[:-1])[path[-1]] = _copy(ITEM_PLACEHOLDERS[str(path[-1])])
        return path
    for length in range(len(path), 0, -1):
        around, key = value_at(tree, path[: length - 1]), path[length - 1]
        if isinstance(around, dict) and key in around:
            del around[key]
            return path[:length]
    return path
