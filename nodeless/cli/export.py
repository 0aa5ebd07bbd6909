"""`nodeless export`: write the Terraform of each cluster as files by concern, in HCL or in JSON."""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeless.cli.options import DONE, Verbs, add_config, add_json, add_only, add_quiet, add_workers, examples
from nodeless.finding import Finding, SpecError

if TYPE_CHECKING:
    from nodeless.output.paths import Layout
    from nodeless.output.plan import Plan
    from nodeless.resolved.installation import Installation

ABOUT = """\
Write the Terraform for every cluster as an engineer would have written it: DIR/<cluster>, with files by concern,
comments that say why, tests, a README and a .gitignore. Its plan is the same as that of `nodeless synth`.

Only files that nodeless wrote are replaced, and those that are removed are named. A file that you changed or that was
there before is named, and nothing is written. State, Terraform's other files and yours stay.

With --module, write a reusable module for one Karpenter release instead: the cluster, its region and more are
variables.
"""


def add(verbs: Verbs[Any]) -> None:
    """Add the verb."""
    options = verbs.add_parser(
        "export",
        help="write the Terraform for every cluster as files by concern, in HCL or in JSON",
        description=ABOUT,
        **examples(
            ("nodeless export terraform", "clusters.yaml -> terraform/<cluster>/*.tf"),
            ("nodeless export terraform --format json", "the same as *.tf.json"),
            ("nodeless export --module modules/karpenter", "a module for the newest release"),
        ),
    )
    options.add_argument(
        "dir", type=Path, nargs="?", metavar="DIR", help="the folder to write to, apart from that of synth"
    )
    options.add_argument("--module", type=Path, metavar="DIR", help="write a reusable module to this folder")
    options.add_argument(
        "--version", metavar="VERSION", help="the module's Karpenter release (default: the newest one)"
    )
    options.add_argument(
        "--cluster",
        metavar="CLUSTER",
        help="take what the module does not leave to its caller from this cluster of the file (default: the defaults)",
    )
    options.add_argument(
        "--format", choices=("hcl", "json"), default="hcl", help="the language of the files (default: hcl)"
    )
    add_config(options)
    add_only(options)
    options.add_argument(
        "--prune",
        action="store_true",
        help="remove the files of clusters that are no longer in the file; those with resources in a local state stay",
    )
    options.add_argument(
        "--force",
        action="store_true",
        help="overwrite files that were changed by hand or that nodeless did not write",
    )
    add_workers(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=lambda chosen: _dispatch(options, chosen), writes=True)


