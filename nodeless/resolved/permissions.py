"""The controller's policies for one installation, and the proof that each of them fits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nodeless.karpenter.controller import Grant
from nodeless.karpenter.guides import GUIDES
from nodeless.karpenter.packing import Packed, fits_whole, pack, pack_guide
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Policy, size
from nodeless.resolved.installation import Installation
from nodeless.resolved.names import LONGEST_CLUSTER_NAME
from nodeless.resolved.references import is_reference

ANY_ACCOUNT = "0" * 12
# IAM's limits: a path of 512 characters and a name of 64.
LONGEST_ROLE_ARN = len(f"arn:aws-us-gov:iam::{ANY_ACCOUNT}:role") + 512 + 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What shows that a policy fits: its size as IAM counts it, and the longest cluster name that would still fit."""

    policy: str
    size: int
    longest_cluster_name: int

    @property
    def headroom(self) -> int:
        """Count the characters left."""
        return MANAGED_POLICY_LIMIT - self.size


def place_of(installation: Installation, *, account: str) -> Place:
    """Say where the installation stands; the account may be a reference."""
    return Place(
        partition=installation.partition.name,
        dns_suffix=installation.partition.dns_suffix,
        region=installation.region,
        account=account,
        cluster=installation.name,
    )


def grant_of(installation: Installation, place: Place) -> Grant:
    """Say what the controller is granted its permissions on."""
    return Grant(
        place=place,
        release=installation.release,
        node_role_arns=node_role_arns(installation, place),
        queue_arn=place.regional("sqs", installation.names.queue) if installation.queue else None,
        kms_key_arn=installation.queue.kms_key_arn if installation.queue else None,
    )


def node_role_arns(installation: Installation, place: Place) -> tuple[str, ...]:
    """Name every role a node may have: the first, then the further ones in the order of the file."""
    names = installation.names
    made = {role.key: names.further("node_role", role.key) for role in installation.node_roles}
    return (
        place.iam(f"role{installation.path}{names.node_role}"),
        *(role.arn or place.iam(f"role{installation.path}{made[role.key]}") for role in installation.node_roles),
    )


def controller_policies(installation: Installation, place: Place) -> tuple[Policy, ...]:
    """Return the managed policies of the controller, packed so that each fits."""
    packed = _packed(installation, grant_of(installation, place), whole=fits_whole(_measured(installation)))
    return tuple(
        Policy(key=key, name=installation.names.policy(key), statements=group) for key, group in packed.items()
    )


def sizes(installation: Installation) -> dict[str, int]:
    """Measure every policy, by its key, with the longest value in place of each one only known at apply."""
    measured = _measured(installation)
    packed = _packed(installation, measured, whole=fits_whole(measured))
    return {key: size(group) for key, group in packed.items()}


def proofs(installation: Installation) -> tuple[Proof, ...]:
    """Measure every policy, and find how long the cluster's name could be until it no longer fits as it is packed."""
    whole = fits_whole(_measured(installation))
    return tuple(
        Proof(
            policy=installation.names.policy(key),
            size=measured,
            longest_cluster_name=_longest_cluster_name(installation, key, whole=whole),
        )
        for key, measured in sizes(installation).items()
    )


def _packed(installation: Installation, grant: Grant, *, whole: bool) -> Packed:
    """Pack upstream's statements, or those of the guide the file names."""
    guide = GUIDES.get(installation.policy)
    extra = installation.extra_statements
    return pack_guide(guide, grant, extra=extra) if guide else pack(grant, whole=whole, extra=extra)


def _longest_cluster_name(installation: Installation, key: str, *, whole: bool) -> int:
    """Halve the lengths EKS allows until the longest is found for which this policy still fits."""
    shortest, longest = 0, LONGEST_CLUSTER_NAME
    while shortest < longest:
        length = (shortest + longest + 1) // 2
        packed = _packed(installation, _measured(installation, "x" * length), whole=whole)
        if size(packed[key]) <= MANAGED_POLICY_LIMIT:
            shortest = length
        else:
            longest = length - 1
    return shortest


def _measured(installation: Installation, cluster: str | None = None) -> Grant:
    """Make the grant sizes are taken of: real lengths, or the longest possible where a value is only known later."""
    if cluster is None:
        cluster = "x" * LONGEST_CLUSTER_NAME if is_reference(installation.name) else installation.name
    known = replace(installation, name=cluster, names=replace(installation.names, cluster=cluster))
    grant = grant_of(known, place_of(known, account=ANY_ACCOUNT))
    return replace(grant, node_role_arns=tuple(map(_at_its_longest, grant.node_role_arns)))


def _at_its_longest(arn: str) -> str:
    return "x" * LONGEST_ROLE_ARN if is_reference(arn) else arn
