"""The same JSON with OpenTofu: applied, planned again, handed over and taken back, and destroyed."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.lab.deliveries import IMPORTS, Guide, Snapshot, snapshot
from tests.lab.inventory import inventory
from tests.lab.karpenter_life import holding_a_token, releases
from tests.lab.lab import Lab
from tests.terraform.account import Account
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.runner import Diagnostic, Plan
from tests.terraform.tools import REGISTRY, Tools, version_of
from tools.lab import store

# Where OpenTofu looks for the providers that Terraform has under REGISTRY.
OPENTOFU_REGISTRY = "registry.opentofu.org"


@dataclass(frozen=True)
class OpenTofuLife:
    """What was seen on the way."""

    version: str
    diagnostics: tuple[Diagnostic, ...]
    plan: Plan
    applied: Counter[str]
    releases: dict[str, str]
    second_plan: Plan
    ephemeral_plan: Plan
    """after an apply with `auth: ephemeral`"""
    ephemeral_secrets: list[str]
    """the files of OpenTofu that then hold a token"""
    handed_over: dict[str, Plan]
    """by the delivery: the plan that forgets the releases"""
    in_the_state: dict[str, set[str]]
    """by the delivery: the releases that OpenTofu still knows"""
    objects: dict[str, Snapshot]
    """by the delivery, and "before" """
    taken_back: Plan
    settled: Plan
    destroyed: Counter[str]
    objects_left: set[str]
    holdings_left: set[str]
    state_at_the_end: dict[str, dict[str, Any]]


def live(start: Callable[..., AbstractContextManager[Lab]]) -> OpenTofuLife:
    """Go through the life of the newest release."""
    binary = store.find("tofu")
    with start(releases=["1.14.1"]) as terraforms:
        lab = replace(terraforms, tools=tools(binary, terraforms))
        account = Account(lab.world)
        before, holdings = inventory(lab.kube), account.holdings()
        keys: dict[str, Any] = {"karpenter": {"version": "1.14.1"}, "interruption": False, "auth": "token"}
        literals = {"account": ACCOUNT, "endpoint": lab.plane.url, "oidc_issuer": lab.world.oidc_issuer}
        tofu = lab.stack(keys)
        tofu.init()
        first: dict[str, Any] = {
            "diagnostics": tofu.validate(),
            "plan": tofu.plan(),
            "applied": tofu.apply(),
            "releases": releases(lab.kube),
            "second_plan": tofu.replan(),
        }
        tofu.take_over(lab.stack({**keys, "auth": "ephemeral"}).stack)
        tofu.plan()
        tofu.apply()
        ephemeral: dict[str, Any] = {"ephemeral_plan": tofu.plan(), "ephemeral_secrets": holding_a_token(lab, tofu)}
        handed_over, in_the_state, objects = {}, {}, {"before": snapshot(lab.kube)}
        for delivery in ("gitops", "none"):
            tofu.take_over(lab.stack({**keys, **literals, "delivery": delivery}).stack)
            tofu.init()
            handed_over[delivery] = tofu.plan()
            tofu.apply()
            in_the_state[delivery] = {address for address in tofu.state() if address.startswith("helm_release.")}
            objects[delivery] = snapshot(lab.kube)
            tofu.take_over(lab.stack(keys).stack)
            (tofu.stack / IMPORTS).write_text(imports(), "utf-8")
            tofu.init()
            taken_back = tofu.plan()
            tofu.apply()
            (tofu.stack / IMPORTS).unlink()
        return OpenTofuLife(
            version=lab.tools.version,
            **first,
            **ephemeral,
            handed_over=handed_over,
            in_the_state=in_the_state,
            objects=objects,
            taken_back=taken_back,
            settled=tofu.replan(),
            destroyed=tofu.destroy(),
            objects_left=inventory(lab.kube) - before,
            holdings_left=account.holdings() - holdings,
            state_at_the_end=tofu.state(),
        )


def imports() -> str:
    """Return the import blocks of the guide for a stack without logging."""
    guide = Guide()
    return guide.import_charts + guide.import_manifests.partition("#")[0]


def tools(binary: Path, lab: Lab) -> Tools:
    """Return OpenTofu, with the providers of the lab's Terraform under its own registry."""
    mirror = lab.tools.mirror and mirrored(lab.tools.mirror, lab.folder / "opentofu-mirror")
    return Tools(binary, version_of(str(binary)), mirror, lab.tools.helm_mirror)


def mirrored(mirror: Path, target: Path) -> Path:
    """Make a mirror for OpenTofu of the AWS provider in this one; links to folders would be ignored."""
    provider = Path("hashicorp") / "aws"
    shutil.copytree(mirror / REGISTRY / provider, target / OPENTOFU_REGISTRY / provider, copy_function=link_or_copy)
    return target


def link_or_copy(source: str, target: str) -> None:
    """Link a large file, which works within one file system, or copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy(source, target)
