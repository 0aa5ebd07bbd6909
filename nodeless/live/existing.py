"""What is there of a Karpenter that somebody installed before: found by the names that guides give, and by tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nodeless.karpenter.place import Place
from nodeless.live.account import Account
from nodeless.live.subject import NO_QUEUE, NO_ROLE, NOT_FOUND
from nodeless.resolved.names import POLICY_KEYS, RULE_KEYS, Names

STYLES = ("blog", "official")
ROLES = ("controller_role", "fargate_role", "node_role")
# The tag of an instance names the pool that asked for it, by the API of the release.
POOL_TAGS = {
    "karpenter.sh/nodepool": "0.32 or newer",
    "karpenter.sh/provisioner-name": "0.32 or older",
}


@dataclass(frozen=True, slots=True)
class Existing:
    """A resource in the account: what it is, its name, and the key that gives ours another name."""

    what: str
    name: str
    key: str
    style: str

    def __str__(self) -> str:
        return f"{self.what} {self.name}"


def resources(account: Account, place: Place) -> Iterator[Existing]:
    """Find what has the names that this project or Karpenter's own template would give; each name once."""
    seen = set[tuple[str, str]]()
    for style in STYLES:
        names = Names(cluster=place.cluster, style=style, overrides={})
        for found in _named(names, style):
            if (found.what, found.name) not in seen and _exists(account, place, found):
                yield found
            seen.add((found.what, found.name))


def _named(names: Names, style: str) -> Iterator[Existing]:
    for key in ROLES:
        yield Existing("role", getattr(names, key), f"names.{key}", style)
    yield Existing("instance profile", names.instance_profile, "names.instance_profile", style)
    yield Existing("queue", names.queue, "names.queue", style)
    yield Existing("Fargate profile", names.fargate_profile, "names.fargate_profile", style)
    for key in POLICY_KEYS:
        yield Existing("policy", names.policy(key), f"names.policies.{key}", style)
    for key in RULE_KEYS:
        yield Existing("rule", names.rule(key), f"names.rules.{key}", style)


def _exists(account: Account, place: Place, row: Existing) -> bool:
    name = row.name
    calls = {
        "role": lambda: account.ask("iam", "get_role", RoleName=name, absent=NO_ROLE),
        "instance profile": lambda: account.ask(
            "iam", "get_instance_profile", InstanceProfileName=name, absent=NO_ROLE
        ),
        "policy": lambda: account.ask("iam", "get_policy", PolicyArn=place.iam(f"policy/{name}"), absent=NO_ROLE),
        "queue": lambda: account.ask("sqs", "get_queue_url", QueueName=name, absent=NO_QUEUE),
        "rule": lambda: account.ask("events", "describe_rule", Name=name, absent=NOT_FOUND),
        "Fargate profile": lambda: account.ask(
            "eks",
            "describe_fargate_profile",
            clusterName=place.cluster,
            fargateProfileName=name,
            absent=NOT_FOUND,
        ),
    }
    return bool(calls[row.what]())


def fargate_profiles(account: Account, cluster: str) -> list[str]:
    """Return the names of the cluster's Fargate profiles."""
    return sorted(account.ask("eks", "list_fargate_profiles", clusterName=cluster)["fargateProfileNames"])


def access_entries(account: Account, cluster: str) -> list[str]:
    """Return the principals of access entries that have karpenter in their name."""
    absent = ("InvalidRequestException", *NOT_FOUND)
    listed = account.ask("eks", "list_access_entries", clusterName=cluster, absent=absent).get("accessEntries", ())
    return [principal for principal in listed if "karpenter" in principal.lower()]


def running_nodes(account: Account, cluster: str) -> dict[str, int]:
    """Count the instances that a Karpenter launched for the cluster, by the releases that tag them so."""
    counts = {}
    for tag, versions in POOL_TAGS.items():
        filters = [
            {"Name": "tag-key", "Values": [tag]},
            {"Name": "tag-key", "Values": [f"kubernetes.io/cluster/{cluster}"]},
            {"Name": "instance-state-name", "Values": ["pending", "running"]},
        ]
        reservations = account.ask("ec2", "describe_instances", Filters=filters)["Reservations"]
        count = sum(len(row["Instances"]) for row in reservations)
        if count:
            counts[versions] = count
    return counts
