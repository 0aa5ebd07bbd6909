"""Specs of pools and classes to check: the defaults of a release, and how to change them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

from nodeless.finding import Finding
from nodeless.karpenter.custom_resources import ResourceInputs, default_class, default_pool
from nodeless.karpenter.versions import Release
from nodeless.spec.guards.pools import PoolsAndClasses, pool_findings
from nodeless.trees import places, steps

Spec = dict[str, Any]

INPUTS = ResourceInputs(
    cluster="demo",
    tag_key="karpenter.sh/discovery",
    node_role="demo-karpenter-node",
    instance_profile="demo-karpenter-instance-profile",
    isolated_vpc=False,
    interruption=True,
)


def default_of(kind: str, release: Release) -> Spec:
    """Return the pool or the class that nodeless writes itself."""
    return default_pool(release, INPUTS) if kind == "pool" else default_class(release, INPUTS)


def cluster(
    release: Release, *, pool: object = None, node_class: object = None, isolated: bool = False
) -> PoolsAndClasses:
    """Return a cluster with one pool and one class, the defaults where none is given."""
    inputs = replace(INPUTS, isolated_vpc=isolated)
    pool_spec: Any = pool if pool is not None else default_pool(release, inputs)
    class_spec: Any = node_class if node_class is not None else default_class(release, inputs)
    return PoolsAndClasses(
        release=release,
        pools=(("default", pool_spec),),
        class_names=("default",),
        classes=(("default", class_spec),),
        roles=(INPUTS.node_role,),
        profiles=(str(INPUTS.instance_profile),),
        isolated_vpc=isolated,
    )


def findings(kind: str, release: Release, spec: object) -> list[Finding]:
    """Check one pool beside the default class, or one class beside the default pool."""
    return list(pool_findings(cluster(release, pool=spec) if kind == "pool" else cluster(release, node_class=spec)))


def put(spec: Spec, template: str, value: object) -> Spec:
    """Write a value where a path of a table points to; into every item of a list, or into a first one."""
    copy = deepcopy(spec)
    _put(copy, steps(template), value)
    return copy


def _put(tree: Any, parts: list[str], value: object) -> None:  # noqa: ANN401 - any YAML
    first, *rest = parts
    if first == "[]":
        if not tree:
            tree.append({} if rest and rest[0] != "[]" else None)
        for index in range(len(tree)):
            if rest:
                _put(tree[index], rest, value)
            else:
                tree[index] = value
    elif not rest:
        tree[first] = value
    else:
        _put(tree.setdefault(first, [] if rest[0] == "[]" else {}), rest, value)


def drop(spec: Spec, template: str) -> Spec:
    """Take out what a path of a table points to."""
    copy = deepcopy(spec)
    above, _, name = template.rpartition(".")
    for _, parent in places(copy, above) if above else [((), copy)]:
        assert isinstance(parent, dict)
        parent.pop(name, None)
    return copy
