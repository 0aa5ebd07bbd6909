"""Which Terraform the tests run, and where it takes the AWS provider from: a mirror on this machine, or the network."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import socket
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.lab import store

TERRAFORM_VARIABLE = "NODELESS_TERRAFORM"
MIRROR_VARIABLE = "NODELESS_PROVIDER_MIRROR"

REGISTRY = "registry.terraform.io"
HELM = "hashicorp/helm"
WITHOUT_HELM = f"the provider mirror has no {HELM}"

# The range of required_providers in every stack.
OLDEST_PROVIDER = (5, 100, 0)
FIRST_PROVIDER_TOO_NEW = (7, 0, 0)

# Where packages and images put such folders; each is looked at itself and one and two levels down.
USUAL_PLACES = ("/opt", "/usr/local/lib", "/usr/local/share", "/usr/lib", "/usr/share", "/var/lib")

FILESYSTEM_MIRROR = re.compile(r"""filesystem_mirror\s*\{[^}]*?\bpath\s*=\s*"(?P<path>[^"]+)\"""", re.DOTALL)


class Unavailable(Exception):  # noqa: N818  # a reason to skip, not an error
    """These tests cannot run on this machine; the text says why, and what would change that."""


@dataclass(frozen=True)
class Tools:
    """A Terraform binary and, unless it is the network, the folder its providers come from."""

    terraform: Path
    version: str
    mirror: Path | None
    helm_mirror: Path | None = None
    """where the lab built the Helm provider, which few mirrors have"""

    def __str__(self) -> str:
        return f"Terraform {self.version}, providers from {self.mirror or 'the network'}"

    def offers(self, provider: str) -> bool:
        """Tell whether init can find this provider; of the network it is assumed."""
        if self.mirror is None:
            return True
        return any(any((each / REGISTRY / provider).glob("*")) for each in self._mirrors)

    @property
    def _mirrors(self) -> list[Path]:
        return [each for each in (self.mirror, self.helm_mirror) if each]

    def cli_config(self, cache: Path) -> str:
        """Write the CLI configuration, in place of the user's: only these mirrors, no telemetry, one download a run."""
        if self.mirror is None:
            return f"disable_checkpoint = true\nplugin_cache_dir = {json.dumps(str(cache))}\n"
        mirrors = "".join(
            f"  filesystem_mirror {{\n    path = {json.dumps(str(each))}\n  }}\n" for each in self._mirrors
        )
        return f"disable_checkpoint = true\nprovider_installation {{\n{mirrors}}}\n"


def find(environment: Mapping[str, str], home: Path, usual_places: Iterable[str] = USUAL_PLACES) -> Tools:
    """Find Terraform and its providers, or say why these tests cannot run."""
    named = environment.get(TERRAFORM_VARIABLE)
    terraform = shutil.which(named or "terraform", path=environment.get("PATH"))
    if terraform is None:
        raise Unavailable(
            f"{TERRAFORM_VARIABLE} names {named}, which cannot be run"
            if named
            else f"no terraform on the PATH; install it or name it in {TERRAFORM_VARIABLE}"
        )
    mirror = find_mirror(environment, home, usual_places)
    if mirror is None and not registry_answers():
        raise Unavailable(
            f"no folder with a usable {REGISTRY}/hashicorp/aws was found and the registry does not answer; "
            f"name a provider mirror in {MIRROR_VARIABLE}"
        )
    return Tools(Path(terraform), version_of(terraform), mirror, built_helm_mirror())


def built_helm_mirror() -> Path | None:
    """Return the mirror that `make lab` made, if it did."""
    try:
        return store.helm_mirror()
    except store.NotBuilt:
        return None


def find_mirror(environment: Mapping[str, str], home: Path, usual_places: Iterable[str] = USUAL_PLACES) -> Path | None:
    """Return the first folder, in the order of `candidates`, that holds a usable AWS provider."""
    named = environment.get(MIRROR_VARIABLE)
    if named and not holds_aws_provider(Path(named)):
        raise Unavailable(f"{MIRROR_VARIABLE} names {named}, which holds no usable {REGISTRY}/hashicorp/aws")
    return next((each for each in candidates(environment, home, usual_places) if holds_aws_provider(each)), None)


def candidates(environment: Mapping[str, str], home: Path, usual_places: Iterable[str]) -> Iterator[Path]:
    """Name the folders to look at: the one asked for, the user's, Terraform's own, the usual ones."""
    if named := environment.get(MIRROR_VARIABLE):
        yield Path(named)
    for config in (environment.get("TF_CLI_CONFIG_FILE"), home / ".terraformrc"):
        if config and Path(config).is_file():
            for mirror in FILESYSTEM_MIRROR.finditer(Path(config).read_text("utf-8")):
                yield Path(mirror["path"]).expanduser()
    # https://developer.hashicorp.com/terraform/cli/config/config-file#implied-local-mirror-directories
    yield home / ".terraform.d" / "plugins"
    yield home / "Library" / "Application Support" / "io.terraform" / "plugins"
    shared = environment.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    for folder in (environment.get("XDG_DATA_HOME") or str(home / ".local" / "share"), *shared.split(os.pathsep)):
        yield Path(folder) / "terraform" / "plugins"
    # A plugin cache has the layout of a mirror.
    yield Path(environment.get("TF_PLUGIN_CACHE_DIR") or home / ".terraform.d" / "plugin-cache")
    for place in usual_places:
        for pattern in (REGISTRY, f"*/{REGISTRY}", f"*/*/{REGISTRY}"):
            yield from sorted(found.parent for found in Path(place).glob(pattern))


def holds_aws_provider(mirror: Path) -> bool:
    """Tell whether this mirror has an AWS provider for this machine, unpacked or packed, that the stacks allow."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine().lower())
    here = f"{platform.system().lower()}_{machine}"
    folder = mirror / REGISTRY / "hashicorp" / "aws"
    unpacked = (found.parts[-3] for found in folder.glob(f"*/{here}/terraform-provider-aws*"))
    packed = (found.name.split("_")[1] for found in folder.glob(f"terraform-provider-aws_*_{here}.zip"))
    versions = (tuple(int(part) for part in re.findall(r"\d+", version)) for version in (*unpacked, *packed))
    return any(OLDEST_PROVIDER <= version < FIRST_PROVIDER_TOO_NEW for version in versions)


def registry_answers() -> bool:
    """Tell whether Terraform could download a provider; asked only where there is no mirror."""
    try:
        socket.create_connection((REGISTRY, 443), timeout=3).close()
    except OSError:
        return False
    return True


def version_of(terraform: str) -> str:
    """Ask the binary, without the user's CLI configuration, which may not exist, and without a check for updates."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    # The check would write to the user's home.
    environment = {**inherited, "CHECKPOINT_DISABLE": "1"}
    asked = subprocess.run(
        [terraform, "version", "-json"], capture_output=True, check=True, env=environment, text=True, timeout=60
    )
    return str(json.loads(asked.stdout)["terraform_version"])
