"""What follows from the settings of a cluster: what is said in one line, its policies, and who may use what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nodeless.karpenter.policy import MANAGED_POLICY_LIMIT, Statement
from nodeless.resolved.backends import state_shown
from nodeless.resolved.installation import Installation
from nodeless.resolved.interruption import plan_queue
from nodeless.resolved.lookups import issuer_before_a_plan, place_before_a_plan
from nodeless.resolved.permissions import Proof, proofs
from nodeless.resolved.roles import (
    NodeRolePlan,
    RolePlan,
    plan_controller,
    plan_extra_node_roles,
    plan_fargate,
    plan_node_role,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPolicy:
    """A policy of the controller: what it allows, and what shows that it fits."""

    proof: Proof
    statements: tuple[Statement, ...]
    limit: int = MANAGED_POLICY_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Statements that belong to one role or to the queue: who may use it, or a policy that exists only there."""

    of: str
    what: str
    statements: tuple[Statement, ...]


def facts(installation: Installation) -> dict[str, str]:
    """Return what is decided for the whole stack."""
    not_offered = ", ".join(sorted(installation.partition.not_offered))
    return {
        "stack": installation.stack,
        "release": str(installation.version),
        **({"tables": str(installation.release)} if installation.is_beyond_tables else {}),
        "partition": installation.partition.name,
        **({"not offered there": not_offered} if not_offered else {}),
        "state": state_shown(installation.backend),
    }


def policies(installation: Installation) -> tuple[ExplainedPolicy, ...]:
    """Return the controller's policies."""
    plan = plan_controller(installation, place_before_a_plan(installation), issuer_host=None)
    return tuple(
        ExplainedPolicy(proof=proof, statements=policy.statements)
        for proof, policy in zip(proofs(installation), plan.policies, strict=True)
    )


def accesses(installation: Installation) -> Iterator[Access]:
    """Yield who may assume each role and who may send to the queue, and the policies that a role has in itself."""
    place = place_before_a_plan(installation)
    fargate, queue = plan_fargate(installation, place), plan_queue(installation, place)
    issuer = issuer_before_a_plan(installation)
    roles: list[RolePlan] = [
        *([fargate.role] if fargate else []),
        plan_controller(installation, place, issuer_host=issuer).role,
        plan_node_role(installation, place).role,
        *(plan.role for plan in plan_extra_node_roles(installation, place) if isinstance(plan, NodeRolePlan)),
    ]
    for role in roles:
        yield Access(of=role.name, what="who may assume the role", statements=role.trust)
        for key, statements in role.inline:
            yield Access(of=role.name, what=f"its own policy {key}", statements=statements)
    if queue:
        yield Access(of=queue.name, what="who may use the queue", statements=queue.policy)
