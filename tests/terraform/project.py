"""A user's folder: a clusters.yaml, its output folder, and the command that is run there again and again."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodeless.spec.resolution import load
from tests.terraform import provider_settings
from tests.terraform.aws_server import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

    from nodeless.resolved.installation import Installation
    from tests.terraform.runner import Terraform

OUT = "cdktf.out"
TIMEOUT = 300


@dataclass(frozen=True)
class Project:
    """The folder, a Terraform that has the providers, and where the AWS of this user is."""

    folder: Path
    initialized: Terraform
    endpoint: str

    def synth(self, *clusters: dict[str, Any], options: tuple[str, ...] = ()) -> str:
        """Write the file with these clusters, run `nodeless synth`, and return what it says beside its success."""
        (self.folder / "clusters.yaml").write_text(json.dumps({"clusters": clusters}), "utf-8")
        command = [sys.executable, str(REPOSITORY / "main.py"), "--quiet", *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=TIMEOUT)
        assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def terraform(self, stack: str) -> Terraform:
        """Return a Terraform in the folder of a stack, with its provider set for tests, after init."""
        folder = self.folder / OUT / "stacks" / stack
        provider_settings.write(folder, self.endpoint)
        terraform = self.initialized.elsewhere(folder)
        terraform.init(like=self.initialized)
        return terraform

    def installation(self, cluster: str) -> Installation:
        """Resolve a cluster of the file."""
        return next(each for each in load(self.folder / "clusters.yaml") if each.name == cluster)

    def files(self, stack: str) -> dict[str, bytes]:
        """Return the files of a stack and its state beside the output folder, without the folder of the providers."""
        below = self.folder / OUT / "stacks" / stack
        found = [path for path in below.rglob("*") if path.is_file() and ".terraform" not in path.parts]
        states = self.folder.glob(f"terraform.{stack}.tfstate")
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in [*found, *states]}

    def listed(self) -> set[str]:
        """Return the stacks in the manifest, whose folders the cdktf command does not delete."""
        return set(json.loads((self.folder / OUT / "manifest.json").read_text("utf-8"))["stacks"])
