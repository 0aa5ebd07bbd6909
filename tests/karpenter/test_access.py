"""What the controller may and may not do with its policies, asked of a real IAM evaluator, release by release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from nodeless.karpenter.policy import document
from nodeless.karpenter.releases import NEWEST, find
from nodeless.karpenter.versions import ALWAYS, Window, before, between, since
from tests.karpenter.generations import ACCOUNT, CLUSTER, policies, rendered
from tests.karpenter.iam_simulator import answers
from tests.karpenter.requests import (
    OTHER_ACCOUNT,
    Calls,
    Request,
    Side,
    assumed_by,
    creates_profile,
    creates_template,
    describes_cluster,
    elsewhere,
    fleet,
    for_another,
    launched,
    on_everything,
    on_profile,
    on_queue,
    on_tagged,
    parameter,
    passes_role,
    reads,
    reads_profile,
    requested,
    runs,
    runs_spot,
    sends,
    tags_at_launch,
    tags_later,
    tags_profile,
    tags_spot_at_launch,
    template,
    zonal_shift,
)

RELEASES = ("0.30.0", "0.32.10", "0.37.8", "1.8.8", str(NEWEST))
CONTROLLER = f"arn:aws:sts::{ACCOUNT}:assumed-role/{CLUSTER}-karpenter/karpenter"
NEVER = Window(())


@dataclass(frozen=True)
class Scenario:
    """Calls, the releases whose policies allow all of it, and those whose policies do not; others do not make them."""

    calls: Calls
    allowed: Window = NEVER
    denied: Window = NEVER


def allowed(calls: Calls, window: Window = ALWAYS) -> Scenario:
    """Expect the calls to be allowed from some release on, and denied by all others."""
    return Scenario(calls, allowed=window, denied=Window(_outside(window)))


def denied(calls: Calls, window: Window = ALWAYS) -> Scenario:
    """Expect the calls to be denied in these releases; others may not even have a name for them."""
    return Scenario(calls, denied=window)


def _outside(window: Window) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    ((start, end),) = window.spans
    return (((0,), start), (end, (1_000_000,)))


def without(*keys: str) -> Calls:
    """Launch an instance with all tags but these."""

    def calls(side: Side) -> tuple[Request, ...]:
        tags = {key: value for key, value in side.tags.items() if key not in keys}
        return launched(side, "ec2:RunInstances", ("instance/i",), tags)

    return calls


def untagged(action: str, *kinds: str) -> Calls:
    """Launch things without any tag."""
    return lambda side: launched(side, action, kinds, {})


def tags_without_a_launch(side: Side) -> tuple[Request, ...]:
    """Put the cluster's tags on somebody's running instance."""
    return launched(side, "ec2:CreateTags", ("instance/i",), side.tags)


def profile_of_another_region(side: Side) -> tuple[Request, ...]:
    """Delete the profile that the cluster of the same name in another region has in this account."""
    return elsewhere(on_profile("iam:DeleteInstanceProfile"))(side)


def takes_over_profile(side: Side) -> tuple[Request, ...]:
    """Put this cluster's tags on another cluster's profile."""
    (request,) = for_another(on_profile("iam:TagInstanceProfile"))(side)
    return (Request(request.action, request.resource, {**request.context, **requested(side.profile_tags)}),)


FARGATE_PODS = "eks-fargate-pods.amazonaws.com"
PRIVATE = parameter("/team/password", ACCOUNT)
PUBLIC = parameter("/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/standard/recommended/image_id")

READS = tuple(
    f"ec2:Describe{things}"
    for things in (
        "Images",
        "Instances",
        "InstanceTypeOfferings",
        "InstanceTypes",
        "LaunchTemplates",
        "SecurityGroups",
        "SpotPriceHistory",
        "Subnets",
    )
)
FILLS_PROFILE = ("iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile")

SCENARIOS: Mapping[str, Scenario] = {
    # Launching.
    "it runs tagged instances from its own template": allowed(runs),
    "it runs spot instances": allowed(runs_spot),
    "it asks for a fleet": allowed(fleet),
    "it creates a launch template": allowed(creates_template),
    "it launches into a capacity reservation": allowed(
        on_tagged("ec2:RunInstances", "capacity-reservation/cr-0a1b"), since(1, 3)
    ),
    "it launches into a placement group": allowed(on_tagged("ec2:RunInstances", "placement-group/group"), since(1, 11)),
    "it runs no instance without tags": denied(untagged("ec2:RunInstances", "instance/i")),
    "it runs no instance without a pool": denied(without("karpenter.sh/nodepool", "karpenter.sh/provisioner-name")),
    "it runs no instance without an owner": denied(without(f"kubernetes.io/cluster/{CLUSTER}")),
    "it runs no instance without the cluster's name": denied(without("eks:eks-cluster-name"), since(1, 0)),
    "it asks for no fleet without tags": denied(untagged("ec2:CreateFleet", "fleet/fleet")),
    "it creates no template without tags": denied(untagged("ec2:CreateLaunchTemplate", "launch-template/lt")),
    "it runs no instance for another cluster": denied(for_another(without())),
    "it asks for no fleet for another cluster": denied(for_another(fleet)),
    "it creates no template for another cluster": denied(for_another(creates_template)),
    # Templates had no owner before 0.34.
    "it launches from no template of another cluster": Scenario(
        for_another(lambda side: template(side, "ec2:RunInstances")), allowed=before(0, 34), denied=since(0, 34)
    ),
    "it runs nothing in another region": denied(elsewhere(runs)),
    "it asks for no fleet in another region": denied(elsewhere(fleet)),
    "it creates no template in another region": denied(elsewhere(creates_template)),
    # Tagging.
    "it tags what it launches": allowed(tags_at_launch),
    "it tags spot requests": allowed(tags_spot_at_launch, since(0, 33)),
    "it names an instance": allowed(tags_later({"Name": "node"}), since(0, 32)),
    "it names an instance's claim": allowed(tags_later({"karpenter.sh/nodeclaim": "default-x"}), since(0, 32)),
    "it adds the cluster's name to an instance": allowed(tags_later({"eks:eks-cluster-name": CLUSTER}), since(1, 0)),
    "it marks an instance as managed, for the move to machines": allowed(
        tags_later({"karpenter.sh/managed-by": CLUSTER, "karpenter.sh/provisioner-name": "default"}),
        between((0, 29), (0, 32)),
    ),
    "it puts no other tag on an instance": denied(tags_later({"Name": "node", "team": "a"})),
    "it gives no instance to another cluster": denied(tags_later({"eks:eks-cluster-name": "other"})),
    "it names no instance of another cluster": denied(for_another(tags_later({"Name": "node"}))),
    "it takes over no running instance": denied(tags_without_a_launch),
    "it tags nothing for another cluster": denied(for_another(tags_at_launch)),
    "it tags nothing in another region": denied(elsewhere(tags_at_launch)),
    "it removes no tag": denied(on_tagged("ec2:DeleteTags", "instance/i-0a1b")),
    # Ending.
    "it terminates its own instances": allowed(on_tagged("ec2:TerminateInstances", "instance/i-0a1b")),
    "it deletes its own templates": allowed(on_tagged("ec2:DeleteLaunchTemplate", "launch-template/lt-0a1b")),
    "it terminates no instance of another cluster": denied(
        for_another(on_tagged("ec2:TerminateInstances", "instance/i-0a1b"))
    ),
    "it terminates no instance in another region": denied(
        elsewhere(on_tagged("ec2:TerminateInstances", "instance/i-0a1b"))
    ),
    "it terminates no instance without tags": denied(
        lambda side: (Request("ec2:TerminateInstances", side.arn("ec2", "instance/i-0a1b"), {}),)
    ),
    "it deletes no template of another cluster": denied(
        for_another(on_tagged("ec2:DeleteLaunchTemplate", "launch-template/lt-0a1b"))
    ),
    "it stops no instance": denied(on_tagged("ec2:StopInstances", "instance/i-0a1b")),
    # Looking up.
    "it looks up what it can launch": allowed(reads(*READS)),
    "it looks up zones": allowed(reads("ec2:DescribeAvailabilityZones"), before(1, 1)),
    "it looks up capacity reservations": allowed(reads("ec2:DescribeCapacityReservations"), since(1, 3)),
    "it looks up placement groups": allowed(reads("ec2:DescribePlacementGroups"), since(1, 11)),
    "it looks up the health of instances": allowed(reads("ec2:DescribeInstanceStatus"), since(1, 12)),
    "it looks up nothing in another region": denied(elsewhere(reads("ec2:DescribeInstances"))),
    "it looks up prices": allowed(on_everything("pricing:GetProducts")),
    "it looks up public images": allowed(PUBLIC),
    # Before 0.31 every parameter of the account could be read.
    "it reads no parameter of the account": Scenario(PRIVATE, allowed=before(0, 31), denied=since(0, 31)),
    "it looks up no images of another region": Scenario(elsewhere(PUBLIC), allowed=before(0, 31), denied=since(0, 31)),
    "it looks up its cluster": allowed(describes_cluster),
    "it looks up no other cluster": denied(for_another(describes_cluster)),
    "it looks up its cluster's zonal shift": allowed(zonal_shift, since(1, 12)),
    "it looks up no other cluster's zonal shift": denied(for_another(zonal_shift)),
    # The queue.
    "it drains its queue": allowed(on_queue("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueUrl")),
    "it looks up its queue's attributes": allowed(on_queue("sqs:GetQueueAttributes"), before(0, 33)),
    "it reads no other cluster's queue": denied(for_another(on_queue("sqs:ReceiveMessage"))),
    "it deletes no message of another cluster's queue": denied(for_another(on_queue("sqs:DeleteMessage"))),
    "it puts nothing on its queue": denied(on_queue("sqs:SendMessage")),
    "it does not empty its queue": denied(on_queue("sqs:PurgeQueue")),
    "it does not read its queue over plain HTTP": denied(on_queue("sqs:ReceiveMessage", secure="false")),
    "its own rule puts events on the queue": allowed(sends("demo-karpenter-spot")),
    "no other rule puts events on the queue": denied(sends("other-karpenter-spot")),
    "no rule of another account puts events on the queue": denied(
        lambda side: sends("demo-karpenter-spot")(Side(side.release, account=OTHER_ACCOUNT))
    ),
    "no rule of another region puts events on the queue": denied(elsewhere(sends("demo-karpenter-spot"))),
    "its own rule does not use plain HTTP": denied(sends("demo-karpenter-spot", secure="false")),
    "no other service puts events on the queue": denied(sends("demo-karpenter-spot", service="s3.amazonaws.com")),
    # Roles and profiles.
    "it hands the node role to EC2": allowed(passes_role()),
    "it hands the node role to EC2 as China calls it": allowed(passes_role("ec2.amazonaws.com.cn"), since(1, 1)),
    "it hands the node role to no other service": denied(passes_role("lambda.amazonaws.com")),
    "it hands no other role to EC2": denied(for_another(passes_role())),
    "it hands not its own role to EC2": denied(
        lambda side: (
            Request(
                "iam:PassRole", side.iam(f"role/{CLUSTER}-karpenter"), {"iam:PassedToService": "ec2.amazonaws.com"}
            ),
        )
    ),
    "it creates an instance profile": allowed(creates_profile, since(0, 32)),
    "it tags its instance profile": allowed(tags_profile, since(0, 32)),
    **{
        f"it may call {action} on its own instance profile": allowed(on_profile(action), since(0, 32))
        for action in FILLS_PROFILE
    },
    "it looks up an instance profile": allowed(reads_profile, since(0, 32)),
    "it lists instance profiles": allowed(on_everything("iam:ListInstanceProfiles"), since(1, 7)),
    "it creates no instance profile for another cluster": denied(for_another(creates_profile)),
    "it creates no instance profile without tags": denied(
        lambda side: (Request("iam:CreateInstanceProfile", side.iam("instance-profile/x"), {}),)
    ),
    "it tags no instance profile of another cluster": denied(for_another(tags_profile)),
    "it takes over no instance profile": denied(takes_over_profile),
    **{
        f"it may not call {action} on another cluster's instance profile": denied(for_another(on_profile(action)))
        for action in FILLS_PROFILE
    },
    "it deletes no profile of another region": denied(profile_of_another_region),
    "it creates no role": denied(lambda side: (Request("iam:CreateRole", side.iam("role/x"), {}),)),
    # Who becomes a node or a pod on Fargate. (The simulator does not know the keys of an issuer's tokens.)
    "instances assume the node role": allowed(assumed_by("ec2.amazonaws.com", f"KarpenterNodeRole-{CLUSTER}")),
    "no other service assumes the node role": denied(
        assumed_by("lambda.amazonaws.com", f"KarpenterNodeRole-{CLUSTER}")
    ),
    "Fargate assumes its role for the cluster's profiles": allowed(
        assumed_by(FARGATE_PODS, f"{CLUSTER}-karpenter-fargate", f"fargateprofile/{CLUSTER}/karpenter/0a1b")
    ),
    "Fargate does not assume it for another cluster": denied(
        assumed_by(FARGATE_PODS, f"{CLUSTER}-karpenter-fargate", "fargateprofile/other/karpenter/0a1b")
    ),
}
CASES = [
    (sentence, release)
    for sentence, scenario in SCENARIOS.items()
    for release in RELEASES
    if find(release) in scenario.allowed or find(release) in scenario.denied
]
DENIED = {"ImplicitlyDenied", "ExplicitlyDenied"}
Answers = Mapping[tuple[str, str], list[str]]


def policy_of(resource: str, action: str, release: str) -> dict[str, Any]:
    """Return the policy that the resource itself carries, if it carries one that speaks of such actions."""
    found, side = rendered(release), Side(find(release))
    carried = {
        side.queue: found["queue_policy"],
        **{side.iam(f"role/{name}"): trust for name, trust in found["trusts"].items() if action.startswith("sts:")},
    }
    statements = carried.get(resource)
    return {"resourcePolicy": {"Version": "2012-10-17", "Statement": statements}} if statements else {}


def simulation(request: Request, release: str) -> dict[str, Any]:
    """Put a request before the policies that IAM would weigh: the controller's, and the resource's own."""
    return {
        "request": {
            "principal": request.principal or CONTROLLER,
            "action": request.action,
            "resource": {"resource": request.resource, "accountId": ACCOUNT},
            "contextVariables": request.context,
        },
        "identityPolicies": [
            {"name": policy.name, "policy": document(policy.statements)}
            for policy in (() if request.principal else policies(release))
        ],
        **policy_of(request.resource, request.action, release),
        "serviceControlPolicies": [],
        "resourceControlPolicies": [],
        "unchecked": request.unchecked,
    }


@pytest.fixture(scope="module")
def answered() -> Answers:
    """Ask about all scenarios at once: Node takes longer to start than to answer."""
    requests = {(sentence, release): SCENARIOS[sentence].calls(Side(find(release))) for sentence, release in CASES}
    rows = [(case, request) for case, asked in requests.items() for request in asked]
    found: dict[tuple[str, str], list[str]] = {case: [] for case in CASES}
    for (case, _), answer in zip(rows, answers(simulation(request, case[1]) for case, request in rows), strict=True):
        found[case].append(answer)
    return found


def test_the_matrix_covers_what_karpenter_calls() -> None:
    granted = {
        action
        for release in RELEASES
        for policy in policies(release)
        for row in policy.statements
        for action in row.actions
    }
    asked = {
        request.action
        for sentence, release in CASES
        if find(release) in SCENARIOS[sentence].allowed
        for request in SCENARIOS[sentence].calls(Side(find(release)))
    }

    assert granted <= asked


@pytest.mark.slow
@pytest.mark.parametrize(("sentence", "release"), CASES, ids=[f"{release}: {sentence}" for sentence, release in CASES])
def test_access(sentence: str, release: str, answered: Answers) -> None:
    answer = answered[sentence, release]

    assert set(answer) <= {"Allowed", *DENIED}
    if find(release) in SCENARIOS[sentence].allowed:
        assert set(answer) == {"Allowed"}
    else:
        assert DENIED.intersection(answer)
