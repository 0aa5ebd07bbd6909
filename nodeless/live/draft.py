"""What `nodeless init` is about to write: keys with their values, where each comes from, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.releases import NEWEST


@dataclass(frozen=True, slots=True)
class Noted:
    """A value with a comment beside it."""

    value: Any
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One cluster of the file.

    Values are scalars, lists and maps; any of them may be Noted. `missing` is what has to be done before an apply,
    `existing` what is in the account already, and `found` is everything that was read, for programs.
    """

    keys: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    existing: tuple[str, ...] = ()
    found: Mapping[str, Any] | None = None


def without_cluster(name: str, region: str) -> Draft:
    """Return what can be written without a look at AWS."""
    return Draft(
        keys={
            "name": Noted(name, "the EKS cluster, which exists already"),
            "region": Noted(region, "its region, which also decides the partition"),
            "karpenter": {"version": Noted(str(NEWEST), "the newest release that this nodeless knows")},
        }
    )


def plain(value: Any) -> Any:  # noqa: ANN401 - any YAML
    """Return a value without its comments."""
    if isinstance(value, Noted):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
