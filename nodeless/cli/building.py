"""Builds stacks into a folder of their own, for the verbs that compare or show what synth would write."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from nodeless.linked_folders import import_linked
from nodeless.resolved.installation import Installation


@contextlib.contextmanager
def built(installations: Sequence[Installation]) -> Iterator[Path]:
    """Build what synth would write, without publishing it; the folder is gone afterwards. This starts Node."""
    from nodeless.cli.process import kill_node

    app = import_linked("nodeless.stacks.app")
    with tempfile.TemporaryDirectory(prefix="nodeless-", ignore_cleanup_errors=True) as folder:
        try:
            app.build(installations, Path(folder))
        except KeyboardInterrupt:
            # Node must not go on writing while its folder is removed.
            kill_node()
            raise
        yield Path(folder)
