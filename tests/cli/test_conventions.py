"""What all verbs have in common: where results and messages go, and the options that several of them take."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.main import VERBS, main
from nodeless.karpenter.releases import NEWEST
from tests.cli.nodeless_process import contents
from tests.conftest import ROOT
from tests.terminal import seen_on_a_terminal

TWO = "defaults: {region: eu-north-1}\nclusters: [{name: one}, {name: two}]\n"
WRONG = "clusters:\n  - name: demo\n    regon: eu-north-1\n"
NODELESS = (sys.executable, "-m", "nodeless")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a verb in a folder with a file, perhaps with something on standard input."""

    def command(*words: str, file: str = TWO, stdin: str | None = None) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        if stdin is None:
            Path("clusters.yaml").write_text(file, encoding="utf-8")
        else:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        status = main(words)
        seen = capsys.readouterr()
        return status, seen.out, seen.err

    return command


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_ends_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])

    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert f"nodeless {verb}" in shown.partition("\nexamples:\n")[2]
    assert "--json" in shown
    assert "--quiet" in shown


def test_the_version_names_the_newest_release(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])

    shown = capsys.readouterr().out
    assert (
        re.fullmatch(rf"nodeless \S+ \(Karpenter up to {re.escape(str(NEWEST))}\)\n", shown) or "from source" in shown
    )


def test_from_source_the_version_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("nodeless.cli.unforeseen.version", lambda _: None)
    with pytest.raises(SystemExit):
        main(["--version"])

    assert capsys.readouterr().out == f"nodeless from source, not installed (Karpenter up to {NEWEST})\n"


# Standard input.


def test_a_file_may_come_from_standard_input(run: Run) -> None:
    status, out, err = run("explain", "two", "--config", "-", stdin=TWO)

    assert (status, err) == (0, "")
    assert "name: two" in out


def test_a_mistake_on_standard_input_is_named_there(run: Run) -> None:
    status, out, err = run("explain", "--config", "-", stdin=WRONG)

    assert (status, out) == (2, "")
    assert err.startswith("<stdin>:3:5: unknown key: regon\n3 |     regon: eu-north-1\n")
    assert err.endswith("<stdin>: 1 problem\n")


def test_an_upgrade_reads_standard_input_too(run: Run) -> None:
    status, out, _ = run("upgrade", "two", "--to", str(NEWEST), "--config", "-", stdin=TWO)

    assert status == 0
    assert "<stdin>" in out


# Some clusters of the file.


@pytest.mark.parametrize("words", [("two",), ("--only", "two")])
def test_only_some_clusters_are_explained(run: Run, words: tuple[str, ...]) -> None:
    _, out, _ = run("explain", "--json", *words)

    assert [cluster["name"] for cluster in json.loads(out)["clusters"]] == ["two"]


def test_only_may_be_given_several_times(run: Run) -> None:
    _, out, _ = run("explain", "--json", "--only", "two", "--only", "one")

    assert [cluster["name"] for cluster in json.loads(out)["clusters"]] == ["one", "two"]


def test_a_cluster_is_also_found_by_its_stack(run: Run) -> None:
    file = "clusters: [{name: one, stack: first, region: eu-north-1}, {name: two, region: eu-north-1}]\n"

    for name in ("one", "first"):
        assert json.loads(run("explain", "--json", "--only", name, file=file)[1])["clusters"][0]["name"] == "one"


def test_an_upgrade_takes_only_one_cluster(run: Run) -> None:
    assert run("upgrade", "--only", "two", "--to", "1.13") == run("upgrade", "two", "--to", "1.13")


@pytest.mark.parametrize("words", [("synth", "--only", "tow"), ("explain", "tow"), ("explain", "--only", "tow")])
def test_a_cluster_that_is_not_there_gets_a_suggestion(run: Run, words: tuple[str, ...]) -> None:
    status, out, err = run(*words)

    assert (status, out) == (2, "")
    assert "a cluster in clusters.yaml: one, two" in err
    assert "did you mean two?" in err


