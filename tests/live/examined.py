"""Runs doctor in this process, and reads what it says."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from nodeless.live.account import Account, opened
from nodeless.live.checks.check import Result, Severity
from nodeless.live.doctor import Examination, examine
from nodeless.resolved.installation import Installation
from nodeless.spec.resolution import resolve
from tests.live.site import Site


@cache
def _opened(endpoint: str, region: str) -> Account:
    """Log in once: making clients takes longer than what they are asked."""
    assert endpoint
    return opened(region)


def log_in_once(region: str, **_: object) -> Account:
    """Return an account of the server that boto3 talks to now."""
    return _opened(os.environ["AWS_ENDPOINT_URL"], region)


def installation_of(site: Site, **keys: Any) -> tuple[str | None, Installation]:  # noqa: ANN401 - keys of a cluster
    """Resolve a file with this cluster; return also the Kubernetes version that it names."""
    tree = {"clusters": [{"name": site.cluster, "region": site.region, **keys}]}
    ((cluster, installation),) = resolve(tree, source="test")
    return cluster.kubernetes, installation


def examined(site: Site, *, log_in: Callable[..., Account] = log_in_once, **keys: Any) -> Examination:  # noqa: ANN401 - as above
    """Examine a cluster of a file with these keys."""
    return examine(*installation_of(site, **keys), log_in=log_in)


def problems(examination: Examination) -> list[tuple[str, Result]]:
    """Return everything that is not right."""
    return [(row.check, row.result) for row in examination.rows if row.result.severity is not Severity.OK]


def one(examination: Examination, check: str) -> Result:
    """Return the only finding of a check."""
    (result,) = (row.result for row in examination.rows if row.check == check)
    return result


def words(results: Sequence[tuple[str, Result]]) -> str:
    """Write findings for a message of a test."""
    return "\n".join(f"{check}: {result}" for check, result in results)
