"""A stack with everything that a deployer needs a permission for: created, changed and destroyed, its state in S3."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.terraform import recorder, world
from tests.terraform.aws_server import KEYS
from tests.terraform.lives import CLUSTER, REGION, installation_of

if TYPE_CHECKING:
    from pathlib import Path

    from nodeless.resolved.installation import Installation
    from tests.terraform.aws_server import AwsServer
    from tests.terraform.conftest import StackOf
    from tests.terraform.recorder import Recorded
    from tests.terraform.runner import Terraform

BUCKET = "states"

CONFIG = """\
clusters:
  - name: demo
    region: eu-north-1
    account: "123456789012"
    delivery: none
    oidc_provider: create
    path: /platform/
    permissions_boundary: arn:aws:iam::123456789012:policy/{boundary}
    karpenter: {{service_account: {service_account}}}
    fargate: {{coredns: true}}
    nodes: {{ipv6: {ipv6}}}
    tags: {{team: platform, "{tag}": "yes"}}
    discovery: {{security_groups: [{security_groups}]}}
    backend: {{type: s3, bucket: states, region: eu-north-1}}
"""
FIRST = {"boundary": "first", "service_account": "karpenter", "ipv6": "true", "tag": "first"}
SECOND = {"boundary": "second", "service_account": "scaler", "ipv6": "false", "tag": "second"}


@dataclass(frozen=True)
class Deployed:
    """The requests to AWS of each version of the file, in their order."""

    steps: tuple[tuple[Installation, tuple[Recorded, ...]], ...]


def deploy(aws: AwsServer, stack_of: StackOf, initialized: Terraform) -> Deployed:
    """Apply the first version of the file, then the second, and destroy."""
    made = world.create(aws, cluster=CLUSTER, region=REGION)
    aws.client("s3", REGION).create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    first, second = (
        stack_of(CONFIG.format(security_groups=", ".join(made.security_groups), **values), endpoint=aws.url)
        for values in (FIRST, SECOND)
    )
    installations = installation_of(first), installation_of(second)
    point_backend_at(first.stack, aws.url)
    first.init(like=initialized)
    first.plan()
    first.apply()
    before = requests(aws)
    first.take_over(second.stack)
    first.plan()
    first.apply()
    first.destroy()
    return Deployed(tuple(zip(installations, (before, requests(aws)[len(before) :]), strict=True)))


def requests(aws: AwsServer) -> tuple[Recorded, ...]:
    return tuple(recorder.read(aws.log.with_suffix(".requests")))


def point_backend_at(stack: Path, url: str) -> None:
    """Point the backend of the stack at this endpoint, with dummy keys, in an override file beside the JSON."""
    keys = json.loads((stack / "cdk.tf.json").read_text("utf-8"))["terraform"]["backend"]["s3"]
    here = {
        **keys,
        **KEYS,
        "endpoints": {"s3": url, "sts": url, "iam": url},
        "use_path_style": True,
        "skip_credentials_validation": True,
        "skip_metadata_api_check": True,
        "skip_requesting_account_id": True,
    }
    override = {"terraform": {"backend": {"s3": here}}}
    (stack / "backend_override.tf.json").write_text(json.dumps(override, indent=2), "utf-8")
