"""The README shows real output."""

from __future__ import annotations

import json
from typing import Any

from ruamel.yaml import YAML

from tests.docs.markdown import ROOT, blocks
from tests.synthesized import Synthesized

README = ROOT / "README.md"


def holds(whole: Any, part: Any) -> bool:  # noqa: ANN401 - any JSON
    """Tell whether the whole contains everything in an excerpt."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and holds(whole[key], part[key]) for key in part)
    return bool(whole == part)


def test_the_file_it_begins_with_is_the_default_file() -> None:
    (first, *_) = blocks("yaml", README)

    shown, default = (YAML(typ="safe").load(text) for text in (first.text, (ROOT / "clusters.yaml").read_text("utf-8")))
    assert shown == default


def test_the_excerpt_is_part_of_what_is_synthesized(default_stack: Synthesized) -> None:
    (excerpt,) = blocks("json", README)

    assert holds(default_stack.tree, json.loads(excerpt.text))


def test_the_diagram_shows_every_role_profile_queue_and_chart(default_stack: Synthesized) -> None:
    (diagram,) = blocks("mermaid", README)

    named = [
        *(role["name"] for role in default_stack.all("aws_iam_role").values()),
        *(profile["name"] for profile in default_stack.all("aws_iam_instance_profile").values()),
        default_stack.only("aws_eks_fargate_profile")["fargate_profile_name"],
        default_stack.only("aws_eks_access_entry")["type"],
        default_stack.only("aws_sqs_queue")["name"],
        *(release["name"] for release in default_stack.all("helm_release").values()),
    ]
    assert [text for text in named if text not in diagram.text] == []
