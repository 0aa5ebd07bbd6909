"""How the AWS provider logs in: what is refused, and what is passed on."""

from __future__ import annotations

from typing import Any

import pytest

from nodeless.spec.resolution import installation
from tests.refusals import problems

ACCOUNT, OTHER = "123456789012", "111122223333"


def role(account: str = ACCOUNT, **keys: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of a role
    return {"role_arn": f"arn:aws:iam::{account}:role/deploy", **keys}


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a role of another account": (
        {"account": ACCOUNT, "provider": {"assume_role": role(OTHER)}},
        "provider.assume_role.role_arn",
        "name a role of that account, or correct `account`",
    ),
    "a chain that ends in another account": (
        {"account": ACCOUNT, "provider": {"assume_role": [role(), role(OTHER)]}},
        "provider.assume_role[1].role_arn",
        "name a role of that account, or correct `account`",
    ),
    "a role of another partition": (
        {"provider": {"assume_role": [role(), {"role_arn": f"arn:aws-cn:iam::{ACCOUNT}:role/deploy"}]}},
        "provider.assume_role[1].role_arn",
        "write arn:aws:…",
    ),
    "a session policy of another partition": (
        {"provider": {"assume_role": role(policy_arns=["arn:aws-cn:iam::aws:policy/ReadOnlyAccess"])}},
        "provider.assume_role.policy_arns[0]",
        "write arn:aws:…",
    ),
    "exec with an external id": (
        {"auth": "exec", "provider": {"assume_role": role(external_id="demo")}},
        "auth",
        "use auth: ephemeral",
    ),
    "exec with a session name": (
        {"auth": "exec", "provider": {"assume_role": role(session_name="demo")}},
        "auth",
        "use auth: ephemeral",
    ),
    "exec with a chain": (
        {"auth": "exec", "provider": {"assume_role": [role(), role()]}},
        "auth",
        "use auth: ephemeral",
    ),
    "a profile on a runner": (
        {"provider": {"profile": "platform"}, "backend": {"type": "cloud", "organization": "acme"}},
        "provider.profile",
        "remove it, and use provider.assume_role or the workspace's credentials",
    ),
    "an access key": (
        {"provider": {"access_key": "AKIAIOSFODNN7EXAMPLE"}},
        "provider.access_key",
        "set the environment variable AWS_ACCESS_KEY_ID where Terraform runs",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_the_fix(case: str) -> None:
    keys, where, fix = REFUSED[case]

    (finding,) = problems(**keys)
    assert (finding.where(), finding.fix) == (f"clusters[0].{where}", fix)


PASSES: dict[str, dict[str, Any]] = {
    "a chain whose first role is of another account": {
        "account": ACCOUNT,
        "provider": {"assume_role": [role(OTHER), role()]},
    },
    "exec with a role and nothing else": {"auth": "exec", "provider": {"profile": "platform", "assume_role": role()}},
    "exec where nothing calls it": {
        "auth": "exec",
        "delivery": "none",
        "provider": {"assume_role": role(external_id="demo")},
    },
    "a role on a runner": {
        "provider": {"assume_role": role(external_id="demo")},
        "backend": {"type": "cloud", "organization": "acme"},
    },
}


@pytest.mark.parametrize("case", PASSES)
def test_it_passes(case: str) -> None:
    assert problems(**PASSES[case]) == []


def test_exec_logs_in_with_the_same_profile_and_role() -> None:
    login = installation(
        name="demo", region="eu-north-1", auth="exec", provider={"profile": "platform", "assume_role": role()}
    ).login

    assert login.cli_options == ("--profile", "platform", "--role-arn", f"arn:aws:iam::{ACCOUNT}:role/deploy")
