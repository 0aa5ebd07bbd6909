"""Set-ups of other tools that a stack takes over, with the keys that `nodeless adopt` prints."""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.resolved.adoption_rows import EXCLUSIVE, SETUPS
from nodeless.resolved.deployer_rows import PLAN, ROWS
from tests.live.command import nodeless
from tests.terraform import aws_server, expected, other_setups
from tests.terraform.adoption_life import REGION, adopt
from tests.terraform.deployer_policy import not_allowed, story, without_each_action
from tests.terraform.expected import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tests.terraform.adoption_life import Adopted
    from tests.terraform.runner import Terraform
    from tests.terraform.world import World

pytestmark = pytest.mark.terraform

FOR_ADOPTIONS = {"ReadOtherPolicies", "ReadModulePolicy", "RemoveOtherPolicies", "DeleteModulePolicy"}
REGISTRY = 'module.karpenter.aws_iam_role_policy_attachment.node["AmazonEC2ContainerRegistryReadOnly"]'


@dataclass(frozen=True)
class Story:
    """How a set-up comes about, and what of it the first plan destroys, replaces and forgets."""

    setup: str
    make: Callable[[Terraform, Path, World], Path | None]
    same_state: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)
    """keys of the file beside the least"""
    destroyed: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()


STORIES = {
    "blog": Story("blog", other_setups.follow_the_blog),
    "blog, in its own state": Story(
        "blog",
        other_setups.follow_the_blog,
        same_state=True,
        destroyed=frozenset({"aws_iam_role_policy_attachment.fargate_attach_cni"}),
        forgotten=frozenset({"aws_iam_role_policy_attachment.eks_node_attach_AmazonEC2ContainerRegistryReadOnly"}),
    ),
    "cloudformation": Story("cloudformation", other_setups.create_the_template),
    "cloudformation, with one policy": Story("cloudformation", other_setups.create_an_older_template),
    "eksctl": Story("eksctl", other_setups.run_eksctl, more={"oidc_provider": "create"}),
    "terraform-aws-eks": Story("terraform-aws-eks", other_setups.call_the_module),
    "terraform-aws-eks, in its own state": Story(
        "terraform-aws-eks",
        other_setups.call_the_module,
        same_state=True,
        # The module's one policy goes when all of the stack's own are attached.
        replaced=frozenset(
            {"aws_iam_policy.controller_node_lifecycle", "aws_iam_role_policy_attachment.controller_node_lifecycle"}
        ),
        forgotten=frozenset(
            {
                REGISTRY,
                "module.karpenter.aws_eks_pod_identity_association.karpenter[0]",
                "module.karpenter.aws_iam_role_policy.controller[0]",
            }
        ),
    ),
}


def found_keys(made: World, folder: Path, more: Mapping[str, Any]) -> dict[str, Any]:
    """Ask `nodeless adopt` for the keys, as a user does."""
    own = {"name": made.cluster, "region": REGION, "delivery": "none", **more}
    (folder / "clusters.yaml").write_text(json.dumps({"clusters": [own]}), "utf-8")
    done = nodeless(folder, "adopt", made.cluster, "--json", aws=made.aws)
    assert done.returncode == 0, done.stdout + done.stderr
    return {**more, **json.loads(done.stdout)["keys"]}


@pytest.fixture(scope="module")
def adoptions(initialized: Terraform, scratch: Path) -> Iterator[dict[str, Future[Adopted]]]:
    """Start all stories: most of their time goes by while the provider waits for SQS."""

    def live(number: int, story: Story) -> Adopted:
        with aws_server.running(scratch / f"adoption-{number}.log") as aws:
            return adopt(
                aws,
                initialized,
                scratch,
                cluster="demo",
                make=story.make,
                keys=partial(found_keys, more=story.more),
                same_state=story.same_state,
            )

    with ThreadPoolExecutor(max_workers=3) as threads:
        yield {name: threads.submit(live, number, story) for number, (name, story) in enumerate(STORIES.items())}


