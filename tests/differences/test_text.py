"""How differences read: by file and address, one line each, nothing useless at 60 columns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nodeless.differences.comparison import compare
from nodeless.differences.difference import ABSENT, Difference, Effect
from nodeless.differences.files import FileDifference, Origins, State, compared
from nodeless.differences.folders import FolderDifference
from nodeless.differences.hcl_blocks import compare_hcl
from nodeless.differences.text import LONGEST, MOST_LINES, Line, as_text, lines
from nodeless.origin import Origin
from nodeless.output.paths import Layout

JSON = "stacks/demo/cdk.tf.json"
OLD = {
    "data": {"aws_iam_policy_document": {"queue": {"statement": [{"sid": "Send", "actions": ["sqs:*"]}]}}},
    "locals": {"values": {"replicas": 2}, "gone": 1},
    "resource": {
        "aws_iam_role": {"node": {"name": "one"}, "old": {"name": "old"}},
        "aws_eks_access_entry": {"node": {"principal_arn": "${aws_iam_role.node.arn}"}},
    },
}
NEW = {
    "data": {"aws_iam_policy_document": {"queue": {"statement": [{"sid": "Send", "actions": ["sqs:SendMessage"]}]}}},
    "locals": {"values": {"replicas": 3}},
    "output": {"queue_url": {"value": "x"}},
    "resource": {
        "aws_iam_role": {"node": {"name": "two"}, "new": {"name": "new"}},
        "aws_eks_access_entry": {"node": {"principal_arn": "${aws_iam_role.node.arn}"}},
    },
}

SHOWN = """\
cdktf.out/stacks/demo/cdk.tf.json: differs
  aws_eks_access_entry.node: Terraform would replace it
    line 25  principal_arn: because of aws_iam_role.node
  aws_iam_role.new: Terraform would create it
  aws_iam_role.node: Terraform would replace it
    line 30  name: "one" -> "two"
  aws_iam_role.old (line 32): Terraform would destroy it
  data.aws_iam_policy_document.queue
    line 8  statement[Send].actions[]: "sqs:*" -> "sqs:SendMessage"
  local.gone (line 17): removed
  local.values
    line 19  replicas: 2 -> 3
  output.queue_url: added

