"""A stand-in for the aws CLI with its one command that the Helm provider runs: `aws eks get-token`.

The token is what the real one prints: a signed call to sts:GetCallerIdentity that names the cluster.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import botocore.session
from botocore.signers import RequestSigner

from tests.lab.token_webhook import CLUSTER_HEADER, PREFIX
from tests.terraform.aws_server import KEYS

REPOSITORY = Path(__file__).parents[2]


def get_token(cluster: str, region: str, sts: str) -> str:
    """Sign the call as whoever has the keys of the environment."""
    session = botocore.session.get_session()
    credentials = session.get_credentials()
    assert credentials is not None
    service = session.get_service_model("sts").service_id
    signer = RequestSigner(service, region, "sts", "v4", credentials, session.get_component("event_emitter"))
    url = signer.generate_presigned_url(
        {
            "method": "GET",
            "url": f"{sts}/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": {CLUSTER_HEADER: cluster},
            "context": {},
        },
        region_name=region,
        expires_in=60,
        operation_name="",
    )
    return PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def install(folder: Path, sts: str) -> dict[str, str]:
    """Write the command into a folder; return the environment in which it is found and logged in."""
    folder.mkdir(exist_ok=True)
    script = folder / "aws"
    script.write_text(f"#!{sys.executable}\nfrom tests.lab.aws_command import main\nmain()\n", "utf-8")
    script.chmod(0o755)
    return {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY),
        "AWS_ENDPOINT_URL_STS": sts,
        "AWS_ACCESS_KEY_ID": KEYS["access_key"],
        "AWS_SECRET_ACCESS_KEY": KEYS["secret_key"],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a credential in the form that Kubernetes clients read."""
    parser = argparse.ArgumentParser(prog="aws")
    parser.add_argument("command", nargs=2)
    parser.add_argument("--cluster-name", required=True)
    parser.add_argument("--region", required=True)
    options = parser.parse_args(arguments)
    assert options.command == ["eks", "get-token"], options.command
    token = get_token(options.cluster_name, options.region, os.environ["AWS_ENDPOINT_URL_STS"])
    credential = {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential"}
    sys.stdout.write(json.dumps({**credential, "spec": {}, "status": {"token": token}}))
