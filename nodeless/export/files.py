"""The files of one exported cluster, but for those that are copied: the configuration, a README and a .gitignore."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from nodeless.export import hcl, json_text, layout, local_state, readme
from nodeless.export.documents import with_calls
from nodeless.export.hcl import Block, Tree
from nodeless.resolved.fingerprint import origin_of
from nodeless.resolved.installation import Installation
from nodeless.resolved.inventory import inventory
from nodeless.resolved.terraform_version import required_terraform

HCL, JSON = "hcl", "json"
# A format -> how the names of its files end, and how blocks are written.
FORMATS: dict[str, tuple[str, Callable[[Iterable[Block]], str]]] = {
    HCL: (".tf", lambda blocks: hcl.written(map(with_calls, blocks))),
    JSON: (".tf.json", json_text.written),
}
README, IGNORED = "README.md", ".gitignore"
NAMES = (*(f"{stem}{ending}" for stem in layout.FILES for ending, _ in FORMATS.values()), README, IGNORED)

IGNORED_TEXT = """\
# State and plans may hold secrets. The lock file is meant to be committed.
.terraform/
*.tfstate
*.tfstate.*
*.tfplan
crash.log
"""


def exported(tree: Tree, installation: Installation, form: str, beside: Iterable[str]) -> dict[str, str]:
    """Write a stack's Terraform JSON as files: name -> text. `beside` names what is copied to the same folder."""
    resources = inventory(installation)
    settings = {**tree.get("terraform", {}), "required_version": required_terraform(installation)}
    blocks = layout.files(local_state.moved({**tree, "terraform": settings}, installation), resources)
    ending, write = FORMATS[form]
    found = {}
    for stem, each in blocks.items():
        if stem == layout.VERSIONS:
            # Always in HCL: checkov cannot read `required_version` in JSON.
            found[f"{stem}.tf"] = hcl.written(each, origin_of(installation))
        else:
            found[f"{stem}{ending}"] = write(each)
    folders = dict.fromkeys(PurePosixPath(path).parts[0] for path in beside)
    page = readme.text(installation, resources, {name: blocks[name.partition(".")[0]] for name in found}, [*folders])
    return {**found, README: page, IGNORED: IGNORED_TEXT}
