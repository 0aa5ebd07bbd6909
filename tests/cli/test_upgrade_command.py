"""`nodeless upgrade`, run as a user runs it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.cli.main import main
from nodeless.karpenter.releases import NEWEST, NEWEST_MINOR, RELEASES
from tests.conftest import ROOT
from tests.docs.markdown import Block, blocks

GUIDE = ROOT / "docs" / "upgrading.md"
FORMATS = ("text", "markdown", "json")

ONE_CLUSTER = """\
clusters:
  - name: demo
    region: eu-north-1
    account: "123456789012"
    kubernetes: "1.29"
    karpenter:
      version: "0.37"
"""
THREE_CLUSTERS = """\
defaults:
  region: cn-north-1
  karpenter: {version: 1.3.8}
clusters:
  - name: red
  - name: blue
  - name: green
    karpenter: {version: 1.4.0}
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in a folder with a file; return its exit code, output and messages."""

    def command(*words: str, file: str = ONE_CLUSTER) -> tuple[int, str, str]:
        (tmp_path / "clusters.yaml").write_text(file, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        code = main(["upgrade", *words])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return command


def process(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


def test_a_pipe_gets_the_same_text_as_format_text(run: Run) -> None:
    assert run("1.8", "1.9")[1] == run("1.8", "1.9", "--format", "text")[1]


def test_the_first_release_may_stand_before_the_option(run: Run) -> None:
    assert run("1.8", "--to", "1.9") == run("1.8", "1.9")


def test_two_equal_releases_differ_in_nothing(run: Run) -> None:
    assert run("1.6", "v1.6.8") == (0, "Karpenter 1.6.8 -> 1.6.8: nothing changes\n", "")


def test_a_downgrade_is_done_too(run: Run) -> None:
    code, out, _ = run("1.0.14", "0.36.9")

    assert (code, out.splitlines()[0]) == (0, "Karpenter 1.0.14 -> 0.36.9: a downgrade")


@pytest.mark.parametrize(("form", "start"), [("text", "Karpenter 1.8.8"), ("markdown", "## Karpenter"), ("json", "{")])
def test_the_format_is_an_option(run: Run, form: str, start: str) -> None:
    code, out, err = run("1.8.8", "1.9.2", "--format", form)

    assert (code, err) == (0, "")
    assert out.startswith(start)


def test_a_cluster_is_compared_from_the_release_in_its_file(run: Run) -> None:
    code, out, err = run("demo", "--to", "1.14.1")

    assert (code, err) == (0, "")
    assert out.startswith("demo (eu-north-1), Karpenter 0.37.8 -> 1.14.1\n")


def test_the_file_is_an_option(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(ONE_CLUSTER.replace("demo", "other"), encoding="utf-8")

    _, out, _ = run("other", "--to", "1.14.1", "--config", "other.yaml")

    assert "other.yaml, line 7: clusters[0].karpenter.version" in out


def test_a_file_with_one_cluster_needs_no_name(run: Run) -> None:
    assert run("--to", "1.0.14") == run("demo", "--to", "1.0.14")


WRONG = (
    (["0.27.7", "1.14.1"], "'0.27.7'", "0.27.7 was never released; the newest known patch of that minor is 0.27.8"),
    (["0.37.8", "1.99"], "'1.99'", f"this nodeless knows releases up to {NEWEST}: upgrade it"),
    (["0.37.8", "0.99"], "'0.99'", f"known releases run from {RELEASES[0]} to {NEWEST}"),
    (["0.37.8", "latest"], "'latest'", f"write a release such as {NEWEST}, or a minor such as "),
    (["demo", "1.14.1"], "'demo'", "for the cluster demo write nodeless upgrade demo --to 1.14.1"),
    (["demo"], "'(missing)'", f"write nodeless upgrade demo --to {NEWEST}"),
    (["1.9"], "'(missing)'", "write nodeless upgrade 1.9 TO"),
    (["dmeo", "--to", "1.14.1"], "'dmeo'", "a cluster in clusters.yaml: demo"),
    (["1.1", "1.2", "1.3"], "'1.1 1.2 1.3'", "write nodeless upgrade FROM TO"),
    (["1.1", "1.2", "--to", "1.3"], "'1.3'", "two releases or --to, not both"),
)


@pytest.mark.parametrize(("words", "value", "advice"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_arguments_are_a_message_and_exit_code_2(run: Run, words: list[str], value: str, advice: str) -> None:
    code, out, err = run(*words)

    assert (code, out) == (2, "")
    assert value in err
    assert advice in err
    assert "Traceback" not in err


def test_a_file_with_several_clusters_asks_which(run: Run) -> None:
    code, _, err = run("--to", "1.14", file=THREE_CLUSTERS)

    assert code == 2
    assert "a cluster in clusters.yaml: red, blue, green" in err


def test_a_wrong_file_is_reported_as_synth_reports_it(run: Run) -> None:
    code, _, err = run("--to", NEWEST_MINOR, file="clusters:\n  - {name: demo, region: eu-north-1, karpentr: {}}\n")

    assert code == 2
    assert "did you mean karpenter?" in err


def test_two_releases_are_compared_without_pydantic_yaml_rich_or_the_framework() -> None:
    program = (
        "import sys; from nodeless.cli.main import main; main(['upgrade', '0.25.0', '1.13.1']); "
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )

    loaded = set(process("-c", program).stdout.splitlines()[-1].split())

    assert "nodeless" in loaded
    assert loaded.isdisjoint({"pydantic", "pydantic_core", "ruamel", "rich", "cdktf", "jsii", "constructs"})


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_the_report_does_not_depend_on_a_hash_seed(form: str) -> None:
    words = ("-m", "nodeless", "upgrade", "0.29.2", str(NEWEST), "--format", form)

    assert process(*words, PYTHONHASHSEED="1").stdout == process(*words, PYTHONHASHSEED="2").stdout


def test_a_reader_who_leaves_early_sees_no_traceback() -> None:
    command = f"{shlex.quote(sys.executable)} -m nodeless upgrade 0.25.0 {NEWEST} | head -n 1"
    outcome = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)

    assert outcome.stdout == f"Karpenter 0.25.0 -> {NEWEST}\n"
    assert outcome.stderr == ""


def shown_outputs() -> list[tuple[Block, Block]]:
    """Pair every command of the guide with the output that stands right below it."""
    outputs = {output.line: output for output in blocks("text", GUIDE)}
    return [
        (command, outputs[below])
        for command in blocks("sh", GUIDE)
        if (below := command.line + command.text.count("\n") + 3) in outputs
    ]


def test_the_guide_shows_outputs() -> None:
    assert len(shown_outputs()) == 3


@pytest.mark.parametrize(("command", "output"), shown_outputs(), ids=str)
def test_the_guide_shows_what_the_command_prints(run: Run, command: Block, output: Block) -> None:
    (file,) = blocks("yaml", GUIDE)
    name, subcommand, *words = shlex.split(command.text)
    assert (name, subcommand) == ("nodeless", "upgrade")

    code, out, _ = run(*words, file=file.text)

    assert code == 0
    rest = f"\n{out}"
    for excerpt in f"\n{output.text}".split("\n…"):
        if excerpt.strip():
            _, found, rest = rest.partition(f"{excerpt}\n" if not excerpt.endswith("\n") else excerpt)
            assert found, excerpt
