"""`nodeless explain --fleet` and `nodeless upgrade --fleet`, run as a user runs them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from nodeless.cli.fleet_table import HEADER, MOST_NAMED, TABLE_COLUMNS, show
from nodeless.cli.main import main
from nodeless.explanation.fleet import FleetRow, fleet_rows
from nodeless.explanation.group_differences import GroupDifference
from nodeless.karpenter.releases import NEWEST
from tests.conftest import ROOT
from tests.fleet import members
from tests.terminal import seen_on_a_terminal

FLEET = """\
defaults:
  region: eu-north-1
  account: "111111111111"
  kubernetes: "1.31"
  karpenter: {version: 1.8.8}
clusters:
  - name: blue
  - {name: green, karpenter: {replicas: 1}, tags: {team: payments}}
  - {name: red, stack: red-2, account: "222222222222", region: us-east-1}
  - {name: done, karpenter: {version: 1.14.1}}
"""
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
NODELESS = (sys.executable, "-m", "nodeless")
HOSTILE = "\x1b[31m[red]\u202e`|x`\n\t.yaml"
# Of the processor. It takes about two for explain and three for upgrade; other machines are slower.
SECONDS = 8

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in a folder with a file; return its exit code, output and messages."""

    def command(*words: str, file: str = FLEET) -> tuple[int, str, str]:
        (tmp_path / "clusters.yaml").write_text(file, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        code = main([*words])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return command


# explain --fleet


def test_a_pipe_gets_one_aligned_row_per_cluster(run: Run, snapshot: SnapshotAssertion) -> None:
    code, out, err = run("explain", "--fleet")

    assert (code, err) == (0, "")
    assert out == snapshot
    assert [line.split()[0] for line in out.splitlines()[1:5]] == ["blue", "green", "red-2", "done"]


def test_the_clusters_are_counted_after_the_table(run: Run) -> None:
    _, out, _ = run("explain", "--fleet")

    assert out.endswith(
        "\n\n4 clusters, 2 with differences\n"
        "  per account:    111111111111 (3), 222222222222 (1)\n"
        "  per region:     eu-north-1 (3), us-east-1 (1)\n"
        "  per Karpenter:  1.8.8 (3), 1.14.1 (1)\n"
    )


def test_a_stack_with_another_name_is_shown_with_that_of_its_cluster(run: Run) -> None:
    assert "red-2 (red)" in run("explain", "--fleet")[1]


def test_what_the_file_does_not_say_is_looked_up(run: Run) -> None:
    _, out, _ = run("explain", "--fleet", file="clusters: [{name: demo, region: eu-north-1}]\n")

    row = out.splitlines()[1].split("  ")
    assert [cell.strip() for cell in row if cell].count("looked up") == 2


def test_a_chosen_cluster_is_compared_with_its_whole_group(run: Run) -> None:
    _, out, _ = run("explain", "--fleet", "--only", "green", "--json")

    (row,) = json.loads(out)["clusters"]
    assert row == {
        "stack": "green",
        "cluster": "green",
        "group": "clusters.yaml",
        "account": "111111111111",
        "region": "eu-north-1",
        "karpenter": "1.8.8",
        "kubernetes": "1.31",
        "differs": [
            {"path": "karpenter.replicas", "value": "1", "usual": "2"},
            {"path": "tags.team", "value": "payments", "usual": "nothing"},
        ],
    }


def test_json_has_the_counts_too(run: Run) -> None:
    assert json.loads(run("explain", "--fleet", "--json")[1])["counts"] == {
        "account": {"111111111111": 3, "222222222222": 1},
        "region": {"eu-north-1": 3, "us-east-1": 1},
        "karpenter": {"1.8.8": 3, "1.14.1": 1},
    }


def test_many_accounts_are_not_all_counted_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    fleet = members(*({"name": f"c{number}", "account": f"{number:012}"} for number in range(MOST_NAMED + 3)))

    show(fleet_rows(fleet, {member.installation.stack for member in fleet}))

    (line,) = [line for line in capsys.readouterr().out.splitlines() if "per account" in line]
    assert line.endswith("000000000007 (1), and 3 more")


ROW = FleetRow(
    stack="a-cluster-with-a-name-of-some-length-in-the-north-of-europe-1",
    cluster="a-cluster-with-a-name-of-some-length-in-the-north-of-europe-1",
    group="clusters.yaml",
    account="123456789012",
    region="eu-north-1",
    karpenter="1.14.1",
    kubernetes="1.31",
    differs=(
        GroupDifference(path="tags.team", value="payments", usual="nothing"),
        GroupDifference(path="path", value="/a/", usual="/b/"),
    ),
)


@pytest.mark.parametrize("columns", [40, 60, TABLE_COLUMNS - 1, TABLE_COLUMNS, 160])
def test_nothing_is_cut_at_any_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")

    show([ROW])

    out = capsys.readouterr().out
    assert ("\u2502" in out) == (columns >= TABLE_COLUMNS)
    assert "\u2026" not in out
    for text in (ROW.stack, "123456789012", "tags.team: payments (usually nothing)", "path: /a/ (usually /b/)"):
        assert "".join(text.split()) in "".join(in_columns(ESCAPE.sub("", out)).split())


def in_columns(out: str) -> str:
    """Read a table column by column, so that what is folded there is in one piece."""
    rows = [line.split("\u2502")[1:-1] for line in out.splitlines() if "\u2502" in line]
    return "".join(cell.strip() for column in zip(*rows, strict=True) for cell in column) if rows else out


@pytest.mark.parametrize("terminal", [None, "xterm", "dumb"])
def test_no_name_or_value_acts_on_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: str | None
) -> None:
    fleet = members({"name": "one"}, {"name": "two"}, {"name": "odd", "tags": {"team": "x=1"}}, group=HOSTILE)
    rows = fleet_rows(fleet, {"one", "two", "odd"})
    hostile = replace(rows[0], stack=HOSTILE, differs=(GroupDifference(path=HOSTILE, value=HOSTILE, usual=HOSTILE),))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal is not None)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", terminal or "xterm")

    show([*rows, hostile])

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert r"\x1b[31m[red]\u202e`|x`\n\t.yaml" in out


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 120])
def test_a_terminal_gets_a_table_where_it_has_room(tmp_path: Path, columns: int) -> None:
    (tmp_path / "clusters.yaml").write_text(FLEET, encoding="utf-8")

    seen = seen_on_a_terminal(
        [*NODELESS, "explain", "--fleet"], folder=tmp_path, columns=columns, environment={"PYTHONPATH": str(ROOT)}
    )

    assert ("\u2502" in seen) == (columns == 120)
    assert "4 clusters, 2 with differences" in seen
    assert all(len(line) <= columns for line in ESCAPE.sub("", seen).splitlines())


