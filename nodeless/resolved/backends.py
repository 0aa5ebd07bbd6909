"""Where each backend keeps the state of a stack: the keys that decide it, their defaults, and how to tell two apart."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from posixpath import join, normpath
from typing import Any

from nodeless.resolved.names import fitted

Keys = Mapping[str, Any]

HCP_TERRAFORM = "app.terraform.io"
# The longest identifier of PostgreSQL, which cuts longer ones without a word, and the longest label of Kubernetes.
IDENTIFIER_LIMIT = 63
STATE_FILE = "karpenter/{stack}/terraform.tfstate"
OSS_PREFIX = "env:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a backend's state is: the key that decides it, its default, and how to show it.

    `unique` returns what tells one state from another; None where a state is more than one place, or shared with
    another backend (see nodeless/spec/guards/states.py).
    """

    key: str
    default: Callable[[str], str] | None
    unique: Callable[[Keys], tuple[object, ...]] | None
    shown: Callable[[Keys], str]


def _file(stack: str) -> str:
    return STATE_FILE.format(stack=stack)


def _schema(stack: str) -> str:
    """Name the schema, no longer than PostgreSQL takes it."""
    return fitted("karpenter_{cluster}", stack, IDENTIFIER_LIMIT)


def _secret_suffix(stack: str) -> str:
    """Name the secret as Kubernetes allows; two stacks that differ only in what it does not allow stay apart."""
    plain = stack.lower().replace("_", "-").strip("-")
    if plain != stack:
        plain = f"{plain}-{hashlib.sha256(stack.encode()).hexdigest()[:8]}"
    return fitted("{cluster}-karpenter", plain, IDENTIFIER_LIMIT)


def workspace_tags(tags: Sequence[str] | Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return each tag of a list as its key, and each of a map as its key and value."""
    return tuple(tags.items()) if isinstance(tags, Mapping) else tuple((key,) for key in tags)


def _workspace_shown(keys: Keys) -> str:
    where = keys["workspaces"]
    organization = f"{keys.get('hostname') or HCP_TERRAFORM}/{keys['organization']}"
    if where.get("tags"):
        shown = ", ".join("=".join(tag) for tag in workspace_tags(where["tags"]))
        return f"{organization}, the workspaces tagged {shown}"
    return f"{organization}/{where.get('name') or where['prefix'] + '*'}"


def _object(keys: Keys, default_prefix: str = "") -> str:
    return join(keys.get("prefix") or default_prefix, keys["key"])


def _together(*names: str) -> Callable[[Keys], tuple[object, ...]]:
    return lambda keys: tuple(keys.get(name) for name in ("type", *names))


def _joined(keys: Keys, *names: str) -> str:
    return "/".join(str(keys[name]) for name in names if keys.get(name))


def without_query(address: str) -> str:
    """Leave out the part of an address that may hold a token."""
    return re.sub(r"\?.*", "?…", address)


KUBERNETES = (
    "host",
    "config_path",
    "config_context",
    "config_context_cluster",
    "in_cluster_config",
    "namespace",
    "secret_suffix",
)

LOCATIONS: dict[str, Location] = {
    "local": Location(
        key="path",
        # Where CDKTF itself keeps local state: beside the output folder, three levels above the stack's own.
        default=lambda stack: f"../../../terraform.{stack}.tfstate",
        unique=None,
        shown=lambda keys: f"{keys['path']}, from the stack's folder",
    ),
    "s3": Location(
        key="key",
        default=_file,
        unique=None,
        shown=lambda keys: f"s3://{keys['bucket']}/{keys['key']}",
    ),
    "cloud": Location(
        key="workspaces", default=lambda stack: f"karpenter-{stack}", unique=None, shown=_workspace_shown
    ),
    "remote": Location(
        key="workspaces", default=lambda stack: f"karpenter-{stack}", unique=None, shown=_workspace_shown
    ),
    "http": Location(
        key="address",
        default=None,
        unique=lambda keys: ("http", keys["address"].rstrip("/")),
        shown=lambda keys: without_query(keys["address"]),
    ),
    "gcs": Location(
        key="prefix",
        default=lambda stack: f"karpenter/{stack}",
        unique=lambda keys: ("gcs", keys["bucket"], normpath(keys["prefix"])),
        shown=lambda keys: f"gs://{keys['bucket']}/{keys['prefix']}/default.tfstate",
    ),
    "azurerm": Location(
        key="key",
        default=_file,
        unique=_together("environment", "storage_account_name", "container_name", "key"),
        shown=lambda keys: _joined(keys, "storage_account_name", "container_name", "key"),
    ),
    "pg": Location(
        key="schema_name",
        default=_schema,
        unique=_together("conn_str", "schema_name"),
        shown=lambda keys: f"{keys.get('conn_str') or 'PG_CONN_STR'}, schema {keys['schema_name']}",
    ),
    "consul": Location(
        key="path",
        default=lambda stack: f"karpenter/{stack}",
        unique=_together("address", "datacenter", "path"),
        shown=lambda keys: _joined(keys, "address", "datacenter", "path"),
    ),
    "kubernetes": Location(
        key="secret_suffix",
        default=_secret_suffix,
        unique=_together(*KUBERNETES),
        shown=lambda keys: f"secret {keys.get('namespace') or 'default'}/tfstate-default-{keys['secret_suffix']}",
    ),
    "oss": Location(
        key="key",
        default=_file,
        unique=lambda keys: ("oss", keys["bucket"], normpath(_object(keys, OSS_PREFIX))),
        shown=lambda keys: f"oss://{keys['bucket']}/{_object(keys, OSS_PREFIX)}",
    ),
    "cos": Location(
        key="key",
        default=_file,
        unique=lambda keys: ("cos", keys["bucket"], normpath(_object(keys))),
        shown=lambda keys: f"cos://{keys['bucket']}/{_object(keys)}",
    ),
}


def with_defaults(keys: Keys, stack: str) -> dict[str, Any]:
    """Fill in the key that decides where the state is, with the stack's name in it."""
    location = LOCATIONS[keys["type"]]
    if location.default is None:
        return dict(keys)
    if location.key == "workspaces":
        where = keys["workspaces"]
        named = {} if where.get("tags") or where.get("prefix") else {"name": location.default(stack)}
        return {**keys, "workspaces": named | where}
    return {location.key: location.default(stack)} | dict(keys)


def has_default(keys: Keys) -> bool:
    """Tell whether the key that decides where the state is may be left out."""
    return LOCATIONS[keys["type"]].default is not None


def is_default_local(keys: Keys, stack: str) -> bool:
    """Tell whether the state is the local file that is chosen without a word about it."""
    return keys["type"] == "local" and keys == with_defaults({"type": "local"}, stack)


def unique_state(keys: Keys) -> tuple[object, ...]:
    """Return what tells one state from another, for a backend whose table says it."""
    unique = LOCATIONS[keys["type"]].unique
    assert unique is not None  # noqa: S101 - the caller knows the others; for mypy
    return unique(keys)


def state_shown(keys: Keys) -> str:
    """Say where the state is."""
    return LOCATIONS[keys["type"]].shown(keys)


def state_key(keys: Keys) -> tuple[tuple[str, ...], object]:
    """Return the key of the file that decides where the state is, below `backend`, and its value."""
    key = LOCATIONS[keys["type"]].key
    if key != "workspaces":
        return (key,), keys[key]
    where = keys["workspaces"]
    chosen = next(name for name in ("tags", "prefix", "name") if where.get(name))
    return (key, chosen), where[chosen]
