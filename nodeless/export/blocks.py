"""Which keys of Terraform JSON are blocks in HCL, and which texts are references or literals there.

Terraform JSON writes blocks, attributes, references and literals all the same. A test compares the blocks of each type
with the schema of its provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Shape:
    """What the keys of a body are; a key that is in none of these is an attribute whose texts are templates."""

    blocks: Mapping[str, Shape] = field(default_factory=dict)
    labelled: Mapping[str, Shape] = field(default_factory=dict)
    """blocks with a label: in JSON, label -> body"""
    bare: frozenset[str] = frozenset()
    """attributes whose texts are references or types, written without quotes"""
    literal: bool = False
    """whether Terraform reads the texts as they are, and not as templates"""
    literals: frozenset[str] = frozenset()
    """attributes for which it does"""


PLAIN = Shape()
LITERAL = Shape(literal=True)
CONDITION = PLAIN
LIFECYCLE = Shape(
    blocks={"precondition": CONDITION, "postcondition": CONDITION},
    bare=frozenset({"ignore_changes", "replace_triggered_by"}),
)
META = frozenset({"depends_on", "provider", "providers"})

FILTERED = {"filter": PLAIN}
# The nested blocks of each type of provider that a stack uses; other types have none.
NESTED: Mapping[tuple[str, str], Mapping[str, Shape]] = {
    ("data", "aws_iam_policy_document"): {
        "statement": Shape({"condition": PLAIN, "principals": PLAIN, "not_principals": PLAIN})
    },
    ("data", "aws_security_groups"): FILTERED,
    ("data", "aws_subnets"): FILTERED,
    ("provider", "aws"): {"assume_role": PLAIN, "default_tags": PLAIN},
    ("resource", "aws_eks_fargate_profile"): {"selector": PLAIN},
}

# Top-level blocks that are not of a provider; a name stands for their labels.
LANGUAGE: Mapping[str, Shape] = {
    "terraform": Shape(
        blocks={"cloud": Shape({"workspaces": LITERAL}, literal=True), "required_providers": LITERAL},
        labelled={"backend": Shape({"workspaces": LITERAL}, literal=True)},
        literal=True,
    ),
    "check": Shape({"assert": CONDITION}),
    "import": Shape(bare=frozenset({"to", "provider"})),
    "moved": Shape(bare=frozenset({"from", "to"})),
    "removed": Shape({"lifecycle": PLAIN}, bare=frozenset({"from"})),
    "locals": PLAIN,
    "module": Shape(bare=META, literals=frozenset({"source", "version"})),
    "output": Shape({"precondition": CONDITION}, bare=META, literals=frozenset({"description"})),
    "variable": Shape(
        {"validation": CONDITION}, bare=frozenset({"type"}), literals=frozenset({"default", "description"})
    ),
}
# How many labels a top-level block has: `resource "aws_sqs_queue" "interruption"` has two.
LABELS = {"resource": 2, "data": 2, "ephemeral": 2, "provider": 1, "check": 1, "module": 1, "output": 1, "variable": 1}


def shape_of(section: str, labels: tuple[str, ...]) -> Shape:
    """Return the shape of a top-level block."""
    if section in LANGUAGE:
        return LANGUAGE[section]
    nested = NESTED.get((section, labels[0]), {})
    return Shape({"lifecycle": LIFECYCLE, **nested}, bare=META)
