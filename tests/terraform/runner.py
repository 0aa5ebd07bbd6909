"""Runs Terraform in one stack's folder, and tells what it planned and did."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from tests.terraform.tools import Tools

LOCK_FILE = ".terraform.lock.hcl"
PLAN_FILE = "nodeless-test.tfplan"

# How a request to AWS names the command that made it.
COMMAND = "nodeless-test-command"

# Nothing here takes this long unless it hangs.
TIMEOUT = 300

LINES_OF_OUTPUT_IN_A_FAILURE = 60


class TerraformError(AssertionError):
    """A command ended with an error; the text has the command, where it ran and what it printed."""


@dataclass
class Tally:
    """What was done in a test run, for the lines at its end; several stacks may be under way at once."""

    tools: str = ""
    notes: list[str] = field(default_factory=list)
    resources: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _lock: Lock = field(default_factory=Lock)

    def add(self, command: str, seconds: float) -> None:
        """Note a command that was run."""
        with self._lock:
            self.commands[command] += 1
            self.seconds[command] += seconds

    def count(self, resources: Mapping[str, int]) -> None:
        """Note resources something was done to."""
        with self._lock:
            self.resources.update(resources)


@dataclass(frozen=True)
class Diagnostic:
    """A warning or an error, as Terraform words it."""

    severity: str
    summary: str
    detail: str = ""
    address: str = ""

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Diagnostic:
        """Take what a reader needs out of a diagnostic of Terraform's machine-readable output."""
        return cls(raw["severity"], raw["summary"], raw.get("detail", ""), raw.get("address", ""))


@dataclass(frozen=True)
class Plan:
    """A plan: what it would do to each address, and what it would show to a reviewer."""

    actions: Mapping[str, str]
    outputs: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]

    def doing(self, *actions: str) -> set[str]:
        """Return the addresses to which one of these happens."""
        return {address for address, action in self.actions.items() if action in actions}

    @property
    def is_empty(self) -> bool:
        """No resource and no output would change."""
        return not self.actions and not self.outputs


@dataclass(frozen=True)
class Step:
    """Something that Terraform began to do to an address, or has done."""

    address: str
    is_done: bool


