"""How statements are packed into managed policies, so that each fits and one more never reshuffles the rest."""

from __future__ import annotations

from nodeless.karpenter.controller import DUTIES, INTERRUPTION, Grant, statements
from nodeless.karpenter.interruption import queue_decryption
from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Statement, size
from nodeless.karpenter.versions import Window, before, since, the_one

# Since 1.9 upstream splits the policy by duty. Before, it is one policy, which outgrows IAM with longer cluster names.
SPLIT_BY_DUTY: tuple[tuple[Window, bool], ...] = ((before(1, 9), False), (since(1, 9), True))

WHOLE_KEY = "controller"
EXTRA_KEY = "extra"
TITLES = {WHOLE_KEY: "", EXTRA_KEY: "Extra"} | {duty.key: duty.title for duty in DUTIES}

Packed = dict[str, tuple[Statement, ...]]


def policy_title(key: str) -> str:
    """Return the policy's name up to the cluster's: `KarpenterControllerNodeLifecyclePolicy`."""
    return f"KarpenterController{TITLES[key]}Policy"


def fits_whole(measured: Grant) -> bool:
    """Tell whether upstream has one policy for the release, and one policy holds it."""
    if the_one(measured.release, SPLIT_BY_DUTY):
        return False
    return size(_whole(measured)) <= MANAGED_POLICY_LIMIT


def pack(grant: Grant, *, whole: bool, extra: tuple[Statement, ...] = ()) -> Packed:
    """Group the release's statements by policy key: in one piece, or by duty as upstream does since 1.9.

    The user's own statements are a policy of their own, so that they never push upstream's over the limit.
    """
    if whole:
        packed = {WHOLE_KEY: _whole(grant)}
    else:
        rows = [*statements(grant), *((INTERRUPTION, row) for row in _decryption(grant))]
        by_duty = {duty.key: tuple(row for owner, row in rows if owner is duty) for duty in DUTIES}
        packed = {key: group for key, group in by_duty.items() if group}
    return packed | ({EXTRA_KEY: extra} if extra else {})


def _whole(grant: Grant) -> tuple[Statement, ...]:
    return (*(row for _, row in statements(grant)), *_decryption(grant))


def _decryption(grant: Grant) -> tuple[Statement, ...]:
    return (queue_decryption(grant.place, grant.kms_key_arn),) if grant.queue_arn and grant.kms_key_arn else ()
