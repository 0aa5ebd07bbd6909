"""A file on disk and the one that synthesis would write: what kind of difference it is, and on which lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nodeless.differences.difference import ABSENT, Effect
from nodeless.differences.files import Origins, Reason, State, compared
from nodeless.origin import Origin
from nodeless.output.present import digest_of

JSON, TESTS = "stacks/demo/cdk.tf.json", "stacks/demo/nodeless.tftest.hcl"
TREE = {"//": {"version": "1"}, "resource": {"aws_iam_role": {"node": {"name": "one", "path": "/"}}}}


def written(tree: Any) -> bytes:  # noqa: ANN401 - any JSON
    return json.dumps(tree, indent=2, sort_keys=True).encode()


def renamed(name: str) -> bytes:
    return written({**TREE, "resource": {"aws_iam_role": {"node": {"name": name, "path": "/"}}}})


def test_the_same_bytes_do_not_differ() -> None:
    assert compared(JSON, written(TREE), written(TREE), None) is None


@pytest.mark.parametrize(
    ("disk", "state"),
    [
        (written(TREE).replace(b"\n", b"\r\n"), State.LINE_ENDINGS),
        (json.dumps(TREE).encode(), State.FORMAT),
        (written(TREE) + b"\n", State.FORMAT),
        (b"\xef\xbb\xbf" + written(TREE), State.FORMAT),
        (json.dumps(TREE, indent=4).replace("\n", "\r\n").encode(), State.FORMAT),
        (written({**TREE, "//": {"version": "2"}}), State.METADATA),
        (renamed("two"), State.CONTENT),
        (renamed("two").replace(b"\n", b"\r\n"), State.CONTENT),
    ],
)
def test_a_stack_differs_in_one_of_these_ways(disk: bytes, state: State) -> None:
    found = compared(JSON, disk, written(TREE), None)

    assert found is not None
    assert (found.path, found.state) == (JSON, state)
    assert bool(found.differences) == (state is State.CONTENT)


def test_an_argument_has_the_line_of_the_file_on_disk() -> None:
    disk = json.dumps({"resource": {"aws_iam_role": {"node": {"path": "/", "name": "two"}}}}, indent=1).encode()
    found = compared(JSON, disk, written(TREE), None)

    assert found is not None
    (difference,) = found.differences
    assert (difference.address, difference.argument, difference.line) == ("aws_iam_role.node", "name", 6)
    assert disk.splitlines()[5].strip() == b'"name": "two"'


@pytest.mark.parametrize(
    ("disk", "problem", "line"),
    [
        (b'{\n "a": 1\n "b": 2}', "not JSON: Expecting ',' delimiter", 3),
        (b"<<<<<<< HEAD\n{}", "not JSON: Expecting value", 1),
        (b"", "not JSON: Expecting value", 1),
        (b'{\n\n"a": "\xff"}', "not UTF-8", 3),
        (b"[1]", "not a JSON object", 1),
        (b"[" * 100_000, "JSON with a number or a nesting that cannot be read", None),
        (b'{"a": %s}' % (b"9" * 5000), "JSON with a number or a nesting that cannot be read", None),
    ],
)
def test_what_is_no_terraform_json_is_said_with_its_line(disk: bytes, problem: str, line: int | None) -> None:
    found = compared(JSON, disk, written(TREE), None)

    assert found is not None
    assert (found.state, found.problem, found.line) == (State.INVALID, problem, line)


def test_a_tree_too_deep_to_compare_is_said_to_be_so() -> None:
    deep: dict[str, Any] = {}
    for _ in range(480):
        deep = {"a": deep}
    found = compared(JSON, written({"locals": deep}), written({"locals": {"a": deep}}), None)

    assert found is not None
    assert (found.state, found.problem) == (State.INVALID, "nested too deeply")


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        (None, (None, None)),
        (digest_of(renamed("two")), (False, True)),
        (digest_of(written(TREE)), (True, False)),
        (digest_of(b"something else"), (True, True)),
    ],
)
def test_what_was_recorded_tells_an_edit_from_an_old_file(
    recorded: str | None, expected: tuple[bool | None, bool | None]
) -> None:
    for disk in (renamed("two"), renamed("two").replace(b"\n", b"\r\n")):
        found = compared(JSON, disk, written(TREE), recorded)

        assert found is not None
        assert (found.is_edited, found.is_outdated) == expected


@pytest.mark.parametrize(
    ("disk", "built", "expected"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", [(2, "b", "B")]),
        ("a\nb\nc\n", "a\nc\n", [(2, "b", ABSENT)]),
        ("a\nc\n", "a\nb\nc\n", [(1, ABSENT, "b")]),
        ("", "a", [(1, "", "a")]),
        ("a\nb\n", "A\nB\nC\n", [(1, "a", "A"), (2, "b", "B"), (2, ABSENT, "C")]),
    ],
)
def test_other_files_are_compared_line_by_line(disk: str, built: str, expected: list[tuple[Any, ...]]) -> None:
    found = compared(TESTS, disk.encode(), built.encode(), None)

    assert found is not None
    assert [(each.line, each.old, each.new) for each in found.differences] == expected


def test_a_text_file_that_is_no_text_is_shown_with_escapes() -> None:
    found = compared(TESTS, b"\xff", b"a", None)

    assert found is not None
    assert found.differences[0].old == "\\xff"


OLD, NEW = Origin("1", f"sha256:{'0' * 64}"), Origin("1", f"sha256:{'1' * 64}")


def marked(origin: Origin | None, name: str = "one") -> bytes:
    tree = json.loads(renamed(name))
    return written({**tree, "//": {"nodeless": origin.to_tree()}} if origin else tree)


@pytest.mark.parametrize(
    ("old", "new", "recorded", "reasons"),
    [
        (OLD, NEW, None, [Reason.INPUT]),
        (Origin("0", OLD.input), OLD, None, [Reason.VERSION]),
        (Origin("0", OLD.input), NEW, None, [Reason.INPUT, Reason.VERSION]),
        (None, NEW, None, [Reason.UNMARKED]),
        (OLD, OLD, None, []),
        (OLD, OLD, marked(OLD, "one"), [Reason.EDITED]),
        (OLD, OLD, marked(OLD, "two"), [Reason.BUILD]),
        (OLD, NEW, marked(OLD, "one"), [Reason.INPUT, Reason.EDITED]),
        (OLD, NEW, marked(OLD, "two"), [Reason.INPUT]),
    ],
)
def test_a_mark_of_origin_and_the_inventory_tell_why(
    old: Origin | None, new: Origin, recorded: bytes | None, reasons: list[Reason]
) -> None:
    found = compared(JSON, marked(old, "two"), marked(new, "one"), digest_of(recorded) if recorded else None)

    assert found is not None
    assert found.origins == Origins(old, new)
    assert [*found.reasons()] == reasons


def test_a_file_that_has_no_mark_today_has_no_reason() -> None:
    found = compared(JSON, marked(OLD), marked(None), None)

    assert found is not None
    assert (found.origins, [*found.reasons()]) == (None, [])


def test_a_file_of_an_export_is_compared_in_its_language() -> None:
    old, new = (f"{mark.to_comment()}\nlocals {{\n  a = 1\n}}\n" for mark in (OLD, NEW))

    mark_only = compared("demo/versions.tf", old.encode(), new.encode(), None)
    content = compared("demo/versions.tf", old.replace("1\n}", "2\n}").encode(), old.encode(), None)
    tree = compared("demo/nodes.tf.json", renamed("two"), renamed("one"), None)

    assert mark_only is not None
    assert (mark_only.state, mark_only.origins) == (State.METADATA, Origins(OLD, NEW))
    assert content is not None
    assert [(each.address, each.line) for each in content.differences] == [("locals", 5)]
    assert tree is not None
    assert [each.address for each in tree.differences] == ["aws_iam_role.node"]


def test_blocks_of_other_files_decide_what_terraform_does() -> None:
    none, new = written({"resource": {}}), renamed("one")
    around = {"import": [{"to": "aws_iam_role.node", "id": "one"}]}

    imported, created = (compared("demo/nodes.tf.json", none, new, None, each) for each in (around, None))

    assert imported is not None
    assert created is not None
    assert [each.effect for each in (*imported.differences, *created.differences)] == [Effect.IMPORT, Effect.CREATE]