class Terraform:
    """One stack's working folder."""

    steps: tuple[Step, ...] = ()
    """what the last apply or destroy did, in the order in which it happened"""
    agent = COMMAND
    """what a recorded request of this stack names, before the command"""

    def __init__(self, tools: Tools, stack: Path, *, environment: Mapping[str, str], tally: Tally) -> None:
        self.stack, self.environment = stack, environment
        self._tools, self._tally = tools, tally

    def elsewhere(self, stack: Path) -> Terraform:
        """Return the same Terraform in another folder."""
        return Terraform(self._tools, stack, environment=self.environment, tally=self._tally)

    def init(self, *, like: Terraform | None = None, backend: bool = True) -> None:
        """Install the providers; those of a folder that has them already need not be found and hashed again."""
        if like is not None:
            like.lend_providers(self.stack)
        self.run("init", "-input=false", f"-backend={str(backend).lower()}")

    def lend_providers(self, stack: Path) -> None:
        """Copy this folder's providers to another one, which an init there then only has to look at."""
        providers = ".terraform/providers"
        shutil.copytree(self.stack / providers, stack / providers, symlinks=True, dirs_exist_ok=True)
        shutil.copy(self.stack / LOCK_FILE, stack / LOCK_FILE)

    def validate(self) -> tuple[Diagnostic, ...]:
        """Return what Terraform has to say about the configuration; nothing is the best answer."""
        said = json.loads(self.run("validate", "-json", expect=(0, 1)))
        return tuple(Diagnostic.read(each) for each in said["diagnostics"])

    def test(self) -> dict[str, set[str]]:
        """Run the tests that lie beside the configuration; return what each of their runs found wrong."""
        said = self.run("test", "-json", expect=(0, 1))
        found: dict[str, set[str]] = {}
        for message in map(json.loads, said.splitlines()):
            if message["type"] == "test_run":
                found.setdefault(message["test_run"]["run"], set())
            elif message["type"] == "diagnostic":
                found.setdefault(message.get("@testrun", ""), set()).add(message["diagnostic"]["detail"])
        return found

    def plan(self, *options: str) -> Plan:
        """Plan, and keep the plan for `apply` and `planned`."""
        messages = list(self._stream("plan", "-input=false", f"-out={PLAN_FILE}", *options))
        changes = (message["change"] for message in messages if message["type"] == "planned_change")
        outputs: Mapping[str, Any] = next(
            (message["outputs"] for message in messages if message["type"] == "outputs"), {}
        )
        return Plan(
            actions={change["resource"]["addr"]: change["action"] for change in changes},
            outputs={name: output["action"] for name, output in outputs.items() if output["action"] != "noop"},
            diagnostics=tuple(Diagnostic.read(each["diagnostic"]) for each in messages if "diagnostic" in each),
        )

    def replan(self) -> Plan:
        """Plan again after an apply: every resource is read back and compared."""
        plan = self.plan()
        self._tally.count({"planned again": len(self.state())})
        return plan

    def planned(self) -> dict[str, Any]:
        """Return the kept plan with all its values, in Terraform's JSON output format."""
        return dict(json.loads(self.run("show", "-json", PLAN_FILE)))

    def apply(self) -> Counter[str]:
        """Apply the kept plan; return how many resources each action was done to."""
        return self._do("apply", "-input=false", PLAN_FILE)

    def destroy(self) -> Counter[str]:
        """Destroy everything in the state."""
        return self._do("destroy", "-input=false", "-auto-approve")

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the attributes of every resource in the state (data sources left out), by address."""
        raw = self.run("state", "pull")
        resources = json.loads(raw)["resources"] if raw.strip() else []
        return {
            f"{resource['type']}.{resource['name']}": resource["instances"][0]["attributes"]
            for resource in resources
            if resource["mode"] == "managed"
        }

    def tagged(self) -> set[str]:
        """Return the addresses in the state that can carry tags."""
        return {address for address, attributes in self.state().items() if "tags_all" in attributes}

    def take_over(self, other: Path) -> None:
        """Continue with another synthesized folder: what a new release or a changed file brings, the state kept."""
        shutil.copytree(other, self.stack, dirs_exist_ok=True)

    def run(self, command: str, *arguments: str, expect: tuple[int, ...] = (0,)) -> str:
        """Run one command in the folder and return what it printed."""
        line = self._line(command, *arguments)
        started = time.monotonic()
        done = subprocess.run(
            line,
            cwd=self.stack,
            env=self._environment(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
        self._tally.add(command, time.monotonic() - started)
        if done.returncode not in expect:
            raise TerraformError(explain(line, self.stack, done))
        return done.stdout

    @contextmanager
    def started(self, command: str, *arguments: str, output: Path) -> Iterator[subprocess.Popen[bytes]]:
        """Start one command with a process group of its own, as a shell does; in the end nothing of it still runs."""
        with (
            output.open("wb") as printed,
            subprocess.Popen(
                self._line(command, *arguments),
                cwd=self.stack,
                env=self._environment(command),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            ) as process,
        ):
            self._tally.add(command, 0)
            try:
                yield process
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def _line(self, command: str, *arguments: str) -> list[str]:
        colour = () if command in {"state", "show", "providers"} else ("-no-color",)
        return [str(self._tools.terraform), command, *arguments[:1], *colour, *arguments[1:]]

    def _environment(self, command: str) -> dict[str, str]:
        # The provider adds this to its User-Agent, so that a recorded request tells which command made it.
        return {**self.environment, "TF_APPEND_USER_AGENT": f"{self.agent}/{command}"}

    def _stream(self, command: str, *arguments: str) -> Iterator[dict[str, Any]]:
        for line in self.run(command, "-json", *arguments).splitlines():
            yield json.loads(line)

    def _do(self, command: str, *arguments: str) -> Counter[str]:
        messages = list(self._stream(command, *arguments))
        self.steps = tuple(
            Step(message["hook"]["resource"]["addr"], is_done=STEPS[message["type"]])
            for message in messages
            if message["type"] in STEPS
        )
        done = Counter(DONE[message["hook"]["action"]] for message in messages if message["type"] == "apply_complete")
        self._tally.count(done)
        return done


# The messages that a step begins and that it is done.
STEPS = {"apply_start": False, "apply_complete": True}

# What the report calls each action of Terraform's machine-readable output.
DONE = {"create": "applied", "update": "updated", "delete": "destroyed", "read": "read"}


def environment_for(cli_config: Path) -> dict[str, str]:
    """Return an environment in which neither the user's Terraform nor the user's AWS account plays a part."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TF_"))}
    return inherited | {
        "TF_CLI_CONFIG_FILE": str(cli_config),
        "TF_IN_AUTOMATION": "1",
        "CHECKPOINT_DISABLE": "1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        # A provider builds its schema anew in every command: collecting garbage less often saves a third of the time.
        "GOGC": "400",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


def explain(line: list[str], folder: Path, done: subprocess.CompletedProcess[str]) -> str:
    """Say what failed in Terraform's words: the errors of a machine-readable answer, or the end of a plain one."""
    errors = []
    for text in done.stdout.splitlines():
        try:
            message = json.loads(text)
        except ValueError:
            break
        if isinstance(message, dict) and message.get("@level") == "error":
            diagnostic = message.get("diagnostic", {})
            errors += [message["@message"], diagnostic.get("address", ""), diagnostic.get("detail", "")]
    printed = (done.stdout + done.stderr).splitlines()[-LINES_OF_OUTPUT_IN_A_FAILURE:]
    said = [error for error in errors if error] or printed
    return "\n".join([f"{' '.join(line)}\n  in {folder}\n  ended with {done.returncode}:", *said])
