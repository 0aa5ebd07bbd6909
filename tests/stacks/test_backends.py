"""The backends: each is declared with exactly the keys that the settings say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.synthesized import Synthesized

StackOf = Callable[..., Synthesized]
Literals = Callable[..., dict[str, Any]]

BACKENDS = [
    ({"type": "local"}, {"backend": {"local": {"path": "../../../terraform.demo.tfstate"}}}),
    ({"type": "local", "path": "terraform.tfstate"}, {"backend": {"local": {"path": "terraform.tfstate"}}}),
    (
        {"type": "s3", "bucket": "state", "region": "eu-north-1"},
        {
            "backend": {
                "s3": {
                    "bucket": "state",
                    "encrypt": True,
                    "key": "karpenter/demo/terraform.tfstate",
                    "region": "eu-north-1",
                    "use_lockfile": True,
                }
            }
        },
    ),
    (
        {"type": "s3", "bucket": "state", "region": "eu-north-1", "role_arn": "arn:aws:iam::123456789012:role/state"},
        {
            "backend": {
                "s3": {
                    "assume_role": {"role_arn": "arn:aws:iam::123456789012:role/state"},
                    "bucket": "state",
                    "encrypt": True,
                    "key": "karpenter/demo/terraform.tfstate",
                    "region": "eu-north-1",
                    "use_lockfile": True,
                }
            }
        },
    ),
    (
        {"type": "cloud", "organization": "acme"},
        {"cloud": {"organization": "acme", "workspaces": {"name": "karpenter-demo"}}},
    ),
    (
        {"type": "cloud", "organization": "acme", "workspaces": {"tags": ["karpenter"]}},
        {"cloud": {"organization": "acme", "workspaces": {"tags": ["karpenter"]}}},
    ),
]


@pytest.mark.parametrize(("given", "written"), BACKENDS, ids=lambda value: next(iter(value)))
def test_a_backend_is_always_declared(
    stack_of: StackOf, literals: Literals, given: dict[str, Any], written: dict[str, Any]
) -> None:
    terraform = stack_of(**literals(backend=given)).tree["terraform"]

    assert {key: terraform[key] for key in ("backend", "cloud") if key in terraform} == written
