"""The picture says what the JSON says: every resource, who assumes a role, who sends, what waits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nodeless.report.documents import documents
from nodeless.report.drawing import LINE, drawing, sentences, wrapped
from nodeless.report.picture import ASSUMES, BELONGS_TO, KINDS, SENDS, TOGETHER, WAITS, Arrow, Box, Picture, picture_of
from nodeless.stack_graph import between_resources, dependencies
from tests.report.conftest import Made
from tests.synthesized import Synthesized

PAIRS = {
    "demo": {
        ("Fargate pods", "demo-karpenter-fargate"),
        ("karpenter/karpenter", "demo-karpenter-controller"),
        ("EC2 instances", "demo-karpenter-node"),
    },
    "every": {
        ("Fargate pods", "every-karpenter-fargate"),
        ("karpenter/karpenter", "every-karpenter-controller"),
        ("EC2 instances", "every-karpenter-node"),
        ("EC2 instances", "every-karpenter-node-windows"),
    },
    "pods": {("EKS Pod Identity", "pods-karpenter-controller"), ("EC2 instances", "pods-karpenter-node")},
    "delivered": {
        ("Fargate pods", "delivered-karpenter-fargate"),
        ("karpenter/karpenter", "delivered-karpenter-controller"),
        ("EC2 instances", "delivered-karpenter-node"),
    },
}


def pairs(picture: Picture, kind: str) -> set[tuple[str, str]]:
    titles = {box.key: box.title for box in picture.boxes}
    return {(titles[arrow.start], titles[arrow.end]) for arrow in picture.arrows if arrow.kind == kind}


def test_every_resource_is_in_exactly_one_box(stack: dict[str, Any]) -> None:
    shown = [address for box in picture_of(stack).boxes for address in box.addresses]

    assert sorted(shown) == sorted(Synthesized(stack).addresses())


def test_every_type_of_resource_has_words(stack: dict[str, Any]) -> None:
    types = set(stack["resource"])

    assert types <= {*KINDS, *BELONGS_TO, *TOGETHER, "aws_iam_policy"}


@pytest.mark.parametrize("name", PAIRS)
def test_who_assumes_which_role(name: str, made: Made) -> None:
    assert pairs(picture_of(made[name][1]), ASSUMES) == PAIRS[name]


def test_the_rules_send_to_the_queue(made: Made) -> None:
    assert pairs(picture_of(made["demo"][1]), SENDS) == {
        ("EventBridge, default bus", "Interruption events"),
        ("Interruption events", "demo-karpenter"),
    }
    assert pairs(picture_of(made["delivered"][1]), SENDS) == set()


def test_the_arrows_say_the_order_of_the_json_and_nothing_else(stack: dict[str, Any]) -> None:
    picture = picture_of(stack)
    box_of = {address: box.key for box in picture.boxes for address in box.addresses}
    needed = {
        (box_of[each], box_of[address])
        for address, others in between_resources(dependencies(stack)).items()
        for each in others
        if box_of[each] != box_of[address]
    }
    waits = {(arrow.start, arrow.end) for arrow in picture.arrows if arrow.kind == WAITS}
    sends = {(arrow.end, arrow.start) for arrow in picture.arrows if arrow.kind == SENDS}

    assert waits <= needed
    assert needed <= _closed(waits) | sends


def _closed(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return every pair that a way along the edges joins."""
    closed = set(edges)
    while more := {(a, d) for a, b in closed for c, d in edges if b == c} - closed:
        closed |= more
    return closed


def test_helm_releases_are_a_chain(made: Made) -> None:
    chain = pairs(picture_of(made["demo"][1]), WAITS)

    assert {("karpenter", "karpenter-crd"), ("karpenter-crd", "karpenter"), ("karpenter", "node-pools")} <= chain


