"""The warnings about quotas of an account that the clusters of all files use together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from nodeless.finding import Finding
from nodeless.karpenter.interruption import event_rules
from nodeless.resolved.installation import Installation
from nodeless.spec.guards.guard import RELEASE_KEYS, STACK_KEYS, Guard, guard
from nodeless.spec.guards.placed import Found, Placed, Rows
from nodeless.spec.guards.policies import NAMED_IN_STATEMENTS

IAM_QUOTAS = "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html"
EVENTBRIDGE_QUOTAS = "https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-quota.html"
FIX = "check that the quota was raised (Service Quotas), or use more accounts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How many of a resource an account has by default, where AWS says so, and how many a stack creates."""

    what: str
    default: int
    is_regional: bool
    """whether each region of an account has a quota of its own"""
    created: Callable[[Installation], int]
    reads: tuple[str, ...]
    source: str
    in_regions: Mapping[str, int] = field(default_factory=dict)
    """the regions with another default"""

    def limit(self, installation: Installation) -> int:
        """Return the default where a cluster is."""
        return self.in_regions.get(installation.region, self.default)

    def scope(self, installation: Installation) -> Hashable:
        """Return what has the quota; clusters without an account are counted as one."""
        account = (installation.partition.name, installation.account)
        return (*account, installation.region) if self.is_regional else account

    def where(self, installation: Installation) -> str:
        """Name what has the quota."""
        known = installation.account
        account = f"account {known}" if known else "one account for all clusters without `account`"
        return f"{account} in {installation.region}" if self.is_regional else account


def _roles(installation: Installation) -> int:
    """Count the controller's role, that of Fargate, and those of the nodes."""
    return 2 + bool(installation.fargate) + _extra_roles(installation)


def _profiles(installation: Installation) -> int:
    return 1 + _extra_roles(installation) if installation.instance_profile else 0


def _extra_roles(installation: Installation) -> int:
    return sum(role.arn is None for role in installation.node_roles)


def _policies(installation: Installation) -> int:
    return len(installation.packing.sizes)


def _providers(installation: Installation) -> int:
    return int(installation.creates_oidc_provider and installation.identity == "irsa")


def _rules(installation: Installation) -> int:
    return len(event_rules(installation.release)) if installation.queue else 0


# AWS raises each of these on request, so that more is no mistake. Quotas of one role are in `policies` and `roles`; of
# Fargate profiles, a cluster gets one, and of queues an account may have any number.
QUOTAS = (
    Quota(
        what="EventBridge rules on the default event bus",
        default=300,
        is_regional=True,
        created=_rules,
        reads=("interruption?", *RELEASE_KEYS),
        source=EVENTBRIDGE_QUOTAS,
        in_regions={"af-south-1": 100, "eu-south-1": 100},
    ),
    Quota(
        what="IAM roles",
        default=1_000,
        is_regional=False,
        created=_roles,
        reads=("fargate?", "nodes.roles"),
        source=IAM_QUOTAS,
    ),
    Quota(
        what="customer managed policies",
        default=1_500,
        is_regional=False,
        created=_policies,
        reads=(*NAMED_IN_STATEMENTS, *RELEASE_KEYS, "karpenter.policy", "extra_statements"),
        source=IAM_QUOTAS,
    ),
    Quota(
        what="instance profiles",
        default=1_000,
        is_regional=False,
        created=_profiles,
        reads=("nodes.roles", "nodes.instance_profile"),
        source=IAM_QUOTAS,
    ),
    Quota(
        what="OpenID Connect providers",
        default=100,
        is_regional=False,
        created=_providers,
        reads=("oidc_provider", "identity"),
        source=IAM_QUOTAS,
    ),
)


def _within(quota: Quota) -> Guard[Rows, tuple[Placed, Finding]]:
    """Make the guard that says once per account, or region of it, that its clusters use more than the default."""

    @guard(*STACK_KEYS, "account", *quota.reads)
    def check(rows: Rows) -> Found:
        used: Counter[Hashable] = Counter()
        passing: dict[Hashable, Placed] = {}
        for row in rows:
            scope = quota.scope(row.installation)
            used[scope] += quota.created(row.installation)
            if used[scope] > quota.limit(row.installation):
                passing.setdefault(scope, row)
        for scope, row in passing.items():
            where, limit = quota.where(row.installation), quota.limit(row.installation)
            expected = f"{where} has {limit:,} {quota.what} by default, and all clusters there use {used[scope]:,}"
            yield row, Finding(("account",), used[scope], expected, FIX)

    return check


WARNINGS = tuple(map(_within, QUOTAS))
