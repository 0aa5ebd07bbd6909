"""HCL says what the Terraform JSON says, in the form that `terraform fmt` leaves."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from nodeless.export import hcl
from nodeless.export.expressions import template
from nodeless.sinks.terraform_json import literal_tree
from tests.sinks.nasty import EVERYTHING, TEXT, TREE, is_same
from tests.sinks.readers import TERRAFORM, applied, evaluated, terraform_needed

# For what starts processes: few examples, each of many trees, and no search for a smaller one.
WITH_PROCESSES = settings(
    max_examples=5, deadline=None, suppress_health_check=[*HealthCheck], phases=[Phase.explicit, Phase.generate]
)

# Templates of Terraform JSON, and how HCL writes them.
TEMPLATES = {
    "${aws_iam_role.node.arn}": "aws_iam_role.node.arn",
    "${null}": "null",
    "${data.a.b.c[0].d}": "data.a.b.c[0].d",
    "arn:${a.b}:x/${c.d}": '"arn:${a.b}:x/${c.d}"',
    "${a}${b}": '"${a}${b}"',
    "${ a }": "a",
    "$${a}": '"$${a}"',
    "$$${a}": '"$$${a}"',
    "%%{a}": '"%%{a}"',
    'a"b\\c\nd\te\x00': '"a\\"b\\\\c\\nd\\te\\u0000"',
    '${replace(a,"https://","")}': 'replace(a, "https://", "")',
    '${lookup({"1":"}"},a,"${b[0]}")}': 'lookup({ "1" : "}" }, a, "${b[0]}")',
    '${"a\\"}${b}$${c}%{if d}e%{endif}"}': '"a\\"}${b}$${c}%{if d}e%{endif}"',
    "x${ {a=1}.a }": '"x${ { a = 1 }.a}"',
    "x${[for k in [1]:k]}": '"x${[for k in [1] : k]}"',
    "x${ { } }": '"x${ {} }"',
    "${a?-1:b-1}": "a ? -1 : b-1",
    "${a - 1}": "a - 1",
    "${!a&&(b||c)!=d}": "!a && (b || c) != d",
    "${a.*.b}": "a.*.b",
    "${provider::x::f(a...)}": "provider::x::f(a...)",
    "${~ a ~}": "a",
    "x ${~ a ~} y": '"x ${~a~} y"',
}
NOT_WRITTEN = ("${", "${a", '${"a}', "${a ; b}", "${<<EOT\nx\nEOT\n}", "${a // b\n}", "${a /* b */}")


def fmt(folder: Path) -> str:
    """Return what `terraform fmt` would change."""
    assert TERRAFORM is not None
    command = [TERRAFORM, "fmt", "-check", "-diff", "-recursive", "-no-color"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr if done.returncode else ""


def evaluated_as_hcl(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return what Terraform makes of outputs that are written in HCL, whose form is checked."""
    tree = {"output": {name: {"value": value} for name, value in values.items()}}
    (folder / "main.tf").write_text(hcl.text(tree), encoding="utf-8", newline="\n")
    assert fmt(folder) == ""
    return applied(folder)


@pytest.mark.parametrize("text", TEMPLATES)
def test_a_template_becomes_an_expression_or_a_quoted_string(text: str) -> None:
    assert template(text) == TEMPLATES[text]


@pytest.mark.parametrize("text", NOT_WRITTEN)
def test_an_expression_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"end|written here"):
        template(text)


@terraform_needed
@pytest.mark.terraform
def test_fmt_leaves_the_expressions(tmp_path: Path) -> None:
    rows = "".join(f'output "o{number}" {{\n  value = {text}\n}}\n' for number, text in enumerate(TEMPLATES.values()))
    (tmp_path / "main.tf").write_text(rows, encoding="utf-8", newline="\n")

    assert fmt(tmp_path) == ""


@terraform_needed
@pytest.mark.terraform
def test_terraform_reads_every_nasty_value_as_written(tmp_path: Path) -> None:
    read = evaluated_as_hcl({"everything": literal_tree(EVERYTHING)}, tmp_path)

    assert is_same(EVERYTHING, read["everything"])


@terraform_needed
@pytest.mark.terraform
@given(st.lists(TREE, min_size=10, max_size=40), st.lists(TEXT | st.text('\x00\x01\x1b\x7f\x9f$%{\\"', max_size=6)))
@WITH_PROCESSES
def test_terraform_reads_the_same_values_from_hcl(trees: list[dict[str, Any]], texts: list[str]) -> None:
    values = {f"o{number}": tree for number, tree in enumerate([*trees, *texts])}
    with TemporaryDirectory() as folder:
        read = evaluated_as_hcl(literal_tree(values), Path(folder))

    assert all(is_same(value, read[name]) for name, value in values.items())


