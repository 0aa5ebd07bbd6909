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
        {"type": "remote", "organization": "acme"},
        {"backend": {"remote": {"organization": "acme", "workspaces": {"name": "karpenter-demo"}}}},
    ),
    (
        {"type": "remote", "organization": "acme", "workspaces": {"prefix": "karpenter-"}},
        {"backend": {"remote": {"organization": "acme", "workspaces": {"prefix": "karpenter-"}}}},
    ),
    (
        {"type": "http", "address": "https://state.example.com/demo", "skip_cert_verification": False},
        {"backend": {"http": {"address": "https://state.example.com/demo", "skip_cert_verification": False}}},
    ),
    ({"type": "gcs", "bucket": "b"}, {"backend": {"gcs": {"bucket": "b", "prefix": "karpenter/demo"}}}),
    (
        {"type": "azurerm", "storage_account_name": "a", "container_name": "c"},
        {
            "backend": {
                "azurerm": {
                    "container_name": "c",
                    "key": "karpenter/demo/terraform.tfstate",
                    "storage_account_name": "a",
                }
            }
        },
    ),
    ({"type": "pg"}, {"backend": {"pg": {"schema_name": "karpenter_demo"}}}),
    ({"type": "consul"}, {"backend": {"consul": {"path": "karpenter/demo"}}}),
    ({"type": "kubernetes"}, {"backend": {"kubernetes": {"secret_suffix": "demo-karpenter"}}}),
    (
        {"type": "oss", "bucket": "b"},
        {"backend": {"oss": {"bucket": "b", "key": "karpenter/demo/terraform.tfstate"}}},
    ),
    (
        {"type": "cos", "bucket": "b", "region": "ap-guangzhou"},
        {"backend": {"cos": {"bucket": "b", "key": "karpenter/demo/terraform.tfstate", "region": "ap-guangzhou"}}},
    ),
    (
        {"type": "cloud", "organization": "acme"},
        {"cloud": {"organization": "acme", "workspaces": {"name": "karpenter-demo"}}},
    ),
    (
        {"type": "cloud", "organization": "acme", "workspaces": {"tags": {"app": "karpenter"}, "project": "platform"}},
        {"cloud": {"organization": "acme", "workspaces": {"project": "platform", "tags": {"app": "karpenter"}}}},
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


def test_only_the_default_local_state_is_checked_at_plan_time(stack_of: StackOf, literals: Literals) -> None:
    checked = [given for given, _ in BACKENDS if "check" in stack_of(**literals(backend=given)).tree]

    assert checked == [{"type": "local"}]
    assert "check" in stack_of(**literals(stack="other")).tree
