"""Divides statements into managed policies so that each fits, and so that adding one never moves another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nodeless.karpenter.controller import DUTIES, INTERRUPTION, statements
from nodeless.karpenter.grant import Grant
from nodeless.karpenter.guides import Guide
from nodeless.karpenter.interruption import queue_decryption
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Statement, size
from nodeless.karpenter.versions import Window, before, since, the_one

# Since 1.9 upstream splits the policy by duty. Before, it is one policy, which is too large with a long cluster name.
SPLIT_BY_DUTY: tuple[tuple[Window, bool], ...] = ((before(1, 9), False), (since(1, 9), True))

WHOLE_KEY = "controller"
EXTRA_KEY = "extra"
TITLES = {WHOLE_KEY: ""} | {duty.key: duty.title for duty in DUTIES} | {EXTRA_KEY: "Extra"}

Packed = dict[str, tuple[Statement, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """How the controller's statements are divided: into one policy or by duty, and the size of each policy by its key.

    Sizes are what IAM counts, with the longest possible value in place of each one that is only known at apply.
    """

    whole: bool
    sizes: Mapping[str, int]


def policy_title(key: str) -> str:
    """Return the policy's name up to the cluster's: `KarpenterControllerNodeLifecyclePolicy`."""
    return f"KarpenterController{TITLES[key]}Policy"


def fits_whole(measured: Grant) -> bool:
    """Tell whether upstream has one policy for the release, and upstream's statements fit into one."""
    if the_one(measured.release, SPLIT_BY_DUTY):
        return False
    return size(row for _, row in statements(measured)) <= MANAGED_POLICY_LIMIT


def pack(grant: Grant, *, whole: bool, extra: tuple[Statement, ...] = ()) -> Packed:
    """Group the release's statements by policy key: in one piece, or by duty as upstream does since 1.9."""
    return _grouped([(WHOLE_KEY if whole else duty.key, row) for duty, row in statements(grant)], grant, extra)


def pack_guide(guide: Guide, grant: Grant, *, extra: tuple[Statement, ...] = ()) -> Packed:
    """Keep a guide's policy in one piece, as the guide does."""
    return _grouped([(WHOLE_KEY, row) for row in guide.statements(grant)], grant, extra)


def _grouped(rows: list[tuple[str, Statement]], grant: Grant, extra: tuple[Statement, ...]) -> Packed:
    """Group statements by policy key, and add those that upstream does not have.

    The permission to read an encrypted queue and the user's own statements are in policies of their own, never in
    upstream's single policy: they cannot push it over the limit, and adding one moves no other.
    """
    if grant.queue_arn and grant.kms_key_arn:
        rows = [*rows, (INTERRUPTION.key, queue_decryption(grant.queue_arn, grant.kms_key_arn))]
    rows = [*rows, *((EXTRA_KEY, row) for row in extra)]
    used = {key for key, _ in rows}
    return {key: tuple(row for owner, row in rows if owner == key) for key in TITLES if key in used}
