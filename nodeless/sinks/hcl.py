"""HCL, the language of nodeless.tftest.hcl and of an export."""

from __future__ import annotations

from nodeless.sinks.terraform_json import literal_text

ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
LAST_OF_FOUR_DIGITS = 0xFFFF


def quoted(text: str) -> str:
    """Write a text as a quoted string, which Terraform reads as it is."""
    return f'"{escaped(literal_text(text))}"'


def escaped(text: str) -> str:
    """Write a part of a template, whose marks are escaped already, as it is inside a quoted string."""
    if text.isprintable() and ESCAPES.keys().isdisjoint(text):
        return text
    return "".join(map(_character, text))


def _character(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    return code(character)


def code(character: str) -> str:
    """Write a character by its number."""
    number = ord(character)
    return f"\\u{number:04x}" if number <= LAST_OF_FOUR_DIGITS else f"\\U{number:08x}"
