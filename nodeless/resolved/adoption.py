"""What a stack takes over from another tool: what is imported, what moves in the state, what the state forgets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from nodeless.karpenter.interruption import TARGET_ID
from nodeless.karpenter.place import Place
from nodeless.karpenter.versions import in_effect
from nodeless.resolved.addresses import address_part
from nodeless.resolved.adoption_rows import (
    ASSOCIATION,
    ATTACHMENT,
    EXCLUSIVE,
    FIRST_POLICY,
    MODULE_ASSOCIATION,
    OIDC_PROVIDER,
    POLICY,
    QUEUE,
    QUEUE_POLICY,
    ROLE,
    RULE,
    SETUPS,
    TARGET,
    is_one_of,
)
from nodeless.resolved.charts import chart_releases
from nodeless.resolved.installation import Adoption, Installation
from nodeless.resolved.interruption import plan_queue
from nodeless.resolved.permissions import place_of
from nodeless.resolved.roles import RolePlan, plan_controller, plan_fargate, plan_node_role

INSTANCE_KEY = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A resource of the stack that may exist already: its address, and the id it is imported by.

    What does not exist without another resource is `part_of` that one.
    """

    address: str
    id: str
    part_of: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A resource that another configuration had under another address in the same state."""

    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptionPlan:
    """What Terraform does with a set-up that exists; what of it is imported or moved is not created."""

    imports: tuple[Candidate, ...]
    moves: tuple[Move, ...]
    forgotten: tuple[str, ...]


def plan_adoption(installation: Installation, place: Place, *, issuer_host: str | None) -> AdoptionPlan | None:
    """Decide what is taken over; None if nothing is.

    What moves is imported as well: in a state of its own there is nothing to move, and Terraform imports nothing that
    the state has.
    """
    adoption = installation.adoption
    if adoption is None:
        return None
    return AdoptionPlan(
        imports=tuple(_imports(installation, adoption, place, issuer_host)),
        moves=tuple(_moves(installation, adoption, place)),
        forgotten=tuple(_forgotten(installation, adoption)),
    )


def takes_over_state(installation: Installation) -> bool:
    """Tell whether the stack may make a state forget something."""
    return bool(installation.adoption and SETUPS[installation.adoption.setup].forgotten)


def importable(installation: Installation) -> frozenset[str]:
    """Return the addresses of everything that can be taken over."""
    # No address has the account in it.
    place = place_of(installation, account=installation.account or "")
    association = (ASSOCIATION,) if installation.identity == "pod-identity" else ()
    rows = candidates(installation, place, issuer_host="")
    return frozenset((*(row.address for row in rows), *association))


def candidates(installation: Installation, place: Place, *, issuer_host: str | None) -> Iterator[Candidate]:
    """Yield every resource of the stack that another tool may have made, with the id that follows from its name."""
    if installation.creates_oidc_provider and installation.identity == "irsa":
        yield Candidate(address=OIDC_PROVIDER, id=place.iam(f"oidc-provider/{issuer_host}"))
    fargate = plan_fargate(installation, place)
    controller, node = plan_controller(installation, place, issuer_host=None), plan_node_role(installation, place)
    for role in (controller.role, node.role, *((fargate.role,) if fargate else ())):
        yield from _role(installation, role)
    for policy in controller.policies:
        key, arn = f"controller_{policy.key}", place.iam(f"policy{controller.role.path}{policy.name}")
        yield Candidate(address=f"{POLICY}.{key}", id=arn)
        yield Candidate(address=f"{ATTACHMENT}.{key}", id=f"{controller.role.name}/{arn}", part_of=f"{POLICY}.{key}")
    if node.instance_profile:
        yield Candidate(address="aws_iam_instance_profile.node", id=node.instance_profile)
    if node.access_entry_type:
        arn = place.iam(f"role{node.role.path}{node.role.name}")
        yield Candidate(address="aws_eks_access_entry.node", id=f"{installation.name}:{arn}", part_of=f"{ROLE}.node")
    if fargate:
        yield Candidate(address="aws_eks_fargate_profile.karpenter", id=f"{installation.name}:{fargate.profile_name}")
    yield from _interruption(installation, place)
    for tagged in (*installation.tagged_subnets, *installation.tagged_security_groups):
        yield Candidate(address=f"aws_ec2_tag.discovery_{address_part(tagged)}", id=f"{tagged},{installation.tag_key}")
    if installation.delivery == "helm":
        for chart in chart_releases(installation, controller={}):
            address = f"helm_release.{address_part(chart.chart)}"
            yield Candidate(address=address, id=f"{chart.namespace}/{chart.chart}")


def _role(installation: Installation, plan: RolePlan) -> Iterator[Candidate]:
    role = f"{ROLE}.{plan.address}"
    yield Candidate(address=role, id=plan.name)
    for key, arn in plan.attached:
        yield Candidate(address=f"{ATTACHMENT}.{plan.address}_{key}", id=f"{plan.name}/{arn}", part_of=role)
    if installation.exclusive_policies:
        for kind in EXCLUSIVE:
            yield Candidate(address=f"{kind}.{plan.address}", id=plan.name, part_of=role)


def _interruption(installation: Installation, place: Place) -> Iterator[Candidate]:
    plan = plan_queue(installation, place)
    if plan is None:
        return
    url = f"https://sqs.{place.region}.{place.dns_suffix}/{place.account}/{plan.name}"
    yield Candidate(address=QUEUE, id=url)
    yield Candidate(address=QUEUE_POLICY, id=url, part_of=QUEUE)
    for rule in plan.rules:
        address = f"{RULE}.interruption_{rule.key}"
        yield Candidate(address=address, id=f"default/{rule.name}", part_of=QUEUE)
        yield Candidate(
            address=f"{TARGET}.interruption_{rule.key}", id=f"default/{rule.name}/{TARGET_ID}", part_of=address
        )


def _imports(
    installation: Installation, adoption: Adoption, place: Place, issuer_host: str | None
) -> Iterator[Candidate]:
    has = SETUPS[adoption.setup].addresses(installation.release)
    absent, imported = set(adoption.without), set[str]()
    for row in candidates(installation, place, issuer_host=issuer_host):
        given = adoption.ids.get(row.address)
        if row.address in absent or row.part_of in absent:
            # What is part of it does not exist either.
            absent.add(row.address)
        # The policies that a role has beside the stack's own are part of every role that exists.
        elif given or is_one_of(row.address, has) or (row.address.startswith(EXCLUSIVE) and row.part_of in imported):
            imported.add(row.address)
            yield replace(row, id=given or row.id)
    if ASSOCIATION in adoption.ids and installation.identity == "pod-identity":
        yield Candidate(address=ASSOCIATION, id=adoption.ids[ASSOCIATION])


def _moves(installation: Installation, adoption: Adoption, place: Place) -> Iterator[Move]:
    known = [row.address for row in candidates(installation, place, issuer_host=None)]
    if installation.identity == "pod-identity":
        known.append(ASSOCIATION)
    first = next(address for address in known if address.startswith(f"{POLICY}.")).partition(".")[2]
    for old, new in in_effect(installation.release, SETUPS[adoption.setup].moves):
        move = Move(_in_module(adoption, old), new.replace(FIRST_POLICY, first))
        if move.new in known and move.old != move.new:
            yield move


def _forgotten(installation: Installation, adoption: Adoption) -> Iterator[str]:
    for old in in_effect(installation.release, SETUPS[adoption.setup].forgotten):
        # With Pod Identity it moves.
        if not (old == MODULE_ASSOCIATION and installation.identity == "pod-identity"):
            # A removed block names all instances of a resource.
            yield INSTANCE_KEY.sub("", _in_module(adoption, old))


def _in_module(adoption: Adoption, address: str) -> str:
    module = adoption.module or SETUPS[adoption.setup].module
    return f"{module}.{address}" if module else address
