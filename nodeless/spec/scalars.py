"""What a scalar of YAML 1.2 means: the core schema, and numbers that remember how they were written."""

from __future__ import annotations

import re

from nodeless.spec.bounds import LONGEST_NUMBER

NULL = re.compile(r"(~|null|Null|NULL|)")
TRUE = re.compile(r"true|True|TRUE")
FALSE = re.compile(r"false|False|FALSE")
DECIMAL = re.compile(r"[-+]?[0-9]+")
OCTAL = re.compile(r"0o[0-7]+")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class WrittenInt(int):
    """A whole number, with its text in the file: a message shows `012345678901`, not 12345678901."""

    text: str

    def __str__(self) -> str:
        return self.text


class WrittenFloat(float):
    """A number, with its text in the file: a message shows `1.10`, not 1.1."""

    text: str

    def __str__(self) -> str:
        return self.text


Scalar = str | int | float | bool | None


def plain_scalar(text: str) -> Scalar:
    """Read a scalar that has no quotes; ValueError for a number that is too long to be one."""
    if NULL.fullmatch(text):
        return None
    if TRUE.fullmatch(text):
        return True
    if FALSE.fullmatch(text):
        return False
    return _number(text)


def _number(text: str) -> str | int | float:
    bases = ((DECIMAL, 10), (OCTAL, 8), (HEXADECIMAL, 16))
    base = next((base for pattern, base in bases if pattern.fullmatch(text)), None)
    is_float = NOT_FINITE.fullmatch(text) or FLOAT.fullmatch(text)
    if base is None and not is_float:
        return text
    if len(text) > LONGEST_NUMBER:
        raise ValueError(text)
    if base is not None:
        whole = WrittenInt(text if base == 10 else text[2:], base)  # noqa: PLR2004 - decimal has no prefix
        whole.text = text
        return whole
    number = WrittenFloat(text.replace(".inf", "inf").replace(".nan", "nan") if NOT_FINITE.fullmatch(text) else text)
    number.text = text
    return number
