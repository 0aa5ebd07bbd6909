"""Terraform addresses: readable, without a hash, and the same from one release of nodeless to the next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeVar

from nodeless.imports.cdk import TerraformElement

Element = TypeVar("Element", bound=TerraformElement)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Gives each element its address; the prefix tells two installations in one stack apart."""

    prefix: str = ""

    def __call__(self, address: str, element: Element) -> Element:
        """Set the element's address: `aws_iam_role.<prefix><address>`."""
        element.override_logical_id(f"{self.prefix}{address}")
        return element

    def full(self, address: str) -> str:
        """Write the address as other elements refer to it."""
        return f"{self.prefix}{address}"


def part(text: str) -> str:
    """Turn a name into a part of an address."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)
