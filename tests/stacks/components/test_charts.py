"""The Helm releases and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nodeless.imports.cdk import Construct
from nodeless.resolved.charts import RELEASE_ADDRESSES, chart_releases, chart_values
from nodeless.resolved.resources import all_manifests, fargate_logging_manifests
from nodeless.spec.resolution import installation
from nodeless.stacks.components.charts import Charts
from nodeless.stacks.components.oidc_provider import OidcProvider
from nodeless.stacks.components.spot_role import SpotRole
from tests.conftest import LITERALS
from tests.stacks.components.example import AT, PLACE

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def charts(stack: Construct, **keys: Any) -> None:  # noqa: ANN401 - keys of a cluster
    found = installation(**LITERALS, **keys)
    crds, controller = chart_releases(found, controller=chart_values(found, PLACE, endpoint=found.endpoint))
    Charts(
        stack,
        "charts",
        at=AT,
        crds=crds,
        controller=controller,
        controller_values_yaml="${yamlencode(local.karpenter_values)}",
        logging=fargate_logging_manifests(found, PLACE),
        pools=all_manifests(found),
        before_crds=[],
        before_controller=[OidcProvider(stack, "provider", at=AT, issuer="https://oidc.example").provider],
        before_pools=[SpotRole(stack, "spot", at=AT).role],
    )


def test_each_release_waits_for_the_one_before_and_for_what_it_needs(
    synth: Synth, json_snapshot: SnapshotAssertion
) -> None:
    found = synth(charts)

    releases = found.all("helm_release")
    assert {name: row["depends_on"] for name, row in releases.items()} == {
        "karpenter_crd": [],
        "karpenter": ["helm_release.karpenter_crd", "aws_iam_openid_connect_provider.cluster"],
        "node_pools": ["helm_release.karpenter", "aws_iam_service_linked_role.spot"],
    }
    assert releases["karpenter"]["skip_crds"] is True
    assert [name for name, row in releases.items() if row.get("take_ownership")] == ["karpenter_crd"]
    assert {row["wait"] for row in releases.values()} == {True}
    assert found.for_snapshot() == json_snapshot(name="Charts")


def test_logging_comes_between_the_definitions_and_the_controller(synth: Synth) -> None:
    releases = synth(lambda stack: charts(stack, fargate={"logging": True})).all("helm_release")

    assert releases["fargate_logging"]["depends_on"] == ["helm_release.karpenter_crd"]
    assert "helm_release.fargate_logging" in releases["karpenter"]["depends_on"]
    assert set(releases) == set(RELEASE_ADDRESSES)


def test_values_of_the_definitions_are_given_only_where_the_release_has_some(synth: Synth) -> None:
    with_webhook = synth(lambda stack: charts(stack, karpenter={"version": "1.0"}))
    without = synth(charts)

    assert with_webhook.all("helm_release")["karpenter_crd"]["values"] == ["${yamlencode(local.karpenter_crd_values)}"]
    assert "values" not in without.all("helm_release")["karpenter_crd"]


def test_a_namespace_that_every_cluster_has_is_not_created(synth: Synth) -> None:
    own = synth(charts).all("helm_release")["karpenter_crd"]
    system = synth(lambda stack: charts(stack, karpenter={"namespace": "kube-system"})).all("helm_release")

    assert own["create_namespace"] is True
    assert system["karpenter_crd"]["create_namespace"] is False
    assert {row["namespace"] for row in system.values()} == {"kube-system"}
