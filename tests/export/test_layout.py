"""The files of an export hold every block of the stack, each once, beside what it is about and with the reason."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.building import built
from nodeless.export import documents, hcl, json_text, layout, local_state, readme
from nodeless.export.files import FORMATS, NAMES, exported
from nodeless.export.hcl import Block
from nodeless.resolved.installation import Installation
from nodeless.resolved.inventory import inventory
from nodeless.spec.resolution import load
from tests.conftest import ROOT

INSTALLATIONS = {
    each.stack: each
    for file in (ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml")))
    for each in load(file, warn=lambda *_: None)
}
Trees = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def trees() -> Trees:
    with built(list(INSTALLATIONS.values())) as folder:
        return {
            stack: json.loads((folder / "stacks" / stack / "cdk.tf.json").read_text("utf-8")) for stack in INSTALLATIONS
        }


def files_of(stack: str, trees: Trees) -> dict[str, tuple[Block, ...]]:
    return layout.files(trees[stack], inventory(INSTALLATIONS[stack]))


def names(blocks: Any) -> Counter[str]:  # noqa: ANN401 - blocks, or an iterator of them
    return Counter(hcl.address(block) for block in blocks if block.section != "terraform")


@pytest.mark.parametrize("stack", INSTALLATIONS)
def test_every_block_is_in_one_file(stack: str, trees: Trees) -> None:
    files = files_of(stack, trees)

    assert names(block for blocks in files.values() for block in blocks) == names(hcl.blocks_of(trees[stack]))
    assert layout.OTHER not in files
    (versions,), (backend,) = files[layout.VERSIONS], files[layout.BACKEND]
    assert {**versions.body, **backend.body} == trees[stack]["terraform"]


@pytest.mark.parametrize("stack", INSTALLATIONS)
def test_every_block_but_an_output_says_why_it_is_there(stack: str, trees: Trees) -> None:
    for blocks in files_of(stack, trees).values():
        for block in blocks:
            assert block.comment or block.section == "output", hcl.address(block)


def test_a_document_is_right_before_what_uses_it(trees: Trees) -> None:
    controller = [hcl.address(block) for block in files_of("demo", trees)["controller"]]

    for document, user in (
        ("controller_trust", "aws_iam_role.controller"),
        ("controller_interruption", "aws_iam_policy.controller_interruption"),
    ):
        assert controller[controller.index(user) - 1] == f"data.aws_iam_policy_document.{document}"


def test_what_no_table_knows_is_in_a_file_of_its_own() -> None:
    tree = {"resource": {"aws_thing": {"new": {}}}, "data": {"aws_other": {"one": {}}}, "unheard_of": {"a": 1}}

    (other,) = layout.files(tree, ()).items()

    assert other[0] == layout.OTHER
    assert [hcl.address(block) for block in other[1]] == ["aws_thing.new", "data.aws_other.one", "unheard_of"]


def test_a_policy_document_of_nothing_known_has_no_reason() -> None:
    tree = {
        "data": {"aws_iam_policy_document": {"a": {}}},
        "resource": {"aws_kms_key": {"k": {"policy": "${data.aws_iam_policy_document.a.json}"}}},
    }

    (blocks,) = layout.files(tree, ()).values()

    assert [block.comment for block in blocks] == ["", ""]


@pytest.mark.parametrize("stack", INSTALLATIONS)
def test_the_json_of_an_export_is_the_stack_with_documents_and_without_metadata(stack: str, trees: Trees) -> None:
    read: dict[str, Any] = {}
    for blocks in files_of(stack, trees).values():
        _merge(read, json.loads(json_text.written(blocks)))
    for row in read["resource"].get("aws_cloudwatch_event_rule", {}).values():
        local = row["event_pattern"].removeprefix("${jsonencode(local.").removesuffix(")}")
        row["event_pattern"] = json.dumps(read["locals"].pop(local), separators=(",", ":"))

    expected = json.loads(json.dumps(trees[stack]))
    assert _without_comments(read) == _without_comments(expected)


def _merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, dict):
            _merge(into.setdefault(key, {}), value)
        elif key != "//":
            assert key not in into
            into[key] = value


def _without_comments(tree: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(tree, dict):
        return {key: _without_comments(value) for key, value in tree.items() if key != "//"}
    if isinstance(tree, list):
        return [_without_comments(item) for item in tree]
    return tree


def rule(pattern: str) -> Block:
    return Block("resource", ("aws_cloudwatch_event_rule", "spot"), {"event_pattern": pattern, "name": "n"})


def test_a_document_is_an_object_in_both_languages() -> None:
    pattern = rule('{"source":["aws.ec2"],"detail":{"x":["$${y}"]}}')

    assert 'event_pattern = jsonencode({\n    source = ["aws.ec2"]\n' in hcl.written([documents.with_calls(pattern)])
    assert '"$${y}"' in hcl.written([documents.with_calls(pattern)])
    read = json.loads(json_text.written([pattern]))
    assert read["locals"] == {"spot_event_pattern": {"source": ["aws.ec2"], "detail": {"x": ["$${y}"]}}}
    assert read["resource"]["aws_cloudwatch_event_rule"]["spot"] == {
        "event_pattern": "${jsonencode(local.spot_event_pattern)}",
        "name": "n",
    }


def test_a_document_with_an_expression_stays_text() -> None:
    pattern = rule('{"source":["${var.source}"]}')

    assert documents.with_calls(pattern) == pattern
    assert documents.with_locals(pattern) == (pattern, {})


def test_comments_cannot_end_early() -> None:
    block = Block("resource", ("terraform_data", "a"), {"//": "metadata", "input": 1}, "one\u2028two\x1b\nthree")

    assert hcl.written([block]).startswith("# one\\u2028two\\x1b\n# three\nresource ")
    assert json.loads(json_text.written([block]))["resource"]["terraform_data"]["a"] == {
        "//": "one\\u2028two\\x1b three",
        "input": 1,
    }


def test_several_providers_of_a_name_are_a_list() -> None:
    blocks = [Block("provider", ("aws",), {"region": "a"}), Block("provider", ("aws",), {"alias": "b"})]

    assert json.loads(json_text.written(blocks)) == {"provider": {"aws": [{"region": "a"}, {"alias": "b"}]}}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("stack", INSTALLATIONS)
def test_every_file_has_a_known_name_and_a_row_in_the_readme(stack: str, form: str, trees: Trees) -> None:
    files = exported(trees[stack], INSTALLATIONS[stack], form, ["nodeless.tftest.hcl", "gitops/flux/a.yaml"])

    assert set(files) <= set(NAMES)
    for name in ({*files} - {"README.md", ".gitignore"}) | {"nodeless.tftest.hcl", "gitops"}:
        assert f"| `{name}` | " in files["README.md"]
        assert f"| `{name}` |  |" not in files["README.md"]
    assert not any("cdktf" in text.lower() or "uniqueId" in text for text in files.values())


def installation(backend: str) -> Installation:
    return next(each for each in INSTALLATIONS.values() if each.backend["type"] == backend)


def test_the_default_local_state_is_where_synth_has_it_for_an_export_beside_the_output_folder(trees: Trees) -> None:
    demo = INSTALLATIONS["demo"]
    moved = local_state.moved(trees["demo"], demo)

    from_synth = Path("cdktf.out/stacks/demo", demo.backend["path"])
    from_export = Path("terraform/demo", moved["terraform"]["backend"]["local"]["path"])
    here = Path("/project")
    assert _normal(here / from_synth) == _normal(here / from_export) == "/project/terraform.demo.tfstate"
    assert "../../../" not in json.dumps(moved)
    assert "../../../" in json.dumps(trees["demo"]), "the stack itself stays as it is"


def _normal(path: Path) -> str:
    parts: list[str] = []
    for part in path.parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return str(Path(*parts))


def test_other_backends_stay_as_they_are(trees: Trees) -> None:
    remote = installation("s3")

    assert local_state.path_of(remote) is None
    assert local_state.moved(trees[remote.stack], remote) == trees[remote.stack]
    assert "State: s3://" in readme.text(remote, (), {}, ())


def test_a_local_state_of_the_users_own_stays_where_the_file_says() -> None:
    own = INSTALLATIONS["demo"].with_texts(backend={"type": "local", "path": "../../../mine.tfstate"})

    assert local_state.path_of(own) == "../../../mine.tfstate"


def test_names_cannot_break_the_readme() -> None:
    demo = INSTALLATIONS["demo"]
    row = inventory(demo)[0]
    odd = type(row)(part=row.part, address="a.b", purpose="lets | find <b>\x1b", name="x|y")

    assert "| lets \\| find \\<b>\\\\x1b | `x\\|y` | `a.b` |" in readme.text(demo, [odd], {}, ())
