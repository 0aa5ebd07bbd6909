"""The documented policy is what init and doctor really ask for, and all of it only reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nodeless.live.account import IAM_PREFIXES, Account, opened
from nodeless.live.checks import CHECKS
from nodeless.live.cluster import cluster_names, described
from nodeless.live.survey import Survey
from tests.docs.markdown import ROOT, blocks, text_of
from tests.live import applied
from tests.live.examined import examined, installation_of
from tests.live.site import Site

DOCUMENT = ROOT / "docs/init-and-doctor.md"


@contextmanager
def recorded(region: str) -> Iterator[tuple[Account, set[str]]]:
    """Log in, and note the action of every call that is made."""
    account, actions = opened(region), set[str]()

    def note(model: Any, **_: object) -> None:  # noqa: ANN401 - botocore's model of an operation
        service = model.service_model.service_name
        actions.add(f"{IAM_PREFIXES.get(service, service)}:{model.name}")

    account.session.events.register("before-call", note)
    yield account, actions


def documented() -> list[str]:
    (policy,) = (json.loads(block.text) for block in blocks("json", DOCUMENT))
    actions: list[str] = policy["Statement"][0]["Action"]
    return actions


@pytest.mark.usefixtures("logged_in")
def test_the_documented_actions_are_those_that_are_made(make_site: Callable[..., Site]) -> None:
    site = make_site()
    with recorded(site.region) as (account, actions):
        log_in = lambda *_, **__: account  # noqa: E731 - a function of one line
        cluster_names(account)
        Survey(account, described(account, site.cluster)).draft()
        examined(site, log_in=log_in)
        _, installation = installation_of(site)
        applied.apply(site, installation)
        examined(site, log_in=log_in)
        # The other way to log in, and a VPC without a way out.
        site.client("eks").create_pod_identity_association(
            clusterName=site.cluster,
            namespace="karpenter",
            serviceAccount="karpenter",
            roleArn=site.world.other_node_role,
        )
        site.client("ec2").delete_route(RouteTableId=site.route_table, DestinationCidrBlock="0.0.0.0/0")
        examined(site, log_in=log_in, identity="pod-identity", fargate=False)

    assert documented() == sorted(actions)


def test_every_documented_action_only_reads() -> None:
    assert [
        action for action in documented() if not action.partition(":")[2].startswith(("Describe", "Get", "List"))
    ] == []


@pytest.mark.usefixtures("logged_in")
def test_a_call_that_changes_something_cannot_be_made() -> None:

    with pytest.raises(AssertionError, match="delete_role"):
        opened("eu-north-1").ask("iam", "delete_role", RoleName="x")


def test_every_check_is_documented_in_its_order() -> None:
    table = text_of(DOCUMENT).partition("| check | what it looks at |")[2].partition("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    described_checks = [name.strip("` ") for row in rows for name in row.split("|")[1].split(",")]

    ids = ["credentials", *(check.id for check in CHECKS)]
    assert described_checks == ids
