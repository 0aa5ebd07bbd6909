"""How a name that a user or AWS chose becomes part of a Terraform address."""

from __future__ import annotations

import re


def address_part(text: str) -> str:
    """Replace every character that an address may not have."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)
