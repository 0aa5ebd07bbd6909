"""The Terraform that a stack requires, in a file of its own.

In Terraform JSON, checkov takes every key of the block `terraform` for a block. It gives up on a file in which
`required_version` is a text, and checks nothing. In HCL it reads it.
"""

from __future__ import annotations

from pathlib import Path

from nodeless.resolved.installation import Installation
from nodeless.resolved.terraform_version import required_terraform
from nodeless.sinks.hcl import quoted

FILE = "nodeless.versions.tf"
TEXT = """\
# Beside the JSON and not in it, because checkov would not read the JSON then.
terraform {{
  required_version = {version}
}}
"""


def write(installation: Installation, folder: Path) -> None:
    """Write the file of one stack into its folder."""
    (folder / FILE).write_text(TEXT.format(version=quoted(required_terraform(installation))), encoding="utf-8")
