"""Two trees of Terraform JSON: each kind of difference is found once, at its address, with its effect."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from nodeless.differences.blocks import LABELS, blocks
from nodeless.differences.comparison import compare
from nodeless.differences.difference import ABSENT, Difference, Effect

ROLE = {"name": "demo-node", "path": "/", "assume_role_policy": "${data.aws_iam_policy_document.node_trust.json}"}


def resource(kind: str, label: str, /, **body: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"resource": {kind: {label: body}}}


def statements(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"aws_iam_policy_document": {"controller": {"statement": list(rows)}}}}


def brief(differences: tuple[Difference, ...]) -> list[tuple[Any, ...]]:
    return [(each.address, each.argument, each.old, each.new, each.effect.value) for each in differences]


def test_equal_trees_do_not_differ_whatever_the_metadata_says() -> None:
    old = {"//": {"metadata": 1}, **resource("aws_iam_role", "node", **ROLE, **{"//": {"metadata": {"path": "a"}}})}
    new = {"//": {"metadata": 2}, **resource("aws_iam_role", "node", **ROLE, **{"//": {"metadata": {"path": "b"}}})}

    assert compare(old, new) == ()
    assert compare(old, resource("aws_iam_role", "node", **ROLE)) == ()


def test_a_users_key_that_looks_like_a_comment_counts_below_a_block() -> None:
    old = {"locals": {"values": {"podLabels": {"//": "one"}}}}
    new = {"locals": {"values": {"podLabels": {"//": "two"}}}}

    assert brief(compare(old, new)) == [("local.values", "podLabels.//", "one", "two", "none")]


def test_comments_in_the_blocks_of_a_list_do_not_count() -> None:
    assert compare({"provider": {"aws": [{"region": "a", "//": 1}]}}, {"provider": {"aws": [{"region": "a"}]}}) == ()


@pytest.mark.parametrize(
    ("block", "address"),
    [
        ({"resource": {"aws_iam_role": {"node": {}}}}, "aws_iam_role.node"),
        ({"data": {"aws_subnets": {"fargate": {}}}}, "data.aws_subnets.fargate"),
        ({"ephemeral": {"aws_eks_cluster_auth": {"cluster": {}}}}, "ephemeral.aws_eks_cluster_auth.cluster"),
        ({"locals": {"values": {}}}, "local.values"),
        ({"output": {"queue_url": {}}}, "output.queue_url"),
        ({"variable": {"region": {}}}, "var.region"),
        ({"module": {"other": {}}}, "module.other"),
        ({"check": {"local_state": {}}}, "check.local_state"),
        ({"provider": {"aws": [{}]}}, "provider.aws"),
        ({"terraform": {"required_version": "1"}}, "terraform"),
        ({"removed": [{"from": "a.b"}]}, "removed"),
        ({"resource": [{"aws_iam_role": {"node": {}}}]}, "resource"),
        ({"resource": {"aws_iam_role": [{"node": {}}]}}, "aws_iam_role"),
    ],
)
def test_every_kind_of_block_has_an_address(block: dict[str, Any], address: str) -> None:
    (found,) = compare({}, block)

    assert (found.address, found.argument, found.old, found.place) == (address, "", ABSENT, ())
    (gone,) = compare(block, {})
    assert (gone.address, gone.new) == (address, ABSENT)
    assert gone.place[0] in block


def test_a_comment_instead_of_a_block_is_no_block() -> None:
    assert compare({}, {"resource": {"//": "none", "aws_iam_role": {"//": "none"}}}) == ()


@pytest.mark.parametrize(
    ("argument", "value", "effect"),
    [
        ("name", "other", Effect.REPLACE),
        ("path", "/other/", Effect.REPLACE),
        ("description", "other", Effect.UPDATE),
        ("depends_on", ["aws_sqs_queue.q"], Effect.NONE),
        ("lifecycle", {"create_before_destroy": True}, Effect.NONE),
    ],
)
def test_an_argument_decides_what_happens_to_its_resource(argument: str, value: object, effect: Effect) -> None:
    old, new = resource("aws_iam_role", "node", **ROLE), resource("aws_iam_role", "node", **{**ROLE, argument: value})

    (found,) = [each for each in compare(old, new) if not each.cause]

    assert (found.address, found.argument, found.new, found.effect) == ("aws_iam_role.node", argument, value, effect)


def test_an_ignored_argument_has_no_effect() -> None:
    given = {"subnet_ids": ["a"], "lifecycle": {"ignore_changes": ["subnet_ids"]}}
    old = resource("aws_eks_fargate_profile", "karpenter", **given)
    new = resource("aws_eks_fargate_profile", "karpenter", **{**given, "subnet_ids": ["b"]})

    assert brief(compare(old, new)) == [("aws_eks_fargate_profile.karpenter", "subnet_ids[]", "a", "b", "none")]


def test_an_ignored_argument_does_not_replace_in_turn() -> None:
    profile = {"subnet_ids": "${data.aws_subnets.fargate.ids}"}
    old = {
        "data": {"aws_subnets": {"fargate": {"x": 1}}},
        **resource("aws_eks_fargate_profile", "karpenter", **profile),
    }
    new = {
        "data": {"aws_subnets": {"fargate": {"x": 2}}},
        **resource("aws_eks_fargate_profile", "karpenter", **profile),
    }
    ignoring = json.loads(json.dumps(new))
    ignoring["resource"]["aws_eks_fargate_profile"]["karpenter"]["lifecycle"] = {"ignore_changes": ["subnet_ids"]}

    assert [each.cause for each in compare(old, new) if each.effect is Effect.REPLACE] == ["data.aws_subnets.fargate"]
    assert [each for each in compare(old, ignoring) if each.effect is Effect.REPLACE] == []


@pytest.mark.parametrize(
    ("tree", "effect"),
    [
        ({}, Effect.DESTROY),
        ({"removed": [{"from": "aws_iam_role.node", "lifecycle": {"destroy": False}}]}, Effect.FORGET),
        ({"removed": [{"from": "aws_iam_role.node", "lifecycle": {"destroy": True}}]}, Effect.DESTROY),
        ({"removed": {"from": "aws_iam_role.node", "lifecycle": {"destroy": False}}}, Effect.FORGET),
        ({"removed": [[{"from": "aws_iam_role.node", "lifecycle": {"destroy": False}}]]}, Effect.FORGET),
        ({"removed": "not a block"}, Effect.DESTROY),
    ],
)
def test_a_resource_that_goes_is_destroyed_unless_it_is_to_be_forgotten(tree: dict[str, Any], effect: Effect) -> None:
    found = {each.address: each for each in compare(resource("aws_iam_role", "node", **ROLE), tree)}

    assert found["aws_iam_role.node"].effect is effect


def test_a_resource_that_comes_is_created_unless_it_is_imported() -> None:
    new = resource("aws_iam_role", "node", **ROLE)
    imported = {**new, "import": [{"to": "${aws_iam_role.node}", "id": "demo-node"}]}

    assert compare({}, new)[0].effect is Effect.CREATE
    assert compare({}, imported)[0].effect is Effect.IMPORT


def test_a_moved_resource_is_compared_with_what_it_was() -> None:
    old = resource("aws_iam_role", "nodes", **ROLE)
    new = {**resource("aws_iam_role", "node", **{**ROLE, "description": "x"})}
    new["moved"] = [{"from": "aws_iam_role.nodes", "to": "aws_iam_role.node"}]

    found = [each for each in brief(compare(old, new)) if each[0] != "moved"]

    assert found == [
        ("aws_iam_role.node", "", "aws_iam_role.nodes", "aws_iam_role.node", "move"),
        ("aws_iam_role.node", "description", ABSENT, "x", "update"),
    ]


@pytest.mark.parametrize(
    "moved",
    [{"from": "aws_iam_role.node", "to": "aws_iam_role.none"}, {"from": 1, "to": "x"}, {"from": "aws_iam_role.x"}],
)
def test_a_move_to_nowhere_or_from_nowhere_moves_nothing(moved: dict[str, Any]) -> None:
    found = compare(resource("aws_iam_role", "node", **ROLE), {"moved": [moved]})

    assert [each.effect for each in found] == [Effect.DESTROY, Effect.NONE]


def test_a_statement_is_found_by_its_sid_and_not_by_its_position() -> None:
    one, two = {"sid": "One", "actions": ["a:A", "a:B"]}, {"sid": "Two", "actions": ["a:A"]}
    old, new = statements(one, two), statements({"sid": "New", "actions": []}, two, {**one, "actions": ["a:B"]})

    found = compare(old, new)

    assert brief(found) == [
        ("data.aws_iam_policy_document.controller", "statement[One].actions[]", "a:A", ABSENT, "none"),
        ("data.aws_iam_policy_document.controller", "statement[New]", ABSENT, {"sid": "New", "actions": []}, "none"),
    ]
    assert found[0].place == ("data", "aws_iam_policy_document", "controller", "statement", 0, "actions", 0)
    assert found[1].place == ("data", "aws_iam_policy_document", "controller", "statement")


def test_a_condition_is_found_by_its_test_and_variable() -> None:
    tag, region = {"test": "StringEquals", "variable": "tag"}, {"test": "StringEquals", "variable": "region"}
    old = statements({"sid": "One", "condition": [{**tag, "values": ["a"]}, {**region, "values": ["r"]}]})
    new = statements({"sid": "One", "condition": [{**region, "values": ["r"]}, {**tag, "values": ["b"]}]})

    (found,) = compare(old, new)

    assert (found.argument, found.old, found.new) == ("statement[One].condition[StringEquals tag].values[]", "a", "b")


def test_a_manifest_is_found_by_its_kind_and_name() -> None:
    pool, other = {"kind": "NodePool", "metadata": {"name": "a"}}, {"kind": "EC2NodeClass", "metadata": {"name": "a"}}
    old, new = (
        {"locals": {"values": {"manifests": [*rows]}}} for rows in ((pool, other), (other, {**pool, "spec": 1}))
    )

    assert brief(compare(old, new)) == [("local.values", "manifests[NodePool a].spec", ABSENT, 1, "none")]


def test_two_statements_with_the_same_sid_are_compared_by_value() -> None:
    old = statements({"sid": "", "actions": ["a"]}, {"sid": "", "actions": ["b"]})
    new = statements({"sid": "", "actions": ["a"]}, {"sid": "", "actions": ["c"]})

    assert brief(compare(old, new)) == [
        ("data.aws_iam_policy_document.controller", "statement[1].actions[]", "b", "c", "none")
    ]


def test_of_equal_items_one_too_many_is_named_once() -> None:
    old, new = statements({"actions": ["a", "a", "b", "c"]}), statements({"actions": ["a", "b", "d", "e"]})

    found = compare(old, new)

    assert [(each.old, each.new) for each in found] == [("a", ABSENT), ("c", ABSENT), (ABSENT, "d"), (ABSENT, "e")]
    assert found[0].place[-1] == 1


def test_one_statement_that_got_another_sid_is_one_change() -> None:
    assert [each.argument for each in compare(statements({"sid": "One"}), statements({"sid": "Two"}))] == [
        "statement[].sid"
    ]


def test_another_order_is_one_difference_and_only_where_it_counts_an_effect() -> None:
    profile = [resource("aws_eks_fargate_profile", "karpenter", subnet_ids=ids) for ids in (["a", "b"], ["b", "a"])]
    release = [resource("helm_release", "karpenter", values=values) for values in (["a", "b"], ["b", "a"])]

    assert brief(compare(*profile)) == [
        ("aws_eks_fargate_profile.karpenter", "subnet_ids", ["a", "b"], ["b", "a"], "none")
    ]
    assert [each.effect for each in compare(*release)] == [Effect.UPDATE]


def test_json_in_a_text_is_unfolded() -> None:
    patterns = ({"source": ["aws.ec2"], "detail-type": ["A"]}, {"detail-type": ["B"], "source": ["aws.ec2"]})
    old, new = (resource("aws_cloudwatch_event_rule", "spot", event_pattern=json.dumps(each)) for each in patterns)

    (found,) = compare(old, new)

    assert (found.argument, found.old, found.new) == ("event_pattern.detail-type[]", "A", "B")
    assert found.place[:4] == ("resource", "aws_cloudwatch_event_rule", "spot", "event_pattern")
    assert found.effect is Effect.UPDATE


def test_a_list_in_a_text_is_unfolded_and_a_broken_one_is_a_text() -> None:
    def rule(text: str) -> dict[str, Any]:
        return resource("aws_cloudwatch_event_rule", "spot", event_pattern=text)

    assert [each.argument for each in compare(rule("[1, 2]"), rule("[1, 3]"))] == ["event_pattern[1]"]
    assert brief(compare(rule("{"), rule("{}"))) == [
        ("aws_cloudwatch_event_rule.spot", "event_pattern", "{", "{}", "update")
    ]


def test_the_same_json_written_in_another_way_differs_and_has_no_effect() -> None:
    old, new = (resource("aws_cloudwatch_event_rule", "spot", event_pattern=text) for text in ('{"a":1}', '{"a": 1}'))

    assert brief(compare(old, new)) == [
        ("aws_cloudwatch_event_rule.spot", "event_pattern", '{"a":1}', '{"a": 1}', "none")
    ]


@pytest.mark.parametrize(("old", "new"), [(True, 1), (1, "1"), (1, 1.0), (None, False), ([True], [1])])
def test_values_of_different_types_differ(old: object, new: object) -> None:
    assert len(compare({"locals": {"value": old}}, {"locals": {"value": new}})) == 1


def test_null_is_not_absent() -> None:
    (found,) = compare({"locals": {"values": {"a": None}}}, {"locals": {"values": {}}})

    assert (found.old, found.new) == (None, ABSENT)


def stack() -> dict[str, Any]:
    """A stack with everything that refers to a role, a queue and a rule."""
    return {
        "data": {
            "aws_iam_policy_document": {"queue": {"statement": [{"resources": ["${aws_sqs_queue.interruption.arn}"]}]}}
        },
        "locals": {"role": "${aws_iam_role.node.name}", "again": "x-${local.role}"},
        "resource": {
            "aws_iam_role": {"node": dict(ROLE)},
            "aws_iam_role_policy_attachment": {"cni": {"role": "${aws_iam_role.node.name}", "policy_arn": "arn"}},
            "aws_iam_instance_profile": {"node": {"name": "p", "role": "${aws_iam_role.node.name}"}},
            "aws_eks_access_entry": {"node": {"principal_arn": "${aws_iam_role.node.arn}"}},
            "aws_ec2_tag": {"chained": {"key": "${local.again}", "value": "v"}},
            "aws_sqs_queue": {"interruption": {"name": "q"}},
            "aws_sqs_queue_policy": {
                "interruption": {
                    "queue_url": "${aws_sqs_queue.interruption.url}",
                    "policy": "${data.aws_iam_policy_document.queue.json}",
                }
            },
            "aws_cloudwatch_event_target": {
                "spot": {"rule": "${aws_cloudwatch_event_rule.spot.name}", "arn": "${aws_sqs_queue.interruption.arn}"}
            },
            "aws_cloudwatch_event_rule": {"spot": {"name": "r"}},
            "terraform_data": {"x": {"triggers_replace": "${aws_iam_role.node[0].id}"}},
        },
    }


@pytest.mark.parametrize(
    ("kind", "name", "argument", "replaced_too"),
    [
        # What is computed is not known; the name is.
        ("aws_iam_role", "node", "path", {"aws_eks_access_entry.node", "terraform_data.x"}),
        (
            "aws_iam_role",
            "node",
            "name",
            {
                "aws_eks_access_entry.node",
                "aws_iam_role_policy_attachment.cni",
                "terraform_data.x",
                # Through two local values.
                "aws_ec2_tag.chained",
            },
        ),
        ("aws_iam_role", "node", "description", set()),
        # The target's ARN and the policy can be changed.
        ("aws_sqs_queue", "interruption", "name", {"aws_sqs_queue_policy.interruption"}),
        ("aws_sqs_queue", "interruption", "message_retention_seconds", set()),
        ("aws_cloudwatch_event_rule", "spot", "name", {"aws_cloudwatch_event_target.spot"}),
    ],
)
def test_what_refers_to_a_replaced_resource_is_replaced_too(
    kind: str, name: str, argument: str, replaced_too: set[str]
) -> None:
    old, new = stack(), stack()
    new["resource"][kind][name][argument] = "other"

    found = compare(old, new)

    assert {each.address for each in found if each.cause} == replaced_too
    assert all(each.effect is Effect.REPLACE and each.old == each.new for each in found if each.cause)


def test_a_reference_to_what_is_new_or_gone_does_not_replace_by_itself() -> None:
    old, new = stack(), stack()
    del old["resource"]["aws_iam_role"], new["resource"]["aws_sqs_queue"]

    assert [each.address for each in compare(old, new) if each.cause] == []


def test_the_order_in_a_data_source_replaces_nothing() -> None:
    trees = [
        {
            "data": {"aws_subnets": {"fargate": {"filter": rows}}},
            **resource("aws_eks_fargate_profile", "karpenter", subnet_ids="${data.aws_subnets.fargate.ids}"),
        }
        for rows in ([1, 2], [2, 1])
    ]

    assert [each.effect for each in compare(*trees)] == [Effect.NONE]


def test_resources_come_first_and_then_the_others_in_a_fixed_order() -> None:
    tree = {"terraform": {"a": 1}, "output": {"a": 1}, "data": {"a": {"b": {}}}, "resource": {"a": {"b": {}}}}

    assert [each.address for each in compare({}, tree)] == ["a.b", "data.a.b", "output.a", "terraform"]


WORDS = st.sampled_from(["a", "name", "sid", "key", "//", "lifecycle", "ignore_changes", "from", "to", "destroy"])
LEAVES = (
    st.none() | st.booleans() | st.integers(0, 3) | WORDS | st.sampled_from(["${a.a.name}", "${local.a}", '{"a":1}'])
)
VALUES = st.recursive(
    LEAVES, lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS, below, max_size=3), max_leaves=12
)
KINDS = st.sampled_from([*LABELS, "moved", "removed", "import", "terraform", "//"])
TREES = st.dictionaries(KINDS, VALUES | st.dictionaries(WORDS, st.dictionaries(WORDS, VALUES, max_size=2), max_size=2))


def bodies(tree: dict[str, Any]) -> dict[str, str]:
    return {address: json.dumps(block.body, sort_keys=True) for address, block in blocks(tree).items()}


@given(TREES, TREES)
def test_any_two_trees_can_be_compared_and_differ_exactly_if_a_block_does(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert bool(compare(old, new)) == (bodies(old) != bodies(new))
    assert compare(old, old) == ()
