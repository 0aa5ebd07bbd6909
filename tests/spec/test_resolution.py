"""What a file resolves to."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.finding import SpecError
from nodeless.karpenter.releases import NEWEST, find
from nodeless.resolved.installation import Installation
from nodeless.resolved.names import BY_KEY, NAME_RULES, fitted
from nodeless.resolved.permissions import controller_policies, place_of, proofs
from nodeless.spec.resolution import installation, resolve


def resolved(*clusters: dict[str, Any], **top: Any) -> list[Installation]:  # noqa: ANN401 - keys of the file
    return [row for _, row in resolve({"clusters": list(clusters), **top}, source="clusters.yaml")]


def test_two_lines_make_an_installation() -> None:
    (found,) = resolved({"name": "demo", "region": "eu-north-1"})

    assert found.release == NEWEST
    assert found.partition.name == "aws"
    assert found.fargate is not None
    assert found.fargate.selectors == (("karpenter", {}),)
    assert found.queue is not None


def test_defaults_lie_under_every_cluster_map_by_map() -> None:
    one, two = resolved(
        {"name": "one", "karpenter": {"version": "1.13"}},
        {"name": "two", "region": "us-gov-west-1", "tags": {"team": "b"}},
        defaults={"region": "eu-north-1", "karpenter": {"replicas": 1}, "tags": {"team": "a", "cost": "1"}},
    )

    assert (str(one.release), one.replicas, one.region) == (str(find("1.13")), 1, "eu-north-1")
    assert (two.release, two.partition.name) == (NEWEST, "aws-us-gov")
    assert two.tags == {"team": "b", "cost": "1"}


def test_in_kube_system_only_the_controller_runs_on_fargate() -> None:
    (found,) = resolved({"name": "demo", "region": "eu-north-1", "karpenter": {"namespace": "kube-system"}})

    assert found.fargate is not None
    assert found.fargate.selectors == (("kube-system", {"app.kubernetes.io/name": "karpenter"}),)


def test_tagged_subnets_serve_fargate_where_no_others_are_given() -> None:
    tagged = {"subnets": ["subnet-0123456789abcdef0"]}

    (found,) = resolved({"name": "demo", "region": "eu-north-1", "discovery": tagged})

    assert found.subnets == ("subnet-0123456789abcdef0",)


def test_every_stack_has_a_state_of_its_own_by_default() -> None:
    backend = {"type": "s3", "bucket": "state", "region": "eu-north-1"}
    rows = resolved({"name": "one"}, {"name": "two"}, defaults={"region": "eu-north-1", "backend": backend})

    assert [row.backend["key"] for row in rows] == [
        "karpenter/one/terraform.tfstate",
        "karpenter/two/terraform.tfstate",
    ]


@pytest.mark.parametrize("style", ["blog", "official"])
@pytest.mark.parametrize("length", [4, 46, 47, 64, 100])
def test_every_name_fits_its_limit_whatever_the_cluster_is_called(style: str, length: int) -> None:
    (found,) = resolved({"name": "c" * length, "region": "eu-north-1", "names": style})

    for rule in NAME_RULES:
        assert len(getattr(found.names, rule.key)) <= rule.limit
    assert len(found.names.policy("resource_discovery")) <= 128
    assert len(found.names.rule("capacity_reservation")) <= 64


def test_a_cut_name_keeps_its_ending_and_tells_clusters_apart() -> None:
    one, two = (fitted(BY_KEY["controller_role"].blog, "c" * 60 + end, 64) for end in "ab")

    assert one.endswith("-karpenter-controller")
    assert one != two
    assert len(one) == 64


def test_the_names_are_the_blogs_and_upstreams() -> None:
    blog, official = (
        resolved({"name": "demo", "region": "eu-north-1", "names": style})[0].names for style in ("blog", "official")
    )

    assert [blog.controller_role, blog.fargate_role, blog.node_role, blog.instance_profile, blog.queue] == [
        "demo-karpenter-controller",
        "demo-karpenter-fargate",
        "demo-karpenter-node",
        "demo-karpenter-instance-profile",
        "demo-karpenter",
    ]
    assert [official.node_role, official.instance_profile, official.queue, official.controller_role] == [
        "KarpenterNodeRole-demo",
        "KarpenterNodeInstanceProfile-demo",
        "demo",
        "demo-karpenter",
    ]


def test_python_may_pass_references_where_a_file_may_not() -> None:
    found = installation(
        name="${aws_eks_cluster.this.name}",
        region="eu-north-1",
        oidc_issuer="${aws_eks_cluster.this.identity[0].oidc[0].issuer}",
        subnets=["#{TfToken[TOKEN.3]}"],
    )

    assert found.subnets == ("#{TfToken[TOKEN.3]}",)


def test_python_may_not_pass_references_where_a_literal_decides_what_is_built() -> None:
    with pytest.raises(SpecError):
        installation(name="demo", region="${var.region}")


def test_a_name_only_known_later_is_measured_at_its_longest() -> None:
    keys: dict[str, Any] = {"region": "us-gov-west-1", "karpenter": {"version": "1.8.8"}}
    later, short = installation(name="${aws_eks_cluster.this.name}", **keys), installation(name="demo", **keys)

    assert len(proofs(later)) > len(proofs(short)) == 1
    place = place_of(later, account="123456789012")
    assert [policy.key for policy in controller_policies(later, place)] == [
        "node_lifecycle",
        "iam_integration",
        "eks_integration",
        "interruption",
        "resource_discovery",
    ]


def test_a_name_only_known_later_is_cut_by_terraform_with_the_same_rule() -> None:
    name = fitted("{cluster}-karpenter-controller", "${x.name}", 64)

    assert name == (
        "${length(x.name) <= 43 ? x.name : "
        '"${substr(x.name, 0, 34)}-${substr(sha256(x.name), 0, 8)}"}-karpenter-controller'
    )


def test_a_reference_with_text_beside_it_is_refused() -> None:
    with pytest.raises(SpecError) as raised:
        installation(name="team-${x.name}", region="eu-north-1")

    assert "no text beside it" in str(raised.value)
