"""Changes of a file that change the controller's role or policies, each for a cluster of its own.

All of them are applied at once, in one stack with nothing but the controllers: a first apply with the files as they
were before their change, a second one after it. Each role's calls are told apart by their names.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nodeless.karpenter.releases import find
from nodeless.spec.resolution import installation
from tests.karpenter.generations import GENERATIONS
from tests.terraform import expected, provider_settings
from tests.terraform.aws_server import ACCOUNT, REPOSITORY
from tests.terraform.expected import canonical
from tests.terraform.iam_history import History

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nodeless.karpenter.policy import Document
    from nodeless.resolved.installation import Installation
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.iam_history import Call
    from tests.terraform.runner import Plan, Terraform

ISSUER = "https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"
STATEMENT = {"Sid": "ReadImages", "Action": "ec2:DescribeImageAttribute", "Resource": "*"}

# An action on a resource under conditions: what a statement allows, taken apart.
Grant = tuple[str, str, str]


@dataclass(frozen=True)
class Step:
    """The keys of a cluster before and after a change; with a release, a stand-in for the controller's follows it."""

    cluster: str
    before: dict[str, Any]
    after: dict[str, Any]
    with_release: bool = False

    def installation(self, side: str) -> Installation:
        """Resolve the cluster before or after the change."""
        keys: dict[str, Any] = getattr(self, side)
        return installation(
            name=self.cluster,
            region="eu-north-1",
            account=ACCOUNT,
            oidc_issuer=ISSUER,
            subnets=["subnet-0123456789abcdef0"],
            delivery="none",
            **keys,
        )


def _release(version: str) -> dict[str, Any]:
    return {"karpenter": {"version": version}}


def _steps() -> dict[str, Step]:
    """Go from each generation of policies since 0.31 to the next one and back; its releases have the same policies."""
    generations = [each for each in GENERATIONS if find(each.first) >= (0, 31)]
    neighbours = [*pairwise(generations), *pairwise(reversed(generations))]
    steps = {
        f"{old.last} to {new.last}": Step(
            f"{old.letter}-to-{new.letter}".lower(), _release(old.last), _release(new.last)
        )
        for old, new in neighbours
    }
    return steps | {
        "1.8.8 to 1.9.2, with a release": Step("released", _release("1.8.8"), _release("1.9.2"), with_release=True),
        "another path": Step("path", {}, {"path": "/team/"}),
        "from one path to another": Step("paths", {"path": "/team/"}, {"path": "/other/team/"}),
        "another role name": Step("renamed", {}, {"names": {"controller_role": "scaler"}}, with_release=True),
        "from the blog's policy to upstream's": Step(
            "blog", {"karpenter": {"version": "0.31.5", "policy": "blog"}}, _release("0.31.5")
        ),
        "from Palette's policy to upstream's": Step(
            "palette",
            {"karpenter": {"version": "1.11.3", "policy": "palette"}, "interruption": False},
            {"karpenter": {"version": "1.11.3"}, "interruption": False},
        ),
        "extra statements removed": Step("less", {"extra_statements": [STATEMENT]}, {}),
    }


STEPS = _steps()


def grants(policies: Iterable[Document]) -> frozenset[Grant]:
    """Return everything that policies allow together, whichever of them allows it."""
    rows = [row for policy in policies for row in policy["Statement"]]
    assert {row["Effect"] for row in rows} <= {"Allow"}
    return frozenset(
        (action, resource, json.dumps(canonical(row.get("Condition")), sort_keys=True))
        for row in rows
        for action in _listed(row["Action"])
        for resource in _listed(row["Resource"])
    )


def granted(installation: Installation) -> frozenset[Grant]:
    """Return everything that an installation's controller is allowed."""
    return grants(expected.policies(installation).values())


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


@dataclass(frozen=True)
class Moments:
    """What was seen of one step during the second apply."""

    calls: tuple[Call, ...]
    """those that changed what the old role or the new one is allowed, and those of the stand-in"""
    incomplete: tuple[Call, ...]
    """those after which neither the old role allowed all that it did, nor the new one all that it will"""
    most_attached: int
    """how many policies a role had at once"""
    ends_right: bool
    """the new role allows what it should and nothing else, and the old one nothing if it is another one"""


@dataclass(frozen=True)
class ControllerLife:
    """All steps: what was seen of each, the plan of the second apply, and the plan after it."""

    steps: dict[str, Moments]
    plan: Plan
    settled: Plan


def live(aws: AwsServer, initialized: Terraform, scratch: Path) -> ControllerLife:
    """Apply every cluster as it was before its change, then as it is after it."""
    folders = {side: _synthesized(side, scratch / f"controllers-{side}") for side in ("before", "after")}
    provider_settings.write(folders["before"], aws.url)
    terraform = initialized.elsewhere(folders["before"])
    terraform.init(like=initialized)
    terraform.plan()
    terraform.apply()
    first = len(aws.recorded())
    terraform.take_over(folders["after"])
    plan = terraform.plan("-refresh=false")
    terraform.apply()
    calls = aws.recorded()
    settled = terraform.plan()
    steps = {name: moments(step, calls[:first], calls[first:]) for name, step in STEPS.items()}
    return ControllerLife(steps, plan, settled)


def _synthesized(side: str, out: Path) -> Path:
    command = [sys.executable, "-m", "tests.terraform.controller_app", side, str(out)]
    subprocess.run(command, cwd=REPOSITORY, check=True, timeout=300)
    return out / "stacks" / "controllers"


def moments(step: Step, earlier: Sequence[Call], calls: Sequence[Call]) -> Moments:
    """Replay the calls, and look at the roles of one step after each of them."""
    old, new = step.installation("before"), step.installation("after")
    old_role, new_role = old.names.controller_role, new.names.controller_role
    history, needed_before, needed_after = History(ACCOUNT), granted(old), granted(new)
    assert [*history.after_each(earlier)]
    assert grants(history.allowed(old_role)) == needed_before
    seen, incomplete, most = [], [], 0
    for call in history.after_each(calls):
        if not concerns(call, step, {old_role, new_role}):
            continue
        seen.append(call)
        allowed_before, allowed_after = (grants(history.allowed(role)) for role in (old_role, new_role))
        if not (allowed_before >= needed_before or allowed_after >= needed_after):
            incomplete.append(call)
        most = max(most, *(len(history.attached.get(role, ())) for role in (old_role, new_role)))
    ends_right = grants(history.allowed(new_role)) == needed_after
    gone = old_role == new_role or not history.allowed(old_role)
    return Moments(tuple(seen), tuple(incomplete), most, ends_right and gone)


def concerns(call: Call, step: Step, roles: set[str]) -> bool:
    """Tell whether a call is about the roles or the policies of a step; a policy's name ends with its cluster's."""
    policy = call.get("PolicyName") or call.get("PolicyArn", "").rpartition("/")[2]
    return call.get("RoleName") in roles or policy == stand_in(step) or f"Policy-{step.cluster}" in policy


def stand_in(step: Step) -> str:
    """Name the policy that stands in for the Helm release of a step: its calls are recorded too."""
    return f"release-of-{step.cluster}"
