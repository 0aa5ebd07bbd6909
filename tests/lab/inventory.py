"""Everything that is in a cluster: each object by its kind, namespace and name."""

from __future__ import annotations

from collections.abc import Iterator

from tests.lab.kube import Kube, KubeError

# What the control plane writes by itself, again and again.
OF_THE_CONTROL_PLANE = {"events", "leases", "endpoints", "endpointslices", "flowschemas", "controllerrevisions"}


def inventory(kube: Kube) -> set[str]:
    """List every object of every kind that the server knows, custom ones included."""
    return {name for path in _collections(kube) for name in _names(kube, path)}


def _collections(kube: Kube) -> Iterator[str]:
    groups = kube.get("/apis")["groups"]
    for root in ("/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)):
        for resource in kube.get(root)["resources"]:
            if "list" in resource["verbs"] and resource["name"] not in OF_THE_CONTROL_PLANE:
                yield f"{root}/{resource['name']}"


def _names(kube: Kube, path: str) -> Iterator[str]:
    try:
        found = kube.items(path)
    except KubeError:
        # Some lists exist for other verbs only.
        return
    for item in found:
        metadata = item["metadata"]
        yield "/".join(part for part in (path.rpartition("/")[2], metadata.get("namespace"), metadata["name"]) if part)


def differences(asked: object, found: object, at: str = "") -> Iterator[str]:
    """Name what was asked for and is not there so; what the server added does not count."""
    if isinstance(asked, dict) and isinstance(found, dict):
        for key, value in asked.items():
            yield from differences(value, found.get(key), f"{at}.{key}" if at else key)
    elif isinstance(asked, list | tuple) and isinstance(found, list) and len(asked) == len(found):
        for number, (one, other) in enumerate(zip(asked, found, strict=True)):
            yield from differences(one, other, f"{at}[{number}]")
    elif asked != found and str(asked) != str(found):
        yield f"{at} is {found!r} instead of {asked!r}"
