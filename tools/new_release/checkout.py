"""Upstream's files at the tag of a release, read with git from a checkout or a bare mirror."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from nodeless.karpenter.versions import Release


class CheckoutError(Exception):
    """The checkout cannot be read; the text says what to do."""


@dataclass(frozen=True)
class Checkout:
    """A git repository with upstream's tags."""

    folder: Path

    def tag(self, release: Release) -> Tag:
        """Find the release's tag."""
        if not self.folder.is_dir() or not self.git("rev-parse", "--git-dir"):
            raise CheckoutError(f"{self.folder} is not a git checkout; clone github.com/aws/karpenter-provider-aws")
        tag = f"v{release}"
        if self.git("rev-parse", "--verify", "--quiet", f"refs/tags/{tag}") is None:
            newest = max(self.releases, default=None)
            known = f"its newest release is v{newest}" if newest else "it has no release tags"
            raise CheckoutError(f"{self.folder} has no tag {tag}, {known}; run git fetch --tags there")
        return Tag(self, tag)

    @cached_property
    def releases(self) -> tuple[Release, ...]:
        """List the releases that have a tag."""
        found = []
        for tag in (self.git("tag", "--list", "v*") or "").split():
            try:
                found.append(Release.parse(tag))
            except ValueError:  # a release candidate, or the tag of a branch
                continue
        return tuple(found)

    def git(self, *words: str) -> str | None:
        """Run git; None where it fails."""
        done = subprocess.run(  # noqa: S603 - the words are ours, and no shell reads them
            ["git", "-C", str(self.folder), *words],  # noqa: S607 - git is found on the PATH, as a maintainer has it
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else None


@dataclass(frozen=True)
class Tag:
    """The files of one release."""

    checkout: Checkout
    name: str

    def files(self, folder: str, suffix: str = "") -> list[str]:
        """List the files below a folder."""
        listed = self.checkout.git("ls-tree", "-r", "--name-only", self.name, f"{folder}/") or ""
        return [path for path in listed.splitlines() if path.endswith(suffix)]

    def text(self, path: str) -> str:
        """Read a file."""
        text = self.checkout.git("show", f"{self.name}:{path}")
        if text is None:
            raise CheckoutError(
                f"{self.name} has no file {path}: was it moved? tools/new_release/upstream.py looks for it"
            )
        return text

    def yaml(self, path: str) -> Any:  # noqa: ANN401 - any YAML
        """Read a YAML file with every value as text, so that 1.30 stays 1.30; an empty file is an empty map."""
        top = YAML(typ="safe", pure=True).compose(self.text(path))
        return _texts(top) if top else {}


def _texts(node: Node) -> Any:  # noqa: ANN401 - any YAML
    """Read texts, lists and maps, and CloudFormation's tags: `!GetAtt Queue.Arn` is `${Queue.Arn}`."""
    if isinstance(node, MappingNode):
        return {_texts(key): _texts(value) for key, value in node.value}
    if isinstance(node, SequenceNode):
        return [_texts(item) for item in node.value]
    return f"${{{node.value}}}" if node.tag in {"!GetAtt", "!Ref"} else str(node.value)
