"""checkov reads the plans of real Terraform, and finds nothing there that is not accepted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.scanners import readings
from tests.scanners.accepted import PLAN, accepted
from tests.terraform import world
from tests.terraform.lives import CLUSTER, ON_FARGATE, REGION
from tests.terraform.runner import PLAN_FILE
from tests.terraform.test_plans import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.scanners.readings import Reading
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Terraform

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

LOOKED_UP = "on Fargate, with values that are looked up"
# Those that have a finding of their own, or another kind of queue.
OTHERS = (
    "the oldest release",
    "China, with a key of one's own, extra statements and the controller in kube-system",
    "GovCloud, with upstream's names, a path, a boundary and IPv6",
)


@pytest.fixture(scope="module")
def plans(
    aws: AwsServer, stack_of: StackOf, initialized: Terraform, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Reading]:
    """Plan them, and let checkov read all plans at once."""
    readings.needs_checkov()
    folder = tmp_path_factory.mktemp("plans")
    made = world.create(aws, cluster=CLUSTER, region=REGION)
    config = ON_FARGATE.format(security_groups=", ".join(made.security_groups))
    stacks = {
        LOOKED_UP: stack_of(config, endpoint=aws.url),
        **{name: stack_of(VARIANTS[name].config, cluster=VARIANTS[name].cluster) for name in OTHERS},
    }
    files = {name: folder / f"{number}.json" for number, name in enumerate(stacks)}

    def plan(name: str) -> None:
        terraform = stacks[name]
        terraform.init(like=initialized)
        assert terraform.plan().diagnostics == ()
        files[name].write_text(terraform.run("show", "-json", PLAN_FILE), "utf-8")

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(plan, stacks))
    found = readings.read(plans=files.values()).found
    return {name: found[file] for name, file in files.items()}


def test_every_plan_is_read_and_every_type_checked(plans: Mapping[str, Reading]) -> None:
    types = {
        "aws_iam_policy",
        "aws_iam_role",
        "aws_iam_role_policy_attachment",
        "aws_sqs_queue",
        "aws_sqs_queue_policy",
    }

    for name, reading in plans.items():
        assert reading.unread == (), name
        assert reading.checked_types >= types, name


def test_it_finds_in_plans_what_is_accepted_and_nothing_else(plans: Mapping[str, Reading]) -> None:
    assert {each for reading in plans.values() for each in reading.failed} == accepted(PLAN)


def test_policies_of_the_newest_release_have_no_finding_in_a_plan(plans: Mapping[str, Reading]) -> None:
    found = {each.address for each in plans[LOOKED_UP].failed}

    # A statement of the test's own file.
    assert found == {"aws_iam_policy.controller_extra"}
