"""`nodeless completion`: the script with which a shell completes verbs, options, clusters and releases."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nodeless.cli.options import DONE, Verbs, add_json, add_quiet, examples

ABOUT = """\
Print the completion script of a shell.

  bash   add to ~/.bashrc:   source <(nodeless completion bash)
  zsh    add to ~/.zshrc:    source <(nodeless completion zsh)      (below compinit)
  fish   run once:           nodeless completion fish > ~/.config/fish/completions/nodeless.fish
"""
SHELLS = ("bash", "zsh", "fish")
# What a shell may get: a name with other characters could be a command there.
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def add(verbs: Verbs[Any]) -> None:
    """Describe the verb; the hidden options are for the scripts."""
    options = verbs.add_parser(
        "completion",
        help="print the completion script of bash, zsh or fish",
        description=ABOUT,
        **examples(("source <(nodeless completion bash)", "complete in this shell")),
    )
    options.add_argument("shell", nargs="?", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    options.add_argument("--clusters", type=Path, nargs="+", metavar="FILE", help=argparse.SUPPRESS)
    options.add_argument("--releases", action="store_true", help=argparse.SUPPRESS)
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a script, or the words that it asks for."""
    if options.releases:
        from nodeless.karpenter.releases import RELEASES

        print(*RELEASES, sep="\n")
    elif options.clusters:
        print(*cluster_names(options.clusters), sep="\n")
    else:
        script = _script(options.shell)
        print(json.dumps({"shell": options.shell, "script": script}, indent=2) if options.json else script)
    return DONE


def cluster_names(files: Sequence[Path]) -> Iterator[str]:
    """Name the clusters of files as they are, whether or not they have mistakes."""
    from nodeless.finding import SpecError
    from nodeless.spec.including import gather
    from nodeless.trees import value_at

    try:
        sources = gather(files).sources
    except SpecError:
        return
    for row in (row for source in sources for row in source.clusters()):
        name = value_at(row, ("stack",)) or value_at(row, ("name",))
        if isinstance(name, str) and SAFE.fullmatch(name):
            yield name


def _script(shell: str | None) -> str:
    from nodeless.cli.completion_scripts import SCRIPTS, verbs_of
    from nodeless.cli.main import parser
    from nodeless.finding import MISSING, Finding, SpecError

    if shell is None:
        fix = "write nodeless completion bash, zsh or fish"
        raise SpecError("nodeless completion", [Finding(("SHELL",), MISSING, f"one of {', '.join(SHELLS)}", fix)])
    return SCRIPTS[shell](verbs_of(parser()))
