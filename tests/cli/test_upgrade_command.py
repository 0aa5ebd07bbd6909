"""`nodeless upgrade`, run as a user runs it."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from nodeless.cli.main import main
from nodeless.karpenter.releases import NEWEST, NEWEST_MINOR, find
from tests.conftest import ROOT
from tests.docs.markdown import Block, blocks
from tests.terminal import seen_on_a_terminal

GUIDE = ROOT / "docs" / "upgrading.md"
FORMATS = ("text", "markdown", "json")
PAIRS = (("0.37.8", "1.14.1"), ("1.8.8", "1.9.2"), ("1.12.2", "1.13.1"), ("1.10.2", "1.3.8"))

ONE_CLUSTER = """\
clusters:
  - name: demo
    region: eu-north-1
    account: "123456789012"
    kubernetes: "1.29"
    karpenter:
      version: "0.37"
      values:
        settings:
          assumeRoleARN: arn:aws:iam::123456789012:role/other
          featureGates: {drift: true, spotToSpotConsolidation: true}
        logConfig: {outputPaths: [stdout]}
        replicas: 1
"""
TWO_CLUSTERS = """\
defaults:
  region: cn-north-1
  karpenter: {version: 1.3.8}
clusters:
  - name: red
  - name: blue
  - name: green
    karpenter: {version: 1.4.0}
