"""The checks on references, which only Python's front door takes: a file of `delivery: gitops` cannot have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nodeless.finding import Finding, Path
from nodeless.resolved.installation import Installation
from nodeless.resolved.references import references_in
from nodeless.spec.guards.guard import Guard, guard

Values = Iterator[tuple[Path, object]]


def _endpoint(installation: Installation) -> Values:
    yield ("endpoint",), installation.endpoint


def _values(installation: Installation) -> Values:
    yield ("karpenter", "values"), installation.values


def _tags(installation: Installation) -> Values:
    yield ("tags",), installation.tags


def _pools(installation: Installation) -> Values:
    for index, (_, spec) in enumerate(installation.node_pools):
        yield ("node_pools", index, "spec"), spec


def _classes(installation: Installation) -> Values:
    for index, (_, spec) in enumerate(installation.node_classes):
        yield ("node_classes", index, "spec"), spec


def _has_no_reference(key: str, values: Callable[[Installation], Values]) -> Guard[Installation, Finding]:
    """Make the guard that what one key puts into the files is known when they are written."""

    @guard("delivery", key)
    def check(installation: Installation) -> Iterator[Finding]:
        if installation.is_literal or installation.delivery != "gitops":
            return
        for above, value in values(installation):
            for path, reference in references_in(value):
                expected = "a literal, because the files of delivery: gitops are not evaluated by Terraform"
                yield Finding((*above, *path), reference, expected, "write the value itself, or use delivery: helm")

    return check


GUARDS = (
    _has_no_reference("endpoint", _endpoint),
    _has_no_reference("karpenter.values", _values),
    _has_no_reference("tags", _tags),
    _has_no_reference("node_pools[].spec", _pools),
    _has_no_reference("node_classes[].spec", _classes),
)