@pytest.fixture(params=STORIES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def adopted(adoptions: dict[str, Future[Adopted]], name: str) -> Adopted:
    return adoptions[name].result()


def test_nothing_is_destroyed_but_what_is_named(adopted: Adopted, name: str) -> None:
    story = STORIES[name]

    assert adopted.plan.doing("delete") == story.destroyed
    assert adopted.plan.doing("replace") == story.replaced
    assert adopted.plan.doing("remove") == story.forgotten


def test_what_exists_is_imported_or_moved(adopted: Adopted, name: str) -> None:
    taken = adopted.imported | set(adopted.moved.values()) | adopted.plan.doing("update")
    existed = {"aws_iam_role.controller", "aws_iam_role.node", "aws_sqs_queue.interruption"}
    if STORIES[name].setup == "blog":
        existed |= {"aws_iam_role.fargate", "aws_iam_instance_profile.node"}
    else:
        existed |= {"aws_cloudwatch_event_rule.interruption_spot", "aws_cloudwatch_event_target.interruption_spot"}

    assert taken >= existed
    assert adopted.plan.doing("create").isdisjoint(existed | {"aws_eks_fargate_profile.karpenter"} & taken)


def test_an_oidc_provider_of_the_stack_is_imported(adopted: Adopted) -> None:
    address = "aws_iam_openid_connect_provider.cluster"

    assert (address in adopted.imported) == adopted.installation.creates_oidc_provider
    assert address not in adopted.plan.doing("create", "update", "replace", "delete")


def test_a_second_plan_is_empty(adopted: Adopted) -> None:
    assert adopted.second_plan.is_empty


def test_no_role_keeps_more_than_the_release_needs(adopted: Adopted) -> None:
    wanted = expected.attachments(adopted.installation)

    assert {role: adopted.after.attached[role] for role in wanted} == wanted
    assert not set(adopted.inline_after) & set(wanted)


def test_the_controller_could_do_more_before(adopted: Adopted) -> None:
    """Otherwise the tests around this one could not fail."""
    broad = [name for name, policy in adopted.before.policies.items() if policy == canonical(other_setups.BROAD)]

    assert broad or adopted.inline_before


def test_the_policies_are_those_of_the_release(adopted: Adopted) -> None:
    wanted = expected.policies(adopted.installation)

    assert {name: adopted.after.policies[name] for name in wanted} == wanted


def test_the_controller_is_never_without_permissions(adopted: Adopted) -> None:
    own = [index for index, step in enumerate(adopted.steps) if step.startswith("aws_iam_role_policy_attachment.contr")]
    # The first step of a replacement creates, the second destroys.
    attached = {adopted.steps[index]: index for index in reversed(own)}
    exclusive = [
        index for index, step in enumerate(adopted.steps) if step in {f"{kind}.controller" for kind in EXCLUSIVE}
    ]

    assert all(last < first for last in attached.values() for first in exclusive)


def test_nodes_can_pull_images_at_every_moment(adopted: Adopted) -> None:
    attached = [step for step in adopted.steps if step == "aws_iam_role_policy_attachment.node_registry"]
    removing = [step for step in adopted.steps if step == f"{EXCLUSIVE[1]}.node"]

    if attached and removing:
        assert adopted.steps.index(attached[0]) < adopted.steps.index(removing[0])
    assert not {step for step in adopted.plan.doing("delete") if "ContainerRegistry" in step}


def test_the_deployers_policy_allows_every_call_of_an_adoption(adopted: Adopted) -> None:
    told = story(adopted.requests, adopted.installation)

    assert len(told.requests) > 50
    assert not_allowed([(request, told.all_statements) for _, request in told.requests]) == []
    planned = [request for command, request in told.requests if command == "plan"]
    assert not_allowed([(request, told.statements[PLAN]) for request in planned]) == []


def test_what_the_deployers_policy_has_for_adoptions_is_needed(adoptions: dict[str, Future[Adopted]]) -> None:
    needed = set()
    for each in adoptions.values():
        told = story(each.result().requests, each.result().installation)
        for (sid, action), left in without_each_action(told):
            asked = [(request, left) for _, request in told.requests if request.action == action]
            if sid in FOR_ADOPTIONS and not_allowed(asked):
                needed.add((sid, action))

    assert needed == {(row.sid, action) for row in ROWS if row.sid in FOR_ADOPTIONS for action in row.actions}


def test_the_key_can_be_deleted_without_a_change(adopted: Adopted) -> None:
    assert adopted.plan_without_the_key.is_empty


def test_without_exclusive_policies_nothing_changes_in_the_account(adopted: Adopted) -> None:
    assert set(adopted.plan_without_both.actions.values()) <= {"delete"}
    assert all(address.startswith(EXCLUSIVE) for address in adopted.plan_without_both.actions)
    # The answers about OIDC providers have the id of the request in them.
    assert replace(adopted.after_all, oidc_providers={}) == replace(adopted.after, oidc_providers={})


def test_every_set_up_has_a_story() -> None:
    assert {story.setup for story in STORIES.values()} == set(SETUPS)
