"""What an adoption needs: the names that exist, ids that follow from no name, and addresses of the stack."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.finding import Finding, SpecError
from nodeless.resolved.names import RULE_KEYS
from nodeless.spec.resolution import resolve

RULES = {key: f"Karpenter-demo-{key}" for key in RULE_KEYS}
TEMPLATE = {"names": {"style": "official", "rules": RULES}, "adopt": "cloudformation"}
MODULE_NAMES = {
    "style": "terraform-aws-eks",
    "controller_role": "KarpenterController-1",
    "node_role": "Karpenter-demo-1",
}

RIGHT: dict[str, dict[str, Any]] = {
    "none": {"adopt": "none"},
    "blog": {"adopt": "blog"},
    "blog, in a module": {"adopt": {"setup": "blog", "module": 'module.karpenter["demo"]'}},
    "cloudformation": TEMPLATE,
    "cloudformation, without a queue": {
        "names": "official",
        "adopt": {"setup": "cloudformation", "without": ["aws_sqs_queue.interruption"]},
    },
    "cloudformation, without interruption": {
        "names": "official",
        "interruption": False,
        "adopt": "cloudformation",
    },
    "cloudformation, with Pod Identity": {
        **TEMPLATE,
        "identity": "pod-identity",
        "fargate": False,
        "adopt": {"setup": "cloudformation", "ids": {"aws_eks_pod_identity_association.controller": "demo,a-1"}},
    },
    "eksctl": {"names": {"style": "eksctl", "rules": RULES}, "adopt": "eksctl"},
    "terraform-aws-eks": {
        "names": {**MODULE_NAMES, "rules": RULES},
        "adopt": "terraform-aws-eks",
        "path": "/platform/",
    },
}

WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "no set-up": ({"adopt": {"module": "module.karpenter"}}, "adopt.setup", "one of blog"),
    "a module of what is in no state": (
        {**TEMPLATE, "adopt": {"setup": "cloudformation", "module": "module.karpenter"}},
        "adopt.module",
        "in no Terraform state",
    ),
    "names of another style": ({"adopt": "blog", "names": "official"}, "names", "that blog gives"),
    "names with the region": ({"adopt": "blog", "names": {"with_region": True}}, "names.with_region", "no region"),
    "another path": ({"adopt": "blog", "path": "/platform/"}, "path", "replaced"),
    "a rule without a name": (
        {**TEMPLATE, "names": {"style": "official", "rules": {k: v for k, v in RULES.items() if k != "spot"}}},
        "names.rules.spot",
        "the name that cloudformation gave the rule",
    ),
    "a role without a name": (
        {"names": {**MODULE_NAMES, "controller_role": None, "rules": RULES}, "adopt": "terraform-aws-eks"},
        "names.controller_role",
        "the name that terraform-aws-eks gave the role",
    ),
    "an association without an id": (
        {**TEMPLATE, "identity": "pod-identity", "fargate": False},
        "adopt.ids",
        "Pod Identity association",
    ),
    "no address of the stack": (
        {"adopt": {"setup": "blog", "without": ["aws_sqs_queue.interuption"]}},
        "adopt.without[0]",
        "a resource of this stack",
    ),
    "an id of nothing": (
        {"adopt": {"setup": "blog", "ids": {"terraform_data.controller_policies": "x"}}},
        "adopt.ids.terraform_data.controller_policies",
        "a resource of this stack",
    ),
    "no module address": ({"adopt": {"setup": "blog", "module": "karpenter"}}, "adopt.module", "address of a module"),
    "no import id": (
        {"adopt": {"setup": "blog", "ids": {"aws_sqs_queue.interruption": "${x}"}}},
        "adopt.ids.aws_sqs_queue.interruption",
        "",
    ),
}


def resolved(keys: dict[str, Any]) -> Any:  # noqa: ANN401 - one installation
    tree = {"clusters": [{"name": "demo", "region": "eu-north-1", **keys}]}
    return resolve(tree, source="clusters.yaml")[0][1]


@pytest.mark.parametrize("name", RIGHT)
def test_an_adoption_that_can_work_is_accepted(name: str) -> None:
    installation = resolved(RIGHT[name])

    assert (installation.adoption is None) == (name == "none")
    assert installation.exclusive_policies == (name != "none")


@pytest.mark.parametrize("name", WRONG)
def test_an_adoption_that_cannot_work_is_refused(name: str) -> None:
    keys, path, expected = WRONG[name]

    with pytest.raises(SpecError) as raised:
        resolved(keys)

    assert {finding.where() for finding in raised.value.findings} == {f"clusters[0].{path}"}
    assert all(expected in finding.expected for finding in raised.value.findings)


@pytest.mark.parametrize(("setup", "count"), [("blog", 1), ("none", 0)])
def test_the_policies_of_the_old_set_up_can_stay_with_a_warning(setup: str, count: int) -> None:
    warnings: list[Finding] = []
    tree = {"clusters": [{"name": "demo", "region": "eu-north-1", "adopt": setup, "exclusive_policies": False}]}

    ((_, installation),) = resolve(tree, source="clusters.yaml", warn=warnings.append)

    assert not installation.exclusive_policies
    assert [each.where() for each in warnings] == ["clusters[0].exclusive_policies"] * count