# Programs.


@pytest.mark.parametrize(
    "words",
    [("explain",), ("explain", "--deployer"), ("upgrade", "one", "--to", "1.13"), ("schema",), ("completion", "zsh")],
    ids=" ".join,
)
def test_a_result_is_one_json_document(run: Run, words: tuple[str, ...]) -> None:
    status, out, _ = run(*words, "--json")

    assert status == 0
    assert json.loads(out)


def test_json_of_an_upgrade_is_its_format(run: Run) -> None:
    assert run("upgrade", "1.8", "1.9", "--json") == run("upgrade", "1.8", "1.9", "--format", "json")


@pytest.mark.parametrize("words", [("synth",), ("explain",), ("upgrade", "--to", "1.13")], ids=" ".join)
def test_a_refusal_is_a_json_document_too(run: Run, words: tuple[str, ...]) -> None:
    status, out, err = run(*words, "--json", file=WRONG)

    assert (status, err) == (2, "")
    (finding,) = json.loads(out)["findings"]
    assert finding == {
        "file": "clusters.yaml",
        "line": 3,
        "column": 5,
        "path": "clusters[0].regon",
        "value": "eu-north-1",
        "expected": "a documented key",
        "fix": "did you mean region?",
    }


def test_wrong_arguments_of_a_verb_are_json_too(run: Run) -> None:
    status, out, _ = run("upgrade", "0.1", "0.2", "--json")

    assert status == 2
    assert json.loads(out)["findings"][0]["path"] == "FROM"


@pytest.mark.slow
def test_what_the_system_lacks_is_json_too(tmp_path: Path) -> None:
    outcome = subprocess.run(
        [sys.executable, ROOT / "main.py", "--json", "--config", ROOT / "clusters.yaml"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "JSII_NODE": "/does/not/exist"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (outcome.returncode, outcome.stderr) == (2, "")
    assert json.loads(outcome.stdout)["findings"][0]["fix"]


# Only a verb that writes says that it has not.


@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (("synth",), "clusters.yaml: 1 problem, nothing was written\n"),
        (("explain",), "clusters.yaml: 1 problem\n"),
        (("upgrade", "--to", "1.13"), "clusters.yaml: 1 problem\n"),
    ],
    ids=["synth", "explain", "upgrade"],
)
def test_only_a_verb_that_writes_says_that_it_has_not(run: Run, words: tuple[str, ...], ending: str) -> None:
    _, _, err = run(*words, file=WRONG)

    assert err.endswith(f"\n\n{ending}")


# Synthesis.