"""

BETA_POOL = """\
clusters:
  - name: demo
    region: eu-north-1
    karpenter: {version: 0.37.8}
    node_pools:
      - name: default
        spec:
          template:
            spec:
              requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
              nodeClassRef: {name: default}
          disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 720h}
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


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("old", "new"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_the_report_between_two_releases(run: Run, snapshot: SnapshotAssertion, old: str, new: str, form: str) -> None:
    code, out, err = run(old, new, "--format", form)

    assert (code, err) == (0, "")
    assert out == snapshot


@pytest.mark.parametrize("form", FORMATS)
def test_the_report_for_a_cluster(run: Run, snapshot: SnapshotAssertion, form: str) -> None:
    code, out, err = run("demo", "--to", "1.14.1", "--format", form)

    assert (code, err) == (0, "")
    assert out == snapshot


@pytest.mark.parametrize("form", FORMATS)
def test_the_step_over_1_0_names_all_that_matters(run: Run, form: str) -> None:
    _, out, _ = run("0.37.8", str(NEWEST), "--format", form)

    for word in (
        "aws:RequestTag/eks:eks-cluster-name",
        "KarpenterControllerNodeLifecyclePolicy-",
        "KarpenterControllerZonalShiftPolicy-",
        "CapacityReservationInterruptionRule",
        "AmazonEC2ContainerRegistryReadOnly",
        "AmazonEC2ContainerRegistryPullOnly",
        "spec.disruption.expireAfter",
        "spec.template.spec.expireAfter",
        "logConfig.outputPaths",
        "1.0.14",
    ):
        assert word in out


def test_a_pipe_gets_the_same_text_as_format_text(run: Run) -> None:
    assert run("1.8", "1.9")[1] == run("1.8", "1.9", "--format", "text")[1]


def test_the_first_release_may_stand_before_the_option(run: Run) -> None:
    assert run("1.8", "--to", "1.9") == run("1.8", "1.9")


def test_two_equal_releases_differ_in_nothing(run: Run) -> None:
    assert run(NEWEST_MINOR, f"v{NEWEST}") == (0, f"Karpenter {NEWEST} -> {NEWEST}: nothing changes\n", "")


def test_a_downgrade_says_so(run: Run) -> None:
    _, out, _ = run("1.0.14", "0.36.9")

    assert out.startswith("Karpenter 1.0.14 -> 0.36.9: a downgrade\n")
    assert "no other release reads objects stored as v1" in out


def test_the_report_for_a_cluster_has_its_names_values_and_edit(run: Run) -> None:
    _, out, _ = run("demo", "--to", str(NEWEST), "--format", "json")
    report = json.loads(out)
    file = report["file"]

    assert file["edit"] == {
        "file": "clusters.yaml",
        "path": "clusters[0].karpenter.version",
        "line": 7,
        "was": "0.37",
        "write": ["1.0.14", str(NEWEST)],
        "also_changes": [],
    }
    assert [(row["key"], row["change"], row["instead"]) for row in file["values"]] == [
        ("settings.assumeRoleARN", "gone", None),
        ("settings.featureGates.drift", "gone", None),
        ("logConfig.outputPaths", "renamed", "logOutputPaths"),
    ]
    assert "KarpenterControllerEKSIntegrationPolicy-demo" in [row["name"] for row in report["policies"]["added"]]
    assert "<" not in json.dumps(report["statements"])
    assert "arn:aws:iam::123456789012:instance-profile/*" in json.dumps(report["statements"])


def test_a_file_with_one_cluster_needs_no_name(run: Run) -> None:
    assert run("--to", "1.0.14") == run("demo", "--to", "1.0.14")


def test_a_version_from_the_defaults_is_changed_there_for_all_who_share_it(run: Run) -> None:
    edit = json.loads(run("red", "--to", "1.5", "--format", "json", file=TWO_CLUSTERS)[1])["file"]["edit"]

    assert (edit["path"], edit["line"], edit["was"]) == ("defaults.karpenter.version", 3, "1.3.8")
    assert edit["also_changes"] == ["blue"]


def test_a_version_that_is_not_written_yet_is_added(run: Run) -> None:
    file = "clusters:\n  - {name: demo, region: eu-north-1}\n"
    edit = json.loads(run("--to", "1.13", "--format", "json", file=file)[1])["file"]["edit"]

    assert (edit["path"], edit["line"], edit["was"]) == ("clusters[0].karpenter.version", None, None)


def test_another_partition_has_its_own_names(run: Run) -> None:
    _, out, _ = run("green", "--to", NEWEST_MINOR, file=TWO_CLUSTERS)

    assert "arn:aws-cn:ec2:cn-north-1:*:placement-group/*" in out


def test_a_cluster_without_a_queue_has_no_rules_to_gain(run: Run) -> None:
    file = "clusters:\n  - {name: demo, region: eu-north-1, interruption: false, karpenter: {version: 1.9.2}}\n"
    report = json.loads(run("--to", "1.10", "--format", "json", file=file)[1])

    assert report["rules"] == {"added": [], "removed": []}


def test_the_control_plane_is_moved_where_the_file_says_it_stands(run: Run) -> None:
    old, new = ONE_CLUSTER.replace('"1.29"', '"1.24"'), ONE_CLUSTER

    assert "Move the control plane from Kubernetes 1.24 to 1.25" in run("demo", "--to", NEWEST_MINOR, file=old)[1]
    assert "Move the control plane" not in run("demo", "--to", NEWEST_MINOR, file=new)[1]


def test_what_the_new_release_refuses_in_the_file_is_told(run: Run) -> None:
    code, out, _ = run("demo", "--to", NEWEST_MINOR, "--format", "json", file=BETA_POOL)
    problems = json.loads(out)["file"]["findings"]

    assert code == 0
    assert ["clusters", 0, "node_pools", 0, "spec", "disruption", "expireAfter"] in [row["path"] for row in problems]
    assert all(row["expected"] and row["fix"] and row["line"] for row in problems)


WRONG = (
    (["0.27.7", str(NEWEST)], "'0.27.7'", "0.27.7 was never released; the newest patch of that minor is 0.27.8"),
    (["0.37.8", "1.99"], "'1.99'", f"known releases run from 0.25.0 to {NEWEST}"),
    (["0.37.8", "latest"], "'latest'", f"write a release such as {NEWEST}, or a minor such as {NEWEST_MINOR}"),
    (["demo", "--to", "1.4.9"], "'1.4.9'", f"1.4.9 does not exist; the newest patch of that minor is {find('1.4')}"),
    (["demo", "1.13.1"], "'demo'", "for the cluster demo write nodeless upgrade demo --to 1.13.1"),
    (["demo"], "'(missing)'", f"write nodeless upgrade demo --to {NEWEST}"),
    (["1.9"], "'(missing)'", "write nodeless upgrade 1.9 TO"),
    (["dmeo", "--to", str(NEWEST)], "'dmeo'", "one of the clusters of clusters.yaml: demo"),
    (["1.1", "1.2", "1.3"], "'1.1 1.2 1.3'", "write nodeless upgrade FROM TO"),
    (["1.1", "1.2", "--to", "1.3"], "'1.3'", "two releases, or --to"),
)


@pytest.mark.parametrize(("words", "value", "advice"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_wrong_arguments_are_a_message_and_exit_code_2(run: Run, words: list[str], value: str, advice: str) -> None:
    code, out, err = run(*words)

    assert (code, out) == (2, "")
    assert value in err
    assert advice in err
    assert "Traceback" not in err


def test_a_file_with_several_clusters_asks_which(run: Run) -> None:
    code, _, err = run("--to", NEWEST_MINOR, file=TWO_CLUSTERS)

    assert code == 2
    assert "one of the clusters of clusters.yaml: red, blue, green" in err


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


def test_two_releases_are_compared_in_less_than_three_tenths_of_a_second() -> None:
    def seconds(*words: str) -> float:
        """Measure processor time, which other work on the machine does not lengthen; the best of five."""
        spent = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            process(*words)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(spent)

    assert seconds("-m", "nodeless", "upgrade", "0.37.8", str(NEWEST)) - seconds("-c", "pass") < 0.3


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


def test_a_terminal_gets_tables_that_lose_nothing() -> None:
    command = [sys.executable, "-m", "nodeless", "upgrade", "1.8.8", "1.9.2"]
    seen = seen_on_a_terminal(command, folder=ROOT, columns=60)

    assert "────" in seen
    assert "…" not in seen


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