Left of -> is what is in cdktf.out, right of it what clusters.yaml gives.
Terraform would replace 2 resources, if what is in cdktf.out was applied.
Without an inventory, synth does not know its own files: to write them anew, run `nodeless synth --force`.
"""

ANEW = "To write the folder anew, run `nodeless synth`."
FORCE = (
    "What was edited by hand, synth does not overwrite: move the change to clusters.yaml or to a file of your own, "
    "then run `nodeless synth --force`."
)
UNKNOWN = "Without an inventory, synth does not know its own files: to write them anew, run `nodeless synth --force`."
KEPT = "What is left over and was edited by hand, synth keeps: remove it."
ENDINGS = (
    "Git may change line endings on checkout. `* -text` in cdktf.out/.gitattributes keeps them as they are; then check "
    "the files out again, or run `nodeless synth --force`."
)


def written(tree: Any) -> bytes:  # noqa: ANN401 - any JSON
    return json.dumps(tree, indent=2, sort_keys=True).encode()


def text(found: FolderDifference, width: int | None = None) -> str:
    return as_text(lines(found, "cdktf.out", "clusters.yaml"), width)


def of_file(**keys: Any) -> FolderDifference:  # noqa: ANN401 - any field
    return FolderDifference(files=(FileDifference(**{"path": JSON, "state": State.CONTENT, **keys}),))


def stack_difference() -> FolderDifference:
    found = compared(JSON, written(OLD), written(NEW), None)
    assert found is not None
    return FolderDifference(files=(found,))


def test_nothing_is_said_if_nothing_differs() -> None:
    assert text(FolderDifference()) == ""


def test_a_stack_reads_by_address_with_the_effect_and_the_line() -> None:
    assert text(stack_difference()) == SHOWN


def test_a_narrow_terminal_gets_every_word_folded() -> None:
    wide, narrow = text(stack_difference()), text(stack_difference(), 60)

    assert narrow.split() == wide.split()
    assert max(map(len, narrow.splitlines())) <= 60
    assert '    line 8  statement[Send].actions[]: "sqs:*" ->\n        "sqs:SendMessage"\n' in narrow


def test_a_word_that_is_wider_than_the_terminal_is_broken_and_not_cut() -> None:
    assert "".join(each.strip() for each in Line("x" * 100, indent=4).folded(30)) == "x" * 100


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (of_file(is_edited=True, is_outdated=False), f"cdktf.out/{JSON}: edited by hand"),
        (of_file(is_edited=True, is_outdated=True), f"cdktf.out/{JSON}: edited by hand, and out of date"),
        (of_file(is_edited=False, is_outdated=True), f"cdktf.out/{JSON}: out of date"),
        (of_file(), f"cdktf.out/{JSON}: differs"),
        (of_file(state=State.MISSING), f"cdktf.out/{JSON}: missing"),
        (of_file(state=State.METADATA), f"cdktf.out/{JSON}: only the comments differ"),
        (
            of_file(state=State.FORMAT, is_edited=True, is_outdated=False),
            f"cdktf.out/{JSON}: the same content, formatted by another tool",
        ),
        (
            of_file(state=State.INVALID, problem="not JSON: Expecting value", line=7),
            f"cdktf.out/{JSON}:7: not JSON: Expecting value",
        ),
        (
            of_file(state=State.LEFT_OVER, is_edited=False),
            f"cdktf.out/{JSON}: left over; it is not part of the stack any more",
        ),
        (
            of_file(state=State.LEFT_OVER, is_edited=True),
            f"cdktf.out/{JSON}: left over, and edited by hand; it is not part of the stack any more",
        ),
        (of_file(state=State.LINE_ENDINGS), "cdktf.out: 1 file differs only in line endings (CRLF)"),
        (FolderDifference(missing=("demo",)), "cdktf.out/stacks/demo: missing; demo is in clusters.yaml"),
        (FolderDifference(left_over=("old",)), "cdktf.out/stacks/old: left over; old is not in clusters.yaml"),
        (
            FolderDifference(left_over=("old",), has_inventory=False),
            (
                "cdktf.out/stacks/old: left over; old is not in clusters.yaml; there is no inventory, so it may be a "
                "stack of another file"
            ),
        ),
        (FolderDifference(problems=(("x", "wrong"),)), "cdktf.out/x: wrong"),
    ],
)
def test_each_state_has_its_words(found: FolderDifference, expected: str) -> None:
    assert text(found).splitlines()[0] == expected


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        (of_file(is_edited=False), [ANEW]),
        (FolderDifference(missing=("demo",)), [ANEW]),
        (of_file(state=State.MISSING), [ANEW]),
        (of_file(state=State.LEFT_OVER, is_edited=False), [ANEW]),
        (of_file(is_edited=True), [FORCE]),
        (of_file(), [UNKNOWN]),
        (of_file(state=State.LEFT_OVER, is_edited=True), [ANEW, KEPT]),
        (FolderDifference(left_over=("old",)), ["To remove a stack: destroy it, then run `nodeless synth --prune`."]),
        (of_file(state=State.LINE_ENDINGS), [ENDINGS]),
        (FolderDifference(problems=(("x", "y"),)), []),
    ],
)
def test_each_kind_of_difference_comes_with_what_to_do(found: FolderDifference, advice: list[str]) -> None:
    assert text(found).partition("\n\n")[2].splitlines() == advice


def test_hundreds_of_files_with_other_line_ends_are_one_line() -> None:
    files = tuple(FileDifference(f"stacks/{each}/cdk.tf.json", State.LINE_ENDINGS) for each in range(300))

    assert text(FolderDifference(files)).count("CRLF") == 1
    assert "300 files differ only in line endings (CRLF)" in text(FolderDifference(files))


def test_a_long_value_is_cut_but_not_where_it_differs() -> None:
    (found,) = compare({"locals": {"a": "x" * 500 + "ONE" + "y" * 500}}, {"locals": {"a": "x" * 500 + "2" + "y" * 500}})
    (line,) = [line for line in text(of_file(differences=(found,))).splitlines() if "->" in line and "xx" in line]

    assert f"…{'x' * 20}ONE{'y' * 20}… -> …{'x' * 20}2{'y' * 20}…" in line


def test_a_long_value_without_a_counterpart_is_cut_in_the_middle() -> None:
    (found,) = compare({"locals": {"a": {}}}, {"locals": {"a": {"b": "x" * 500}}})
    (line,) = [line for line in text(of_file(differences=(found,))).splitlines() if "(absent)" in line]

    assert "x…x" in line
    assert len(line) < LONGEST + 60


@pytest.mark.parametrize(("old", "new"), [("a" * 200, "a" * 201), ("ab" * 100, "ab" * 101), ("", "x" * 300)])
def test_values_that_overlap_are_cut_to_what_still_differs(old: str, new: str) -> None:
    (found,) = compare({"locals": {"a": old}}, {"locals": {"a": new}})
    (line,) = [line for line in text(of_file(differences=(found,))).splitlines() if line.startswith("    ")]

    before, _, after = line.strip().partition(" -> ")
    assert before != after


def test_a_text_file_shows_its_first_lines_and_counts_the_rest() -> None:
    rows = tuple(Difference("", "", f"old {each}", ABSENT, Effect.NONE, (), line=each) for each in range(1, 40))

    shown = text(of_file(path="stacks/demo/nodeless.tftest.hcl", differences=rows)).splitlines()

    assert shown[1] == '  line 1  "old 1" -> (absent)'
    assert shown[MOST_LINES + 1] == f"  and {39 - MOST_LINES} more lines"


def test_no_value_sends_commands_to_a_terminal() -> None:
    found = compared(JSON, written({"locals": {"a\x1b[2J": "\x1b]0;x\x07"}}), written({"locals": {"a\x9b": 1}}), None)
    assert found is not None
    shown = text(FolderDifference(files=(found,), missing=("a\x1b",), problems=(("a\x1b", "b"),)))

    assert all(character.isprintable() or character == "\n" for character in shown)


def test_a_move_reads_as_one() -> None:
    old = {"resource": {"aws_iam_role": {"nodes": {"name": "x"}}}}
    new = {
        "moved": [{"from": "aws_iam_role.nodes", "to": "aws_iam_role.node"}],
        "resource": {"aws_iam_role": {"node": {"name": "x"}}},
    }
    shown = text(of_file(differences=compare(old, new)))

    assert '  aws_iam_role.node: Terraform would move it\n    "aws_iam_role.nodes" -> "aws_iam_role.node"\n' in shown


def test_it_says_what_made_a_file() -> None:
    old, new = Origin("0.9", f"sha256:{'0' * 64}"), Origin("1.0", f"sha256:{'1' * 64}")

    shown = [
        text(of_file(origins=Origins(each, new), is_outdated=True)).splitlines()[1:-2] for each in (old, new, None)
    ]

    assert shown == [
        [
            "  clusters.yaml gives other settings than those it was made from",
            "  nodeless 0.9 made it, and this is nodeless 1.0",
        ],
        ["  another build of nodeless 1.0 made it from the same settings"],
        ["  it does not say what made it: earlier versions of nodeless wrote no mark of origin"],
    ]


def test_lines_of_hcl_are_shown_as_they_are() -> None:
    disk = 'resource "aws_iam_role" "node" {\n  name   = "one"\n  x = 1\n}\n\nlocals {}\n'
    built = 'resource "aws_iam_role" "node" {\n  name = "two"\n\n}\n'
    found = of_file(differences=tuple(compare_hcl(disk, built)))

    assert text(found).splitlines()[1:5] == [
        "  aws_iam_role.node: Terraform would replace it",
        '    line 2  name = "one" -> name = "two"',
        "    line 3  x = 1 -> (empty line)",
        "  locals (line 6): removed",
    ]


def test_an_export_has_its_own_folders_and_command() -> None:
    layout = Layout(
        verb="export", option="DIR", elsewhere="", stacks="", manifest=None, files=("README.md",), main="README.md"
    )
    found = FolderDifference(missing=("one",), left_over=("two",), layout=layout)

    assert as_text(lines(found, "terraform", "clusters.yaml", "nodeless export terraform")) == (
        "terraform/one: missing; one is in clusters.yaml\n"
        "terraform/two: left over; two is not in clusters.yaml\n"
        "\n"
        "To write the folder anew, run `nodeless export terraform`.\n"
        "To remove a stack: destroy it, then run `nodeless export terraform --prune`.\n"
    )
