"""Arguments whose text is a JSON document: an export has the document instead."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from nodeless.export.hcl import Block, Call
from nodeless.sinks.terraform_json import literal_tree, literal_value

# A type and its argument. Only what the provider compares as JSON: `jsonencode` may write it as another text.
ARGUMENTS = (("aws_cloudwatch_event_rule", "event_pattern"),)


def with_calls(block: Block) -> Block:
    """Write the documents of a block where they are used: `jsonencode({…})`."""
    found = {argument: Call("jsonencode", document) for argument, document in _documents(block).items()}
    return replace(block, body={**block.body, **found})


def with_locals(block: Block) -> tuple[Block, dict[str, Any]]:
    """Keep the documents of a block as locals, since JSON has no place for one in an expression; return both."""
    values = {f"{block.labels[-1]}_{argument}": document for argument, document in _documents(block).items()}
    found = {argument: f"${{jsonencode(local.{block.labels[-1]}_{argument})}}" for argument in _documents(block)}
    return replace(block, body={**block.body, **found}), values


def _documents(block: Block) -> dict[str, Any]:
    """Return the documents by their argument. A text with an expression in it stays as it is."""
    texts = {
        argument: literal_value(block.body[argument])
        for kind, argument in ARGUMENTS
        if block.section == "resource" and block.labels[0] == kind and argument in block.body
    }
    return {argument: literal_tree(json.loads(text)) for argument, text in texts.items() if text is not None}
