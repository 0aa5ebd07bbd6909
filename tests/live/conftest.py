"""A server that plays AWS for all tests of this folder; each test has a cluster of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.live import command, site as sites
from tests.live.site import Site
from tests.terraform import aws_server

if TYPE_CHECKING:
    from tests.terraform.aws_server import AwsServer

SERVER = "tests.live.serve_aws"
NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AwsServer]:
    with aws_server.running(tmp_path_factory.mktemp("live") / "aws.log", SERVER) as server:
        yield server


@pytest.fixture
def other_account(tmp_path: Path) -> Iterator[AwsServer]:
    """Return a server of the test's own, for what there is once in an account."""
    with aws_server.running(tmp_path / "aws.log", SERVER) as server:
        yield server


@pytest.fixture
def logged_in(aws: AwsServer, monkeypatch: pytest.MonkeyPatch) -> AwsServer:
    """Let boto3 in this process talk to the server."""
    for name, value in command.environment(aws).items():
        if name.startswith("AWS_") or name == "NO_PROXY":
            monkeypatch.setenv(name, value)
    return aws


@pytest.fixture
def make_site(aws: AwsServer) -> Iterator[Callable[..., Site]]:
    """Create clusters, each under a name of its own; afterwards nothing fails any more."""

    def make(**settings: object) -> Site:
        return sites.create(aws, f"demo{next(NUMBERS)}", **settings)  # type: ignore[arg-type] # as sites.create takes

    yield make
    sites.faults(aws)
    sites.tell(aws, "/live/quotas", dict.fromkeys(("L-1216C47A", "L-34B43A08", "L-244521F2"), 640))


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site()
