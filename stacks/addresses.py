"""Terraform addresses: readable, without a hash, and the same from one release of nodeless to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from nodeless.imports.cdk import TerraformElement

Element = TypeVar("Element", bound=TerraformElement)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Sets the address of each element; the prefix keeps two installations in one stack apart."""

    prefix: str = ""

    def __call__(self, address: str, element: Element) -> Element:
        """Set the element's address: `aws_iam_role.<prefix><address>`."""
        element.override_logical_id(self.full(address))
        return element

    def reference(self, kind: str, address: str, attribute: str) -> str:
        """Write the reference to an attribute as CDKTF writes it. To read it from the element is a call to Node.

        It is for elements of the same installation: only from a token does CDKTF see that a value is another stack's.
        """
        return f"${{{kind}.{self.full(address)}.{attribute}}}"

    def full(self, address: str) -> str:
        """Return the address with its prefix, as other elements refer to it."""
        return f"{self.prefix}{address}"
