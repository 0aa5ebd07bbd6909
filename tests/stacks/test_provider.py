"""The AWS provider of a stack: the account it may work in, and how it logs in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nodeless.imports import cdk
from nodeless.spec.resolution import installation
from nodeless.stacks.karpenter_stack import KarpenterStack
from tests.synthesized import Synthesized

StackOf = Callable[..., Synthesized]
Literals = Callable[..., dict[str, Any]]

ROLE = "arn:aws:iam::123456789012:role/deploy"


def aws(found: Synthesized) -> dict[str, Any]:
    (provider,) = found.tree["provider"]["aws"]
    return dict(provider)


def test_the_account_of_the_file_is_the_only_one_allowed(stack_of: StackOf, literals: Literals) -> None:
    assert aws(stack_of(**literals(account="123456789012")))["allowed_account_ids"] == ["123456789012"]


def test_without_an_account_every_one_is_allowed(stack_of: StackOf) -> None:
    assert aws(stack_of(name="demo", region="eu-north-1")) == {"region": "eu-north-1"}


def test_an_account_that_terraform_looks_up_is_not_compared_with_itself(tmp_path: Path) -> None:
    found = installation(name="demo", region="eu-north-1", account="${data.aws_caller_identity.me.account_id}")
    stack = KarpenterStack(cdk.Testing.app(outdir=str(tmp_path)), "demo", installation=found)

    assert "allowed_account_ids" not in aws(Synthesized(json.loads(cdk.Testing.synth(stack))))


def test_a_region_that_is_new_is_not_held_against_the_providers_list(stack_of: StackOf) -> None:
    found = stack_of(name="demo", region="eu-north-9", new_region=True)

    assert aws(found) == {"region": "eu-north-9", "skip_region_validation": True}


def test_roles_and_profile_are_passed_on_with_the_keys_that_were_written(stack_of: StackOf) -> None:
    role = {
        "role_arn": ROLE,
        "external_id": "karpenter/demo",
        "session_name": "nodeless",
        "duration": "1h",
        "source_identity": "platform",
        "policy_arns": ["arn:aws:iam::aws:policy/PowerUserAccess"],
        "tags": {"team": "platform"},
        "transitive_tag_keys": ["team"],
    }
    chain = [{"role_arn": "arn:aws:iam::111122223333:role/hub"}, role]

    found = stack_of(name="demo", region="eu-north-1", provider={"profile": "platform", "assume_role": chain})
    assert aws(found) == {"region": "eu-north-1", "profile": "platform", "assume_role": chain}


def test_exec_logs_in_as_the_provider_does(stack_of: StackOf, literals: Literals) -> None:
    keys = literals(auth="exec", provider={"profile": "platform", "assume_role": {"role_arn": ROLE}})

    (helm,) = stack_of(**keys).tree["provider"]["helm"]
    assert helm["kubernetes"]["exec"]["args"][-4:] == ["--profile", "platform", "--role-arn", ROLE]
