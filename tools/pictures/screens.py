"""Which commands the documents show, and what is in the folder in which they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WIDTHS = (60, 120)
RECORDING_WIDTH = 100

CLUSTERS = """\
clusters:
  - name: demo
    region: eu-north-1
"""
WRONG = """\
clusters:
  - name: demo
    region: eu-north-1
    kubernetes: "1.36"
    account: 123456789012
    karpenter: {version: "1.8", replica: 3}
"""
FLEET = """\
defaults:
  account: "111111111111"
  region: eu-north-1
  kubernetes: "1.31"
  karpenter: {version: "1.8.8"}
clusters:
  - name: blue
  - {name: green, interruption: false}
  - {name: red, account: "222222222222", region: us-east-1, karpenter: {replicas: 1}}
  - {name: old, kubernetes: "1.29", karpenter: {version: "0.37.8"}}
"""
EDIT = "sed -i 's/: 300,/: 60,/' cdktf.out/stacks/demo/cdk.tf.json"
DONE, DIFFERS, REFUSED = 0, 1, 2


@dataclass(frozen=True)
class Command:
    """What is typed, and the exit code with which it must end: otherwise the picture would show something else."""

    typed: str
    status: int = DONE


@dataclass(frozen=True)
class Screen:
    """A command, and what is there before it: files, and commands that ran."""

    name: str
    command: Command
    files: Mapping[str, str] = field(default_factory=lambda: {"clusters.yaml": CLUSTERS})
    before: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    """how the lines begin from which long output is shown too, besides its first lines"""
    lines: int = 45
    """of each part; the picture says how many lines are missing"""


SCREENS = (
    Screen("refused", Command("nodeless synth", REFUSED), {"clusters.yaml": WRONG}),
    Screen("synth", Command("nodeless synth")),
    Screen(
        "explain",
        Command("nodeless explain"),
        parts=("# demo: its resources", "# demo: what the controller may do"),
        lines=15,
    ),
    Screen("check", Command("nodeless check", DIFFERS), before=("nodeless synth", EDIT)),
    Screen("init", Command("nodeless init --cluster demo --region eu-north-1"), {}),
    Screen("doctor", Command("nodeless doctor", DIFFERS), lines=80),
    Screen("releases", Command("nodeless releases"), lines=20),
    Screen("upgrade", Command("nodeless upgrade 1.0.8 1.14.1")),
    Screen("fleet", Command("nodeless explain --fleet"), {"clusters.yaml": FLEET}),
    Screen("fleet-upgrade", Command("nodeless upgrade --fleet --to 1.14.1"), {"clusters.yaml": FLEET}),
)

# One folder, one command after the other.
RECORDING = (
    Command("nodeless init --cluster demo --region eu-north-1"),
    Command('sed -i \'s/version: "1.14.1"/version: "1.8"/\' clusters.yaml && nodeless synth', REFUSED),
    Command('sed -i \'s/version: "1.8"/version: "1.14.1"/\' clusters.yaml && nodeless synth'),
    Command(f"{EDIT} && nodeless check", DIFFERS),
)
