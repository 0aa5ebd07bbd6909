"""Tells how to install boto3, which is an extra: everything else in this package imports it."""

from __future__ import annotations

from importlib.util import find_spec

from nodeless.finding import MISSING, Finding, SpecError

# Not the extra: where nodeless is not installed, `pip install "nodeless[aws]"` gets another project from PyPI.
INSTALL = "pip install boto3"


def check_boto3(verb: str) -> None:
    """Refuse to go on without boto3."""
    if find_spec("boto3") is None:
        finding = Finding(("boto3",), MISSING, "the package that reads AWS accounts", f"run {INSTALL}")
        raise SpecError(verb, [finding])
