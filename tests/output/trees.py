"""Small trees as a build makes them, runs that publish them, and what an output folder then holds."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from nodeless.output import manifest
from nodeless.output.folder import opened
from nodeless.output.inventory import Origins
from nodeless.output.plan import Plan

Tree = Mapping[str, Mapping[str, str]]
CONFIG, OTHER_CONFIG = "clusters.yaml", "other.yaml"

# Two trees that differ in stacks, assets and gitops.
OLD: Tree = {
    "same": {"cdk.tf.json": "{}", "nodeless.tftest.hcl": "same"},
    "changed": {
        "cdk.tf.json": '{"old": 1}',
        "nodeless.tftest.hcl": "old",
        "assets/karpenter-charts/node-pools/Chart.yaml": "old",
        "assets/karpenter-charts/node-pools/templates/gone.yaml": "old",
    },
    "delivered": {"cdk.tf.json": '{"old": 2}', "nodeless.tftest.hcl": "same", "gitops/flux/karpenter.yaml": "old"},
}
NEW: Tree = {
    "same": {"cdk.tf.json": "{}", "nodeless.tftest.hcl": "same"},
    "changed": {
        "cdk.tf.json": '{"new": 1}',
        "nodeless.tftest.hcl": "new",
        "assets/karpenter-charts/node-pools/Chart.yaml": "new",
        "gitops/values.yaml": "new",
    },
    "delivered": {"cdk.tf.json": '{"new": 2}', "nodeless.tftest.hcl": "same", "assets/chart/Chart.yaml": "new"},
    "added": {"cdk.tf.json": '{"new": 3}', "nodeless.tftest.hcl": "new", "gitops/flux/karpenter.yaml": "new"},
}
# Files of the user and of Terraform, in the middle of ours.
FOREIGN = {
    "README.md": "mine",
    "stacks/changed/terraform.tfstate": "state",
    "stacks/changed/.terraform.lock.hcl": "lock",
    "stacks/changed/.terraform/providers/aws": "plugin",
    "stacks/changed/assets/terraform.tfstate": "state in assets",
    "stacks/changed/assets/karpenter-charts/node-pools/templates/mine.yaml": "mine",
    "stacks/delivered/gitops/flux/mine.yaml": "mine",
    "stacks/mine/main.tf": "mine",
}


def build(folder: Path, tree: Tree) -> None:
    """Write a tree and its manifest, as CDKTF does."""
    for stack, files in tree.items():
        write(folder / "stacks" / stack, files)
    (folder / "manifest.json").write_bytes(manifest.merged(b'{"stacks": {}, "version": "0.21.0"}', tree, {}))


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def run(
    out: Path,
    tree: Tree,
    *,
    config: str = CONFIG,
    force: bool = False,
    prune: bool = False,
    not_chosen: Collection[str] = (),
) -> Plan:
    """Do what `nodeless synth` does, with a tree instead of a synthesis."""
    with opened(out, force=force, say=lambda _: None) as folder:
        build(folder.build, tree)
        return folder.publish(Origins.of(config, [*tree, *not_chosen]), prune=prune)


def stacks_in(out: Path) -> set[str]:
    """Return the stacks that the manifest lists."""
    return set(json.loads((out / "manifest.json").read_text("utf-8"))["stacks"])


def contents(folder: Path) -> dict[str, str]:
    """Return every file below a folder; what is in our own folder too, and links as what they lead to."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_text(encoding="utf-8")
    return found


def written(*trees: Tree) -> dict[str, str]:
    """Return the stack files of trees, by their path in an output folder."""
    return {
        f"stacks/{stack}/{name}": text
        for tree in trees
        for stack, files in tree.items()
        for name, text in files.items()
    }


def published(folder: Path) -> dict[str, str]:
    """Return the files of an output folder without the manifest and the inventory, which depend on them."""
    return {name: text for name, text in contents(folder).items() if name not in {"manifest.json", INVENTORY}}


INVENTORY = ".nodeless/inventory.json"
