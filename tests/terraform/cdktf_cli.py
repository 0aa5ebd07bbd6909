"""A stack whose whole life the cdktf command runs, as a user does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.cdktf_command import CDKTF, cdktf_environment
from tests.terraform import provider_settings, world
from tests.terraform.account import Account
from tests.terraform.aws_server import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.terraform.aws_server import AwsServer
    from tests.terraform.runner import Tally, Terraform

CLUSTER, REGION = "demo", "eu-north-1"
STACK = f"cdktf.out/stacks/{CLUSTER}"
STATE = f"terraform.{CLUSTER}.tfstate"
CONFIG = """\
clusters:
  - name: {name}
    region: eu-north-1
    account: "123456789012"
    endpoint: {endpoint}
    oidc_issuer: {oidc_issuer}
    subnets: [{subnets}]
    delivery: none
"""

# The command writes a lock file for other machines too, from the network: no mirror has those.
WITHOUT_OTHER_MACHINES = "--skip-provider-lock"
TIMEOUT = 600
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Cdktf:
    """A project folder with a cdktf.json of its own that runs this app."""

    folder: Path
    environment: Mapping[str, str]
    tally: Tally

    def prepare(self, config: str) -> None:
        """Write what a user's project holds."""
        project = {"language": "python", "app": f"{sys.executable} {REPOSITORY / 'main.py'}", "output": "cdktf.out"}
        consent = {"projectId": "nodeless-test", "sendCrashReports": "false"}
        (self.folder / "cdktf.json").write_text(json.dumps(project | consent), "utf-8")
        (self.folder / "clusters.yaml").write_text(config, "utf-8")

    def run(self, command: str, *arguments: str) -> str:
        """Run one command without a terminal, and return what it printed, without colours."""
        started = time.monotonic()
        done = subprocess.run(
            [str(CDKTF), command, *arguments],
            cwd=self.folder,
            env=cdktf_environment(self.environment, self.folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
        self.tally.add(f"cdktf {command}", time.monotonic() - started)
        printed = COLOURS.sub("", done.stdout + done.stderr)
        assert done.returncode == 0, f"cdktf {command} ended with {done.returncode} in {self.folder}:\n{printed}"
        return printed

    def state(self) -> set[str]:
        """Return the addresses in the state, where the default backend keeps it."""
        resources = json.loads((self.folder / STATE).read_text("utf-8"))["resources"]
        return {f"{each['type']}.{each['name']}" for each in resources if each["mode"] == "managed"}


@dataclass(frozen=True)
class LifeByCdktf:
    """A stack from `cdktf synth` to `cdktf destroy`: what was printed, and what state and account held meanwhile."""

    first_diff: str
    deployed: str
    state: set[str]
    holdings: set[str]
    second_diff: str
    listed_after_renaming: str
    state_at_the_end: set[str]
    left_behind: set[str]
    synthesized_first: bytes
    synthesized_last: bytes


def live(aws: AwsServer, initialized: Terraform, cdktf: Cdktf) -> LifeByCdktf:
    """Run every command a user runs, in their order; each but the last leaves the next its folder."""
    made = world.create(aws, cluster=CLUSTER, region=REGION)
    account, stack = Account(made), cdktf.folder / STACK
    before = account.holdings()
    keys = {"endpoint": made.endpoint, "oidc_issuer": made.oidc_issuer, "subnets": ", ".join(made.subnets)}
    cdktf.prepare(CONFIG.format(name=CLUSTER, **keys))
    cdktf.run("synth")
    synthesized = (stack / "cdk.tf.json").read_bytes()
    # From here on every command synthesizes again: what is put beside the JSON now must survive that.
    provider_settings.write(stack, aws.url)
    initialized.lend_providers(stack)
    first_diff = cdktf.run("diff", CLUSTER, WITHOUT_OTHER_MACHINES)
    deployed = cdktf.run("deploy", CLUSTER, "--auto-approve", WITHOUT_OTHER_MACHINES)
    state, holdings = cdktf.state(), account.holdings() - before
    cdktf.tally.count({"applied": len(state)})
    second_diff = cdktf.run("diff", CLUSTER, WITHOUT_OTHER_MACHINES)
    cdktf.tally.count({"planned again": len(state)})
    # The cluster is renamed in the file. The command would delete the folder of a stack that is no longer listed.
    cdktf.prepare(CONFIG.format(name="renamed", **keys))
    cdktf.run("synth")
    listed = cdktf.run("list")
    cdktf.run("destroy", CLUSTER, "--auto-approve", WITHOUT_OTHER_MACHINES)
    state_at_the_end = cdktf.state()
    cdktf.tally.count({"destroyed": len(state) - len(state_at_the_end)})
    return LifeByCdktf(
        first_diff=first_diff,
        deployed=deployed,
        state=state,
        holdings=holdings,
        second_diff=second_diff,
        listed_after_renaming=listed,
        state_at_the_end=state_at_the_end,
        left_behind=account.holdings() - before,
        synthesized_first=synthesized,
        synthesized_last=(stack / "cdk.tf.json").read_bytes(),
    )
