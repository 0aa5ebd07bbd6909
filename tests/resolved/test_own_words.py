"""Texts of clusters are compared without the words that are a cluster's own."""

from __future__ import annotations

import pytest

from nodeless.resolved.own_words import without_own_words
from nodeless.spec.resolution import installation

DEMO = installation(name="demo", stack="demo-1", region="eu-north-1", account="123456789012")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arn:aws:iam::123456789012:role/demo-nodes", "arn:aws:iam::<account>:role/<cluster>-nodes"),
        ("eu-north-1/demo-1/terraform.tfstate", "<region>/<stack>/terraform.tfstate"),
        ("KarpenterNodeRole-demo", "KarpenterNodeRole-<cluster>"),
        ("demonstration", "demonstration"),
        ("eu-north-12", "eu-north-12"),
        ("1234567890123", "1234567890123"),
        ("", ""),
    ],
)
def test_only_whole_words_are_replaced(text: str, expected: str) -> None:
    assert without_own_words(text, DEMO) == expected


def test_a_stack_with_the_name_of_its_cluster_is_the_cluster() -> None:
    assert without_own_words("demo", installation(name="demo", region="eu-north-1")) == "<cluster>"


def test_an_account_that_is_looked_up_replaces_nothing() -> None:
    assert without_own_words("a text", installation(name="demo", region="eu-north-1")) == "a text"
