"""In which order Terraform destroys the resources of a stack, as far as its graph decides it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from nodeless.stack_graph import Graph, between_resources, dependencies, reach

# What else happens when these are destroyed.
NOTES = {
    "helm_release.node_pools": "Karpenter drains and terminates its nodes first.",
    "helm_release.karpenter": "The controller stops; until here it has its role, its policies and its queue.",
    "aws_eks_fargate_profile.karpenter": "Nothing of the controller runs any more.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Destroyed:
    """A resource, and what must be gone before it is destroyed."""

    address: str
    after: tuple[str, ...]
    note: str = ""


def destroy_steps(stack: Mapping[str, Any]) -> tuple[tuple[Destroyed, ...], ...]:
    """Return the resources in steps: each is destroyed in the first step in which nothing needs it any more."""
    needed_by = _turned(between_resources(dependencies(stack)))
    sorter = TopologicalSorter(needed_by)
    sorter.prepare()
    steps = []
    while sorter:
        ready = sorted(sorter.get_ready())
        sorter.done(*ready)
        steps.append(
            tuple(Destroyed(address=each, after=_last(needed_by, each), note=NOTES.get(each, "")) for each in ready)
        )
    return tuple(steps)


def _turned(graph: Graph) -> Graph:
    users: dict[str, set[str]] = {address: set() for address in graph}
    for address, needed in graph.items():
        for each in needed:
            users[each].add(address)
    return {address: frozenset(each) for address, each in users.items()}


def _last(needed_by: Graph, address: str) -> tuple[str, ...]:
    """Return the users that go last: whatever another user waits for is gone before that one."""
    users = needed_by[address]
    earlier = {each for user in users for each in reach(needed_by, user)}
    return tuple(sorted(users - earlier))
