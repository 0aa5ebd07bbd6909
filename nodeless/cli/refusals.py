"""How a refusal is printed: as text on stderr, or with --json as one document on stdout."""

from __future__ import annotations

import json
import sys

from nodeless.finding import SpecError
from nodeless.output.refusals import UnchangedError
from nodeless.sinks.terminal import screen_of

NOTHING_WRITTEN = UnchangedError.outcome


def show(error: SpecError, *, as_json: bool, writes: bool = False) -> None:
    """Print every mistake; a verb that writes also says that it has not."""
    if as_json:
        print(json.dumps(error.as_json(), indent=2))
    else:
        print(error.shown(screen_of(sys.stderr), NOTHING_WRITTEN if writes else ""), file=sys.stderr)
