"""HCL, the language of nodeless.tftest.hcl."""

from __future__ import annotations

from nodeless.sinks.terraform_json import literal_text

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
LAST_OF_FOUR_DIGITS = 0xFFFF


def quoted(text: str) -> str:
    """Write a text as a quoted string, which Terraform reads as it is."""
    return f'"{"".join(map(_character, literal_text(text)))}"'


def _character(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= LAST_OF_FOUR_DIGITS else f"\\U{code:08x}"