def test_the_header_names_what_is_in_the_columns() -> None:
    assert HEADER == ("cluster", "group", "account", "region", "Karpenter", "Kubernetes", "differs from its group")


# upgrade --fleet


@pytest.mark.parametrize(("form", "start"), [("text", "Fleet of 4"), ("markdown", "## Fleet of 4"), ("json", "{")])
def test_the_format_of_an_upgrade_is_an_option(run: Run, form: str, start: str) -> None:
    code, out, err = run("upgrade", "--fleet", "--to", "1.14.1", "--format", form)

    assert (code, err) == (0, "")
    assert out.startswith(start)


def test_json_of_an_upgrade_is_its_format(run: Run) -> None:
    words = ("upgrade", "--fleet", "--to", "1.14.1")

    assert run(*words, "--json") == run(*words, "--format", "json")


def test_an_upgrade_of_some_clusters_is_about_these(run: Run) -> None:
    _, out, _ = run("upgrade", "--fleet", "--to", "1.14", "--only", "red", "--only", "done", "--json")

    assert [(row["stack"], row["verdict"]) for row in json.loads(out)["clusters"]] == [
        ("red-2", "one stage"),
        ("done", "already there"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 120])
def test_a_narrow_terminal_gets_the_clusters_as_a_list(tmp_path: Path, columns: int) -> None:
    (tmp_path / "clusters.yaml").write_text(FLEET, encoding="utf-8")

    seen = seen_on_a_terminal(
        [*NODELESS, "upgrade", "--fleet", "--to", "1.14.1"],
        folder=tmp_path,
        columns=columns,
        environment={"PYTHONPATH": str(ROOT)},
    )

    lines = [line.rstrip() for line in ESCAPE.sub("", seen).splitlines()]
    assert ("    account  222222222222" in lines) == (columns == 60)
    assert "\u2500\u2500\u2500\u2500" in seen
    assert "\u2026" not in seen
    assert all(len(line) <= columns for line in lines)


