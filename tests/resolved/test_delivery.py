"""What `delivery: gitops` needs, and that its files hold no reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodeless.finding import SpecError
from nodeless.karpenter.releases import NEWEST
from nodeless.resolved.delivery import gitops_files
from nodeless.resolved.references import references_in
from nodeless.spec.resolution import installation

Literals = Callable[..., dict[str, Any]]


def refused(**keys: Any) -> list[str]:  # noqa: ANN401 - keys of a cluster
    with pytest.raises(SpecError) as raised:
        installation(**keys)
    return [problem.where().rpartition(".")[2] for problem in raised.value.findings]


def test_files_need_the_account_and_the_issuer() -> None:
    assert refused(name="demo", region="eu-north-1", delivery="gitops") == ["account", "oidc_issuer"]


def test_with_pod_identity_files_need_no_issuer() -> None:
    keys = {"name": "demo", "region": "eu-north-1", "delivery": "gitops", "fargate": False, "identity": "pod-identity"}

    assert refused(**keys) == ["account"]
    assert installation(**keys, account="123456789012").delivery == "gitops"


def test_a_reference_is_no_literal(literals: Literals) -> None:
    assert refused(**literals(delivery="gitops", account="${data.aws_caller_identity.current.account_id}")) == [
        "account"
    ]


@pytest.mark.parametrize("version", ["0.25.0", "0.31.5", "0.32.10", "0.37.8", "1.0.14", str(NEWEST)])
def test_the_files_of_every_api_are_literal_and_complete(version: str, literals: Literals) -> None:
    found = installation(**literals(delivery="gitops", karpenter={"version": version}))

    files = gitops_files(found)
    assert list(references_in({name: list(documents) for name, documents in files.items()})) == []
    kinds = [document["kind"] for document in files["manifests/node-pools.yaml"]]
    assert kinds == (["AWSNodeTemplate", "Provisioner"] if found.release < (0, 32) else ["EC2NodeClass", "NodePool"])
    tag = files["flux/karpenter.yaml"][0]["spec"]["ref"]["tag"]
    assert tag == (f"v{version}" if found.release < (0, 35) else version)


def test_the_definitions_are_told_where_their_webhook_listens(literals: Literals) -> None:
    with_webhook = gitops_files(installation(**literals(delivery="gitops", karpenter={"version": "1.0"})))
    without = gitops_files(installation(**literals(delivery="gitops")))

    (values,) = with_webhook["crd-values.yaml"]
    (application,) = with_webhook["argocd/karpenter-crd.yaml"]
    assert application["spec"]["source"]["helm"]["valuesObject"] == values
    assert "crd-values.yaml" not in without


def test_logging_on_fargate_is_delivered_too(literals: Literals) -> None:
    files = gitops_files(installation(**literals(delivery="gitops", fargate={"logging": True})))

    assert "fargate-logging.yaml" in files["manifests/kustomization.yaml"][0]["resources"]
    assert [document["kind"] for document in files["manifests/fargate-logging.yaml"]] == ["Namespace", "ConfigMap"]
