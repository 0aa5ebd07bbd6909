"""References come through Python only; a file of GitOps has none, and checks leave out what is not known yet."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.finding import SpecError
from nodeless.spec.resolution import installation
from tests.conftest import LITERALS
from tests.refusals import problems

REFERENCE = "${aws_x.y.z}"
TERMS: dict[str, Any] = {
    "amiSelectorTerms": [{"id": REFERENCE}],
    "role": REFERENCE,
    "subnetSelectorTerms": [{"id": REFERENCE}],
    "securityGroupSelectorTerms": [{"id": REFERENCE}],
    "tags": {"team": f"{REFERENCE}-nodes"},
    "userData": f"#!/bin/sh\necho {REFERENCE}\n",
}
CLASS = {"node_classes": [{"name": "own", "spec": {**TERMS, "amiFamily": "AL2023"}}]}


def findings(**keys: Any) -> list[str]:  # noqa: ANN401 - keys of a cluster
    try:
        installation(**{**LITERALS, **keys})
    except SpecError as error:
        return [finding.where().removeprefix("clusters[0].") for finding in error.findings]
    return []


def test_specs_take_references_in_python() -> None:
    assert findings(**CLASS) == []


def test_the_same_text_in_a_file_is_a_literal_and_is_checked() -> None:
    assert {finding.where().rpartition("spec.")[2] for finding in problems({**LITERALS, **CLASS})} >= {"role"}


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({"endpoint": REFERENCE}, "endpoint"),
        ({"karpenter": {"values": {"podAnnotations": {"a": f"x-{REFERENCE}"}}}}, "karpenter.values.podAnnotations.a"),
        (
            {"karpenter": {"values": {"podAnnotations": {REFERENCE: "x"}}}},
            f"karpenter.values.podAnnotations.{REFERENCE}",
        ),
        (
            {"node_classes": [{"name": "own", "spec": {**TERMS, "role": "demo-karpenter-node"}}]},
            "node_classes[0].spec.amiSelectorTerms[0].id",
        ),
        (
            {"node_pools": [{"name": "own", "spec": {"weight": 1, "limits": {"cpu": REFERENCE}}}]},
            "node_pools[0].spec.limits.cpu",
        ),
    ],
    ids=str,
)
def test_a_file_of_gitops_has_no_reference(keys: dict[str, Any], where: str) -> None:
    assert where in findings(delivery="gitops", **keys)
    assert where not in findings(delivery="helm", **keys)


def test_a_file_may_have_what_looks_like_one() -> None:
    values = {"podAnnotations": {"a": REFERENCE, REFERENCE: "%{x}"}}

    assert problems({**LITERALS, "delivery": "gitops", "karpenter": {"values": values}}) == []
