"""Another `karpenter.version`: the definitions are the new release's, pools and classes stay, nothing else changes."""

from __future__ import annotations

import pytest

from tests.lab.deliveries import ScriptedLife
from tests.lab.upgrades import Upgrade, UpgradedLife

pytestmark = [pytest.mark.terraform, pytest.mark.slow]

DIVIDED = ("eks_integration", "iam_integration", "node_lifecycle", "resource_discovery", "zonal_shift")
FOLLOWS_POLICIES = "terraform_data.controller_policies"
CHARTS = dict.fromkeys(("helm_release.karpenter_crd", "helm_release.karpenter"), "update")
# Several policies of the controller in place of one, and another policy for pulling images.
FROM_1_0 = {
    **{
        f"{kind}.controller_{name}": action
        for kind in ("aws_iam_policy", "aws_iam_role_policy_attachment")
        for action, names in (("create", DIVIDED), ("delete", ("controller",)))
        for name in names
    },
    FOLLOWS_POLICIES: "update",
    "aws_iam_role_policy_attachment.node_registry": "replace",
    **CHARTS,
}

# By life and release: what `nodeless upgrade` announces. Only from v1beta1 to v1 are the default pool and class others.
ANNOUNCED = {
    ("beta_life", "1.0.8"): {
        "aws_iam_policy.controller_controller": "update",
        FOLLOWS_POLICIES: "update",
        **CHARTS,
        "helm_release.node_pools": "update",
    },
    ("beta_life", "1.14.1"): FROM_1_0,
    ("scripted_life", "1.13.1"): FROM_1_0,
    ("scripted_life", "1.14.1"): CHARTS,
}
# The conversion writes a quantity in its shortest form. It is the same number, so nobody writes it back.
WRITTEN_BY_THE_CONVERSION = ["NodePool default: spec.limits.cpu is '1k' instead of '1000'"]

each_upgrade = pytest.mark.parametrize(("life", "release"), ANNOUNCED)


@pytest.fixture
def upgrade(request: pytest.FixtureRequest, life: str, release: str) -> Upgrade:
    found: UpgradedLife | ScriptedLife = request.getfixturevalue(life)
    return found.upgrades[release]


@each_upgrade
def test_the_plan_is_what_was_announced(upgrade: Upgrade, life: str, release: str) -> None:
    actions = {address: action for address, action in upgrade.plan.actions.items() if action != "read"}

    assert actions == ANNOUNCED[life, release]
    assert upgrade.plan.diagnostics == ()


@each_upgrade
def test_the_definitions_are_upstreams_of_the_new_release(upgrade: Upgrade) -> None:
    assert upgrade.outdated != []
    assert upgrade.differing == []


@each_upgrade
def test_pools_classes_and_definitions_survive(upgrade: Upgrade) -> None:
    assert {"nodepools/default", "ec2nodeclasses/default"} <= upgrade.before.keys()
    assert upgrade.before.items() <= upgrade.after.items()


@each_upgrade
def test_everything_is_deployed_and_the_second_plan_is_empty(upgrade: Upgrade) -> None:
    assert set(upgrade.releases.values()) == {"deployed"}
    assert upgrade.second_plan.is_empty


@each_upgrade
def test_pools_and_classes_are_what_was_asked_for(upgrade: Upgrade, life: str) -> None:
    assert upgrade.not_as_asked == (WRITTEN_BY_THE_CONVERSION if life == "beta_life" else [])


def test_a_new_definition_comes_with_its_release(scripted_life: ScriptedLife) -> None:
    new = scripted_life.upgrades["1.14.1"]

    assert new.after.keys() - new.before.keys() == {
        "customresourcedefinitions/capacitybuffers.autoscaling.x-k8s.io",
    }


def test_1_0_migrates_what_is_stored_before_v1beta1_goes(beta_life: UpgradedLife) -> None:
    """An upgrade that does not wait for this is refused by the API server, whose definitions still name v1beta1."""
    assert set(map(tuple, beta_life.stored["1.0.8"].values())) == {("v1",)}


def test_every_controller_ran_and_none_failed(beta_life: UpgradedLife) -> None:
    # For 0.37 that of 1.0 converts.
    assert beta_life.controllers == ["1.0.8", "1.0.8", "1.14.1"]
    assert beta_life.faults == []


def test_a_destroy_leaves_nothing_but_the_namespace(beta_life: UpgradedLife) -> None:
    assert beta_life.objects_left == {
        "namespaces/karpenter",
        "configmaps/karpenter/kube-root-ca.crt",
        "serviceaccounts/karpenter/default",
    }
    assert beta_life.holdings_left == set()
    assert beta_life.state_at_the_end == {}
