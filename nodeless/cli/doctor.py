"""`nodeless doctor`: the live account against the file, before an apply and when a pod stays pending."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nodeless.cli.options import DIFFERS, DONE, Verbs, add_config, add_json, add_quiet
from nodeless.sinks.terminal import printable

if TYPE_CHECKING:
    from nodeless.live.doctor import Examination, Row
    from nodeless.spec.fleet import Member

ABOUT = """\
Compare the AWS account with the file: whether an apply would succeed, and why a pod may stay pending.

Nothing is changed.
Each line is a check with what it found, and the command or key that mends it. The exit code is 0 if nothing is wrong
(there may be warnings), 1 if something is, and 2 if it could not be told. Needs boto3: pip install boto3.
"""
EXAMPLES = """\
examples:
  nodeless doctor
  nodeless doctor demo --profile staging
  nodeless doctor --json | jq '.clusters[].checks[] | select(.severity == "error")'
"""
COLOURS = {"error": "bold red", "warning": "yellow", "not checked": "cyan", "ok": "green"}


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb."""
    options = verbs.add_parser(
        "doctor",
        help="compare the AWS account with the file",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument("cluster", nargs="?", metavar="CLUSTER", help="a cluster of the file (default: all of them)")
    add_config(options)
    add_profile(options)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run, reads_account=True)


def add_profile(options: argparse.ArgumentParser) -> None:
    """Add `--profile PROFILE`."""
    options.add_argument(
        "--profile", metavar="PROFILE", help="a profile of the AWS configuration (default: as the AWS CLI would choose)"
    )


def run(options: argparse.Namespace) -> int:
    """Examine one cluster of the file, or all of them."""
    from nodeless.cli.progress import progress
    from nodeless.live.boto3_installed import check_boto3

    check_boto3("nodeless doctor")
    members = _chosen(options)
    from nodeless.live.doctor import examine

    found = []
    for each in members:
        with progress(f"Looking at {printable(each.installation.stack)}") as say:
            found.append(examine(each.cluster.kubernetes, each.installation, profile=options.profile, say=say))
    if options.json:
        print(json.dumps({"clusters": [as_json(examination) for examination in found]}, indent=2))
    else:
        for examination in found:
            _show(examination, quiet=options.quiet)
    return DONE if all(examination.is_healthy for examination in found) else DIFFERS


def as_json(examination: Examination) -> dict[str, Any]:
    """Return an examination as the document that --json prints."""
    return {
        "stack": examination.stack,
        "region": examination.region,
        "account": examination.account,
        "healthy": examination.is_healthy,
        "checks": [
            {
                "check": row.check,
                "severity": str(row.result.severity),
                "finding": row.result.text,
                "fix": row.result.fix or None,
            }
            for row in examination.rows
        ],
    }


def _chosen(options: argparse.Namespace) -> Sequence[Member]:
    from nodeless.cli.choice import chosen
    from nodeless.cli.warnings import print_warning
    from nodeless.spec.fleet import load_fleet

    fleet = load_fleet(options.config, warn=print_warning)
    names = [options.cluster] if options.cluster else []
    stacks = chosen([each.installation for each in fleet], names, options.config, "CLUSTER")
    return [each for each in fleet if each.installation.stack in stacks]


def _show(examination: Examination, *, quiet: bool) -> None:
    title = f"{examination.stack} ({examination.region}, account {examination.account})"
    rows = [row for row in examination.rows if not (quiet and row.result.severity == "ok")]
    if sys.stdout.isatty():
        _show_table(title, rows)
    else:
        print(printable(title))
        for line in plain_lines(rows):
            print(line)
    counts = Counter(str(row.result.severity) for row in examination.rows)
    summary = ", ".join(f"{counts[name]} {counted(name, counts[name])}" for name in COLOURS if counts[name])
    print(printable(f"{examination.stack}: {summary}"), file=sys.stderr)


def counted(severity: str, count: int) -> str:
    """Write the word for this many: only errors and warnings have a plural."""
    return f"{severity}s" if count > 1 and severity in {"error", "warning"} else severity


def plain_lines(rows: Sequence[Row]) -> list[str]:
    """Write each finding on a line of its own, and its fix on the next."""
    lines = []
    for row in rows:
        lines.append(printable(f"{row.result.severity}: {row.check}: {row.result.text}"))
        if row.result.fix:
            lines.append(printable(f"  fix: {row.result.fix}"))
    return lines


def _show_table(title: str, rows: Sequence[Row]) -> None:
    """Show two columns, so that the text has room on a narrow terminal."""
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(Column(no_wrap=True), Column(overflow="fold"), show_header=False, box=None, padding=(0, 1, 0, 0))
    for row in rows:
        severity, fix = str(row.result.severity), row.result.fix
        text = Text.assemble((f"{row.check}  ", "bold"), printable(row.result.text))
        if fix:
            text.append_text(Text.assemble("\n", ("fix: ", "dim"), printable(fix)))
        table.add_row(Text(severity, COLOURS[severity]), text)
    console = Console()
    console.print(Text(printable(title), "bold"))
    console.print(table)
