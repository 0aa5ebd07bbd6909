"""What a check may look at: a cluster of the file and its account, of which everything is read once, when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nodeless.karpenter.place import Place
from nodeless.live import network
from nodeless.live.account import Account, NotReadError
from nodeless.live.cluster import LiveCluster
from nodeless.resolved.installation import Installation
from nodeless.resolved.interruption import QueuePlan, plan_queue
from nodeless.resolved.permissions import place_of
from nodeless.resolved.roles import (
    ControllerPlan,
    FargatePlan,
    NodeRolePlan,
    plan_controller,
    plan_extra_node_roles,
    plan_fargate,
    plan_node_role,
)

NO_ROLE = ("NoSuchEntity", "NoSuchEntityException")
NO_QUEUE = ("AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist")
NOT_FOUND = ("ResourceNotFoundException",)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One cluster of the file, resolved, and the same cluster in its account."""

    account: Account
    account_id: str
    kubernetes: str | None
    """the version that the file names"""
    installation: Installation
    live: LiveCluster

    @cached_property
    def place(self) -> Place:
        """Return the values of every ARN."""
        return place_of(self.installation, account=self.account_id)

    # What the stack wants.

    @cached_property
    def controller(self) -> ControllerPlan:
        """Return the plan of the controller's role."""
        host = self.live.issuer_host if self.installation.identity == "irsa" else None
        return plan_controller(self.installation, self.place, issuer_host=host)

    @cached_property
    def fargate(self) -> FargatePlan | None:
        """Return the plan of the Fargate profile."""
        return plan_fargate(self.installation, self.place)

    @cached_property
    def node_roles(self) -> tuple[NodeRolePlan, ...]:
        """Return the plans of the node roles that the stack creates."""
        extra = plan_extra_node_roles(self.installation, self.place)
        own = plan_node_role(self.installation, self.place)
        return (own, *(plan for plan in extra if isinstance(plan, NodeRolePlan)))

    @cached_property
    def access_entries(self) -> dict[str, str]:
        """Return the type of the access entry that each node role needs, by the role's ARN."""
        own = {
            self.place.iam(f"role{plan.role.path}{plan.role.name}"): plan.access_entry_type for plan in self.node_roles
        }
        extra = plan_extra_node_roles(self.installation, self.place)
        given = {plan.role_arn: plan.access_entry_type for plan in extra if not isinstance(plan, NodeRolePlan)}
        return {arn: kind for arn, kind in {**own, **given}.items() if kind}

    @cached_property
    def queue_plan(self) -> QueuePlan | None:
        """Return the plan of the queue."""
        return plan_queue(self.installation, self.place)

    # What the account has.

    def role(self, name: str) -> dict[str, Any]:
        """Read a role; {} if there is none."""
        if name not in self._roles:
            answer = self.account.ask("iam", "get_role", RoleName=name, absent=NO_ROLE)
            self._roles[name] = dict(answer.get("Role") or {})
        return self._roles[name]

    @cached_property
    def _roles(self) -> dict[str, dict[str, Any]]:
        return {}

    def attached(self, role: str) -> set[str]:
        """Read the ARNs of the policies that a role has."""
        answer = self.account.ask("iam", "list_attached_role_policies", RoleName=role)
        return {policy["PolicyArn"] for policy in answer["AttachedPolicies"]}

    @cached_property
    def queue(self) -> dict[str, str]:
        """Read the attributes of the queue; {} if there is none."""
        assert self.queue_plan is not None  # noqa: S101 - for mypy: checks of the queue run only if there is one
        found = self.account.ask(
            "sqs",
            "get_queue_url",
            QueueName=self.queue_plan.name,
            QueueOwnerAWSAccountId=self.account_id,
            absent=NO_QUEUE,
        )
        if not found:
            return {}
        return dict(
            self.account.ask("sqs", "get_queue_attributes", QueueUrl=found["QueueUrl"], AttributeNames=["All"])[
                "Attributes"
            ]
        )

    @cached_property
    def fargate_profile(self) -> dict[str, Any]:
        """Read the Fargate profile; {} if there is none."""
        assert self.fargate is not None  # noqa: S101 - for mypy: checks of the profile run only if there is one
        answer = self.account.ask(
            "eks",
            "describe_fargate_profile",
            clusterName=self.live.name,
            fargateProfileName=self.fargate.profile_name,
            absent=NOT_FOUND,
        )
        return dict(answer.get("fargateProfile") or {})

    @cached_property
    def is_applied(self) -> bool:
        """Tell whether the stack was applied: whether anything exists that only the stack creates."""
        return any(self._signs())

    def _signs(self) -> Iterator[bool]:
        for name in (self.controller.role.name, self.node_roles[0].role.name):
            with suppress(NotReadError):
                yield bool(self.role(name))
        with suppress(NotReadError):
            yield bool(self.queue_plan and self.queue)
        with suppress(NotReadError):
            yield bool(self.fargate and self.fargate_profile)

    @cached_property
    def vpc_subnets(self) -> tuple[network.Subnet, ...]:
        """Read the subnets of the cluster's VPC."""
        return network.subnets(self.account, vpc_id=self.live.vpc_id)

    @cached_property
    def security_groups(self) -> tuple[network.SecurityGroup, ...]:
        """Read the security groups of the cluster's VPC."""
        return network.security_groups(self.account, self.live.vpc_id)

    @cached_property
    def given_subnets(self) -> tuple[network.Subnet, ...]:
        """Read the subnets that the file lists for Fargate, wherever they are."""
        return network.subnets(self.account, ids=self.installation.subnets or ())

    @cached_property
    def node_subnets(self) -> tuple[network.Subnet, ...]:
        """Read the subnets that have the discovery tag, and those that get it from the stack."""
        key, listed = self.installation.tag_key, self.installation.tagged_subnets
        return tuple(
            subnet
            for subnet in self.vpc_subnets
            if subnet.tags.get(key) == self.live.name or (subnet.id in listed and not self.is_applied)
        )

    @cached_property
    def fargate_subnets(self) -> tuple[network.Subnet, ...]:
        """Read the subnets of the Fargate profile: listed in the file, or looked up by the tag."""
        if self.installation.fargate is None:
            return ()
        return self.given_subnets if self.installation.subnets else self.node_subnets
