"""A module serves every cluster that its validations admit: sizes, names, variables and its README."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nodeless.export.module.configuration import TAGGED_TYPES, WITH_PATH
from nodeless.export.module.switch import Switch, expression
from nodeless.export.module.variables import REPLICAS, Variable, variables
from nodeless.karpenter.policy import ATTACHMENTS_LIMIT, MANAGED_POLICY_LIMIT
from nodeless.karpenter.releases import RELEASES
from nodeless.resolved.installation import Installation
from nodeless.resolved.module import Module, module_of
from nodeless.resolved.names import HASH_LENGTH
from nodeless.resolved.partitions import BY_REGION
from nodeless.resolved.permissions import LONGEST_REGION
from nodeless.spec.model import Karpenter
from nodeless.spec.resolution import installation

FIRST_BY_DUTY = (0, 32, 0)
ALWAYS_THERE = {"cluster_name", "cluster_endpoint", "names", "tags", "replicas"}


def template(**keys: Any) -> Installation:  # noqa: ANN401 - keys of a cluster
    return installation(**{"name": "template", "region": "eu-north-1", **keys})


def names(module: Module) -> set[str]:
    return {each.name for each in variables(module)}


@pytest.mark.parametrize("release", sorted(RELEASES), ids=str)
def test_every_policy_fits_for_the_longest_values_and_interruption_can_be_chosen_since_0_32(release: Any) -> None:  # noqa: ANN401 - a release
    module = module_of(template(karpenter={"version": str(release)}))
    sizes = module.installation.packing.sizes

    assert max(sizes.values()) <= MANAGED_POLICY_LIMIT
    assert len(sizes) <= ATTACHMENTS_LIMIT
    since_0_32 = (release.major, release.minor, release.patch) >= FIRST_BY_DUTY
    assert (module.without_queue is not None) == since_0_32
    assert ("interruption" in names(module)) == since_0_32


@pytest.mark.parametrize("region", sorted(BY_REGION))
def test_no_cluster_has_a_larger_policy_than_the_module_was_measured_with(region: str) -> None:
    measured = module_of(template()).installation.packing.sizes
    longest = template(
        region=region, fargate=False, name="x" * 100, path=f"/{'p' * 510}/", names={"node_role": "r" * 64}
    )
    actual = longest.packing.sizes

    assert actual.keys() == measured.keys()
    assert all(actual[key] <= measured[key] for key in actual)


def test_every_region_has_room_in_every_name() -> None:
    assert max(map(len, BY_REGION)) <= LONGEST_REGION
    longest_region = "r" * max(map(len, BY_REGION))
    for rule, key in module_of(template(nodes={"roles": {"x" * 20: {}}})).name_rules():
        end = f"-{'h' * HASH_LENGTH}" if key.startswith(WITH_PATH) else ""
        extra = "" if rule.key == key else f"-{'x' * 20}"
        room = rule.limit - len(f"{rule.blog.replace('{cluster}', '')}{extra}-{longest_region}{end}")
        assert "{cluster}" not in rule.blog or room > HASH_LENGTH + 1, key


def test_a_module_has_no_import_blocks_and_keeps_the_exclusive_policies() -> None:
    """Terraform takes import blocks in a root module only."""
    module = module_of(template(adopt="blog")).installation

    assert module.adoption is None
    assert module.exclusive_policies


def test_required_variables_come_first_and_each_has_a_description() -> None:
    rows = variables(module_of(template()))

    required = [each.is_required for each in rows]
    assert required == sorted(required, reverse=True)
    assert {each.name for each in rows if each.is_required} == {
        "cluster_name",
        "cluster_endpoint",
        "cluster_oidc_url",
        "cluster_oidc_arn",
        "cluster_subnet_ids",
    }
    assert len({each.name for each in rows}) == len(rows)
    assert all(each.description.endswith(".") for each in rows)


LEFT_OUT = {
    "Pod Identity": (
        {"identity": "pod-identity", "fargate": False},
        {"cluster_oidc_url", "cluster_oidc_arn", "cluster_subnet_ids"},
    ),
    "an OIDC provider of its own": ({"oidc_provider": "create"}, {"cluster_oidc_arn"}),
    "no charts": ({"delivery": "none"}, {"helm_values", "node_pools", "node_classes"}),
    "selectors": (
        {"fargate": {"selectors": [{"namespace": "karpenter", "labels": {"app.kubernetes.io/name": "karpenter"}}]}},
        {"namespace"},
    ),
    "aws-auth": ({"nodes": {"access": "aws-auth"}}, {"path"}),
    "a key for the queue": (
        {"interruption": {"kms_key_arn": "arn:aws:kms:eu-north-1:123456789012:key/0a1b2c3d"}},
        {"interruption"},
    ),
}


@pytest.mark.parametrize(("keys", "left_out"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_the_caller_cannot_choose_is_not_a_variable(keys: dict[str, Any], left_out: set[str]) -> None:
    usual = names(module_of(template()))

    assert usual - names(module_of(template(**keys))) == left_out
    assert usual >= ALWAYS_THERE


def test_defaults_are_those_of_the_template() -> None:
    keys = {"karpenter": {"namespace": "kube-system", "replicas": 3}, "interruption": False, "tags": {"team": "a"}}
    rows = {each.name: each for each in variables(module_of(template(**keys)))}

    found = {name: rows[name].default for name in ("namespace", "replicas", "interruption", "tags")}
    assert found == {"namespace": "kube-system", "replicas": 3, "interruption": False, "tags": {"team": "a"}}


def test_replicas_have_the_bounds_of_the_file() -> None:
    bounds = Karpenter.model_fields["replicas"].metadata

    assert (bounds[0].ge, bounds[1].le) == REPLICAS


def test_a_null_is_the_default_unless_that_is_null() -> None:
    optional = Variable(name="a", type="string", description="A.")

    assert optional.block() == {"type": "string", "description": "A.", "default": None}
    assert Variable(name="a", type="bool", description="A.", default=False).block()["nullable"] is False


def test_patterns_have_nothing_that_terraform_does_not_know() -> None:
    conditions = [rule.condition for each in variables(module_of(template())) for rule in each.validations]

    assert not [condition for condition in conditions if re.search(r"\(\?[=!<]", condition)]


def test_everything_that_can_be_tagged_is() -> None:
    package = find_spec("cdktf_cdktf_provider_aws")
    assert package is not None
    folder = Path((package.submodule_search_locations or [""])[0])
    for kind in (
        *TAGGED_TYPES,
        "aws_iam_role_policy_attachment",
        "aws_ec2_tag",
        "aws_sqs_queue_policy",
    ):
        source = (folder / kind.removeprefix("aws_") / "__init__.py").read_text("utf-8")
        assert ("        tags: typing.Optional[typing.Mapping" in source) == (kind in TAGGED_TYPES), kind


ON: dict[str, Any] = {
    "locals": {"karpenter_values": {"settings": {"a": "1", "queue": "${local.names.queue}"}, "list": ["x", "y"]}},
    "resource": {
        "aws_sqs_queue": {"q": {"name": "q"}},
        "aws_sqs_queue_policy": {"q": {"queue_url": "${aws_sqs_queue.q.url}", "depends_on": ["aws_sqs_queue.q"]}},
        "helm_release": {"karpenter": {"name": "karpenter", "depends_on": ["aws_sqs_queue_policy.q"]}},
    },
    "output": {"queue": {"description": "Queue", "value": "${aws_sqs_queue.q.arn}"}},
}
OFF: dict[str, Any] = {
    "locals": {"karpenter_values": {"settings": {"a": "1"}, "list": ["y"]}},
    "resource": {"helm_release": {"karpenter": {"name": "karpenter"}}},
    "output": {},
}


def test_what_only_one_of_two_has_is_counted_and_what_differs_is_chosen() -> None:
    tree = Switch("var.s", ON, OFF).tree()

    assert tree["resource"] == {
        "aws_sqs_queue": {"q": {"count": "${var.s ? 1 : 0}", "name": "q"}},
        "aws_sqs_queue_policy": {
            "q": {
                "count": "${var.s ? 1 : 0}",
                "queue_url": "${aws_sqs_queue.q[0].url}",
                "depends_on": ["aws_sqs_queue.q"],
            }
        },
        "helm_release": {"karpenter": {"name": "karpenter", "depends_on": ["aws_sqs_queue_policy.q"]}},
    }
    assert tree["output"]["queue"]["value"] == "${one(aws_sqs_queue.q[*].arn)}"
    assert tree["locals"] == {
        "karpenter_settings": {"a": "1"},
        "karpenter_values": {
            "settings": '${merge(local.karpenter_settings, { for key, value in { "queue" = local.names.queue } '
            ": key => value if var.s })}",
            "list": '${var.s ? ["x", "y"] : ["y"]}',
        },
    }


def test_a_text_with_a_reference_in_it_is_not_taken_for_a_literal() -> None:
    with pytest.raises(ValueError, match="not one whole reference"):
        expression("arn:${a.b}")
