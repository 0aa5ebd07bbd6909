"""Two texts of HCL: which block and line differs, and what cannot be changed in place."""

from __future__ import annotations

import pytest

from nodeless.differences.difference import ABSENT, Effect
from nodeless.differences.hcl_blocks import compare_hcl
from nodeless.origin import Origin

TEXT = """\
# What it is for.
resource "aws_iam_role" "node" {
  name = "one"
  path = "/"

  lifecycle {
    create_before_destroy = true
  }
}

data "aws_iam_policy_document" "node" {
  statement {
    actions = ["sts:AssumeRole"]
  }
}

locals {
  values = {
    replicas = 2
  }
}

output "queue" {
  value = "x"
}

check "empty" {}

moved {
  from = aws_iam_role.a
  to   = aws_iam_role.b
}

moved {
  from = aws_iam_role.c
  to   = aws_iam_role.d
}
"""


def found(old: str, new: str, text: str = TEXT) -> list[tuple[str, str, Effect, int | None]]:
    """Compare a text with one in which the first occurrence of a part is another one; the old part is on disk."""
    assert new in text
    return [
        (each.address, each.argument, each.effect, each.line) for each in compare_hcl(text.replace(new, old, 1), text)
    ]


@pytest.mark.parametrize(
    ("disk", "built", "address", "argument", "line"),
    [
        ('path = "/x/"', 'path = "/"', "aws_iam_role.node", "path", 4),
        ("sts:*", "sts:AssumeRole", "data.aws_iam_policy_document.node", "statement", 13),
        ("replicas = 1", "replicas = 2", "locals", "values", 19),
        ('value = "y"', 'value = "x"', "output.queue", "value", 24),
        ("aws_iam_role.x", "aws_iam_role.c", "moved", "from", 35),
        ("# Another reason.", "# What it is for.", "aws_iam_role.node", "", 1),
    ],
)
def test_a_line_has_its_address_argument_and_number(
    disk: str, built: str, address: str, argument: str, line: int
) -> None:
    ((found_address, found_argument, _, found_line),) = found(disk, built)

    assert (found_address, found_argument, found_line) == (address, argument, line)


@pytest.mark.parametrize(
    ("disk", "built", "effect"),
    [
        ('name = "two"', 'name = "one"', Effect.REPLACE),
        ('path = "/x/"', 'path = "/"', Effect.REPLACE),
        ('name   = "one"', 'name = "one"', Effect.NONE),
        ('description = "x"', 'path = "/"', Effect.NONE),
        ("create_before_destroy = false", "create_before_destroy = true", Effect.NONE),
        ("sts:*", "sts:AssumeRole", Effect.NONE),
    ],
)
def test_only_an_argument_that_cannot_be_changed_replaces_its_resource(disk: str, built: str, effect: Effect) -> None:
    ((_, _, found_effect, _),) = found(disk, built)

    assert found_effect is effect


def test_a_comment_in_a_resource_replaces_nothing() -> None:
    text = TEXT.replace('  name = "one"\n', '  name = "one"\n  # new\n')

    assert [each[2] for each in found("# old", "# new", text)] == [Effect.NONE]


def test_a_whole_block_is_one_difference() -> None:
    without = TEXT.replace('output "queue" {\n  value = "x"\n}\n\n', "")

    (added,) = compare_hcl(without, TEXT)
    (removed,) = compare_hcl(TEXT, without)

    assert (added.address, added.old, added.line) == ("output.queue", ABSENT, None)
    assert (removed.address, removed.new, removed.line) == ("output.queue", ABSENT, 23)
    assert removed.old == 'output "queue" {\n  value = "x"\n}'


def test_the_order_of_blocks_and_marks_of_origin_are_no_difference() -> None:
    first, *others = TEXT.split("\n\nlocals")
    turned = f"locals{''.join(others)}\n{first}\n"
    marks = [Origin(version, f"sha256:{'0' * 64}").to_comment() for version in ("1", "2")]

    assert [*compare_hcl(turned, TEXT)] == []
    assert [*compare_hcl(f"{marks[0]}\n{TEXT}", f"{marks[1]}\n{TEXT}")] == []


@pytest.mark.parametrize("disk", ["", "}", "{{{", "no HCL", '"', "resource {", "}\n}\n", "\n\n# only\n"])
def test_any_text_is_compared(disk: str) -> None:
    assert [*compare_hcl(disk, TEXT)]