# What cannot be beside --fleet.


# The arguments, and the four parts of the message.
RELEASES_BESIDE = "no releases beside --fleet but that of --to"
REFUSED: dict[str, tuple[str, str, str, str]] = {
    "explain blue": ("CLUSTER", "'blue'", "no cluster beside --fleet", "write --only blue"),
    "explain --deployer": ("--deployer", "'--fleet'", "either --deployer or --fleet, not both", "remove one"),
    "explain --settings": ("--settings", "'--fleet'", "either --settings or --fleet, not both", "remove one"),
    "explain --only bleu": ("--only", "'bleu'", "a cluster in clusters.yaml: blue", "did you mean blue?"),
    "upgrade blue --to 1.14": ("CLUSTER", "'blue'", "no cluster beside --fleet", "write --only blue"),
    "upgrade 1.8 1.9": ("FROM TO", "'1.8 1.9'", RELEASES_BESIDE, "write nodeless upgrade --fleet --to 1.9"),
    "upgrade 1.8 --to 1.9": ("FROM TO", "'1.8'", RELEASES_BESIDE, "write nodeless upgrade --fleet --to 1.9"),
    "upgrade --to 1.14 --write": ("--write", "'--fleet'", "either --write or --fleet, not both", "remove one"),
    "upgrade": ("--to", "'(missing)'", "the release to move to", f"write nodeless upgrade --fleet --to {NEWEST}"),
    "upgrade --to 1.99": ("--to", "'1.99'", "a Karpenter release", "upgrade it"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_beside_it_is_refused(run: Run, words: str) -> None:
    where, value, expected, fix = REFUSED[words]

    code, out, err = run(*words.split(), "--fleet")

    assert (code, out) == (2, "")
    for text in (f": {where}\n", f"value     {value}", f"expected  {expected}", fix):
        assert text in err
    assert "Traceback" not in err


def test_nothing_is_written_where_write_is_refused(run: Run, tmp_path: Path) -> None:
    run("upgrade", "--fleet", "--to", "1.14", "--write")

    assert (tmp_path / "clusters.yaml").read_text(encoding="utf-8") == FLEET


def test_a_refusal_is_json_for_programs(run: Run) -> None:
    code, out, err = run("explain", "blue", "--fleet", "--json")

    assert (code, err) == (2, "")
    assert json.loads(out)["findings"][0]["path"] == "CLUSTER"


@pytest.mark.parametrize("words", [("explain",), ("upgrade", "--to", "1.14")], ids=" ".join)
def test_a_wrong_file_is_reported_as_synth_reports_it(run: Run, words: tuple[str, ...]) -> None:
    code, _, err = run(*words, "--fleet", file="clusters: [{name: demo, region: eu-north-1, karpentr: {}}]\n")

    assert code == 2
    assert "did you mean karpenter?" in err


# Large fleets.


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Write the largest fleet that one file may hold, with three releases."""
    releases = ("0.37.8", "1.8.8", "1.9.2")
    rows = [
        f'  - {{name: c{number}, account: "{number % 4:012}", karpenter: {{version: {releases[number % 3]}}}}}'
        for number in range(500)
    ]
    file = tmp_path / "clusters.yaml"
    file.write_text("\n".join(['defaults: {region: eu-north-1, kubernetes: "1.29"}', "clusters:", *rows, ""]), "utf-8")
    return file


@pytest.mark.parametrize("words", [("explain",), ("upgrade", "--to", "1.14.1")], ids=" ".join)
def test_five_hundred_clusters_take_seconds_and_start_no_node(large: Path, words: tuple[str, ...]) -> None:
    program = (
        "import sys, time; from nodeless.cli.main import main; "
        f"main([*{words!r}, '--fleet', '--config', {str(large)!r}]); "
        "print(time.process_time(), *sorted({name.partition('.')[0] for name in sys.modules}))"
    )

    outcome = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )

    seconds, *loaded = outcome.stdout.splitlines()[-1].split()
    assert float(seconds) < SECONDS
    assert {"cdktf", "jsii", "constructs", "rich"}.isdisjoint(loaded)
