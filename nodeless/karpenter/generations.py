"""Since which release the controller's permissions are what they are: releases between two changes need the same."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from nodeless.karpenter.controller import Duty, statements
from nodeless.karpenter.grant import Grant
from nodeless.karpenter.packing import SPLIT_BY_DUTY
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Statement
from nodeless.karpenter.releases import RELEASES
from nodeless.karpenter.versions import Release, the_one

# Any cluster will do: releases are compared for the same one.
PLACE = Place(partition="aws", dns_suffix="amazonaws.com", region="eu-north-1", account="0" * 12, cluster="any")


def permissions_since(release: Release) -> Release:
    """Return the first release of those up to this one whose permissions are the same without a break."""
    return max(first for first in first_releases() if first <= release)


@cache
def first_releases() -> tuple[Release, ...]:
    """Return the releases with which the permissions changed, and the first of all."""
    changed = (after for before, after in pairwise(RELEASES) if _permissions(before) != _permissions(after))
    return (RELEASES[0], *changed)


@cache
def _permissions(release: Release) -> tuple[bool, tuple[tuple[Duty, Statement], ...]]:
    grant = Grant(place=PLACE, release=release, node_role_arns=("any",), queue_arn="any")
    return the_one(release, SPLIT_BY_DUTY), statements(grant)
