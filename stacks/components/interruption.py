"""The SQS queue from which Karpenter reads interruption events, and the rules that send them."""

from __future__ import annotations

from nodeless.imports.aws import CloudwatchEventRule, CloudwatchEventTarget, SqsQueue, SqsQueuePolicy
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.resolved.interruption import QueuePlan
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.policy_document import POLICY_DOCUMENT, PolicyDocument


class InterruptionQueue(Construct):
    """One queue, its policy, and one rule with its target per event."""

    queue: SqsQueue
    queue_name: str
    queue_arn: str
    queue_url: str
    ready: tuple[ITerraformDependable, ...]

    def __init__(self, scope: Construct, id_: str, *, at: Addresses, plan: QueuePlan) -> None:
        """Create the queue, always encrypted, then its policy and the rules."""
        super().__init__(scope, id_)
        self.queue = at(
            "interruption",
            SqsQueue(
                self,
                "Resource",
                name=plan.name,
                message_retention_seconds=plan.retention_seconds,
                sqs_managed_sse_enabled=None if plan.kms_key_arn else True,
                kms_master_key_id=plan.kms_key_arn,
            ),
        )
        self.queue_name, self.queue_arn, self.queue_url = (
            at.reference("aws_sqs_queue", "interruption", attribute) for attribute in ("name", "arn", "url")
        )
        at("interruption", PolicyDocument(self, "document", policy_id=plan.policy_id, statements=plan.policy))
        text = at.reference(POLICY_DOCUMENT, "interruption", "json")
        attached = at("interruption", SqsQueuePolicy(self, "policy", queue_url=self.queue_url, policy=text))
        ready: list[ITerraformDependable] = [attached]
        for row in plan.rules:
            address = f"interruption_{row.key}"
            rule = at(
                address,
                CloudwatchEventRule(
                    self, row.key, name=row.name, description=row.description, event_pattern=row.event_pattern
                ),
            )
            rule_name = at.reference("aws_cloudwatch_event_rule", address, "name")
            target = CloudwatchEventTarget(rule, "target", rule=rule_name, target_id=row.target_id, arn=self.queue_arn)
            ready.append(at(address, target))
        self.ready = tuple(ready)
