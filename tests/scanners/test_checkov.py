"""checkov reads everything that is written, really checks it, and finds nothing that is not accepted."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from nodeless.cli.building import built
from nodeless.cli.export import write_cluster
from nodeless.cli.main import main
from nodeless.export.files import FORMATS
from nodeless.output.paths import STACK_JSON
from tests.docs.markdown import blocks
from tests.scanners import readings, subjects
from tests.scanners.accepted import ACCEPTED, FILES, PAGE, accepted
from tests.scanners.readings import Checked, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.scanners.readings import Reading, Readings

# Some thirty stacks are built and read.
pytestmark = pytest.mark.slow

SYNTHESIZED, MODULE, CHANGED = "stacks", "module", "changed"
FORMS = (SYNTHESIZED, *FORMATS)
# The checks of a policy document that look at each action and each resource.
OF_DOCUMENTS = {f"CKV_AWS_{number}" for number in (1, 49, 107, 108, 109, 110, 111, 283, 356)}


@dataclass(frozen=True)
class Scan:
    """Everything that is written, and what checkov says about it."""

    below: Path
    readings: Readings

    def of(self, form: str) -> dict[str, Reading]:
        """Return what was found in each stack in one form."""
        return {place.name: each for place, each in self.readings.found.items() if place.parent == self.below / form}


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    readings.needs_checkov()
    below = tmp_path_factory.mktemp("scanned")
    installations = subjects.installations()
    with built(installations) as source:
        shutil.copytree(source / "stacks", below / SYNTHESIZED)
        for form in FORMATS:
            (below / form).mkdir()
            for each in installations:
                write_cluster(each, source, below / form, form)
    assert main(["export", "--module", str(below / MODULE / "karpenter"), "--quiet"]) == 0
    stacks = [below / form / each.stack for form in FORMS for each in installations]
    return Scan(below, readings.read(folders=[*stacks, below / MODULE / "karpenter", *changed(below)]))


def changed(below: Path) -> Iterator[Path]:
    """Write stacks that are not as they should be, and return their folders."""
    tree = json.loads((below / SYNTHESIZED / "delivered" / STACK_JSON).read_text("utf-8"))
    usual = {
        "terraform": {**tree, "terraform": {**tree["terraform"], "required_version": ">= 1.7"}},
        "removed": {**tree, "removed": [block for (block,) in tree["removed"]]},
    }
    del tree["resource"]["aws_sqs_queue"]["interruption"]["sqs_managed_sse_enabled"]
    tree["data"]["aws_iam_policy_document"]["controller_interruption"]["statement"][0]["resources"] = ["*"]
    for name, each in {**usual, "open": tree}.items():
        folder = below / CHANGED / name
        folder.mkdir(parents=True)
        (folder / STACK_JSON).write_text(json.dumps(each, indent=2), "utf-8")
        yield folder


def test_every_file_is_read(scan: Scan) -> None:
    unread = {place: each.unread for form in (*FORMS, MODULE) for place, each in scan.of(form).items() if each.unread}

    assert unread == {}


def test_every_resource_that_checkov_knows_is_checked(scan: Scan) -> None:
    known, seen = scan.readings.known_types, set()
    for file in (scan.below / SYNTHESIZED).glob(f"*/{STACK_JSON}"):
        tree = json.loads(file.read_text("utf-8"))
        there = {
            f"{prefix}{kind}.{name}"
            for section, prefix in (("resource", ""), ("data", "data."))
            for kind, named in tree.get(section, {}).items()
            for name in named
            if f"{prefix}{kind}" in known
        }
        seen |= set(map(type_of, there))
        for form in FORMS:
            reading = scan.of(form)[file.parent.name]
            assert there <= {each.address for each in reading.passed | reading.failed}, (form, file)
    assert seen == {
        "data.aws_iam_policy_document",
        "aws_iam_policy",
        "aws_iam_role",
        "aws_iam_role_policy",
        "aws_iam_role_policy_attachment",
        "aws_sqs_queue",
        "aws_sqs_queue_policy",
    }


def test_every_statement_is_weighed(scan: Scan) -> None:
    """A policy that cloudsplaining cannot read has no result for these checks, neither passed nor failed."""
    counted = 0
    for form in FORMS:
        for stack, reading in scan.of(form).items():
            by_document: dict[str, set[str]] = {}
            for each in reading.passed | reading.failed:
                if each.address.startswith("data.aws_iam_policy_document."):
                    by_document.setdefault(each.address, set()).add(each.check)
            for address, checks in by_document.items():
                assert checks >= OF_DOCUMENTS, (form, stack, address)
                counted += 1
    assert counted > 100


@pytest.mark.parametrize("form", FORMS)
def test_it_finds_what_is_accepted_and_nothing_else(form: str, scan: Scan) -> None:
    found = {each for reading in scan.of(form).values() for each in reading.failed}

    assert found == accepted(FILES)
    assert not any(reading.skipped for reading in scan.of(form).values())


def test_every_form_of_a_stack_is_judged_alike(scan: Scan) -> None:
    for stack, reading in scan.of(SYNTHESIZED).items():
        assert {form: scan.of(form)[stack].failed for form in FORMATS} == dict.fromkeys(FORMATS, reading.failed), stack


def test_the_newest_release_and_the_module_have_no_finding(scan: Scan) -> None:
    assert scan.of(SYNTHESIZED)["demo"].failed == frozenset()
    (module,) = scan.of(MODULE).values()
    assert module.failed == frozenset()
    assert len(module.passed) > 100


def test_a_queue_without_encryption_and_a_policy_for_everything_are_found(scan: Scan) -> None:
    found = scan.of(CHANGED)["open"].failed

    assert Checked("CKV_AWS_27", "aws_sqs_queue.interruption") in found
    assert Checked("CKV_AWS_356", "data.aws_iam_policy_document.controller_interruption") in found


@pytest.mark.parametrize("kind", ["terraform", "removed"])
def test_terraform_json_as_it_is_usually_written_would_not_be_read(kind: str, scan: Scan) -> None:
    """When this fails, checkov has learned it, and what is written can be simpler."""
    reading = scan.of(CHANGED)[kind]

    assert reading.unread == (str(scan.below / CHANGED / kind / STACK_JSON),)
    assert reading.checked_types <= {"aws"}, "a provider, of the file beside it"


def test_the_command_of_the_page_passes_and_counts(scan: Scan, tmp_path: Path) -> None:
    (settings,) = blocks("yaml", PAGE)
    (tmp_path / ".checkov.yaml").write_text(settings.text, "utf-8")
    shutil.copytree(scan.below / SYNTHESIZED / "demo", tmp_path / "cdktf.out" / "stacks" / "demo")

    done = subprocess.run(
        [readings.BIN / "checkov", "--directory", "cdktf.out", "--output", "json"],
        cwd=tmp_path,
        env=readings.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    summaries = {each["check_type"]: each["summary"] for each in json.loads(done.stdout)}
    assert summaries["terraform_json"]["passed"] >= len(scan.of(SYNTHESIZED)["demo"].passed) - 1
    assert [each["parsing_errors"] for each in summaries.values()] == [0, 0]


def test_the_table_has_no_row_twice() -> None:
    assert len({(row.checked, row.where) for row in ACCEPTED}) == len(ACCEPTED)
