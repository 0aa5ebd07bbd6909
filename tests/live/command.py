"""The command in a process of its own, with AWS played by a server of the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.terraform.aws_server import KEYS, AwsServer


def environment(aws: AwsServer | None) -> dict[str, str]:
    """Return an environment in which the user's own AWS account plays no part."""
    own = {
        "PYTHONPATH": str(ROOT),
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1",
    }
    if aws is not None:
        own |= {
            "AWS_ENDPOINT_URL": aws.url,
            "AWS_ACCESS_KEY_ID": KEYS["access_key"],
            "AWS_SECRET_ACCESS_KEY": KEYS["secret_key"],
        }
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | own


def nodeless(
    folder: Path, *arguments: str, aws: AwsServer | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "nodeless", *arguments],
        cwd=folder,
        env=environment(aws) | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
