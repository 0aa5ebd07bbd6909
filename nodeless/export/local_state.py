"""The default local state of an export: beside the folder of all clusters, as synth has it beside the output folder.

So an export beside the output folder continues with the same state.
"""

from __future__ import annotations

import copy
from typing import Any

from nodeless.export.hcl import Tree
from nodeless.resolved.backends import is_default_local
from nodeless.resolved.installation import Installation

# In the folder above that of a cluster; a folder that is copied alone does not have it there.
MARK = "../.nodeless/inventory.json"
CONDITION = f'${{path.module != path.root || fileexists("${{path.root}}/{MARK}")}}'


def path_of(installation: Installation) -> str | None:
    """Return the path of a local state from the folder of an exported cluster; None with any other backend."""
    backend = installation.backend
    if backend["type"] != "local":
        return None
    path = str(backend["path"])
    # A folder of an export is one level higher than that of a stack.
    return path.removeprefix("../") if is_default_local(backend, installation.stack) else path


def moved(tree: Tree, installation: Installation) -> dict[str, Any]:
    """Return a stack's Terraform JSON for the folder of an export."""
    found: dict[str, Any] = copy.deepcopy(dict(tree))
    if not is_default_local(installation.backend, installation.stack):
        return found
    backend = found["terraform"]["backend"]["local"]
    old, backend["path"] = backend["path"], path_of(installation)
    (row,) = found["check"]["local_state"]["assert"]
    row["condition"] = CONDITION
    row["error_message"] = row["error_message"].replace(old, backend["path"])
    return found