@terraform_needed
@pytest.mark.terraform
def test_expressions_mean_in_hcl_what_they_mean_in_json(tmp_path: Path) -> None:
    values = {
        "bare": '${upper("x")}',
        "list": ["${1 + 1}", '${"a"}', "a${1 - -1}b"],
        "object": {'${"k"}': "${null}", 'k${1}"': {"${2}": True}, "for": 1, "null": 2, "a b": 3, "a-b": 4, "日本": 5},
        "nested": '${"<${join(",", ["}", "$${x}", "\\"", "%{if true}y%{endif}"])}>"}',
        "lookup": '${lookup({"1.2": "}"}, "1.2", "${"x"}")}',
        "literal": '$${a} %%{b} $$${c} $ % \\ " \n',
    }
    json_folder, hcl_folder = tmp_path / "json", tmp_path / "hcl"
    json_folder.mkdir()
    hcl_folder.mkdir()

    assert evaluated_as_hcl(values, hcl_folder) == evaluated(values, json_folder)


BLOCKS = {
    "//": {"metadata": "not written"},
    "terraform": {
        "required_version": ">= 1.10",
        "required_providers": {"aws": {"source": "hashicorp/aws", "version": "${not_a_template}"}},
        "backend": {"s3": {"bucket": "b", "assume_role": {"role_arn": "r"}}},
    },
    "provider": {"aws": [{"region": "a", "default_tags": [{"tags": {"team": "x"}}]}, {"alias": "b", "region": "c"}]},
    "variable": {
        "names": {
            "type": "map(string)",
            "description": "Names, with ${nothing} in them",
            "default": {"a": "${b}"},
            "validation": [{"condition": "${length(var.names) > 0}", "error_message": "Not ${jsonencode(var.names)}."}],
        }
    },
    "data": {
        "aws_iam_policy_document": {
            "trust": {
                "//": "not written",
                "statement": [
                    {
                        "actions": ["a:b"],
                        "condition": [{"test": "T", "values": ["v"], "variable": "x"}],
                        "sid": "S",
                    },
                    {"sid": "T"},
                ],
                "dynamic": {"statement": {"for_each": "${var.names}", "content": {"condition": {"test": "U"}}}},
            }
        }
    },
    "resource": {
        "aws_cloudwatch_event_rule": {"spot": {"name": "n", "event_pattern": hcl.Call("jsonencode", {"a-b": ["c"]})}},
        "terraform_data": {
            "one": {
                "depends_on": ["a.b"],
                "for_each": {},
                "input": "i",
                "lifecycle": {"ignore_changes": "all", "replace_triggered_by": ["${a.b}"]},
                "provider": "aws.b",
            },
            "none": {},
        },
    },
    "removed": [{"from": "helm_release.karpenter", "lifecycle": {"destroy": False}}],
}
WRITTEN = """\
terraform {
  required_version = ">= 1.10"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "$${not_a_template}"
    }
  }

  backend "s3" {
    bucket = "b"
    assume_role = {
      role_arn = "r"
    }
  }
}

provider "aws" {
  region = "a"

  default_tags {
    tags = {
      team = "x"
    }
  }
}

provider "aws" {
  alias  = "b"
  region = "c"
}

variable "names" {
  type        = map(string)
  description = "Names, with $${nothing} in them"
  default = {
    a = "$${b}"
  }

  validation {
    condition     = length(var.names) > 0
    error_message = "Not ${jsonencode(var.names)}."
  }
}

# Why
# \\x1b[31m
data "aws_iam_policy_document" "trust" {
  statement {
    sid     = "S"
    actions = ["a:b"]

    condition {
      test     = "T"
      variable = "x"
      values   = ["v"]
    }
  }

  statement {
    sid = "T"
  }

  dynamic "statement" {
    for_each = var.names

    content {
      condition {
        test = "U"
      }
    }
  }
}

resource "aws_cloudwatch_event_rule" "spot" {
  name = "n"
  event_pattern = jsonencode({
    a-b = ["c"]
  })
}

resource "terraform_data" "one" {
  for_each = {}
  provider = aws.b

  input = "i"

  lifecycle {
    ignore_changes       = all
    replace_triggered_by = [a.b]
  }

  depends_on = [a.b]
}

resource "terraform_data" "none" {}

removed {
  from = helm_release.karpenter

  lifecycle {
    destroy = false
  }
}
"""


def test_blocks_attributes_references_and_literals_are_told_apart() -> None:
    assert hcl.text(BLOCKS, {"data.aws_iam_policy_document.trust": "Why\n\x1b[31m"}) == WRITTEN


@terraform_needed
@pytest.mark.terraform
def test_fmt_leaves_the_blocks(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(WRITTEN, encoding="utf-8", newline="\n")

    assert fmt(tmp_path) == ""


def test_the_workspaces_of_a_state_are_a_block() -> None:
    where = {"organization": "acme", "workspaces": {"tags": ["a"]}}

    for keys, head in (({"cloud": where}, "cloud"), ({"backend": {"remote": where}}, 'backend "remote"')):
        assert hcl.text({"terraform": keys}) == (
            f'terraform {{\n  {head} {{\n    organization = "acme"\n\n'
            '    workspaces {\n      tags = ["a"]\n    }\n  }\n}\n'
        )
