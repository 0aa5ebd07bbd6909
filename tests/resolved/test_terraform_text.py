"""An installation in Terraform's syntax: literals are escaped once, references are left alone, nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from nodeless.resolved.installation import Installation
from nodeless.resolved.terraform_text import in_terraform
from nodeless.sinks.terraform_json import NULL, without_literals
from nodeless.spec.resolution import installation, resolve

Literals = Callable[..., dict[str, Any]]

TEXT = "${x} %{y} $${z}"
ESCAPED = "$${x} %%{y} $$${z}"
ARN, KEY = "arn:aws:s3:::", "aws:PrincipalTag/"
STATEMENT = {
    "Action": "s3:GetObject",
    "Resource": f"{ARN}{TEXT}",
    "Condition": {"StringLike": {f"{KEY}{TEXT}": TEXT}},
}
KEYS: dict[str, Any] = {
    "karpenter": {"values": {"podAnnotations": {TEXT: [TEXT, None]}}},
    "extra_statements": [STATEMENT],
}
# What differs; everything else is the same object.
WRITTEN = {"values", "node_classes", "node_pools", "extra_statements", "tags", "fargate", "is_literal"}


def from_file(keys: dict[str, Any]) -> Installation:
    ((_, found),) = resolve({"clusters": [keys]}, source="test")
    return found


def test_a_literal_is_escaped_in_keys_and_values(literals: Literals) -> None:
    found = in_terraform(from_file(literals(**KEYS)))

    assert found.values == {"podAnnotations": {ESCAPED: [ESCAPED, NULL]}}
    (statement,) = found.extra_statements
    (condition,) = statement.conditions
    assert statement.resources == (f"{ARN}{ESCAPED}",)
    assert condition.variable == f"{KEY}{ESCAPED}"
    assert condition.values == (ESCAPED,)


def test_it_is_escaped_once(literals: Literals) -> None:
    once = in_terraform(from_file(literals(**KEYS)))

    assert in_terraform(once) == once


def test_references_from_python_are_left_alone(literals: Literals) -> None:
    found = in_terraform(installation(**literals(**KEYS)))

    assert found.values == {"podAnnotations": {TEXT: [TEXT, NULL]}}
    assert found.extra_statements[0].resources == (f"{ARN}{TEXT}",)


def test_nothing_else_changes_and_the_policies_are_divided_as_before(literals: Literals) -> None:
    plain = from_file(literals(**KEYS))
    found = in_terraform(plain)

    other = {field.name for field in fields(Installation)} - WRITTEN
    assert {name for name in other if getattr(found, name) != getattr(plain, name)} == set()
    assert found.packing is plain.packing
    assert plain.values == KEYS["karpenter"]["values"]


def test_what_is_escaped_is_told_from_an_expression() -> None:
    for text in ("$${a.b}", "$$${a.b}", "%%{a}", "a $${b} %%{c} $$$${d}", "a"):
        assert "${" not in without_literals(text)
        assert "%{" not in without_literals(text)
    for text in ("${a.b}", "$${a} ${b.c}", "$ ${a.b}"):
        assert "${" in without_literals(text)
