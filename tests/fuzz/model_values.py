"""Values for every key of the model: strategies made from its annotations, so that a new key is fuzzed as well."""

from __future__ import annotations

import base64
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from nodeless.karpenter import releases
from nodeless.karpenter.versions import Release
from nodeless.resolved.partitions import PARTITIONS, Partition
from nodeless.spec import text_types
from nodeless.spec.text_type import TextType

Values = st.SearchStrategy[Any]
HEX = "0123456789abcdef"


@dataclass(frozen=True)
class Around:
    """What the values of one cluster have to agree on."""

    partition: Partition
    region: str
    account: str
    version: str
    tables: Release
    wanted: tuple[str, ...] = ()
    """the path of a key that is always there"""

    def wants_below(self, path: tuple[str, ...]) -> bool:
        """Tell whether the wanted key is below this path."""
        return len(self.wanted) > len(path) and self.wanted[: len(path)] == path


Special = Callable[[Around], Values]


@st.composite
def around(draw: st.DrawFn) -> Around:
    partition = draw(st.sampled_from([PARTITIONS[-1], PARTITIONS[-1], *PARTITIONS]))
    release = draw(
        st.sampled_from([releases.NEWEST, *(Release(*last) for last in releases.LAST_PATCHES)])
        | st.sampled_from(releases.RELEASES)
    )
    return Around(
        partition=partition,
        region=draw(st.sampled_from(partition.regions)),
        account=draw(st.sampled_from(["123456789012", "000000000000"])),
        version=draw(st.sampled_from([str(release), f"v{release}", f"{release.major}.{release.minor}"])),
        tables=release,
    )


def _hex(length: int) -> st.SearchStrategy[str]:
    return st.text(HEX, min_size=length, max_size=length)


def _name(most: int = 20) -> st.SearchStrategy[str]:
    return st.text("abcXYZ019", min_size=1, max_size=most)


def _kubernetes(at: Around) -> Values:
    first, last = releases.kubernetes_range(at.tables)
    return st.integers(first, last).map(lambda minor: f"1.{minor}")


# Text that has to agree with the rest of its cluster, or that no pattern describes. All other types of text are made
# from their pattern.
AGREEING: dict[str, Special] = {
    "Region": lambda at: st.just(at.region),
    "Version": lambda at: st.just(at.version),
    "KnownVersion": lambda at: st.sampled_from([str(at.tables), str(releases.NEWEST)]),
    "Account": lambda at: st.just(at.account),
    "Kubernetes": _kubernetes,
    "Issuer": lambda at: _hex(32).map(lambda end: f"{at.partition.issuer(at.region)}{end.upper()}"),
    "Endpoint": lambda at: _hex(32).map(lambda host: f"https://{host}.gr7.{at.region}.eks.{at.partition.dns_suffix}"),
    "Base64": lambda _: st.text("ab\n -", min_size=1).map(lambda text: base64.b64encode(text.encode()).decode()),
    # Few of the texts that its pattern makes end where they must.
    "IamPath": lambda _: st.sampled_from(["/", "/team/", "/a/b-c/", f"/{'x' * 510}/"]),
    "RoleKey": lambda _: st.sampled_from(["windows", "gpu", "a", "x9-y", "abcdefghijklmnopqrst"]),
    "PolicyArn": lambda at: _name(40).map(lambda name: f"arn:{at.partition.name}:iam::{at.account}:policy/{name}"),
    "RoleArn": lambda at: _name(40).map(lambda name: f"arn:{at.partition.name}:iam::{at.account}:role/{name}"),
    "KmsKeyArn": lambda at: _hex(12).map(lambda key: f"arn:{at.partition.name}:kms:{at.region}:{at.account}:key/{key}"),
}


def _agreeing() -> Iterator[tuple[TextType, Special]]:
    for name, special in AGREEING.items():
        for part in get_args(getattr(text_types, name, None)):
            if isinstance(part, TextType):
                yield part, special


BY_TYPE = dict(_agreeing())


def text(kind: TextType, at: Around) -> Values:
    """Return texts of one type."""
    return BY_TYPE[kind](at) if kind in BY_TYPE else from_pattern(kind.pattern)


@cache
def from_pattern(pattern: str) -> Values:
    """Return texts that match a pattern; making such a strategy takes longer than drawing from it."""
    return st.from_regex(pattern, fullmatch=True)


SCALARS: Values = (
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
ANYTHING: Values = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3), max_leaves=6
)

# Keys whose values depend on the release; filled by `tests.fuzz.resources`.
SPECIAL: dict[str, Special] = {}


def section(model: type[BaseModel], at: Around, path: tuple[str, ...] = ()) -> Values:
    """Return maps for a section: every required key, the wanted one and some of the others."""
    return _section(model, at, path)


