"""What is refused because it would not arrive: each row is seen not to arrive, and what is close to it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeless.imports.cdk import App, TerraformLocal, TerraformStack
from nodeless.sinks.not_carried import DEEPEST, in_text, in_tree
from nodeless.sinks.terraform_json import literal_text
from nodeless.spec.scalars import plain_scalar
from tests.refusals import problems
from tests.sinks.nasty import is_same
from tests.sinks.readers import evaluated, terraform_needed


def through_cdktf(tree: object, folder: Path) -> object:
    """Return what CDKTF and jsii make of a tree, or the error they stop with."""
    app = App(outdir=str(folder))
    stack = TerraformStack(app, "test")
    try:
        TerraformLocal(stack, "tree", expression={"tree": tree}).override_logical_id("tree")
        app.synth()
    except RuntimeError as error:
        return error
    found = json.loads((folder / "stacks/test/cdk.tf.json").read_text(encoding="utf-8"))
    return found["locals"]["tree"].get("tree", "(missing)")


def nested(depth: int) -> Any:  # noqa: ANN401 - lists in lists
    return [nested(depth - 1)] if depth else "x"


# What CDKTF or jsii stops at or changes.
LOST_IN_CDKTF: dict[str, Any] = {
    "a token": "a ${TfToken[TOKEN.0]} b",
    "a token of a list": "#{TfToken[TOKEN.0]}",
    "a token of a map": {"&{TfToken[TOKEN.0]}": "x"},
    "a token as a key": {"${TfToken[TOKEN.0]}": "x"},
    "the value of a map's token": "String Map Token Value",
    "the value of another map's token": {"Any Map Token Value": "x"},
    "the number of a map's token": -123456789,
    "the same as a float": -123456789.0,
    "a number that is a token": -8.2e298,
    "a number in a list that is a token": [-1.9e289],
    "a text that has such a number": "a-82e297b",
    "the prototype": {"__proto__": "x"},
    "the prototype, deeper": [{"a": {"__proto__": {"b": "c"}}}],
    "a construct": {"_children": 1, "_metadata": 2},
    "a whole number that is rounded": 2**53 + 1,
    "a larger one": -(10**30),
}
CARRIED: dict[str, Any] = {
    "half of a token": ["TfToken", "TfToken(", "${TfToken", "Map Token Value", "string map token value"],
    "half of a construct": [{"_children": 1}, {"_metadata": 2}],
    "other numbers": [-123456788, 123456789, -8.2e297, -1.9e290, 2**53, -(2**53), 1e22],
    "other numbers in text": ["-123456789", "1e3", "-1e400", "82e297", "-82e29", "a-82e297"[:-1], "e", "-e-", "+.e1"],
    "names of JavaScript": {"constructor": 1, "prototype": 2, "toString": "x", "then": {}, "length": -1, "resolve": []},
    "marks of jsii": {"$jsii.byref": "x", "$jsii.map": {"a": 1}, "$jsii.enum": "a/b", "$jsii.date": "2024-01-01"},
}


@pytest.mark.parametrize("case", LOST_IN_CDKTF)
def test_what_cdktf_loses_is_refused(case: str, tmp_path: Path) -> None:
    tree = LOST_IN_CDKTF[case]

    assert not is_same(tree, through_cdktf(tree, tmp_path)), "it arrives: the row is not needed"
    assert len(list(in_tree(tree, python=False))) == 1


@pytest.mark.parametrize("case", CARRIED)
def test_what_is_close_to_it_is_carried(case: str, tmp_path: Path) -> None:
    tree = CARRIED[case]

    assert list(in_tree(tree, python=False)) == []
    assert is_same(tree, through_cdktf(tree, tmp_path))


LOST_IN_TERRAFORM = {
    "a letter with a separate accent": "e\u0301",
    "the sign for angstrom": "\u212b",
    "a mark": "\ufeffa",
}


@terraform_needed
@pytest.mark.terraform
def test_what_terraform_changes_is_refused(tmp_path: Path) -> None:
    found = evaluated({"texts": list(LOST_IN_TERRAFORM.values())}, tmp_path)["texts"]

    for case, text, arrived in zip(LOST_IN_TERRAFORM, LOST_IN_TERRAFORM.values(), found, strict=True):
        assert arrived != text, f"{case} arrives: the row is not needed"
        for python in (False, True):
            assert in_text(text, python=python)


ADDED_TO_BY_TERRAFORM = ("\r$${x}", "a\rb c %%{x}", "\r\n\r $$$${x}\n", "\r$%%{x}", "\r${x} $${x}")
CLOSE_TO_IT = ("\r${x}", "\r$$${x}", "\r%%%{x}", "\r\n$${x}", "$${x}\r", "\n%%{x}\r", "\r$$ {x}", "\r%$$")


@terraform_needed
@pytest.mark.terraform
def test_marks_that_terraform_adds_to_after_a_carriage_return_are_refused(tmp_path: Path) -> None:
    texts = (*ADDED_TO_BY_TERRAFORM, *CLOSE_TO_IT)

    found = evaluated({"texts": [literal_text(text) for text in texts]}, tmp_path)["texts"]

    wrong = tuple(text for text, arrived in zip(texts, found, strict=True) if arrived != text)
    assert wrong == ADDED_TO_BY_TERRAFORM
    assert tuple(text for text in texts if in_text(text, python=False)) == wrong


ROUNDED = (
    "0.1000000000000000055511151231257827",
    "1e400",
    "1e-400",
    "9007199254740993",
    "123456789.1234567891",
    ".nan",
)
EXACT = ("0.1", "1.10", "1e22", "-0.0", "0x1F", "0o17", "9007199254740992", "5e-324", ".5", "5.")


@pytest.mark.parametrize("text", ROUNDED)
def test_a_number_that_says_more_than_json_can_hold_is_refused(text: str) -> None:
    ((_, _, row),) = in_tree([plain_scalar(text)], python=False)

    assert "quotes" in row.fix


@pytest.mark.parametrize("text", EXACT)
def test_a_number_that_json_can_hold_passes(text: str) -> None:
    assert list(in_tree([plain_scalar(text)], python=False)) == []


@pytest.mark.parametrize("value", [{1: "x"}, {None: "x"}, [{True: "x"}]])
def test_a_key_that_is_not_text_is_refused(value: object) -> None:
    ((_, _, row),) = in_tree(value, python=True)

    assert row.expected == "a key that is text"


@pytest.mark.parametrize("value", [object(), {"a": {1, 2}}, [b"x"]], ids=["object", "set", "bytes"])
def test_a_value_that_yaml_does_not_have_is_refused(value: object) -> None:
    assert len(list(in_tree(value, python=True))) == 1


def test_nesting_ends_somewhere() -> None:
    assert list(in_tree(nested(DEEPEST), python=True)) == []
    ((_, _, row),) = in_tree(nested(DEEPEST + 1), python=True)
    assert "levels" in row.expected


def test_python_may_pass_tokens() -> None:
    tokens = [*("${TfToken[TOKEN.0]}", "#{TfToken[TOKEN.1]}"), {"&{TfToken[T.2]}": "String Map Token Value"}, -8.2e298]

    assert list(in_tree(tokens, python=True)) == []


def test_each_mistake_in_a_tree_is_reported_at_its_place() -> None:
    values = {"podLabels": {"a": 2**60, "b": ["x", "TfToken[y]"], "__proto__": "z", "fine": "w"}}

    found = problems(karpenter={"values": values})

    assert [finding.where() for finding in found] == [
        f"clusters[0].karpenter.values.podLabels.{place}" for place in ("a", "b[1]", "__proto__")
    ]
