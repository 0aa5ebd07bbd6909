"""What follows from the settings, as lines to read: resources, policies in words, what is added by default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from nodeless.explanation.consequences import accesses, facts, policies
from nodeless.explanation.yaml_lines import INDENT, block
from nodeless.karpenter.policy import Statement
from nodeless.resolved.installation import Installation
from nodeless.resolved.inventory import PARTS, Resource, inventory
from nodeless.resolved.names import LONGEST_CLUSTER_NAME
from nodeless.resolved.resources import default_manifests
from nodeless.resolved.statement_words import in_words
from nodeless.resolved.workspaces import workspace_of
from nodeless.sinks.terminal import printable

MARK = "# "
# The columns that words beside an address need; with less, they are below it.
LEAST_ROOM = 40


def sections(installation: Installation, width: int) -> Iterator[str]:
    """Write all sections about a cluster; every line is a comment in YAML."""
    for title, section in SECTIONS.items():
        lines = list(section(installation, width - len(MARK)))
        if lines:
            yield ""
            yield from (printable(f"{MARK}{line}") for line in (f"{installation.name}: {title}", *lines))


def _facts(installation: Installation, width: int) -> Iterator[str]:
    for key, value in facts(installation).items():
        yield from _folded(f"{key}: {value}", INDENT, width)


def _workspace(installation: Installation, width: int) -> Iterator[str]:
    workspace = workspace_of(installation)
    if workspace is None:
        return
    rows = {
        "Terraform version": workspace.terraform_version,
        "working directory, below the output folder": workspace.working_directory,
        "trigger pattern, below the output folder": ", ".join(workspace.trigger_patterns),
    }
    for key, value in rows.items():
        yield from _folded(f"{key}: {value}", INDENT, width)


def _resources(installation: Installation, width: int) -> Iterator[str]:
    rows = inventory(installation)
    column = max(len(row.address) for row in rows) + 3 * len(INDENT)
    for part in PARTS:
        of_part = [row for row in rows if row.part == part]
        if of_part:
            yield f"{INDENT}{part}"
        for row in of_part:
            yield from _resource(row, column, width)


def _resource(row: Resource, column: int, width: int) -> Iterator[str]:
    words = f"{row.name}: {row.purpose}" if row.name else row.purpose
    address = f"{INDENT * 2}{row.address}"
    if width - column < LEAST_ROOM:
        yield address
        yield from _folded(words, INDENT * 3, width)
        return
    first, *others = _folded(words, " " * column, width)
    yield f"{address.ljust(column)}{first.lstrip()}"
    yield from others


def _policies(installation: Installation, width: int) -> Iterator[str]:
    for row in policies(installation):
        proof = row.proof
        size = f"{proof.policy}: {proof.size:,} of {row.limit:,} characters, {proof.headroom:,} left"
        yield from _folded(size, INDENT, width)
        if proof.longest_cluster_name < LONGEST_CLUSTER_NAME:
            room = f"it fits for cluster names of up to {proof.longest_cluster_name} characters"
            yield from _folded(room, INDENT * 2, width)
        yield from _statements(row.statements, width)


def _accesses(installation: Installation, width: int) -> Iterator[str]:
    for row in accesses(installation):
        yield from _folded(f"{row.of}, {row.what}", INDENT, width)
        yield from _statements(row.statements, width)


def _statements(statements: Iterable[Statement], width: int) -> Iterator[str]:
    for statement in statements:
        yield from _folded(f"{statement.sid}: " * bool(statement.sid) + in_words(statement), INDENT * 2, width)


def _added(installation: Installation, width: int) -> Iterator[str]:
    for manifest in default_manifests(installation):
        yield f"{INDENT}---"
        yield from block(manifest, INDENT, width)


def _folded(text: str, indent: str, width: int) -> list[str]:
    """Break a text at spaces, and indent what follows its first line further."""
    return textwrap.wrap(
        text,
        max(width, len(indent) + LEAST_ROOM),
        initial_indent=indent,
        subsequent_indent=f"{indent}{INDENT}",
        break_long_words=False,
        break_on_hyphens=False,
    )


SECTIONS = {
    "the stack": _facts,
    "what to set in its workspace": _workspace,
    "its resources": _resources,
    "what the controller may do": _policies,
    "who may use the roles and the queue": _accesses,
    "objects that are added because the file has none": _added,
}
