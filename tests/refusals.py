"""What is wrong with a file, as its findings."""

from __future__ import annotations

from typing import Any

from nodeless.finding import Finding, SpecError
from nodeless.spec.resolution import resolve


def problems(*clusters: dict[str, Any], **keys: Any) -> list[Finding]:  # noqa: ANN401 - keys of a cluster
    """Return every mistake in these clusters, or in one cluster of these keys; in a file that is right there is none.

    A cluster is named demo and is in eu-north-1, unless its keys say otherwise.
    """
    assert not (clusters and keys), "either whole clusters or the keys of one"
    rows = [{"name": "demo", "region": "eu-north-1", **each} for each in clusters or (keys,)]
    try:
        resolve({"clusters": rows}, source="clusters.yaml")
    except SpecError as error:
        return list(error.findings)
    return []
