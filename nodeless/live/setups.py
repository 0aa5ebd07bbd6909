"""Finds out which tool set Karpenter up on a cluster, and the names that it made up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nodeless.karpenter.interruption import EVENT_RULES
from nodeless.karpenter.place import Place
from nodeless.live.account import Account
from nodeless.live.subject import NO_QUEUE, NO_ROLE, NOT_FOUND
from nodeless.resolved.adoption_rows import (
    ASSOCIATION,
    BLOG,
    CLOUDFORMATION,
    EKSCTL,
    MODULE_CONTROLLER,
    QUEUE,
    RULE,
    SETUPS,
    TERRAFORM_AWS_EKS,
)
from nodeless.resolved.names import RULES, Names

KEYS_BY_EVENT = {rule.detail_type: rule.key for _, rule in EVENT_RULES}
# The descriptions that this project gives roles.
OURS = frozenset(
    {
        "Assumed by the Karpenter controller",
        "Assumed by the nodes Karpenter launches",
        "Runs the Karpenter controller's pods on Fargate",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A set-up, with the names that differ from its style, what it has not, and ids that follow from no name."""

    setup: str
    names: dict[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    ids: dict[str, str] = field(default_factory=dict)
    is_ours: bool = False
    """a stack of nodeless was applied already"""


class SetUps:
    """Looks for every set-up on one cluster."""

    def __init__(self, account: Account, place: Place, *, namespace: str, service_account: str) -> None:
        self._account, self._place = account, place
        self._namespace, self._service_account = namespace, service_account

    def found(self) -> Iterator[Found]:
        """Yield the set-ups that there is something of."""
        for setup, row in SETUPS.items():
            names = Names(cluster=self._place.cluster, style=row.style, overrides={})
            role = self._sign(setup, names)
            if role is not None:
                is_ours = role.get("Description") in OURS
                yield Found(setup=setup, is_ours=True) if is_ours else self._details(setup, names)

    def _sign(self, setup: str, names: Names) -> dict[str, Any] | None:
        """Return the role by which a set-up is known."""
        if setup == TERRAFORM_AWS_EKS:
            name = self._node_role_of_module(names)
            return self._role(name) if name else None
        key = {BLOG: names.controller_role, CLOUDFORMATION: names.node_role, EKSCTL: names.node_role}[setup]
        return self._role(key)

    def _role(self, name: str) -> dict[str, Any] | None:
        answer = self._account.ask("iam", "get_role", RoleName=name, absent=NO_ROLE)
        return dict(answer["Role"]) if answer else None

    def _node_role_of_module(self, names: Names) -> str | None:
        """Find the module's node role: by its whole name, or by the start of it, in the access entries."""
        absent = ("InvalidRequestException", *NOT_FOUND)
        cluster = self._place.cluster
        answer = self._account.ask("eks", "list_access_entries", clusterName=cluster, absent=absent)
        listed = [arn.rpartition("/")[2] for arn in answer.get("accessEntries", ())]
        started = [name for name in listed if name == names.node_role or name.startswith(f"{names.node_role}-")]
        return started[0] if started else names.node_role if self._role(names.node_role) else None

    def _details(self, setup: str, names: Names) -> Found:
        given: dict[str, Any] = {}
        association = self._association()
        if setup == TERRAFORM_AWS_EKS:
            given |= self._roles_of_module(names, association)
        rules = self._rules(names.queue)
        generated = RULES in SETUPS[setup].generated
        if generated and rules:
            given[RULES] = rules
        without = _without_rules(rules, has_queue=rules is not None) if generated else ()
        ids = {}
        if association and setup == CLOUDFORMATION:
            ids[ASSOCIATION] = f"{self._place.cluster},{association['associationId']}"
        return Found(setup=setup, names=given, without=without, ids=ids)

    def _roles_of_module(self, names: Names, association: dict[str, Any]) -> dict[str, str]:
        controller = association.get("roleArn", "").rpartition("/")[2]
        if not controller:
            started = [name for name in self._role_names() if name.startswith(MODULE_CONTROLLER)]
            # An account has one for each cluster: of several, the user knows which it is.
            controller = started[0] if len(started) == 1 else ""
        found = {"controller_role": controller, "node_role": self._node_role_of_module(names) or ""}
        return {key: name for key, name in found.items() if name}

    def _role_names(self) -> list[str]:
        return [role["RoleName"] for role in self._account.ask("iam", "list_roles")["Roles"]]

    def _association(self) -> dict[str, Any]:
        """Read the Pod Identity association of the controller's service account; {} if there is none."""
        cluster = self._place.cluster
        listed = self._account.ask(
            "eks",
            "list_pod_identity_associations",
            clusterName=cluster,
            serviceAccount=self._service_account,
            absent=NOT_FOUND,
        ).get("associations", ())
        # The file may name another namespace than the one in which Karpenter runs now.
        for row in sorted(listed, key=lambda row: row["namespace"] != self._namespace):
            answer = self._account.ask(
                "eks", "describe_pod_identity_association", clusterName=cluster, associationId=row["associationId"]
            )
            return dict(answer["association"])
        return {}

    def _rules(self, queue: str) -> dict[str, str] | None:
        """Return the names of the rules that send to a queue, by our keys; None if there is no queue."""
        if not self._account.ask("sqs", "get_queue_url", QueueName=queue, absent=NO_QUEUE):
            return None
        arn = self._place.regional("sqs", queue)
        found: dict[str, str] = {}
        for name in self._account.ask("events", "list_rule_names_by_target", TargetArn=arn)["RuleNames"]:
            pattern = self._account.ask("events", "describe_rule", Name=name).get("EventPattern")
            for kind in json.loads(pattern or "{}").get("detail-type", ()):
                if kind in KEYS_BY_EVENT:
                    found.setdefault(KEYS_BY_EVENT[kind], name)
        return found


def _without_rules(rules: dict[str, str] | None, *, has_queue: bool) -> tuple[str, ...]:
    if not has_queue or rules is None:
        return (QUEUE,)
    return tuple(f"{RULE}.interruption_{key}" for key in KEYS_BY_EVENT.values() if key not in rules)
