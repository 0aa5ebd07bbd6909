"""Stacks that are really applied and destroyed: each once in a test run, because SQS makes the provider wait.

The provider waits 25 seconds after it creates a queue, after it writes a queue's policy and after it deletes one. So
these run beside the other tests. Each runs to its end, and the tests look at what was recorded on the way: so it does
not matter which of them comes first.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeless.spec.resolution import load
from tests.terraform import provider_settings, world
from tests.terraform.account import Account
from tests.terraform.synthesis import REPOSITORY, export

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

    from nodeless.resolved.installation import Installation
    from tests.terraform.account import Recorded
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.conftest import StackOf
    from tests.terraform.runner import Diagnostic, Plan, Terraform
    from tests.terraform.world import World

CLUSTER, REGION = "demo", "eu-north-1"

# The way of the blog post, with everything looked up that can be, and every part that goes with Fargate.
ON_FARGATE = """\
clusters:
  - name: demo
    region: eu-north-1
    delivery: none
    oidc_provider: create
    fargate: {{coredns: true}}
    tags: {{team: platform, cost-centre: "4711"}}
    discovery:
      security_groups: [{security_groups}]
    extra_statements:
      - {{Sid: ReadImages, Action: ec2:DescribeImageAttribute, Resource: "*"}}
"""

# The other way: no Fargate, no queue, Pod Identity, several node roles of which one exists already.
ELSEWHERE = """\
clusters:
  - name: demo
    region: eu-north-1
    account: "123456789012"
    endpoint: {endpoint}
    delivery: gitops
    identity: pod-identity
    fargate: false
    interruption: false
    spot_service_linked_role: true
    tags: {{team: platform}}
    nodes:
      roles:
        windows: {{os: windows}}
        other: {{arn: "{other_node_role}"}}
"""


# Keys that are added to the first of these lives, and what a plan would then do to which resource.
CHANGES: dict[str, tuple[str, dict[str, str]]] = {
    "a setting of the chart touches no AWS resource": ("karpenter: {replicas: 1}", {}),
    "another service account changes the controller's trust only": (
        "karpenter: {service_account: scaler}",
        {"aws_iam_role.controller": "update"},
    ),
    "another namespace changes the trust and replaces the profile only": (
        "karpenter: {namespace: kube-system}",
        {"aws_iam_role.controller": "update", "aws_eks_fargate_profile.karpenter": "replace"},
    ),
    "what is switched off goes and nothing else": (
        "nodes: {instance_profile: false, access: none}",
        {"aws_iam_instance_profile.node": "delete", "aws_eks_access_entry.node": "delete"},
    ),
}


# Exports of the first of these lives: beside the output folder, and elsewhere.
EXPORTS = {"hcl": "exported", "json": "elsewhere/exported"}


@dataclass(frozen=True)
class Consumer:
    """What Terraform said about and did with a stack that reads the outputs of another one."""

    diagnostics: tuple[Diagnostic, ...]
    applied: Counter[str]
    planned: list[dict[str, Any]]
    second_plan: Plan
    destroyed: Counter[str]


@dataclass(frozen=True)
class Life:
    """A stack from its first init to its end: what Terraform said and did, and what the account held meanwhile."""

    installation: Installation
    world: World
    before: Recorded
    diagnostics: tuple[Diagnostic, ...]
    first_plan: Plan
    applied: Counter[str]
    state: dict[str, dict[str, Any]]
    account: Recorded
    second_plan: Plan
    outputs: dict[str, Any]
    consumer: Consumer
    exported_plans: dict[str, Plan]
    changed_plans: dict[str, Plan]
    destroyed: Counter[str]
    state_at_the_end: dict[str, dict[str, Any]]
    left_behind: set[str]


def live(
    aws: AwsServer, stack_of: StackOf, initialized: Terraform, template: str, changes: Mapping[str, str] | None = None
) -> Life:
    """Take a stack from init to its end; before that, plan what its exports and each change of its file would do."""
    made = world.create(aws, cluster=CLUSTER, region=REGION)
    account = Account(made)
    config = template.format(
        endpoint=made.endpoint,
        security_groups=", ".join(made.security_groups),
        other_node_role=made.other_node_role,
    )
    before = account.record()
    terraform = stack_of(config, endpoint=aws.url)
    as_applied = stack_of(config, endpoint=aws.url)
    terraform.init(like=initialized)
    # The arguments are evaluated in this order.
    return Life(
        installation=installation_of(terraform),
        world=made,
        before=before,
        diagnostics=terraform.validate(),
        first_plan=terraform.plan(),
        applied=terraform.apply(),
        state=terraform.state(),
        account=account.record(),
        second_plan=terraform.replan(),
        outputs=json.loads(terraform.run("output", "-json")),
        consumer=consume(terraform, aws.url),
        exported_plans={form: planned_by_export(terraform, folder, form, aws.url) for form, folder in EXPORTS.items()},
        changed_plans={
            name: planned_after(terraform, stack_of(f"{config}    {keys}\n", endpoint=aws.url), as_applied)
            for name, keys in (changes or {}).items()
        },
        destroyed=terraform.destroy(),
        state_at_the_end=terraform.state(),
        left_behind=account.holdings() - before.holdings,
    )


def consume(terraform: Terraform, endpoint: str) -> Consumer:
    """Apply the example that uses the outputs of a stack through its state, plan it again, and destroy it."""
    folder = Path(terraform.stack).parents[2] / "consumer"
    shutil.copytree(REPOSITORY / "examples" / "remote-state", folder)
    where = {"backend": "local", "config": {"path": f"../terraform.{CLUSTER}.tfstate"}}
    variables = {"region": REGION, "karpenter_state": where}
    (folder / "terraform.tfvars.json").write_text(json.dumps(variables), "utf-8")
    provider_settings.write(folder, endpoint)
    consumer = terraform.elsewhere(folder)
    # It has another deployer, whose calls say nothing about the policy of this one's.
    consumer.agent = "nodeless-test-consumer"
    consumer.init(like=terraform)
    # The arguments are evaluated in this order.
    return Consumer(
        diagnostics=(*consumer.validate(), *consumer.plan().diagnostics),
        applied=consumer.apply(),
        planned=consumer.planned()["planned_values"]["root_module"]["resources"],
        second_plan=consumer.replan(),
        destroyed=consumer.destroy(),
    )


def planned_after(terraform: Terraform, changed: Terraform, as_applied: Terraform) -> Plan:
    """Plan with another file's stack, and put back the stack that was applied."""
    terraform.take_over(changed.stack)
    plan = terraform.plan()
    terraform.take_over(as_applied.stack)
    return plan


def planned_by_export(terraform: Terraform, folder: str, form: str, endpoint: str) -> Plan:
    """Export the file, move the state where the command says so, and plan in the exported folder."""
    project = Path(terraform.stack).parents[2]
    for move in export(project, folder, form)["states_to_move"]:
        shutil.copy(project / move["from"], project / move["to"])
    exported = terraform.elsewhere(project / folder / CLUSTER)
    provider_settings.write(exported.stack, endpoint)
    exported.init(like=terraform)
    return exported.plan()


def installation_of(terraform: Terraform) -> Installation:
    """Resolve the file the stack was synthesized from; it lies beside the output folder."""
    (installation,) = load(Path(terraform.stack).parents[2] / "clusters.yaml")
    return installation
