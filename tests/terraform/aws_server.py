"""A stand-in for AWS on 127.0.0.1: moto with the EKS overlay in front of it, in a process of its own.

A process, because moto keeps its world in module state: another test that resets moto must not empty the account a
stack was applied to. It ends when its standard input closes, so it never outlives the test run that started it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import boto3
from botocore.config import Config

from tests.terraform import recorder

REPOSITORY = Path(__file__).parents[2]

# The module that is run as the server.
SERVER = "tests.terraform.serve_aws"

# moto answers for this account whatever the key is, and checks no signature.
ACCOUNT = "123456789012"
KEYS = {"access_key": "testing", "secret_key": "testing"}


@dataclass(frozen=True)
class AwsServer:
    """Where the stand-in listens, and what it was asked."""

    url: str
    log: Path
    calls: Path
    requests: Path

    def recorded(self) -> list[dict[str, str]]:
        """Return the calls to IAM and EC2 that succeeded, in the order in which they took effect."""
        return [json.loads(line) for line in self.calls.read_text("utf-8").splitlines()]

    def client(self, service: str, region: str) -> Any:  # noqa: ANN401  # boto3 makes its clients at run time
        """Return a boto3 client of this server; it tries once, because what fails here fails again."""
        return _client(self.url, service, region)


@cache
def _client(url: str, service: str, region: str) -> Any:  # noqa: ANN401 - as above
    """Make each client once: that takes longer than what it is asked."""
    session = boto3.Session(KEYS["access_key"], KEYS["secret_key"], region_name=region)
    config = Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=60)
    # The stubs know the services as literals only.
    return session.client(service, endpoint_url=url, config=config)  # type: ignore[call-overload]


@contextmanager
def running(log: Path, module: str = SERVER) -> Iterator[AwsServer]:
    """Start the stand-in on a free port and stop it afterwards; its requests are written to the log."""
    requests, calls = log.with_suffix(".requests"), log.with_suffix(".calls")
    environment = os.environ | {"MOTO_IAM_LOAD_MANAGED_POLICIES": "true", recorder.FILE_VARIABLE: str(requests)}
    calls.touch()
    with (
        log.open("w") as written,
        Popen(
            [sys.executable, "-m", module, str(calls)],
            cwd=REPOSITORY,
            env=environment,
            stdin=PIPE,
            stdout=PIPE,
            stderr=written,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port, f"the AWS stand-in did not start:\n{log.read_text()}"
        try:
            yield AwsServer(url=f"http://127.0.0.1:{port}", log=log, calls=calls, requests=requests)
        finally:
            process.stdin.close()
