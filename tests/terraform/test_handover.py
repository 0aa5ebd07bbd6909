"""From `delivery: helm` to another one: Terraform forgets the Helm releases and destroys none, with the real plugin."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.resolved.charts import RELEASE_ADDRESSES
from tests.terraform.conftest import LITERAL_CONFIG
from tests.terraform.tools import HELM, WITHOUT_HELM

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Terraform
    from tests.terraform.tools import Tools

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

RELEASES = {f"helm_release.{name}" for name in RELEASE_ADDRESSES}


def state_of_helm() -> dict[str, Any]:
    """Write the state that `delivery: helm` leaves, as far as it is about Helm."""
    return {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": 1,
        "lineage": str(uuid.uuid4()),
        "resources": [
            {
                "mode": "managed",
                "type": "helm_release",
                "name": name,
                "provider": f'provider["registry.terraform.io/{HELM}"]',
                "instances": [
                    {
                        "schema_version": 2,
                        "attributes": {"id": name, "name": name, "namespace": "karpenter", "chart": name},
                    }
                ],
            }
            for name in RELEASE_ADDRESSES
        ],
    }


@pytest.fixture
def after_helm(stack_of: StackOf, terraform_tools: Tools, tmp_path: Path) -> Terraform:
    """Return a stack with another delivery, over the state that helm left."""
    if not terraform_tools.offers(HELM):
        pytest.skip(WITHOUT_HELM)
    terraform = stack_of(LITERAL_CONFIG)
    terraform.init()
    state = tmp_path / "helm.tfstate"
    state.write_text(json.dumps(state_of_helm()), "utf-8")
    terraform.run("state", "push", str(state))
    terraform.init()
    assert set(terraform.state()) == RELEASES
    return terraform


def rewrite(terraform: Terraform, tree: dict[str, Any]) -> None:
    (terraform.stack / "cdk.tf.json").write_text(json.dumps(tree), "utf-8")


def test_no_release_is_destroyed_and_none_is_kept_in_the_state(after_helm: Terraform) -> None:
    """The plan is of the whole stack; only what is about Helm is applied, because there is no AWS here.

    Without a refresh, because there is no cluster either: the plugin would find no release, and nothing to destroy.
    """
    assert after_helm.plan("-refresh=false").doing("delete", "replace") == set()

    tree = json.loads((after_helm.stack / "cdk.tf.json").read_text("utf-8"))
    rewrite(after_helm, {key: tree[key] for key in ("terraform", "provider", "removed")})
    after_helm.plan("-refresh=false")
    assert after_helm.apply()["destroyed"] == 0
    assert after_helm.state() == {}


def test_without_the_blocks_every_release_would_be_destroyed(after_helm: Terraform) -> None:
    tree = json.loads((after_helm.stack / "cdk.tf.json").read_text("utf-8"))
    del tree["removed"]
    rewrite(after_helm, tree)

    assert after_helm.plan("-refresh=false").doing("delete") == RELEASES
