"""An AWS account on this machine, with a cluster that lacks some of what a stack needs; always the same one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from tests.live import command, site
from tests.terraform import aws_server

SERVER = "tests.live.serve_aws"
CLUSTER, REGION = "demo", "eu-north-1"
# moto makes these up when it starts, whatever its seed is.
ENDPOINT = "https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-north-1.eks.amazonaws.com"
ISSUER = "https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"


@contextmanager
def account() -> Iterator[dict[str, str]]:
    """Start the account, and return the variables with which a command finds it."""
    with TemporaryDirectory() as folder, aws_server.running(Path(folder) / "aws.log", SERVER) as aws:
        _seed(aws)
        made = site.create(aws, CLUSTER, region=REGION, audiences=())
        made.is_now(endpoint=ENDPOINT, identity={"oidc": {"issuer": ISSUER}})
        made.client("iam").delete_role(RoleName=site.SPOT_ROLE)
        yield command.environment(aws)


def _seed(aws: aws_server.AwsServer) -> None:
    """Let moto make up the same identifiers each time."""
    connection = HTTPConnection(urlsplit(aws.url).netloc, timeout=60)
    connection.request("POST", "/moto-api/seed?a=1")
    connection.getresponse().read()
    connection.close()
