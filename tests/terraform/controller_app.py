"""A stack with the controllers of all steps: `python -m tests.terraform.controller_app before|after OUT`."""

from __future__ import annotations

import json
import sys

from nodeless.imports.aws import AwsProvider, IamPolicy
from nodeless.imports.cdk import App, Construct, TerraformStack
from nodeless.resolved.addresses import address_part
from nodeless.resolved.roles import plan_controller
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.components.controller import Controller
from tests.terraform import expected
from tests.terraform.controller_steps import ISSUER, STEPS, stand_in

STACK = "controllers"


def build(side: str, out: str) -> None:
    """Synthesize the controllers as they are before or after their change."""
    app = App(outdir=out)
    stack = TerraformStack(app, STACK)
    AwsProvider(stack, "aws", region="eu-north-1")
    # The bindings pin the release they were made from; this one may be older.
    stack.add_override("terraform.required_providers.aws.version", ">= 5.100.0, < 7.0.0")
    for step in STEPS.values():
        installation, prefix = step.installation(side), address_part(step.cluster)
        plan = plan_controller(installation, expected.place(installation), issuer_host=ISSUER.removeprefix("https://"))
        controller = Controller(stack, prefix, at=Addresses(f"{prefix}_"), plan=plan)
        if step.with_release:
            # Like helm_release.karpenter it depends on the controller, and changes with the release and the role.
            statement = {"Sid": side, "Effect": "Allow", "Action": "sts:GetCallerIdentity", "Resource": "*"}
            text = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
            IamPolicy(
                Construct(stack, f"{prefix}_release"),
                "stand_in",
                name=stand_in(step),
                policy=text,
                depends_on=list(controller.ready),
            )
    app.synth()


if __name__ == "__main__":
    build(*sys.argv[1:])
