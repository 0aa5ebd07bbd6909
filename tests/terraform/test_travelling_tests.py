"""The tests that travel with a stack: `terraform test` passes beside every kind of stack, and fails with the reason."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from nodeless.stacks.files.terraform_tests import FILE
from tests.terraform.conftest import LITERAL_CONFIG, literals

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terraform.conftest import Synth, TerraformIn
    from tests.terraform.runner import Terraform

pytestmark = [pytest.mark.terraform, pytest.mark.usefixtures("lives")]

KEY_ARN = "arn:aws:kms:eu-north-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
TRUSTS, SIZES, INTERRUPTION = "trusts", "policies_fit", "interruptions_reach_the_queue"

# The keys of a cluster, and the runs its tests must have.
STACKS = {
    "literal": (literals(), {TRUSTS, SIZES, INTERRUPTION}),
    "looked-up": ("    delivery: none\n", {TRUSTS, SIZES, INTERRUPTION}),
    "pod-identity": (
        f"{literals()}    identity: pod-identity\n    fargate: false\n    interruption: false\n",
        {TRUSTS, SIZES},
    ),
    "own-key": (f"{literals()}    interruption: {{kms_key_arn: '{KEY_ARN}'}}\n", {TRUSTS, SIZES, INTERRUPTION}),
    "before-v1": (f"{literals()}    karpenter: {{version: 0.37.8}}\n", {TRUSTS, SIZES, INTERRUPTION}),
}
CONFIG = "clusters:\n" + "".join(
    f"  - name: {name}\n    region: eu-north-1\n{keys}" for name, (keys, _) in STACKS.items()
)


@pytest.fixture(scope="module")
def stacks(synth: Synth) -> Path:
    return synth(CONFIG).parent


def in_a_users_repository(stack: Path, terraform_in: TerraformIn, initialized: Terraform) -> Terraform:
    """Prepare a folder as the first line of its tests says, with no provider settings of ours beside it."""
    terraform = terraform_in(stack)
    terraform.init(like=initialized, backend=False)
    return terraform


@pytest.mark.parametrize("name", STACKS)
def test_the_tests_beside_a_stack_pass(
    name: str, stacks: Path, terraform_in: TerraformIn, initialized: Terraform
) -> None:
    terraform = in_a_users_repository(stacks / name, terraform_in, initialized)

    assert terraform.run("fmt", "-check", FILE) == "", "terraform fmt would write the tests differently"
    _, runs = STACKS[name]
    assert terraform.test() == {run: set() for run in runs}


def test_a_stack_that_was_changed_for_the_worse_fails_its_tests_with_the_reasons(
    tmp_path: Path, synth: Synth, terraform_in: TerraformIn, initialized: Terraform
) -> None:
    stack = tmp_path / "stacks" / "demo"
    shutil.copytree(synth(LITERAL_CONFIG), stack)
    tree = json.loads((stack / "cdk.tf.json").read_text("utf-8"))
    make_worse(tree)
    (stack / "cdk.tf.json").write_text(json.dumps(tree), "utf-8")

    found = in_a_users_repository(stack, terraform_in, initialized).test()

    assert found == {
        TRUSTS: {"The controller's trust does not ask for aud = sts.amazonaws.com."},
        SIZES: {"The policy controller_interruption is longer than IAM allows."},
        INTERRUPTION: {"The queue is not encrypted.", "Others than this stack's rules may send to the queue."},
    }


def test_the_order_of_the_statements_does_not_matter_to_the_tests(
    tmp_path: Path, synth: Synth, terraform_in: TerraformIn, initialized: Terraform
) -> None:
    stack = tmp_path / "stacks" / "demo"
    shutil.copytree(synth(LITERAL_CONFIG), stack)
    tree = json.loads((stack / "cdk.tf.json").read_text("utf-8"))
    tree["data"]["aws_iam_policy_document"]["interruption"]["statement"].reverse()
    (stack / "cdk.tf.json").write_text(json.dumps(tree), "utf-8")

    assert in_a_users_repository(stack, terraform_in, initialized).test() == {
        TRUSTS: set(),
        SIZES: set(),
        INTERRUPTION: set(),
    }


def make_worse(tree: dict[str, Any]) -> None:
    """Make the mistakes that the tests are there for: each in a different assertion, so that one run shows all."""
    documents = tree["data"]["aws_iam_policy_document"]
    (trust,) = documents["controller_trust"]["statement"]
    conditions = trust["condition"]
    trust["condition"] = [row for row in conditions if not row["variable"].endswith(":aud")]
    assert len(trust["condition"]) == len(conditions) - 1
    (first, *_) = documents["controller_interruption"]["statement"]
    first["resources"] = [f"arn:aws:sqs:eu-north-1:123456789012:{number:080}" for number in range(60)]
    tree["resource"]["aws_sqs_queue"]["interruption"]["sqs_managed_sse_enabled"] = False
    (sending,) = (row for row in documents["interruption"]["statement"] if row["effect"] == "Allow")
    sending["condition"][0]["values"][0] = "arn:aws:events:eu-north-1:123456789012:rule/of-somebody-else"