def _dispatch(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Run what was asked for: clusters, or a module."""
    if (options.dir is None) == (options.module is None):
        parser.error("name one folder: DIR for the clusters of the file, or --module DIR for a module")
    if options.module is None:
        for name in ("version", "cluster"):
            if getattr(options, name) is not None:
                parser.error(f"--{name} needs --module")
        return run(options)
    if options.only or options.prune or options.workers or options.format != "hcl":
        parser.error("--only, --prune, --workers and --format are not for a module, which is one folder of HCL")
    if options.version and options.cluster:
        parser.error("--cluster says which release the module is for: leave --version out")
    from nodeless.cli import export_module

    return export_module.run(options)


def run(options: argparse.Namespace) -> int:
    """Build the stacks elsewhere, divide them into files, and put these in place: all of them or none."""
    from nodeless.cli.choice import selected

    selection = selected(options.config, options.only, "--only")
    installations = selection.installations
    _check_folder(options.dir)
    # Now the file is known to be right, and Node may be started.
    from nodeless.cli.building import built
    from nodeless.cli.summary import counting, say, stays
    from nodeless.output.folder import opened

    counted = counting("Exporting", len(installations), quiet=options.quiet)
    with opened(options.dir, force=options.force, say=say, layout=layout()) as folder:
        with counted as report, built(installations, report, options.workers) as source:
            for installation in installations:
                write_cluster(installation, source, folder.build, options.format)
        plan = folder.publish(selection.origins(options.dir), prune=options.prune)
    stays(plan, options.config, options.dir)
    moves = [*_moves(installations, options.dir)]
    for old, new in moves:
        say(f"{new}: warning: the state that `nodeless synth` uses is {old}. To go on with it, move it to {new}")
    _report(options, installations, selection.not_chosen, plan, moves)
    return DONE


def layout() -> Layout:
    """Return what an export writes to its folder."""
    from nodeless.export.files import NAMES, README
    from nodeless.output.paths import TESTS, Layout

    return Layout(
        verb="export",
        option="DIR",
        elsewhere="name another folder",
        stacks="",
        manifest=None,
        files=(*NAMES, TESTS),
        main=README,
    )


def _check_folder(folder: Path) -> None:
    """Refuse the folder of synth: each of the two would take the other's inventory for its own."""
    from nodeless.output.paths import MANIFEST, STACKS
    from nodeless.output.present import kind_of

    if kind_of(folder / MANIFEST) and kind_of(folder / STACKS):
        expected = "a folder of its own: `nodeless synth` writes to this one"
        raise SpecError("nodeless export", [Finding(("DIR",), str(folder), expected, "name another folder")])


def write_cluster(installation: Installation, source: Path, build: Path, form: str) -> None:
    """Write the files of one cluster; those beside its JSON are copied."""
    from nodeless.export.files import exported
    from nodeless.output.paths import STACK_JSON, STACKS, VERSIONS
    from nodeless.output.present import files_below

    stack, target = source / STACKS / installation.stack, build / installation.stack
    beside = [path for path in files_below(stack) if path not in (STACK_JSON, VERSIONS)]
    for path in beside:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(stack / path, target / path)
    target.mkdir(parents=True, exist_ok=True)
    tree = json.loads((stack / STACK_JSON).read_text(encoding="utf-8"))
    for name, text in exported(tree, installation, form, beside).items():
        # The same line ends on every system, so that the bytes are the same.
        (target / name).write_text(text, encoding="utf-8", newline="\n")


def is_export(folder: Path) -> bool:
    """Tell whether a folder was written by export: it has files of a cluster, or an inventory of some."""
    from nodeless.export.files import FORMATS
    from nodeless.export.layout import VERSIONS
    from nodeless.output.inventory import Inventory
    from nodeless.output.paths import INVENTORY, MANIFEST
    from nodeless.output.present import FILE, kind_of

    if kind_of(folder / MANIFEST):
        return False
    if any(kind_of(file) == FILE for ending, _ in FORMATS.values() for file in folder.glob(f"*/{VERSIONS}{ending}")):
        return True
    try:
        recorded = Inventory.parse((folder / INVENTORY).read_bytes(), layout())
    except (OSError, ValueError):
        return False
    return bool(recorded.stacks)


def format_of(cluster: Path) -> str:
    """Return the format of which the folder of a cluster has most files."""
    from nodeless.export.files import FORMATS
    from nodeless.export.layout import FILES
    from nodeless.output.present import kind_of

    counts = {
        form: sum(kind_of(cluster / f"{stem}{ending}") is not None for stem in FILES)
        for form, (ending, _) in FORMATS.items()
    }
    return max(counts, key=lambda form: counts[form])


def _moves(installations: Sequence[Installation], folder: Path) -> Iterator[tuple[str, str]]:
    """Return where a local state is and where the export looks for it, if that is somewhere else and nothing there."""
    from nodeless.export import local_state
    from nodeless.output.paths import STACKS

    out = Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out")
    for each in installations:
        path = local_state.path_of(each)
        if path is None:
            continue
        old = Path(os.path.normpath(out / STACKS / each.stack / str(each.backend["path"])))
        new = Path(os.path.normpath(folder / each.stack / path))
        if old.is_file() and not new.exists():
            yield str(old), str(new)


def _report(
    options: argparse.Namespace,
    installations: Sequence[Installation],
    not_chosen: Sequence[str],
    plan: Plan,
    moves: Sequence[tuple[str, str]],
) -> None:
    """Say what was done: as JSON on stdout, or in lines on stderr."""
    from nodeless.cli.summary import counted, say

    removed = [change.path for change in plan.changes if change.new is None]
    changes = {each.stack: plan.change_of(each.stack) for each in installations}
    if options.json:
        found = {
            "dir": str(options.dir),
            "format": options.format,
            "clusters": [
                {"stack": each.stack, "cluster": each.name, "change": changes[each.stack]} for each in installations
            ],
            "not_chosen": sorted(not_chosen),
            "removed": removed,
            "orphaned": list(plan.orphans),
            "pruned": list(plan.pruned),
            "kept": list(plan.edited),
            "states_to_move": [{"from": old, "to": new} for old, new in moves],
        }
        print(json.dumps(found, indent=2))
    for path in removed:
        say(f"{options.dir}/{path}: removed, because it is no longer part of the export")
    if not options.quiet and not options.json:
        say(f"{options.dir}: {counted(changes.values())}")