def synthesized(
    folder: Path, *words: str, file: str | None = TWO, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    if file is not None:
        (folder / "clusters.yaml").write_text(file, encoding="utf-8")
    return subprocess.run(
        [sys.executable, ROOT / "main.py", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        input=stdin,
    )


@pytest.mark.slow
def test_in_a_pipe_one_line_says_what_was_done(tmp_path: Path) -> None:
    outcomes = [
        synthesized(tmp_path, "--only", "one"),
        synthesized(tmp_path),
        synthesized(tmp_path, file=TWO.replace("{name: two}", "{name: two, tags: {a: b}}")),
        synthesized(tmp_path, "--quiet"),
    ]

    assert [(each.returncode, each.stdout, each.stderr) for each in outcomes] == [
        (0, "", "cdktf.out: 1 stack written (1 new)\n"),
        (0, "", "cdktf.out: 2 stacks written (1 new, 1 unchanged)\n"),
        (0, "", "cdktf.out: 2 stacks written (1 changed, 1 unchanged)\n"),
        (0, "", ""),
    ]


@pytest.mark.slow
def test_a_synthesis_says_for_programs_what_it_did(tmp_path: Path) -> None:
    assert synthesized(tmp_path).returncode == 0

    outcome = synthesized(tmp_path, "--only", "two", "--json", file=TWO.replace("{name: one}", "{name: other}"))

    told: dict[str, Any] = json.loads(outcome.stdout)
    (stack,) = told.pop("stacks")
    assert told == {"out": "cdktf.out", "not_chosen": ["other"], "orphaned": ["one"], "pruned": [], "kept": []}
    assert (stack["stack"], stack["cluster"], stack["change"]) == ("two", "two", "unchanged")
    assert (tmp_path / stack["path"]).is_file()
    assert stack["state"] == "terraform.two.tfstate"
    assert stack["resources"] > 20
    assert outcome.stderr.startswith("cdktf.out/stacks/one: warning: one is not in clusters.yaml any more")
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_whole_file_is_checked_whatever_is_chosen(tmp_path: Path) -> None:
    outcome = synthesized(tmp_path, "--only", "one", file=TWO.replace("{name: two}", "{name: two, regon: x}"))

    assert outcome.returncode == 2
    assert "unknown key: regon" in outcome.stderr
    assert not (tmp_path / "cdktf.out").exists()


@pytest.mark.slow
def test_standard_input_gives_the_same_stacks_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    (tmp_path / "pipe").mkdir()
    assert synthesized(tmp_path / "file").returncode == 0

    outcome = synthesized(tmp_path / "pipe", "--config", "-", file=None, stdin=TWO)

    assert (outcome.returncode, outcome.stderr) == (0, "cdktf.out: 2 stacks written (2 new)\n")
    one, other = (contents(tmp_path / name / "cdktf.out") for name in ("file", "pipe"))
    inventories = [json.loads(each.pop(".nodeless/inventory.json")) for each in (one, other)]
    assert one == other
    assert {row["config"] for row in inventories[1]["stacks"].values()} == {"-"}
    assert inventories[0]["stacks"].keys() == inventories[1]["stacks"].keys()


# Terminals.


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 120])
def test_a_summary_has_room_on_its_terminal(tmp_path: Path, columns: int) -> None:
    name = "a-cluster-with-a-long-name-in-the-north-of-europe"
    (tmp_path / "clusters.yaml").write_text(f"clusters: [{{name: {name}, region: eu-north-1}}]\n", encoding="utf-8")

    seen = seen_on_a_terminal([sys.executable, ROOT / "main.py"], folder=tmp_path, columns=columns)

    shown = ESCAPE.sub("", seen)
    assert name in shown if columns == 60 else name[:10] in shown
    assert "\u2026" not in shown
    assert ("\u2502" in shown) == (columns == 120)
    assert "1 stack written (1 new): cdktf.out/stacks/<stack>/cdk.tf.json" in shown


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
@pytest.mark.parametrize("verb", [("synth",), ("upgrade", "1.8", "1.9")], ids=" ".join)
def test_a_plain_terminal_gets_no_escape(tmp_path: Path, environment: dict[str, str], verb: tuple[str, ...]) -> None:
    (tmp_path / "clusters.yaml").write_text(TWO, encoding="utf-8")

    seen = seen_on_a_terminal(
        [*NODELESS, *verb], folder=tmp_path, columns=100, environment={"PYTHONPATH": str(ROOT), **environment}
    )

    assert "\x1b" not in seen
    assert ("\u2502" in seen) == ("NO_COLOR" in environment and verb[0] == "synth")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)], ids=str
)
def test_a_message_has_colours_where_a_terminal_has_them(
    tmp_path: Path, environment: dict[str, str], *, coloured: bool
) -> None:
    (tmp_path / "clusters.yaml").write_text(WRONG, encoding="utf-8")

    seen = seen_on_a_terminal(
        [*NODELESS, "explain"],
        folder=tmp_path,
        columns=60,
        status=2,
        environment={"PYTHONPATH": str(ROOT), **environment},
        with_messages=True,
    )

    assert ("\x1b" in seen) == coloured
    assert "3 |     regon: eu-north-1" in ESCAPE.sub("", seen)
