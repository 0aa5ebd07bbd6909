"""Every setting of a cluster that is in force, with where its value comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from nodeless.finding import Path
from nodeless.karpenter.custom_resources import Api, api_of
from nodeless.resolved.backends import has_default, state_key, without_query
from nodeless.resolved.installation import Installation
from nodeless.resolved.lookups import plan_lookups
from nodeless.resolved.names import NAME_RULES
from nodeless.resolved.partitions import FARGATE
from nodeless.resolved.resources import default_manifests
from nodeless.spec.model import Cluster
from nodeless.spec.secrets import Secret
from nodeless.trees import value_at

SET, SET_IN_DEFAULTS, DEFAULT, LOOKED_UP = "set", "set in defaults", "default", "looked up"
# A map such as tags, with keys from both.
SET_IN_BOTH = "set, also in defaults"
BACKEND = "backend"
# The key of a section for which a single word may stand.
WORDS = ("style", "setup")
SWITCHES = ("fargate", "interruption")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A cluster as written and as resolved, and the two maps of the file that its keys come from."""

    cluster: Cluster
    installation: Installation
    own: Mapping[str, Any]
    shared: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One key: its value as a file may say it, where that comes from, and what it leads to if that is something else.

    A hidden value is shown without the part that may be secret, so a file that has it as shown is another file.
    """

    path: Path
    value: Any
    source: str
    in_force: str | None = None
    is_hidden: bool = False


def settings(explained: Explained) -> tuple[Setting, ...]:
    """Return every setting of a cluster, in the order of the model; a backend's without those that are not set."""
    looked_up = frozenset(_looked_up(explained))
    rows = (_setting(explained, path, value, looked_up) for path, value in values_of(explained.cluster))
    return tuple(row for row in rows if not (row.path[0] == BACKEND and row.value is row.in_force is None))


def _setting(explained: Explained, path: Path, value: Any, looked_up: frozenset[Path]) -> Setting:  # noqa: ANN401 - any YAML
    shown = without_token(path, value)
    in_force = IN_FORCE[path](explained) if path in IN_FORCE else _state(explained.installation, path, value)
    return Setting(
        path=path,
        value=shown,
        source=LOOKED_UP if path in looked_up else _source(path, explained.own, explained.shared),
        in_force=None if in_force == value else in_force,
        is_hidden=shown != value,
    )


