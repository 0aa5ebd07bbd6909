"""The tables end at a release and the world does not: newer ones pass with a warning, and say what was used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.main import main
from nodeless.finding import Finding
from nodeless.karpenter.releases import LAST_PATCHES, NEWEST, NEWEST_KUBERNETES, find
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import controller_policies, place_of
from nodeless.spec.resolution import resolve
from tests.refusals import problems

NEXT_PATCH = f"{NEWEST.major}.{NEWEST.minor}.{NEWEST.patch + 1}"
NEXT_MINOR = f"{NEWEST.major}.{NEWEST.minor + 1}.0"


def resolved(**keys: Any) -> tuple[Installation, list[Finding]]:  # noqa: ANN401 - keys of a cluster
    warnings: list[Finding] = []
    tree = {"clusters": [{"name": "demo", "region": "eu-north-1", "account": "123456789012", **keys}]}
    ((_, found),) = resolve(tree, source="clusters.yaml", warn=warnings.append)
    return found, warnings


@pytest.mark.parametrize("last", LAST_PATCHES, ids=str)
def test_a_newer_patch_of_a_known_minor_passes_with_a_warning(last: tuple[int, int, int]) -> None:
    version = Release(last[0], last[1], last[2] + 1)

    found, (warning,) = resolved(karpenter={"version": str(version)})

    assert (found.version, found.release) == (version, Release(*last))
    assert warning.path == ("clusters", 0, "karpenter", "version")
    assert f"the tables of {Release(*last)} are used" in warning.expected


def test_a_known_release_gives_no_warning() -> None:
    found, warnings = resolved(karpenter={"version": str(NEWEST)}, kubernetes=f"1.{NEWEST_KUBERNETES}")

    assert (warnings, found.is_beyond_tables) == ([], False)


def test_a_newer_minor_needs_the_tables_to_use() -> None:
    (finding,) = problems(karpenter={"version": NEXT_MINOR})

    assert finding.where() == "clusters[0].karpenter.version"
    assert "set `tables` to the known release" in finding.fix
    assert finding.expected == "a Karpenter release that this nodeless knows"
    assert "exist" not in f"{finding.expected} {finding.fix}"


@pytest.mark.parametrize("arguments", [("1.13.1", NEXT_MINOR), (NEXT_MINOR, "1.13.1"), ("--to", NEXT_MINOR)], ids=str)
def test_the_upgrade_command_does_not_claim_that_it_does_not_exist_either(
    arguments: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clusters.yaml").write_text("clusters: [{name: demo, region: eu-north-1}]\n", encoding="utf-8")

    assert main(["upgrade", *arguments]) == 2
    said = capsys.readouterr().err
    assert "a Karpenter release that this nodeless knows" in said
    assert "exist" not in said


def test_with_tables_a_newer_minor_is_installed_and_gets_their_rows() -> None:
    found, (warning,) = resolved(karpenter={"version": NEXT_MINOR, "tables": "1.13"})
    known, _ = resolved(karpenter={"version": "1.13"})

    assert (str(found.version), str(found.release)) == (NEXT_MINOR, "1.13.1")
    assert "the tables of 1.13.1 are used" in warning.expected
    place = place_of(known, account="123456789012")
    assert controller_policies(found, place) == controller_policies(known, place)


WRONG: dict[str, tuple[dict[str, str], str, str]] = {
    "tables for a known release": ({"version": str(NEWEST), "tables": "1.13"}, "tables", "remove the key"),
    "tables for a known minor": ({"version": "1.13", "tables": "1.12"}, "tables", "remove the key"),
    "tables that are not known": ({"version": NEXT_MINOR, "tables": NEXT_PATCH}, "tables", f"such as {NEWEST}"),
    "tables that never were": ({"version": NEXT_MINOR, "tables": "0.34.4"}, "tables", "never released"),
    "a minor without its patch": (
        {"version": NEXT_MINOR.removesuffix(".0"), "tables": "1.13"},
        "version",
        f"write {NEXT_MINOR}",
    ),
    "a release that was never made": ({"version": "0.27.7"}, "version", "was never released"),
    "a minor that never was": ({"version": "0.99.0"}, "version", "known releases run from"),
    "a release before the first": ({"version": "0.24.0"}, "version", "known releases run from"),
    "no release at all": ({"version": "latest"}, "version", "write a release such as"),
}


@pytest.mark.parametrize("case", WRONG)
def test_it_is_refused_with_advice_that_is_true(case: str) -> None:
    karpenter, key, fix = WRONG[case]

    (finding,) = problems(karpenter=karpenter)
    assert finding.where() == f"clusters[0].karpenter.{key}"
    assert fix in finding.fix


def test_a_newer_kubernetes_is_a_warning_and_an_older_one_is_refused() -> None:
    _, (warning,) = resolved(kubernetes=f"1.{NEWEST_KUBERNETES + 1}")

    assert warning.where() == "clusters[0].kubernetes"
    assert problems(kubernetes=f"1.{NEWEST_KUBERNETES}", karpenter={"version": "1.8"})
    assert problems(kubernetes="1.20")


def test_the_warning_is_a_line_on_stderr_and_the_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clusters.yaml").write_text(
        f"clusters:\n  - name: demo\n    region: eu-north-1\n    karpenter: {{version: {NEXT_PATCH}}}\n"
    )

    assert main(["explain"]) == 0
    seen = capsys.readouterr()
    assert seen.err.startswith("clusters.yaml:4:26: warning: clusters[0].karpenter.version: ")
    assert f'version: "{NEXT_PATCH}"' in seen.out


def test_find_takes_a_newer_patch() -> None:
    assert find(NEXT_PATCH) == Release.parse(NEXT_PATCH)
