"""`nodeless export --module`: write a reusable Terraform module for one Karpenter release."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from nodeless.cli.options import DONE
from nodeless.finding import Finding, SpecError
from nodeless.linked_folders import import_linked

if TYPE_CHECKING:
    from nodeless.output.inventory import Origins
    from nodeless.output.paths import Layout
    from nodeless.output.plan import Plan
    from nodeless.resolved.installation import Installation
    from nodeless.resolved.module import Module

SOURCE = "nodeless export --module"


def run(options: argparse.Namespace) -> int:
    """Build the module elsewhere, and put its files in place: all of them or none.

    The folder above the module has the inventory, as the folder above an exported cluster has.
    """
    from nodeless.cli.summary import say, working
    from nodeless.output.folder import opened

    folder = folder_of(options)
    module = chosen_module(options)
    with opened(folder.parent, force=options.force, say=say, layout=layout()) as above:
        with contextlib.nullcontext() if options.quiet else working("Exporting a module"):
            build(module, above.build / folder.name)
        plan = above.publish(origin_of(folder), prune=False)
    _report(options, module, plan, folder)
    return DONE


def folder_of(options: argparse.Namespace) -> Path:
    """Return the folder of the module, whose own name is that of the module."""
    from nodeless.output.paths import STACK_NAME

    folder = Path(os.path.normpath(Path.cwd() / options.module))
    if STACK_NAME.fullmatch(folder.name) is None:
        expected = "a folder whose name has letters, digits, hyphens and underscores only"
        raise SpecError(SOURCE, [Finding(("--module",), str(options.module), expected, "name another folder")])
    return folder


def origin_of(folder: Path) -> Origins:
    """Return what the inventory names as the origin of a module, in place of a configuration file."""
    from nodeless.output.inventory import Origins

    return Origins.of(f"--module {folder.name}", [folder.name])


def chosen_module(options: argparse.Namespace) -> Module:
    """Return the module that the options describe, or refuse it."""
    from nodeless.resolved.module import module_of

    module = module_of(_template(options))
    _check(module)
    return module


def _template(options: argparse.Namespace) -> Installation:
    """Return the cluster that the module is taken from: one of the file, or one with nothing but defaults."""
    from nodeless.cli.choice import chosen
    from nodeless.cli.warnings import print_warning
    from nodeless.spec.resolution import installation, load

    if options.cluster is None:
        version = {"version": options.version} if options.version else {}
        try:
            return installation(name="template", region="eu-north-1", karpenter=version)
        except SpecError as error:
            findings = [Finding(("--version",), each.value, each.expected, each.fix) for each in error.findings]
            raise SpecError(SOURCE, findings) from None
    everything = load(*options.config, warn=print_warning)
    stacks = chosen(everything, [options.cluster], options.config, "--cluster")
    return next(each for each in everything if each.stack in stacks)


def _check(module: Module) -> None:
    """Refuse policies that would not fit for every value that the module's variables take."""
    from nodeless.spec.guards.policies import policies_fit

    findings = list(policies_fit(module.installation))
    if findings:
        raise SpecError(SOURCE, findings)


def layout() -> Layout:
    """Return what an export of a module writes to the folder above it."""
    from nodeless.export.module.files import FOLDERS, NAMES, README
    from nodeless.output.paths import Layout

    return Layout(
        verb="export",
        option="--module",
        elsewhere="name another folder",
        stacks="",
        manifest=None,
        files=NAMES,
        main=README,
        folders=FOLDERS,
    )


def build(module: Module, target: Path) -> None:
    """Synthesize the module with and without a queue in a folder of their own, and write its files."""
    import tempfile

    from nodeless.cli.process import kill_node
    from nodeless.export.module.files import module_files
    from nodeless.output.paths import STACK_JSON, STACKS

    stacks = import_linked("nodeless.stacks.module")
    variants = [each for each in (module.installation, module.without_queue) if each]
    with tempfile.TemporaryDirectory(prefix="nodeless-", ignore_cleanup_errors=True) as folder:
        try:
            stacks.build(variants, Path(folder))
        except KeyboardInterrupt:
            # Node must not go on writing while its folder is removed.
            kill_node()
            raise
        built = [Path(folder) / STACKS / each.stack for each in variants]
        trees = [json.loads((each / STACK_JSON).read_text(encoding="utf-8")) for each in built]
        if (built[0] / "assets").is_dir():
            shutil.copytree(built[0] / "assets", target / "assets")
    for name, text in module_files(module, trees[0], trees[1] if module.without_queue else None).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        # The same line ends on every system, so that the bytes are the same.
        (target / name).write_text(text, encoding="utf-8", newline="\n")


def _report(options: argparse.Namespace, module: Module, plan: Plan, folder: Path) -> None:
    from nodeless.cli.summary import say

    removed = [change.path for change in plan.changes if change.new is None]
    change = plan.change_of(folder.name)
    if options.json:
        found = {
            "module": str(options.module),
            "version": str(module.template.version),
            "change": change,
            "removed": removed,
            "kept": list(plan.edited),
        }
        print(json.dumps(found, indent=2))
    for path in removed:
        say(f"{options.module}: {path} was removed, because it is no longer part of the module")
    if not options.quiet and not options.json:
        say(f"{options.module}: {change}, a module for Karpenter {module.template.version}")