@st.composite
def _section(draw: st.DrawFn, model: type[BaseModel], at: Around, path: tuple[str, ...]) -> dict[str, Any]:
    wanted = at.wanted[len(path)] if at.wants_below(path) else None
    required = [name for name, field in model.model_fields.items() if field.is_required() or name == wanted]
    others = [name for name in model.model_fields if name not in required]
    most = draw(st.sampled_from([0, 2] if at.wanted else [0, 2, 4, 4, len(others)]))
    chosen = draw(st.lists(st.sampled_from(others), unique=True, max_size=most)) if others and most else []
    row = {
        name: draw(field_values(model.model_fields[name], at, (*path, name)))
        for name in model.model_fields
        if name in required or name in chosen
    }
    if row.get("tables"):
        # Only a release that is not known takes the tables of another.
        row["version"] = f"{releases.NEWEST.major}.{releases.NEWEST.minor + 1}.0"
    return row


def field_values(field: FieldInfo, at: Around, path: tuple[str, ...]) -> Values:
    """Return values for one key."""
    special = SPECIAL.get(".".join(path))
    return special(at) if special else values(field.annotation, tuple(field.metadata), at, path)


def values(hint: Any, metadata: tuple[Any, ...], at: Around, path: tuple[str, ...]) -> Values:  # noqa: ANN401, PLR0911 - any annotation, one return for each kind
    """Return values for an annotation."""
    for row in metadata:
        if isinstance(row, TextType):
            return text(row, at)
        if isinstance(row, BeforeValidator) and row.json_schema_input_type is not PydanticUndefined:
            rest = tuple(other for other in metadata if other is not row)
            return values(row.json_schema_input_type, rest, at, path)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return values(arguments[0], (*arguments[1:], *metadata), at, path)
    if origin in {Union, types.UnionType}:
        members = [each for each in arguments if not at.wants_below(path) or _has_wanted(each, at, path)]
        return st.one_of(*(values(each, metadata, at, path) for each in members))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(values(arguments[0], (), at, path), **_sizes(metadata, at, path))
    if origin is dict:
        key, value = arguments
        return st.dictionaries(
            values(key, (), at, path), values(value, (), at, (*path, "*")), **_sizes(metadata, at, path)
        )
    return _plain(hint, metadata, at, path)


def _plain(hint: Any, metadata: tuple[Any, ...], at: Around, path: tuple[str, ...]) -> Values:  # noqa: ANN401 - any annotation
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return section(hint, at, path)
    if hint is bool:
        return st.booleans()
    if hint is int:
        limits = dict(_limits(metadata))
        return st.integers(limits.get("ge"), limits.get("le"))
    if hint is str:
        patterns = [pattern for row in _flat(metadata) if (pattern := getattr(row, "pattern", None))]
        return from_pattern(patterns[0].strip("^$")) if patterns else st.text(min_size=1)
    return st.none() if hint in {None, type(None)} else ANYTHING


def _flat(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for row in metadata:
        yield from _flat(tuple(row.metadata)) if isinstance(row, FieldInfo) else (row,)


def _limits(metadata: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    for row in _flat(metadata):
        if isinstance(row, Ge):
            yield "ge", row.ge
        if isinstance(row, Le):
            yield "le", row.le


def _sizes(metadata: tuple[Any, ...], at: Around, path: tuple[str, ...]) -> Mapping[str, Any]:
    rows = list(_flat(metadata))
    least = max([row.min_length for row in rows if isinstance(row, MinLen)], default=1 if at.wants_below(path) else 0)
    most = min([row.max_length for row in rows if isinstance(row, MaxLen)], default=3)
    return {"min_size": least, "max_size": max(least, min(most, 6))}


def _has_wanted(hint: Any, at: Around, path: tuple[str, ...]) -> bool:  # noqa: ANN401 - any annotation
    """Tell whether the wanted key is in one of the models of an annotation."""
    left = at.wanted[len(path) :]
    return any(
        ".".join(left) in {".".join((*steps, key)) for key in keys_of(model)} for model, steps in _models(hint, ())
    )


def keys_of(model: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[str]:
    """Name every key of the model, as in `nodes.roles.*.arn`."""
    for name, field in model.model_fields.items():
        here = (*path, name)
        yield ".".join(here)
        for below, steps in _models(field.annotation, ()):
            yield from keys_of(below, (*here, *steps))


def _models(hint: Any, steps: tuple[str, ...]) -> Iterator[tuple[type[BaseModel], tuple[str, ...]]]:  # noqa: ANN401 - any annotation
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint, steps
    is_map = get_origin(hint) is dict
    for argument in get_args(hint):
        yield from _models(argument, (*steps, "*") if is_map else steps)
