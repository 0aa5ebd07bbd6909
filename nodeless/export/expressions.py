"""Expressions and templates of Terraform: where they begin and end, and how `terraform fmt` writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodeless.sinks.hcl import escaped

# An escaped mark, the start of an interpolation or of a directive, and text up to the next of these.
ESCAPE = re.compile(r"([$%])\1\{")
MARK = re.compile(r"[$%]\{~?")
# The tokens of an expression other than quoted strings, longest first; a name may have hyphens in it. Comments and
# heredocs are not read.
TOKEN = re.compile(
    r"\s+|[^\W\d][\w-]*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|==|!=|<=|>=|&&|\|\||=>|::|\.\.\.|~\}"
    r"|<(?!<)|/(?![/*])|[-+*%!>=?:.,()\[\]{}]"
)
NAME = re.compile(r"[^\W\d][\w-]*")
VALUE_END = re.compile(r"[\w)\]}\"]\Z")
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")


def template(text: str) -> str:
    """Write a text of Terraform JSON, which is a template: as the expression that it is, or as a quoted string."""
    parts = list(_parts(text))
    if len(parts) == 1 and parts[0].startswith("${"):
        return parts[0].removeprefix("${").removeprefix("~").removesuffix("}").removesuffix("~").strip()
    return '"' + "".join(part if MARK.match(part) else escaped(part) for part in parts) + '"'


def _parts(text: str) -> Iterator[str]:
    """Split a template into texts, escaped marks included, and formatted sequences from `${` or `%{` to their end."""
    start = at = 0
    while at < len(text):
        if escape := ESCAPE.match(text, at):
            at = escape.end()
        elif MARK.match(text, at):
            if start < at:
                yield text[start:at]
            sequence, at = _sequence(text, at)
            yield sequence
            start = at
        else:
            at += 1
    if start < at:
        yield text[start:at]


def _sequence(text: str, at: int) -> tuple[str, int]:
    """Format the sequence that begins here; return it and where it ends."""
    mark = MARK.match(text, at)
    if mark is None:
        raise ValueError(f"no template at {at}: {text}")
    tokens, end = _tokens(text, mark.end())
    inside = _spaced(tokens[:-1])
    # Two braces that are not one mark are kept apart.
    before, after = (" " if inside.startswith("{") else ""), (" " if inside.endswith("}") else "")
    return f"{mark[0]}{before}{inside}{after}{tokens[-1]}", end


def _tokens(text: str, at: int) -> tuple[list[str], int]:
    """Return the tokens from here to the brace that closes the sequence, and where that ends."""
    tokens: list[str] = []
    depth = 0
    while at < len(text):
        if text[at] == '"':
            token, at = _quoted(text, at)
        elif found := TOKEN.match(text, at):
            token, at = found[0], found.end()
        else:
            raise ValueError(f"not an expression that is written here: {text}")
        if token.isspace():
            continue
        tokens.append(token)
        if not depth and token in ("}", "~}"):
            return tokens, at
        depth += (token in OPENING) - (token in CLOSING)
    raise ValueError(f"a template without an end: {text}")


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return the quoted string that begins here, with its templates formatted, and where it ends."""
    written = '"'
    at += 1
    while at < len(text):
        if text[at] == '"':
            return f'{written}"', at + 1
        if text[at] == "\\":
            part, at = text[at : at + 2], at + 2
        elif escape := ESCAPE.match(text, at):
            part, at = escape[0], escape.end()
        elif MARK.match(text, at):
            part, at = _sequence(text, at)
        else:
            part, at = text[at], at + 1
        written += part
    raise ValueError(f"a quoted string without an end: {text}")


def _spaced(tokens: list[str]) -> str:
    """Join the tokens of an expression with the spaces of `terraform fmt`."""
    written = ""
    for index, token in enumerate(tokens):
        if index and _has_space(tokens[index - 2] if index > 1 else "", tokens[index - 1], token):
            written += " "
        written += token
    return written


def _has_space(before: str, subject: str, after: str) -> bool:
    """Tell whether there is a space between two tokens, given also the one before them; the first rule decides."""
    is_name = NAME.fullmatch(subject) is not None
    rules = (
        (is_name and after == "(", False),
        ("." in (subject, after) or "::" in (subject, after), False),
        (after in (",", "..."), False),
        (subject == ",", True),
        (subject == "in" and NAME.fullmatch(before) is not None, True),
        (after == "[" and (is_name or subject[0].isdigit() or subject in CLOSING), False),
        (subject == "!", False),
        (subject == "-" and not VALUE_END.search(before), False),
        ((subject, after) == ("{", "}"), False),
        (subject == "{" or after == "}", True),
        (subject in OPENING or after in CLOSING, False),
    )
    return next((has_space for holds, has_space in rules if holds), True)
