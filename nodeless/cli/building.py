"""Builds stacks: in this process, or many of them in several processes."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nodeless.linked_folders import import_linked
from nodeless.resolved.installation import Installation

Report = Callable[[Sequence[str]], None]


def build(installations: Sequence[Installation], folder: Path, *, workers: int | None, report: Report) -> None:
    """Build the stacks into a folder, by default with as many processes as are useful. This starts Node."""
    from nodeless.cli.process import end_node, kill_node
    from nodeless.cli.workers import build as build_with_workers, suitable

    count = min(workers or suitable(len(installations)), len(installations))
    try:
        if count == 1:
            import_linked("nodeless.stacks.app").build(installations, folder, built=report)
            return
        # Each worker has a Node of its own; the one of this process was started before the file was read.
        end_node()
        build_with_workers(installations, folder, workers=count, built=report)
    except KeyboardInterrupt:
        # Node must not go on writing while its folder is removed.
        kill_node()
        raise


@contextlib.contextmanager
def built(
    installations: Sequence[Installation], report: Report = lambda _: None, workers: int | None = None
) -> Iterator[Path]:
    """Build what synth would write, without publishing it; the folder is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="nodeless-", ignore_cleanup_errors=True) as folder:
        build(installations, Path(folder), workers=workers, report=report)
        yield Path(folder)
