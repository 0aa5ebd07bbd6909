"""The controller's policies: what they are about, how they are divided, and how much room each has left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nodeless.karpenter.grant import Grant
from nodeless.karpenter.guides import GUIDES
from nodeless.karpenter.packing import Packed, Packing, fits_whole, pack, pack_guide
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Policy, size
from nodeless.resolved.names import LONGEST_CLUSTER_NAME, NAME_LIMITS, Names
from nodeless.resolved.partitions import PARTITIONS
from nodeless.resolved.references import is_reference

if TYPE_CHECKING:
    # An Installation decides its packing with this module when it is made.
    from nodeless.resolved.installation import Installation

ANY_ACCOUNT = "0" * 12
# IAM's limits: a path of 512 characters and a name of 64.
LONGEST_ROLE_ARN = max(len(f"arn:{partition.name}:iam::{ANY_ACCOUNT}:role") for partition in PARTITIONS) + 512 + 64
LONGEST_PARTITION = max((partition.name for partition in PARTITIONS), key=len)
LONGEST_SUFFIX = max((partition.dns_suffix for partition in PARTITIONS), key=len)
# The longest known region has fourteen characters.
LONGEST_REGION = 20


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
    """Return the values every ARN of the installation is built from; the account may be a reference."""
    return Place(
        partition=installation.partition.name,
        dns_suffix=installation.partition.dns_suffix,
        region=installation.region,
        account=account,
        cluster=installation.name,
    )


def queue_arn(installation: Installation, place: Place) -> str | None:
    """Return the ARN of the interruption queue, if there is one."""
    return _queue_arn(installation, installation.names, place)


def node_role_arns(installation: Installation, place: Place) -> tuple[str, ...]:
    """Return the ARN of every role a node may have: the installation's own, then the extra ones in the file's order."""
    return _node_role_arns(installation, installation.names, place)


def grant_of(installation: Installation, place: Place) -> Grant:
    """Return what the controller's statements are about."""
    return _grant(installation, installation.names, place)


def packing_of(installation: Installation) -> Packing:
    """Decide how the controller's statements are divided into policies, and measure each policy."""
    measured = _measured_grant(installation, _longest_name(installation))
    whole = installation.policy in GUIDES or fits_whole(measured)
    packed = _packed(installation, measured, whole=whole)
    return Packing(whole=whole, sizes={key: size(group) for key, group in packed.items()})


def controller_policies(installation: Installation, place: Place) -> tuple[Policy, ...]:
    """Return the controller's managed policies, divided as the installation's packing says."""
    packed = _packed(installation, grant_of(installation, place), whole=installation.packing.whole)
    return tuple(
        Policy(key=key, name=installation.names.policy(key), statements=group) for key, group in packed.items()
    )


def proofs(installation: Installation) -> tuple[Proof, ...]:
    """Find for every policy how long the cluster's name could be until the policy no longer fits, divided as it is.

    This renders every policy several times; the sizes alone are in the installation's packing.
    """
    return tuple(
        Proof(
            policy=installation.names.policy(key),
            size=characters,
            longest_cluster_name=_longest_cluster_name(installation, key),
        )
        for key, characters in installation.packing.sizes.items()
    )


def _grant(installation: Installation, names: Names, place: Place) -> Grant:
    return Grant(
        place=place,
        release=installation.release,
        node_role_arns=_node_role_arns(installation, names, place),
        queue_arn=_queue_arn(installation, names, place),
        kms_key_arn=installation.queue.kms_key_arn if installation.queue else None,
    )


def _queue_arn(installation: Installation, names: Names, place: Place) -> str | None:
    return place.regional("sqs", names.queue) if installation.queue else None


def _node_role_arns(installation: Installation, names: Names, place: Place) -> tuple[str, ...]:
    def arn(name: str) -> str:
        return place.iam(f"role{installation.path}{name}")

    extra = (role.arn or arn(names.extra_node_role(role.key)) for role in installation.node_roles)
    return (arn(names.node_role), *extra)


def _packed(installation: Installation, grant: Grant, *, whole: bool) -> Packed:
    """Group upstream's statements by policy, or those of the guide the file names."""
    guide = GUIDES.get(installation.policy)
    extra = installation.extra_statements
    return pack_guide(guide, grant, extra=extra) if guide else pack(grant, whole=whole, extra=extra)


def _longest_cluster_name(installation: Installation, key: str) -> int:
    """Halve the range of lengths EKS allows until the longest is found for which this policy still fits."""
    shortest, longest = 0, LONGEST_CLUSTER_NAME
    while shortest < longest:
        length = (shortest + longest + 1) // 2
        packed = _packed(installation, _measured_grant(installation, "x" * length), whole=installation.packing.whole)
        if size(packed[key]) <= MANAGED_POLICY_LIMIT:
            shortest = length
        else:
            longest = length - 1
    return shortest


def _measured_grant(installation: Installation, cluster: str) -> Grant:
    """Return the grant for a cluster of this name, with the longest possible value for each one only known at apply."""
    place = _longest_place(replace(place_of(installation, account=ANY_ACCOUNT), cluster=cluster))
    grant = _grant(installation, replace(installation.names, cluster=cluster), place)
    queue = grant.queue_arn
    return replace(
        grant,
        node_role_arns=tuple(_longest_arns(grant.node_role_arns)),
        queue_arn=place.regional("sqs", "x" * NAME_LIMITS["queue"]) if queue and is_reference(queue) else queue,
    )


def _longest_place(place: Place) -> Place:
    return replace(
        place,
        partition=LONGEST_PARTITION if is_reference(place.partition) else place.partition,
        dns_suffix=LONGEST_SUFFIX if is_reference(place.dns_suffix) else place.dns_suffix,
        region="x" * LONGEST_REGION if is_reference(place.region) else place.region,
    )


def _longest_name(installation: Installation) -> str:
    return "x" * LONGEST_CLUSTER_NAME if is_reference(installation.name) else installation.name


def _longest_arns(arns: Iterable[str]) -> Iterable[str]:
    return ("x" * LONGEST_ROLE_ARN if is_reference(arn) else arn for arn in arns)
