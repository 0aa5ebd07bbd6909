"""`nodeless releases`: what is known, newest first, and what runs on a Kubernetes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nodeless.cli.main import main
from nodeless.karpenter.releases import LAST_PATCHES, NEWEST, NEWEST_KUBERNETES, RELEASES, kubernetes_range, supports
from nodeless.karpenter.versions import Release

Captured = pytest.CaptureFixture[str]


def listed(capsys: Captured, *options: str) -> list[dict[str, Any]]:
    assert main(["releases", "--json", *options]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["releases"]
    return rows


def test_it_lists_the_newest_patch_of_every_minor_newest_first(capsys: Captured) -> None:
    names = [row["release"] for row in listed(capsys)]

    assert names == [str(Release(*patch)) for patch in reversed(LAST_PATCHES)]


def test_it_lists_every_patch_if_asked(capsys: Captured) -> None:
    assert [row["release"] for row in listed(capsys, "--all")] == [str(release) for release in reversed(RELEASES)]


@pytest.mark.parametrize("minor", [21, 26, 31, 33, NEWEST_KUBERNETES])
def test_only_what_runs_on_a_kubernetes(minor: int, capsys: Captured) -> None:
    serving = [release for release in RELEASES if supports(release, minor)]

    every = [row["release"] for row in listed(capsys, "--all", "--kubernetes", f"1.{minor}")]
    newest = [row["release"] for row in listed(capsys, "--kubernetes", f"v1.{minor}")]

    assert every == [str(release) for release in reversed(serving)]
    assert set(newest) == {str(max(each for each in serving if each[:2] == release[:2])) for release in serving}


def test_a_row_says_range_api_and_permissions(capsys: Captured) -> None:
    rows = {row["release"]: row for row in listed(capsys, "--all")}

    first, last = kubernetes_range(NEWEST)
    assert rows[str(NEWEST)]["kubernetes"] == {"first": f"1.{first}", "last": f"1.{last}"}
    assert [rows[name]["api"] for name in ("1.0.0", "0.37.8", "0.31.5")] == [
        "karpenter.sh/v1",
        "karpenter.sh/v1beta1",
        "karpenter.sh/v1alpha5",
    ]
    assert [rows[name]["permissions_since"] for name in ("1.14.1", "1.8.8", "0.28.0")] == ["1.13.0", "1.7.0", "0.25.0"]


def test_the_table_has_a_line_for_each_and_fits_on_sixty_columns(capsys: Captured) -> None:
    assert main(["releases", "--all"]) == 0

    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["release", "Kubernetes", "API", "permissions", "of"]
    assert [line.split()[0] for line in lines] == [str(release) for release in reversed(RELEASES)]
    assert max(map(len, [header, *lines])) <= 60


def test_where_nothing_runs_on_a_kubernetes_the_result_is_empty_and_it_is_said(capsys: Captured) -> None:
    assert main(["releases", "--kubernetes", "1.99"]) == 0

    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err == (
        f"nodeless releases: no known release runs on Kubernetes 1.99; the newest known is 1.{NEWEST_KUBERNETES}\n"
    )


@pytest.mark.parametrize(
    ("text", "fix"), [("1.30.4", "write 1.30"), ("33", "write one such as"), ("\x1b[0m", "write one such as")]
)
def test_what_is_no_minor_of_kubernetes_is_refused(text: str, fix: str, capsys: Captured) -> None:
    assert main(["releases", "--kubernetes", text]) == 2

    seen = capsys.readouterr().err
    assert fix in seen
    assert "\x1b" not in seen
