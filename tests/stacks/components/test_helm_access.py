"""The three ways in which the Helm provider gets a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nodeless.stacks.components.helm_access import HelmAccess

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth, Synthesized


def access(synth: Synth, auth: str) -> Synthesized:
    return synth(
        lambda stack: HelmAccess(
            stack,
            "helm",
            auth=auth,
            cluster="demo",
            region="eu-north-1",
            endpoint="https://cluster.example",
            certificate_authority="LS0tLS1CRUdJTi0=",
        )
    )


def kubernetes(found: Synthesized) -> dict[str, Any]:
    (provider,) = found.tree["provider"]["helm"]
    return dict(provider["kubernetes"])


def test_an_ephemeral_token_is_in_no_data_source_and_so_not_in_the_state(
    synth: Synth, json_snapshot: SnapshotAssertion
) -> None:
    found = access(synth, "ephemeral")

    assert found.tree["ephemeral"] == {"aws_eks_cluster_auth": {"cluster": {"name": "demo"}}}
    assert "data" not in found.tree
    assert found.for_snapshot() == json_snapshot(name="HelmAccess")


def test_a_token_comes_from_a_data_source(synth: Synth) -> None:
    found = access(synth, "token")

    assert kubernetes(found)["token"] == "${data.aws_eks_cluster_auth.cluster.token}"  # noqa: S105 - a reference
    assert found.only("aws_eks_cluster_auth", "data")["name"] == "demo"


def test_exec_runs_the_aws_command_for_this_cluster_and_region(synth: Synth) -> None:
    found = access(synth, "exec")

    assert kubernetes(found)["exec"] == {
        "api_version": "client.authentication.k8s.io/v1beta1",
        "args": ["eks", "get-token", "--cluster-name", "demo", "--region", "eu-north-1"],
        "command": "aws",
    }


@pytest.mark.parametrize("auth", ["ephemeral", "token", "exec"])
def test_there_is_one_way_in_and_no_other(synth: Synth, auth: str) -> None:
    assert len(kubernetes(access(synth, auth)).keys() & {"token", "exec"}) == 1
