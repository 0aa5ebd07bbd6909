"""All clusters of one or several files, each with the file it is in."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from dataclasses import dataclass

from nodeless.resolved.installation import Installation
from nodeless.spec.including import gather
from nodeless.spec.model import Cluster
from nodeless.spec.resolution import Warn, resolve_files, silent


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One cluster as written, with its defaults, and as resolved; its group is the file it is in."""

    cluster: Cluster
    installation: Installation
    group: str
    """the path of the file, as a user would write it"""


def load_fleet(configs: Sequence[pathlib.Path], *, warn: Warn = silent) -> tuple[Member, ...]:
    """Read files with all that they include, or raise SpecError with everything that is wrong in any of them."""
    files = gather(configs)
    return tuple(
        Member(cluster=row.cluster, installation=row.installation, group=files.sources[row.position].name)
        for row in resolve_files(files, warn=warn)
    )
