"""Each component alone: what it creates, as a snapshot, and what must never change about it, as a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.karpenter.interruption import event_rules, queue_policy
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Policy, Statement, string_equals
from nodeless.karpenter.releases import NEWEST
from nodeless.karpenter.trust import fargate_trust, irsa_trust, node_trust
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.controller import Controller
from nodeless.stacks.components.discovery import Discovery
from nodeless.stacks.components.fargate import Fargate
from nodeless.stacks.components.interruption import InterruptionQueue
from nodeless.stacks.components.oidc_provider import OidcProvider
from nodeless.stacks.components.role import Boundaries, Role

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth

PLACE = Place(partition="aws", dns_suffix="amazonaws.com", region="eu-north-1", account="123456789012", cluster="demo")
AT = Addresses()
BOUNDARIES = Boundaries(path="/", permissions_boundary=None)
RULES = [(f"demo-{event.key}", event) for event in event_rules(NEWEST)]


def test_every_rule_reaches_the_encrypted_queue(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(
        lambda stack: InterruptionQueue(
            stack,
            "interruption",
            at=AT,
            name="demo-karpenter",
            kms_key_arn=None,
            policy=queue_policy(
                PLACE.regional("sqs", "demo-karpenter"),
                tuple(PLACE.regional("events", f"rule/{name}") for name, _ in RULES),
            ),
            rules=RULES,
        )
    )

    targets = found.all("aws_cloudwatch_event_target")
    assert len(targets) == len(RULES) == len(found.all("aws_cloudwatch_event_rule"))
    assert {target["target_id"] for target in targets.values()} == {"KarpenterInterruptionQueueTarget"}
    assert {target["arn"] for target in targets.values()} == {"${aws_sqs_queue.interruption.arn}"}
    assert found.only("aws_sqs_queue")["sqs_managed_sse_enabled"] is True
    assert found.for_snapshot() == json_snapshot


def test_a_queue_with_a_key_of_ones_own_is_encrypted_with_it(synth: Synth) -> None:
    key = "arn:aws:kms:eu-north-1:123456789012:key/1"
    found = synth(
        lambda stack: InterruptionQueue(stack, "queue", at=AT, name="q", kms_key_arn=key, policy=(), rules=())
    )

    queue = found.only("aws_sqs_queue")
    assert queue["kms_master_key_id"] == key
    assert "sqs_managed_sse_enabled" not in queue


def test_the_controllers_policies_are_all_attached_to_its_role(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    statement = Statement(
        sid="AllowReads",
        actions=("ec2:DescribeImages",),
        resources=("*",),
        conditions=(string_equals("aws:RequestedRegion", "eu-north-1"),),
    )
    policies = [Policy(key=key, name=f"Karpenter-{key}", statements=(statement,)) for key in ("one", "two")]
    found = synth(
        lambda stack: Controller(
            stack,
            "controller",
            at=AT,
            role_name="demo-karpenter-controller",
            trust=irsa_trust(
                provider_arn="arn:aws:iam::123456789012:oidc-provider/oidc.example",
                issuer="oidc.example",
                namespace="karpenter",
                service_account="karpenter",
            ),
            policies=policies,
            boundaries=BOUNDARIES,
        )
    )

    attached = found.all("aws_iam_role_policy_attachment")
    assert {row["policy_arn"] for row in attached.values()} == {
        "${aws_iam_policy.controller_one.arn}",
        "${aws_iam_policy.controller_two.arn}",
    }
    conditions = found.all("aws_iam_policy_document", "data")["controller_trust"]["statement"][0]["condition"]
    assert {row["variable"] for row in conditions} == {"oidc.example:sub", "oidc.example:aud"}
    assert found.for_snapshot() == json_snapshot


def test_the_profile_waits_for_the_policies_of_its_role(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(
        lambda stack: Fargate(
            stack,
            "fargate",
            at=AT,
            cluster="demo",
            profile_name="karpenter",
            role_name="demo-karpenter-fargate",
            trust=fargate_trust(PLACE),
            policies=[("pod_execution", PLACE.managed_policy("AmazonEKSFargatePodExecutionRolePolicy"))],
            boundaries=BOUNDARIES,
            subnets=["subnet-0123456789abcdef0"],
            selectors=[("kube-system", {"app.kubernetes.io/name": "karpenter"})],
        )
    )

    profile = found.only("aws_eks_fargate_profile")
    assert profile["depends_on"] == ["aws_iam_role_policy_attachment.fargate_pod_execution"]
    (trust,) = found.only("aws_iam_policy_document", "data")["statement"]
    assert trust["condition"][0]["values"] == ["arn:aws:eks:eu-north-1:123456789012:fargateprofile/demo/*"]
    assert found.for_snapshot() == json_snapshot


def test_a_role_carries_its_path_and_boundary(synth: Synth) -> None:
    boundary = "arn:aws:iam::123456789012:policy/boundary"
    found = synth(
        lambda stack: Role(
            stack,
            "role",
            at=AT,
            address="node",
            name="nodes",
            description="Nodes",
            trust=node_trust(PLACE),
            boundaries=Boundaries(path="/team/", permissions_boundary=boundary),
            policies=(),
        )
    )

    role = found.only("aws_iam_role")
    assert (role["path"], role["permissions_boundary"]) == ("/team/", boundary)


def test_each_tagged_resource_has_an_address_with_its_own_id(synth: Synth) -> None:
    found = synth(
        lambda stack: Discovery(
            stack,
            "discovery",
            at=AT,
            tag_key="karpenter.sh/discovery",
            cluster="demo",
            resource_ids=["subnet-0123456789abcdef0", "sg-0123456789abcdef0"],
        )
    )

    assert set(found.all("aws_ec2_tag")) == {"discovery_subnet_0123456789abcdef0", "discovery_sg_0123456789abcdef0"}
    assert {row["value"] for row in found.all("aws_ec2_tag").values()} == {"demo"}


def test_the_oidc_provider_serves_sts_only(synth: Synth) -> None:
    found = synth(lambda stack: OidcProvider(stack, "provider", at=AT, issuer="https://oidc.example"))

    assert found.only("aws_iam_openid_connect_provider")["client_id_list"] == ["sts.amazonaws.com"]


def test_two_installations_in_one_stack_keep_their_addresses_apart(synth: Synth) -> None:
    found = synth(
        lambda stack: [
            OidcProvider(stack, name, at=Addresses(f"{name}_"), issuer=f"https://{name}.example")
            for name in ("one", "two")
        ]
    )

    assert set(found.all("aws_iam_openid_connect_provider")) == {"one_cluster", "two_cluster"}
