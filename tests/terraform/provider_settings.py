"""The provider's settings for a test, in an override file beside the JSON, which is applied as it was synthesized.

https://developer.hashicorp.com/terraform/language/files/override
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.terraform.aws_server import KEYS

OVERRIDE_FILE = "nodeless_test_override.tf.json"

# By the names of the provider's `endpoints`: every service that a stack or the user of its outputs reads or writes, and
# STS, which tells the account.
SERVICES = ("cloudwatch", "ec2", "eks", "events", "iam", "kms", "sqs", "ssm", "sts")

# Nothing listens on the discard port: a call in a plan that should make none is refused, and never leaves the machine.
NOWHERE = "http://127.0.0.1:9"


def write(stack: Path, endpoint: str = NOWHERE) -> None:
    """Point the stack's AWS provider at this endpoint, with dummy keys."""
    settings: dict[str, Any] = {
        **KEYS,
        "skip_credentials_validation": True,
        "skip_metadata_api_check": True,
        "skip_region_validation": True,
        "skip_requesting_account_id": endpoint == NOWHERE,
        # A call to nowhere fails at once; one whose answer got lost on a busy machine is made again.
        "max_retries": 1 if endpoint == NOWHERE else 4,
        "endpoints": [dict.fromkeys(SERVICES, endpoint)],
    }
    if endpoint == NOWHERE:
        # Nobody is asked for the account, so none can be compared with the one in the file.
        settings["allowed_account_ids"] = []
    (stack / OVERRIDE_FILE).write_text(json.dumps({"provider": {"aws": [settings]}}, indent=2), "utf-8")