def values_of(section: BaseModel, above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Walk through a section and those below it; the keys of secrets have no value."""
    for name, field in type(section).model_fields.items():
        path, value = (*above, name), getattr(section, name)
        if any(isinstance(mark, Secret) for mark in field.metadata):
            continue
        if isinstance(value, BaseModel):
            yield from values_of(value, path)
        elif isinstance(value, dict) and any(isinstance(item, BaseModel) for item in value.values()):
            for key, item in value.items():
                yield from values_of(item, (*path, key))
        else:
            yield path, _written(path, value)


def without_token(path: Path, value: Any) -> Any:  # noqa: ANN401 - any YAML
    """Return the address of a backend without its query, which may have a token in it, and any other value as it is."""
    return without_query(value) if path[0] == BACKEND and isinstance(value, str) and "://" in value else value


def _written(path: Path, value: Any) -> Any:  # noqa: ANN401 - any YAML
    """Return a value as a file says it: no section is `false`."""
    if value is None and path[0] in SWITCHES and len(path) == 1:
        return False
    if isinstance(value, list):
        return [item.model_dump(exclude_defaults=True) if isinstance(item, BaseModel) else item for item in value]
    return value


def _source(path: Path, own: Mapping[str, Any], shared: Mapping[str, Any]) -> str:
    """Tell which map of the file has the key, or has another value in the place of its section."""
    for tree, source in ((own, SET), (shared, SET_IN_DEFAULTS)):
        found: Any = tree
        for step in path:
            if not isinstance(found, Mapping):
                # `names: official` is the style, `adopt: blog` the set-up; `fargate: true` is a section of defaults.
                return source if isinstance(found, str) and step in WORDS else DEFAULT
            if step not in found:
                break
            found = found[step]
        else:
            is_merged = tree is own and isinstance(found, Mapping) and isinstance(value_at(shared, path), Mapping)
            return SET_IN_BOTH if is_merged else source
    return DEFAULT


def _looked_up(explained: Explained) -> Iterator[Path]:
    cluster, installation = explained.cluster, explained.installation
    plan = plan_lookups(installation)
    if plan.account:
        yield ("account",)
    if plan.subnets:
        yield ("subnets",)
    if plan.cluster:
        keys = ("kubernetes", "endpoint", "certificate_authority")
        issuer = ("oidc_issuer",) if installation.identity == "irsa" else ()
        yield from ((key,) for key in (*keys, *issuer) if getattr(cluster, key) is None)


def _state(installation: Installation, path: Path, value: object) -> str | None:
    """Return the default of the key that decides where the state is."""
    if path[0] != BACKEND or value is not None or not has_default(installation.backend):
        return None
    key, state = state_key(installation.backend)
    return str(state) if path[1:] == key else None


def _tables(explained: Explained) -> str | None:
    return str(explained.installation.release) if explained.installation.is_beyond_tables else None


def _subnets(explained: Explained) -> str | None:
    is_taken = explained.installation.subnets and explained.installation.fargate and not explained.cluster.subnets
    return "those of discovery.subnets" if is_taken else None


def _fargate(explained: Explained) -> str | None:
    partition = explained.installation.partition
    return f"AWS does not offer {FARGATE} in {partition.name}" if FARGATE in partition.not_offered else None


def _selectors(explained: Explained) -> str | None:
    written, profile = explained.cluster.fargate, explained.installation.fargate
    if written is None or profile is None or len(written.selectors) == len(profile.selectors):
        return None
    return "; ".join(
        f"the namespace {namespace}{''.join(f', {key}={value}' for key, value in labels.items())}"
        for namespace, labels in profile.selectors
    )


def _made(kind_of: Callable[[Api], str]) -> Callable[[Explained], str | None]:
    def made(explained: Explained) -> str | None:
        kind = kind_of(api_of(explained.installation.release))
        names = [row["metadata"]["name"] for row in default_manifests(explained.installation) if row["kind"] == kind]
        return f"nodeless adds one named {names[0]}" if names else None

    return made


def _name(key: str) -> Callable[[Explained], str | None]:
    def name(explained: Explained) -> str | None:
        used: str = getattr(explained.installation.names, key)
        return used if key not in MADE or MADE[key](explained.installation) else None

    return name


# What a name belongs to may not be there.
MADE: dict[str, Callable[[Installation], bool]] = {
    "fargate_profile": lambda installation: installation.fargate is not None,
    "fargate_role": lambda installation: installation.fargate is not None,
    "instance_profile": lambda installation: installation.instance_profile,
    "queue": lambda installation: installation.queue is not None,
}

# What is in force by a key, if that can be something else than its value.
IN_FORCE: dict[Path, Callable[[Explained], str | None]] = {
    ("stack",): lambda explained: explained.installation.stack,
    ("subnets",): _subnets,
    ("karpenter", "version"): lambda explained: str(explained.installation.version),
    ("karpenter", "tables"): _tables,
    ("karpenter", "image", "repository"): lambda explained: explained.installation.image.repository,
    ("fargate",): _fargate,
    ("fargate", "profile_name"): _name("fargate_profile"),
    ("fargate", "selectors"): _selectors,
    ("interruption", "queue_name"): _name("queue"),
    ("exclusive_policies",): lambda explained: "true" if explained.installation.exclusive_policies else None,
    ("node_classes",): _made(lambda api: api.class_kind),
    ("node_pools",): _made(lambda api: api.pool_kind),
    **{("names", rule.key): _name(rule.key) for rule in NAME_RULES},
}
