"""One stack through many changes, each planned and applied over the one before: what a file goes through in years."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nodeless.karpenter.releases import NEWEST
from nodeless.trees import merged
from tests.terraform import departures, world
from tests.terraform.account import Account
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.lives import CLUSTER, REGION
from tests.terraform.runner import TerraformError
from tests.terraform.world import DISCOVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodeless.resolved.installation import Installation
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.departures import Departures
    from tests.terraform.project import Project
    from tests.terraform.runner import Plan, Terraform
    from tests.terraform.world import World

Keys = dict[str, Any]
POLICY = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
BOUNDARY = "arn:aws:iam::aws:policy/PowerUserAccess"
STATEMENT = {"Sid": "ReadImages", "Action": "ec2:DescribeImageAttribute", "Resource": "*"}

# The last release before v1, the first minor of v1, and the newest.
RELEASES = ("0.37.8", "1.0.14", str(NEWEST))
# The controller's policies before 1.9, and since then.
WHOLE = ("controller",)
DIVIDED = (
    "eks_integration",
    "iam_integration",
    "interruption",
    "node_lifecycle",
    "resource_discovery",
    "zonal_shift",
)
FOLLOWS_POLICIES = "terraform_data.controller_policies"


@dataclass(frozen=True)
class Change:
    """Keys that are laid over the file, and exactly what the plan then does to which address.

    `happens` is what somebody else does in the account; the file stays the same then.
    """

    keys: Callable[[World], Keys] = field(default=lambda _: {})
    actions: dict[str, str] = field(default_factory=dict)
    happens: Callable[[World], None] | None = None
    only_updates: bool = False
    """everything that can carry tags is updated in place"""


def keys(**given: Any) -> Callable[[World], Keys]:  # noqa: ANN401 - keys of a cluster
    """Lay these keys over the file."""
    return lambda _: given


def _each(action: str, *addresses: str) -> dict[str, str]:
    return dict.fromkeys(addresses, action)


def policies(action: str, *names: str) -> dict[str, str]:
    """Do something to policies of the controller and to their attachments."""
    kinds = ("aws_iam_policy", "aws_iam_role_policy_attachment")
    return _each(action, *(f"{kind}.controller_{name}" for kind in kinds for name in names))


def another_subnet(made: World) -> None:
    """Give a new subnet of the cluster's VPC the discovery tag."""
    ec2 = made.aws.client("ec2", made.region)
    subnet = ec2.create_subnet(VpcId=made.vpc, CidrBlock="10.0.100.0/24")["Subnet"]["SubnetId"]
    ec2.create_tags(Resources=[subnet], Tags=[{"Key": DISCOVERY, "Value": made.cluster}])


GPU_ROLE = {
    **{f"{kind}.node_gpu": "create" for kind in ("aws_iam_role", "aws_iam_instance_profile", "aws_eks_access_entry")},
    **{f"aws_iam_role_policy_attachment.node_gpu_{key}": "create" for key in ("cni", "registry", "ssm", "worker")},
}
ROLES = ("aws_iam_role.controller", "aws_iam_role.fargate", "aws_iam_role.node", "aws_iam_role.node_gpu")

CHANGES: dict[str, Change] = {
    "an upgrade from v1beta1 to v1": Change(
        keys(karpenter={"version": RELEASES[1]}),
        {"aws_iam_policy.controller_controller": "update", FOLLOWS_POLICIES: "update"},
    ),
    "an upgrade to the newest release": Change(
        keys(karpenter={"version": RELEASES[2]}),
        {
            **policies("create", *DIVIDED),
            **policies("delete", *WHOLE),
            FOLLOWS_POLICIES: "update",
            "aws_cloudwatch_event_rule.interruption_capacity_reservation": "create",
            "aws_cloudwatch_event_target.interruption_capacity_reservation": "create",
            "aws_sqs_queue_policy.interruption": "update",
            "aws_iam_role_policy_attachment.node_registry": "replace",
        },
    ),
    "another subnet with the tag": Change(happens=another_subnet),
    "tags": Change(keys(tags={"team": "platform"}), only_updates=True),
    "one replica": Change(keys(karpenter={"replicas": 1})),
    "another service account": Change(
        keys(karpenter={"service_account": "scaler"}), {"aws_iam_role.controller": "update"}
    ),
    "another policy for the nodes": Change(
        keys(nodes={"policies": [POLICY]}),
        {"aws_iam_role_policy_attachment.node_extra_CloudWatchAgentServerPolicy": "create"},
    ),
    "another node role": Change(
        keys(nodes={"roles": {"gpu": {}}}),
        {**GPU_ROLE, "aws_iam_policy.controller_iam_integration": "update", FOLLOWS_POLICIES: "update"},
    ),
    "a permissions boundary": Change(keys(permissions_boundary=BOUNDARY), _each("update", *ROLES)),
    "no network policy for pods on Fargate": Change(
        keys(fargate={"cni_policy": False}), {"aws_iam_role_policy_attachment.fargate_cni": "delete"}
    ),
    "a security group to tag": Change(
        lambda made: {"discovery": {"security_groups": [made.security_groups[0]]}},
        {"aws_ec2_tag.discovery_{security_group}": "create"},
    ),
    "an extra statement": Change(
        keys(extra_statements=[STATEMENT]), {**policies("create", "extra"), FOLLOWS_POLICIES: "update"}
    ),
    "no extra statement": Change(
        keys(extra_statements=[]), {**policies("delete", "extra"), FOLLOWS_POLICIES: "update"}
    ),
    "no instance profile": Change(
        keys(nodes={"instance_profile": False}),
        _each("delete", "aws_iam_instance_profile.node", "aws_iam_instance_profile.node_gpu"),
    ),
    # The AWS half: what becomes of the Helm releases is in test_handover.py.
    "delivery by GitOps": Change(keys(delivery="gitops")),
    "delivery by hand again": Change(keys(delivery="none")),
    "another name for the controller's role": Change(
        keys(names={"controller_role": "scaler"}),
        {
            "aws_iam_role.controller": "replace",
            **{f"aws_iam_role_policy_attachment.controller_{name}": "replace" for name in DIVIDED},
            FOLLOWS_POLICIES: "update",
        },
    ),
}