def test_a_box_says_what_is_in_it(made: Made) -> None:
    boxes = {box.key: box for box in picture_of(made["every"][1]).boxes}

    assert "node_lifecycle: 6 statements" in boxes["aws_iam_role.controller"].lines
    assert "inline policy logging: 1 statement" in boxes["aws_iam_role.fargate"].lines
    assert "AmazonSSMManagedInstanceCore" in boxes["aws_iam_role.node"].lines
    assert "access entry EC2_WINDOWS" in boxes["aws_iam_role.node_windows"].lines
    assert "EC2 Spot Instance Interruption Warning" in boxes["rules"].lines
    assert "queue policy: 2 statements" in boxes["aws_sqs_queue.interruption"].lines
    assert "namespace kube-system, k8s-app=kube-dns" in boxes["aws_eks_fargate_profile.karpenter"].lines
    assert {"NodePool default", "Deployment inflate"} <= set(boxes["helm_release.node_pools"].lines)
    assert boxes["tags"].lines == ("sg-0123456789abcdef0", "subnet-0123456789abcdef0")
    assert boxes["helm_release.karpenter"].lines[0].startswith("chart karpenter ")


def test_what_belongs_to_nothing_has_a_box_of_its_own() -> None:
    stack = {
        "resource": {
            "aws_new_thing": {"x": {}},
            "terraform_data": {"y": {}},
            "aws_iam_policy": {"z": {"name": "${local.name}"}},
        }
    }

    assert {(box.kind, box.title) for box in picture_of(stack).boxes} == {
        ("aws_new_thing", "x"),
        ("terraform_data", "y"),
        ("aws_iam_policy", "z"),
    }


def test_an_unknown_principal_is_shown_by_its_name() -> None:
    document = {"statement": [{"actions": ["sts:AssumeRole"], "principals": {"type": "AWS", "identifiers": ["arn:x"]}}]}
    stack = {
        "data": {"aws_iam_policy_document": {"trust": document}},
        "resource": {"aws_iam_role": {"r": {"assume_role_policy": "${data.aws_iam_policy_document.trust.json}"}}},
    }

    assert pairs(picture_of(stack), ASSUMES) == {("arn:x", "r")}
    assert documents(stack)[0].statements[0].actions == ("sts:AssumeRole",)


def test_an_issuer_that_terraform_looks_up_is_not_shown_as_an_expression(made: Made) -> None:
    lines = [line for name in ("demo", "every") for box in picture_of(made[name][1]).boxes for line in box.lines]

    assert "issuer: looked up by Terraform" in lines
    assert not any("${" in line for line in lines)


def test_an_arrow_is_a_sentence() -> None:
    one, two = (
        Box(key="a", kind="AWS service", title="Pods"),
        Box(key="b", kind="IAM role", title="r", addresses=("b",)),
    )
    picture = Picture(boxes=(one, two), arrows=(Arrow(ASSUMES, "a", "b"),))

    assert sentences(picture) == ["AWS service Pods assumes IAM role r."]
    assert "AWS service Pods assumes IAM role r." in drawing(picture, "x").text


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("short", 100, ["short"]),
        ("one two three", 60, ["one two", "three"]),
        ("aws_iam_role.controller", 100, ["aws_iam_role.", "controller"]),
        ("AmazonEKSWorkerNodePolicy", 90, ["Amazon", "EKSWorker", "NodePolicy"]),
        ("b" * 25, 80, ["b" * 10, "b" * 10, "b" * 5]),
        ("日本語の名前", 40, ["日本語", "の名前"]),
        ("a\u202eb", 100, ["a\\u202eb"]),
        ("x", 1, ["x"]),
    ],
)
def test_long_text_goes_on_in_the_next_line(text: str, room: float, expected: list[str]) -> None:
    assert wrapped(text, LINE, room) == expected


def test_text_is_not_lost_in_lines(stack: dict[str, Any]) -> None:
    for box in picture_of(stack).boxes:
        for text in (box.title, *box.lines):
            assert "".join("".join(wrapped(text, LINE, 150)).split()) == "".join(text.split())


def test_the_picture_is_a_picture_with_a_name(made: Made) -> None:
    text = drawing(picture_of(made["demo"][1]), "p").text

    assert 'role="img" aria-labelledby="picture-title-of-p" aria-describedby="picture-desc-of-p"' in text
    assert '<title id="picture-title-of-p">The stack p</title>' in text


def test_the_same_json_in_another_order_of_keys_is_the_same_set_of_arrows(made: Made) -> None:
    stack = made["demo"][1]
    turned = json.loads(json.dumps(stack, sort_keys=True))

    assert set(picture_of(stack).arrows) == set(picture_of(turned).arrows)
