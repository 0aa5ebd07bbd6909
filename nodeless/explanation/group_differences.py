"""What differs in a cluster from its group: each setting whose value is not the usual one among its clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nodeless.explanation.one_line import one_line
from nodeless.explanation.settings import BACKEND, SWITCHES, values_of
from nodeless.finding import Path, written_path
from nodeless.resolved.own_words import with_own_words, without_own_words
from nodeless.spec.fleet import Member
from nodeless.spec.model import Cluster
from nodeless.trees import leaves

# What a cluster is and where it is. This is never a difference.
IDENTITY: frozenset[Path] = frozenset({("name",), ("stack",), ("region",)})
# Facts of one cluster: the difference is whether they are written.
FACTS: frozenset[Path] = frozenset(
    {
        ("account",),
        ("provider", "profile"),
        ("endpoint",),
        ("oidc_issuer",),
        ("certificate_authority",),
        ("subnets",),
        ("discovery", "subnets"),
        ("discovery", "security_groups"),
    }
)
# Keys with a value of their own that is in force.
IN_FORCE: Mapping[Path, Callable[[Member], Any]] = {
    ("karpenter", "version"): lambda member: str(member.installation.version),
    ("exclusive_policies",): lambda member: member.installation.exclusive_policies,
}
# Sections in which one key decides what the others are. If it differs, the others are not compared.
DECIDING: Mapping[str, Path] = {**{key: (key,) for key in SWITCHES}, BACKEND: (BACKEND, "type")}
# Lists in which every item has a name.
NAMED_LISTS = ("node_classes", "node_pools")
WRITTEN = "written"
ORDER = {key: number for number, key in enumerate(Cluster.model_fields)}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """A setting with another value than usual, as text: its path, its value and the usual one."""

    path: str
    value: str
    usual: str

    def __str__(self) -> str:
        return f"{self.path}: {self.value} (usually {self.usual})"


class _Value(NamedTuple):
    """A value, how it is compared, how it is compared without the cluster's own words, and whose it is."""

    value: Any
    exact: str
    general: str
    member: Member | None = None

    def shown(self, path: Path, *, in_general: bool = False) -> str:
        text = one_line(path, self.value)
        return without_own_words(text, self.member.installation) if in_general and self.member else text


ABSENT = _Value(None, "", "")
_Values = Mapping[Path, _Value]


class _Usual(NamedTuple):
    """The usual value of a group: the most common one, and of several the one that comes first."""

    shown: str
    text: str
    is_exact: bool
    """whether it is the same text in all clusters that have it; else, the same without the clusters' own words"""

    def is_same(self, value: _Value) -> bool:
        if self.is_exact or value.member is None:
            return self.text == (value.exact if self.is_exact else value.general)
        # A word that all clusters have may be the name of one of them.
        return value.exact == with_own_words(self.text, value.member.installation) or value.general == self.text


def differences(members: Sequence[Member]) -> tuple[tuple[GroupDifference, ...], ...]:
    """Compare every cluster with its group; the results are in the order of the clusters."""
    groups: dict[str, list[int]] = {}
    for number, member in enumerate(members):
        groups.setdefault(member.group, []).append(number)
    found: dict[int, tuple[GroupDifference, ...]] = {}
    for numbers in groups.values():
        found |= zip(numbers, _in_group([dict(_values(members[number])) for number in numbers]), strict=True)
    return tuple(found[number] for number in range(len(members)))


def _in_group(rows: Sequence[_Values]) -> Iterator[tuple[GroupDifference, ...]]:
    paths = sorted(dict.fromkeys(path for row in rows for path in row), key=lambda path: ORDER[str(path[0])])
    deciding = {path: _usual(path, rows) for path in DECIDING.values()}
    comparable = {
        section: [row for row in rows if deciding[path].is_same(row.get(path, ABSENT))]
        for section, path in DECIDING.items()
    }
    usual = {path: deciding.get(path) or _usual(path, comparable.get(str(path[0]), rows)) for path in paths}
    for row in rows:
        others = {key for key, path in DECIDING.items() if not deciding[path].is_same(row.get(path, ABSENT))}
        yield tuple(
            GroupDifference(path=written_path(path), value=value.shown(path), usual=usual[path].shown)
            for path in paths
            if not usual[path].is_same(value := row.get(path, ABSENT))
            if path[0] not in others or path in deciding
        )


def _usual(path: Path, rows: Sequence[_Values]) -> _Usual:
    values = [row.get(path, ABSENT) for row in rows]
    exact, general = Counter(value.exact for value in values), Counter(value.general for value in values)
    # Of equal counts, this is the first in the order of the clusters.
    usual = max(values, key=lambda value: max(exact[value.exact], general[value.general]))
    is_exact = exact[usual.exact] >= general[usual.general]
    return _Usual(usual.shown(path, in_general=not is_exact), usual.exact if is_exact else usual.general, is_exact)


def _values(member: Member) -> Iterator[tuple[Path, _Value]]:
    yield from ((path, _Value(value, str(value), str(value))) for path, value in _deciding(member.cluster))
    for path, value in values_of(member.cluster):
        if path in IDENTITY or path in DECIDING.values():
            continue
        if path in FACTS:
            yield path, _Value(WRITTEN, WRITTEN, WRITTEN) if value else ABSENT
        elif path in IN_FORCE:
            yield path, _value(IN_FORCE[path](member), member)
        elif path[0] in NAMED_LISTS:
            named = {item["name"]: item["spec"] for item in value}
            yield from ((at, _value(leaf, member)) for at, leaf in _leaves(path, named))
        elif isinstance(value, Mapping):
            yield from ((at, _value(leaf, member)) for at, leaf in _leaves(path, value))
        else:
            # No list, no map and no text: the same as a key that is not there.
            yield path, _value(value, member) if value else _Value(value, "", "")


def _deciding(cluster: Cluster) -> Iterator[tuple[Path, bool | str]]:
    yield from (((key,), getattr(cluster, key) is not None) for key in SWITCHES)
    yield DECIDING[BACKEND], cluster.backend.type


def _leaves(above: Path, tree: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    return (((*above, *path), leaf) for path, leaf in leaves(tree))


def _value(value: Any, member: Member) -> _Value:  # noqa: ANN401 - any YAML
    exact = repr(value)
    return _Value(value, exact, without_own_words(exact, member.installation), member)
