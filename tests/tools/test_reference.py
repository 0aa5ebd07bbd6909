"""The configuration reference: written from the model, and complete."""

from __future__ import annotations

import subprocess
import sys

from pydantic import BaseModel

from nodeless.karpenter.releases import NEWEST, RELEASES
from nodeless.resolved.names import KEYED_NAME_RULES, NAME_RULES
from nodeless.resolved.partitions import PARTITIONS
from nodeless.spec import backends, model
from nodeless.spec.schema import descriptions, schema
from nodeless.spec.section import Section
from tests.docs.markdown import HEADING, ROOT, code, rows, section, text_of
from tools.reference import anchor, reference

REFERENCE = ROOT / "docs" / "configuration.md"
SECTIONS = [
    section
    for module in (model, backends)
    for section in vars(module).values()
    if isinstance(section, type) and issubclass(section, BaseModel) and section not in {BaseModel, Section}
]


def test_the_reference_is_what_the_model_says() -> None:
    assert text_of(REFERENCE) == reference(), "make docs writes docs/configuration.md again"


def test_every_key_of_the_model_is_in_it_with_its_meaning() -> None:
    written = {(code(row[0])[0], row[3]) for row in rows(text_of(REFERENCE)) if len(row) == 4 and code(row[0])}

    for part in SECTIONS:
        meanings = descriptions(part)
        for key in part.model_fields:
            assert key in meanings, f"{part.__name__}.{key} has no docstring in the model"
            expected = " ".join(meanings[key].split())
            assert any(found == key and text.replace("&lt;", "<") == expected for found, text in written), key


def test_no_type_is_shown_as_python_writes_it() -> None:
    shown = [row[1] for row in rows(text_of(REFERENCE)) if len(row) == 4]

    assert shown
    assert [text for text in shown if "typing." in text or "<class" in text or "Annotated" in text or not text] == []


def test_every_section_can_be_linked_to_by_one_anchor() -> None:
    anchors = [anchor(heading) for heading in HEADING.findall(text_of(REFERENCE))]

    assert len(anchors) == len(set(anchors))


def test_names_partitions_and_releases_are_complete() -> None:
    names = {code(row[0])[0]: row for row in rows(section(REFERENCE, "Physical names"))}
    partitions = {code(row[0])[0] for row in rows(section(REFERENCE, "Partitions"))}
    releases = rows(section(REFERENCE, "Releases"))

    rules = (*NAME_RULES, *KEYED_NAME_RULES)
    assert set(names) == {rule.key for rule in rules}
    assert all(names[rule.key][-3] == str(rule.limit) for rule in rules)
    assert all(names[rule.key][-1] == rule.scope for rule in rules)
    assert partitions == {row.name for row in PARTITIONS}
    assert releases[0][0].startswith(str(RELEASES[0]))
    assert releases[-1][0].endswith(str(NEWEST))


def test_a_switch_shows_all_it_takes_and_a_type_of_text_what_it_expects() -> None:
    cluster = {code(row[0])[0]: row for row in rows(section(REFERENCE, "A cluster"))}

    assert cluster["fargate"][1] == "`true`, `false` or [a map](#fargate)"
    assert cluster["fargate"][2] == "`true`"
    assert cluster["name"][2] == "required"
    assert "an account id" in cluster["account"][1]
    assert "twelve digits" in section(REFERENCE, "Types of text")


def test_it_is_written_without_node_or_the_framework() -> None:
    program = (
        "import sys; from tools.reference import reference; reference(); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )

    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert {"jsii", "cdktf", "constructs", "stacks"}.isdisjoint(loaded.stdout.split())


def test_the_schema_for_editors_says_what_every_key_means() -> None:
    tree = schema()

    assert (
        tree["$defs"]["Cluster"]["properties"]["region"]["description"]
        == "its region, which also decides the partition"
    )
    assert all("description" in key for key in tree["$defs"]["Karpenter"]["properties"].values())
