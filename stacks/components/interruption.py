"""The SQS queue Karpenter drains, and the rules that fill it."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import CloudwatchEventRule, CloudwatchEventTarget, SqsQueue, SqsQueuePolicy
from nodeless.imports.cdk import Construct, ITerraformDependable
from nodeless.karpenter.interruption import QUEUE_POLICY_ID, RETENTION_SECONDS, TARGET_ID, EventRule
from nodeless.karpenter.policy import Statement
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.policy_document import PolicyDocument


class InterruptionQueue(Construct):
    """One queue, its policy, and a rule with its target per event."""

    queue_name: str
    queue_arn: str
    queue_url: str
    ready: tuple[ITerraformDependable, ...]

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        at: Addresses,
        name: str,
        kms_key_arn: str | None,
        policy: Sequence[Statement],
        rules: Sequence[tuple[str, EventRule]],
    ) -> None:
        """Create the queue, always encrypted, and the rules, given with their physical names."""
        super().__init__(scope, id_)
        queue = at(
            "interruption",
            SqsQueue(
                self,
                "Resource",
                name=name,
                message_retention_seconds=RETENTION_SECONDS,
                sqs_managed_sse_enabled=None if kms_key_arn else True,
                kms_master_key_id=kms_key_arn,
            ),
        )
        self.queue_name, self.queue_arn, self.queue_url = queue.name, queue.arn, queue.url
        document = at("interruption", PolicyDocument(self, "document", policy_id=QUEUE_POLICY_ID, statements=policy))
        attached = at("interruption", SqsQueuePolicy(self, "policy", queue_url=self.queue_url, policy=document.json))
        ready: list[ITerraformDependable] = [attached]
        for rule_name, event in rules:
            address = f"interruption_{event.key}"
            rule = at(
                address,
                CloudwatchEventRule(
                    self, event.key, name=rule_name, description=event.description, event_pattern=event.pattern
                ),
            )
            target = CloudwatchEventTarget(rule, "target", rule=rule.name, target_id=TARGET_ID, arn=self.queue_arn)
            ready.append(at(address, target))
        self.ready = tuple(ready)