@dataclass(frozen=True)
class Lived:
    """One change as synth and Terraform saw it."""

    said: str
    plan: Plan
    actions: dict[str, str]
    expected: dict[str, str]
    installation: Installation
    policies: dict[str, object]


@dataclass(frozen=True)
class WholeLife:
    """A stack from its creation through every change to its end."""

    created: Lived
    changes: dict[str, Lived]
    departures: Departures
    is_untouched_by_departures: bool
    settled: Plan
    refused_before_the_destroy: str
    state_at_the_end: dict[str, dict[str, Any]]
    left_behind: set[str]


def live(aws: AwsServer, project: Project) -> WholeLife:
    """Create the stack, apply every change over the one before, and destroy it while one of its checks fails.

    All of it is one file and one output folder. Before the end, other clusters come into that file and leave it.
    """
    # All three releases run on this Kubernetes.
    made = world.create(aws, cluster=CLUSTER, region=REGION, version="1.30", audiences=["sts.amazonaws.com"])
    others = departures.prepare(aws)
    account = Account(made)
    file: Keys = {
        "name": CLUSTER,
        "region": REGION,
        "account": ACCOUNT,
        "oidc_issuer": made.oidc_issuer,
        "delivery": "none",
        "karpenter": {"version": RELEASES[0]},
        "fargate": {"cni_policy": True},
    }
    before = account.holdings()
    said = project.synth(file)
    terraform = project.terraform(CLUSTER)

    def applied(said: str, expected: dict[str, str]) -> Lived:
        plan = terraform.plan()
        terraform.apply()
        actions = {address: action for address, action in plan.actions.items() if action != "read"}
        return Lived(said, plan, actions, expected, project.installation(CLUSTER), account.policies())

    created = applied(said, {})
    changes = {}
    for name, change in CHANGES.items():
        if change.happens:
            before |= added_by(change.happens, made, account)
        file = merged(file, change.keys(made))
        said = project.synth(file)
        group = made.security_groups[0].replace("-", "_")
        expected = {
            address.format(security_group=group): action for address, action in change.actions.items()
        } or dict.fromkeys((address for address in terraform.tagged() if change.only_updates), "update")
        changes[name] = applied(said, expected)
    files = project.files(CLUSTER)
    left = departures.live(others, project, file)
    untouched = project.files(CLUSTER) == files
    settled = terraform.replan()
    # The check of the OIDC provider fails from here on: a destroy must not stop at that.
    iam = made.aws.client("iam", REGION)
    (provider,) = iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]
    iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=provider["Arn"])
    iam.create_open_id_connect_provider(Url=made.oidc_issuer, ClientIDList=["another"])
    refused = refusal(terraform)
    terraform.destroy()
    return WholeLife(
        created=created,
        changes=changes,
        departures=left,
        is_untouched_by_departures=untouched,
        settled=settled,
        refused_before_the_destroy=refused,
        state_at_the_end=terraform.state(),
        left_behind=account.holdings() - before,
    )


def added_by(happens: Callable[[World], None], made: World, account: Account) -> set[str]:
    """Let somebody else add to the account; what they made is not the stack's to remove."""
    here = account.holdings()
    happens(made)
    return account.holdings() - here


def refusal(terraform: Terraform) -> str:
    """Plan; return with what words the plan stops, or nothing."""
    try:
        terraform.plan()
    except TerraformError as error:
        return str(error)
    return ""
