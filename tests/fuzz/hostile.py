"""Values, keys and scraps of YAML that a file should not have, and a writer that can write them."""

from __future__ import annotations

import json
from typing import Any


class Raw(str):
    """A scrap of YAML that is written as it is."""

    __slots__ = ()


# What YAML can say and a setting cannot be.
SCRAPS = tuple(
    Raw(text)
    for text in (
        "2024-01-01",
        "2024-13-45",
        "2024-01-01T00:00:00Z",
        ".nan",
        ".inf",
        "-.INF",
        "1e999",
        "-0",
        "0x1F",
        "0o17",
        "010",
        "1.10",
        "+.5",
        "1_000",
        "12:30:45",
        "9" * 5000,
        "0x" + "f" * 5000,
        "9007199254740993",
        "18446744073709551616",
        "-123456789",
        "!!binary aGk=",
        "!!set {a, b}",
        "!!int x",
        "!!python/object:os.system x",
        "!foo x",
        "! 12",
        "!!str",
        "!!map {}",
        "&a x",
        "*a",
        "*undefined",
        "&r [*r]",
        "&r {x: *r}",
        "{<<: 3}",
        "{<<: [1]}",
        "{<<: {name: x}}",
        "{<<: *a}",
        "{a: 1, a: 2}",
        "{1: a, '1': b}",
        "{~: a}",
        "{true: a}",
        "{[a]: b}",
        "{? {a: b} : c}",
        "[" * 30 + "]" * 30,
        "[" * 250 + "]" * 250,
        "{a: " * 200 + "}" * 200,
        "~",
        "",
        "yes",
        "NO",
        "|\n  text\n",
        "'",
        '"',
        "[",
        "}",
        ":",
        "-",
        "? ",
        "# comment",
        "%YAML 1.1",
        "---",
        "...",
        "\t",
        '"\\x00"',
        '"\\x1b[31mred"',
        '"\\x07"',
        '"\\ud800"',
        '"\\U00110000"',
        '"\\u202e"',
        '"\\u2028"',
        '"\\ufeff"',
        '"\\u200b"',
        '"\\r"',
    )
)

TEXTS = (
    "",
    " ",
    "x" * 300,
    "x" * 70_000,
    "demo\n",
    "demo\r",
    " demo",
    "Demo",
    "d\u00e9mo",
    "\u0663\u0664",
    "\uff11\uff12",
    "\u4e2d\u6587",
    "\U0001f600",
    "e\u0301",
    "${aws_iam_role.node.arn}",
    "$${x}",
    "%{if true}x%{endif}",
    '${file("/etc/hostname")}',
    "${TfToken[TOKEN.0]}",
    "#{TfToken[TOKEN.0]}",
    "&{TfToken[TOKEN.0]}",
    "String Map Token Value",
    "{{ .Release.Namespace }}",
    '"]=="",true,["',
    "'; rm -rf / #",
    "`id`",
    "$(id)",
    "../../../etc/passwd",
    "/*/",
    "*",
    "arn:aws:iam::123456789012:role/x",
    "arn:aws-cn:iam::123456789012:policy/x",
    "arn:aws:kms:us-east-1:123456789012:key/x",
    "aws:reserved",
    "null",
    "true",
    "08",
    "1.30",
    "eu-north-9",
    "moon-1",
    "9.9.9",
    "1.15.0",
    "0.1.0",
    "s3",
    "gcs",
    "oci://x",
    "https://",
    "https://x?y",
    "https://x\\y",
    "https://oidc.eks.us-east-1.amazonaws.com/id/X",
    "subnet-0123456789abcdef0",
    "__proto__",
    "constructor",
)

VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**30,
    [],
    {},
    [[]],
    [None],
    [{}],
    ["In"],
    [True],
    {"": ""},
    {"a": {"b": {"c": []}}},
    # As scraps, so that no mistake is made in them.
    Raw(f"[{', '.join(['x'] * 500)}]"),
    Raw(f"{{{', '.join(f'k{number}: v' for number in range(60))}}}"),
)

KEYS = (
    "",
    " ",
    "nmae",
    "clusterName",
    "cluster",
    "version",
    "x-base",
    "regoin",
    "__proto__",
    "constructor",
    "toString",
    "_children",
    "hasOwnProperty",
    "$jsii.byref",
    "$jsii.struct",
    "$jsii.map",
    "$jsii.date",
    "//",
    "${x}",
    "a.b",
    "a[0]",
    "[key]",
    "function-wrap[_style()]",
    "\u001b[31m",
    "\u0000",
    "k\u00e9y",
    "x" * 2000,
    "<<",
    Raw("<<"),
    Raw("1"),
    Raw("~"),
    Raw("true"),
    Raw("2024-01-01"),
    Raw("[a]"),
    Raw("? a"),
)


def written(tree: Any) -> str:  # noqa: ANN401 - any tree
    """Write a tree in YAML's flow style, which is JSON but for the scraps in it."""
    if isinstance(tree, Raw):
        return str(tree)
    if isinstance(tree, dict):
        rows = (f"{written(key)}: {written(value)}" for key, value in tree.items())
        return "{" + ", ".join(rows) + "}"
    if isinstance(tree, list | tuple):
        return "[" + ", ".join(map(written, tree)) + "]"
    return json.dumps(tree, ensure_ascii=False)


def file_of(tree: Any) -> str:  # noqa: ANN401 - any tree
    """Write a file: each key of its outermost map and each cluster on lines of its own."""
    if not isinstance(tree, dict):
        return written(tree) + "\n"
    lines: list[str] = []
    for key, value in tree.items():
        if key == "clusters" and isinstance(value, list) and value:
            lines += ["clusters:", *(f"- {_block(row)}" for row in value)]
        else:
            lines.append(f"{written(key)}: {written(value)}")
    return "\n".join(lines) + "\n"


def _block(row: Any) -> str:  # noqa: ANN401 - any tree
    if not isinstance(row, dict) or not row:
        return written(row)
    return "\n  ".join(f"{written(key)}: {written(value)}" for key, value in row.items())
