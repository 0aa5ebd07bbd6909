"""Sees in which order the parts of an installation go: in the cluster and in the account, and as Terraform tells it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from threading import Event

from nodeless.resolved.installation import Installation
from nodeless.resolved.resources import all_manifests
from nodeless.stacks import destroy_order
from tests.lab import as_asked
from tests.lab.lab import Lab
from tests.lab.played_webhooks import DEFINITIONS
from tests.terraform.runner import Step

PAUSE = 0.2

# What is destroyed first, and what must exist until that is done.
ORDER = (
    ("pools", "controller"),
    ("controller", "definitions"),
    ("definitions", "profile"),
    ("profile", "fargate_role"),
    ("controller", "controller_role"),
    ("controller", "node_role"),
)
PARTS = frozenset(part for pair in ORDER for part in pair)

Moment = frozenset[str]


class Witness:
    """Looks at an installation that exists."""

    def __init__(self, lab: Lab, installation: Installation) -> None:
        self._lab, self._installation = lab, installation
        self._iam, self._eks = (lab.world.aws.client(service, lab.world.region) for service in ("iam", "eks"))
        self._pools = [as_asked.path_of(lab.kube, manifest) for manifest in all_manifests(installation)]

    def look(self) -> Moment:
        """Return the parts that are there."""
        return frozenset(self._parts())

    def _parts(self) -> Iterator[str]:
        # The last to go are looked at first: so what is found later was there at that time too.
        names, kube = self._installation.names, self._lab.kube
        roles = {role["RoleName"] for role in self._iam.list_roles()["Roles"]}
        yield from (part for part in ("controller_role", "fargate_role", "node_role") if getattr(names, part) in roles)
        if self._eks.list_fargate_profiles(clusterName=self._lab.world.cluster)["fargateProfileNames"]:
            yield "profile"
        if kube.items(DEFINITIONS):
            yield "definitions"
        if kube.find(as_asked.deployment(self._installation.namespace)):
            yield "controller"
        if any(kube.find(path) for path in self._pools):
            yield "pools"


@contextmanager
def watching(lab: Lab, installation: Installation) -> Iterator[list[Moment]]:
    """Look before, again and again meanwhile, and after; the list gets what was there each time."""
    witness, stop = Witness(lab, installation), Event()
    moments = [witness.look()]

    def watch() -> None:
        while not stop.wait(PAUSE):
            moments.append(witness.look())

    with ThreadPoolExecutor(1) as thread:
        watched = thread.submit(watch)
        try:
            yield moments
        finally:
            stop.set()
            watched.result()
            moments.append(witness.look())


def out_of_order(moments: Iterable[Moment]) -> set[str]:
    """Name every part that was gone while one was there that has to go before it."""
    return {
        f"there was no {later} while there were still {first}"
        for moment in moments
        for first, later in ORDER
        if first in moment and later not in moment
    }


def begun_too_early(steps: Sequence[Step], *, destroying: bool) -> list[str]:
    """Compare Terraform's steps with the order of a destroy: none begins before what comes first is done.

    When a stack is created, the order is the other way round.
    """
    begun = {step.address: number for number, step in enumerate(steps) if not step.is_done}
    done = {step.address: number for number, step in enumerate(steps) if step.is_done}
    pairs = destroy_order.ORDER if destroying else [(later, first) for first, later in destroy_order.ORDER]
    return [
        f"{later} began before {first} was done"
        for first_pattern, later_pattern in pairs
        for first in done
        if fnmatchcase(first, first_pattern)
        for later in begun
        if fnmatchcase(later, later_pattern) and begun[later] < done[first]
    ]
