"""Fixtures that every kind of test may use."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parents[1]

# With every literal given, a stack looks nothing up.
LITERALS: dict[str, Any] = {
    "name": "demo",
    "region": "eu-north-1",
    "account": "123456789012",
    "endpoint": "https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-north-1.eks.amazonaws.com",
    "oidc_issuer": "https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF",
    "certificate_authority": "LS0tLS1CRUdJTi0=",
    "subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
}


@pytest.fixture
def literals() -> Callable[..., dict[str, Any]]:
    """Make the keys of a cluster that needs no lookup, with others laid over them."""
    return lambda **keys: {**LITERALS, **keys}


@pytest.fixture
def json_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Keep each snapshot as a JSON file of its own, which a reviewer can read."""
    return snapshot.use_extension(JSONSnapshotExtension)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests in another order: NODELESS_TEST_ORDER=reverse, or a number to shuffle with.

    No test may depend on another one, so every order must pass. A shuffle keeps the tests of a file together, because
    they share fixtures that take long.
    """
    order = os.environ.get("NODELESS_TEST_ORDER")
    if order == "reverse":
        items.reverse()
    elif order:
        shuffle = random.Random(int(order)).shuffle  # noqa: S311 - nothing secret
        files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
        shuffle(files)
        for tests in files:
            shuffle(tests)
        items[:] = [item for tests in files for item in tests]
