"""What is looked up: only what the installation needs and the settings do not say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.imports.cdk import Construct
from nodeless.spec.resolution import installation
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.cluster_facts import ClusterFacts, look_up

if TYPE_CHECKING:
    from tests.synthesized import Synth

Literals = Callable[..., dict[str, Any]]

ACCOUNT, CLUSTER, SUBNETS, GROUPS = "aws_caller_identity", "aws_eks_cluster", "aws_subnets", "aws_security_groups"
OF_THE_CLUSTER = ("endpoint", "oidc_issuer", "certificate_authority")
POD_IDENTITY = {"identity": "pod-identity", "fargate": False}

# The keys that are left out, the other keys, and what is looked up.
CASES: list[tuple[tuple[str, ...], dict[str, Any], set[str]]] = [
    ((), {}, set()),
    (("account",), {}, {ACCOUNT}),
    (("endpoint",), {}, {CLUSTER, GROUPS}),
    (("certificate_authority",), {}, {CLUSTER, GROUPS}),
    (("oidc_issuer",), {}, {CLUSTER, GROUPS}),
    (("endpoint", "certificate_authority"), {"delivery": "none"}, set()),
    (("oidc_issuer",), {"delivery": "none"}, {CLUSTER}),
    (("oidc_issuer",), POD_IDENTITY, set()),
    # The cluster is looked up too: its subnets are those of its VPC.
    (("subnets",), {}, {CLUSTER, SUBNETS, GROUPS}),
    (("subnets",), {"fargate": False}, set()),
    (OF_THE_CLUSTER, {**POD_IDENTITY, "delivery": "none"}, set()),
]


def facts(synth: Synth, keys: dict[str, Any]) -> tuple[ClusterFacts, set[str]]:
    """Look up in a stack; return the facts and the data sources."""
    known: list[ClusterFacts] = []

    def build(stack: Construct) -> None:
        known.append(look_up(stack, at=Addresses(), installation=installation(**keys)))

    found = synth(build)
    return known[0], set(found.tree.get("data", {}))


@pytest.mark.parametrize(("left_out", "keys", "looked_up"), CASES)
def test_a_value_is_looked_up_only_where_it_is_needed_and_not_given(
    synth: Synth, literals: Literals, left_out: tuple[str, ...], keys: dict[str, Any], looked_up: set[str]
) -> None:
    given = {key: value for key, value in literals(**keys).items() if key not in left_out}

    assert facts(synth, given)[1] == looked_up


def test_a_literal_is_taken_as_it_is(synth: Synth, literals: Literals) -> None:
    given = literals()

    found, _ = facts(synth, given)

    expected = {key: given[key] for key in ("account", *OF_THE_CLUSTER)}
    assert found == ClusterFacts(**expected, subnets=tuple(given["subnets"]), checks_oidc_provider=False)
    assert found.issuer_host == given["oidc_issuer"].removeprefix("https://")


def test_one_missing_value_does_not_replace_the_given_ones(synth: Synth, literals: Literals) -> None:
    given = literals()
    del given["certificate_authority"]

    found, _ = facts(synth, given)

    assert (found.endpoint, found.oidc_issuer) == (given["endpoint"], given["oidc_issuer"])
    assert found.certificate_authority is not None


def test_an_issuer_is_of_no_use_with_pod_identity(synth: Synth, literals: Literals) -> None:
    found, _ = facts(synth, literals(**POD_IDENTITY))

    assert found.oidc_issuer is None
    assert found.issuer_host is None
