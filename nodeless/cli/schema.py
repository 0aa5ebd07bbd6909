"""`nodeless schema`: the JSON schema of clusters.yaml, for editors."""

from __future__ import annotations

import argparse
import json
from typing import Any

from nodeless.cli.options import DONE, Verbs, add_json, add_quiet, examples


def add(verbs: Verbs[Any]) -> None:
    """Add the verb."""
    options = verbs.add_parser(
        "schema",
        help="print the JSON schema of clusters.yaml, for editors",
        **examples(("nodeless schema > clusters.schema.json", "write it to a file, for an editor")),
    )
    add_json(options)
    add_quiet(options)
    options.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Print the schema, which is JSON in any case."""
    from nodeless.spec.schema import schema

    print(json.dumps(schema(), indent=2))
    return DONE
