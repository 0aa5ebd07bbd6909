"""The OIDC provider of the cluster's issuer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.oidc_provider import OidcProvider
from tests.stacks.components.example import AT

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def test_the_oidc_provider_serves_sts_only(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: OidcProvider(stack, "provider", at=AT, issuer="https://oidc.example"))

    assert found.only("aws_iam_openid_connect_provider")["client_id_list"] == ["sts.amazonaws.com"]
    assert found.for_snapshot() == json_snapshot(name="OidcProvider")


def test_two_installations_in_one_stack_keep_their_addresses_apart(synth: Synth) -> None:
    found = synth(
        lambda stack: [
            OidcProvider(stack, name, at=Addresses(f"{name}_"), issuer=f"https://{name}.example")
            for name in ("one", "two")
        ]
    )

    assert set(found.all("aws_iam_openid_connect_provider")) == {"one_cluster", "two_cluster"}
