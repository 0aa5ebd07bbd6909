"""The files of a module, but for the chart that is copied: its configuration, a README and an example."""

from __future__ import annotations

from typing import Any

from nodeless.export import hcl, layout
from nodeless.export.documents import with_calls
from nodeless.export.module import example, readme
from nodeless.export.module.configuration import configuration
from nodeless.export.module.variables import variables
from nodeless.resolved.fingerprint import origin_of_module
from nodeless.resolved.inventory import DISCOVERY, LOOKUPS, Resource, inventory
from nodeless.resolved.module import Module

Tree = dict[str, Any]

README = "README.md"
NAMES = (*(f"{stem}.tf" for stem in layout.FILES), README)
FOLDERS = ("assets", example.FOLDER.partition("/")[0])
# What a module has and a stack has not.
OWN = (
    Resource(
        part=DISCOVERY, address="aws_ec2_tag.discovery", purpose="lets Karpenter find subnets and security groups"
    ),
    Resource(part=LOOKUPS, address="data.aws_partition.current", purpose="the partition of the provider's region"),
    Resource(part=LOOKUPS, address="data.aws_region.current", purpose="the provider's region"),
)


def module_files(module: Module, on: Tree, off: Tree | None) -> dict[str, str]:
    """Write a module from its synthesized stacks, with and without a queue: path -> text."""
    known = variables(module)
    tree = configuration(module, on, off, known)
    blocks = layout.files(tree, (*inventory(module.installation), *OWN))
    marks = {layout.VERSIONS: origin_of_module(module, {each.name: each.default for each in known})}
    return {
        **{f"{stem}.tf": hcl.written(map(with_calls, each), marks.get(stem)) for stem, each in blocks.items()},
        README: readme.text(module, tree, known),
        **example.files(module, tree["terraform"]),
    }
