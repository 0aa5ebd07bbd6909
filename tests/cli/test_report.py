"""`nodeless report` as a user runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from nodeless.cli.main import main
from nodeless.report.page import MARKER
from tests.cli.nodeless_process import run

# Every test builds stacks.
pytestmark = pytest.mark.slow

ONE = "clusters:\n  - {name: demo, region: eu-north-1, karpenter: {version: '1.13.1'}}\n"
TWO = "defaults: {region: eu-north-1}\nclusters: [{name: blue}, {name: green}]\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a file for one cluster."""
    (tmp_path / "clusters.yaml").write_text(ONE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_page_is_written_with_one_line_about_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--out", "report.html"]) == 0

    assert capsys.readouterr() == ("", "report.html: a report about 1 cluster\n")
    html = (folder / "report.html").read_text("utf-8")
    assert html.startswith(MARKER)
    assert str(folder) not in html
    assert ">Difference<" not in html

    assert main(["report", "--out", "report.html", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (folder / "report.html").read_text("utf-8") == html
    assert sorted(path.name for path in folder.iterdir()) == ["clusters.yaml", "report.html"]


def test_the_page_is_the_same_in_another_folder_and_with_another_hash_seed(tmp_path: Path) -> None:
    pages = []
    for seed, name in (("1", "one"), ("2", "another folder")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "clusters.yaml").write_text(TWO, encoding="utf-8")
        outcome = run(
            tmp_path / name, f"{sys.executable} -m nodeless report --out -", environment={"PYTHONHASHSEED": seed}
        )
        assert (outcome.returncode, outcome.stderr) == (0, "")
        pages.append(outcome.stdout)

    assert pages[0] == pages[1]
    assert 'href="#cluster-of-green"' in pages[0]


def test_a_file_that_is_no_report_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "notes.html").write_text("mine", encoding="utf-8")

    assert main(["report", "--out", "notes.html"]) == 2

    assert (folder / "notes.html").read_text("utf-8") == "mine"
    assert "overwrite it with --force" in capsys.readouterr().err
    assert main(["report", "--out", "notes.html", "--force"]) == 0


def test_the_output_folder_is_compared_by_default(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Node, which an earlier test may have started elsewhere, needs the whole path.
    assert main(["synth", "--out", str(folder / "cdktf.out")]) == 0
    (folder / "clusters.yaml").write_text(ONE.replace("1.13.1", "1.14.1"), encoding="utf-8")
    capsys.readouterr()

    assert main(["report", "--json"]) == 0
    (cluster,) = json.loads(capsys.readouterr().out)["clusters"]
    changed = {(each["address"], each.get("new")) for each in cluster["comparison"]["differences"]}
    assert ("helm_release.karpenter", "1.14.1") in changed
    assert cluster["comparison"]["before"] == "cdktf.out/stacks/demo/cdk.tf.json"

    (folder / "cdktf.out").rename(folder / "committed")
    (folder / "committed/stacks/demo/cdk.tf.json").write_text("{", encoding="utf-8")
    assert main(["report", "--json", "--against", "committed"]) == 0
    (cluster,) = json.loads(capsys.readouterr().out)["clusters"]
    assert cluster["comparison"]["problem"].startswith("not JSON")

    (folder / "committed/stacks/demo/cdk.tf.json").unlink()
    assert main(["report", "--json", "--against", "committed"]) == 0
    (cluster,) = json.loads(capsys.readouterr().out)["clusters"]
    assert cluster["comparison"]["problem"] == "a new stack"


def test_another_release_is_built_and_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(folder / "clusters.yaml")
    assert main(["report", "--config", config, "--to", "1.14.1", "--out", "up.html"]) == 0

    html = (folder / "up.html").read_text("utf-8")
    assert str(folder) not in html
    assert "<h4>Edit</h4>" in html
    assert "From <code>Karpenter 1.<wbr>13.<wbr>1</code> to <code>Karpenter 1.<wbr>14.<wbr>1</code>" in html
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "0.99.9", "--out", "x.html"], "--to"),
        (["--to", "", "--out", "x.html"], "--to"),
        (["--against", "nowhere", "--out", "x.html"], "an output folder of synth"),
        (["--only", "demi", "--out", "x.html"], "a cluster in clusters.yaml: demo"),
        (["--out", "no/such/folder/x.html"], "create the folder"),
    ],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    arguments: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", *arguments]) == 2

    assert said in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["clusters.yaml"]


@pytest.mark.parametrize(
    "arguments", [[], ["--out", "a", "--json"], ["--out", "a", "--to", "1.14.1", "--against", "b"]]
)
def test_arguments_that_contradict_each_other_are_refused(arguments: list[str], folder: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", *arguments])

    assert ended.value.code == 2
    assert [path.name for path in folder.iterdir()] == ["clusters.yaml"]


def test_only_the_named_clusters_are_in_the_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "clusters.yaml").write_text(TWO, encoding="utf-8")

    assert main(["report", "--json", "--only", "green"]) == 0

    assert [cluster["stack"] for cluster in json.loads(capsys.readouterr().out)["clusters"]] == ["green"]


def test_hostile_values_of_a_file_stay_values(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attack = "</script><script>x()</script>\u202e"
    (folder / "clusters.yaml").write_text(
        json.dumps(
            {
                "clusters": [
                    {
                        "name": "demo",
                        "region": "eu-north-1",
                        "karpenter": {"values": {"podAnnotations": {"note": attack}}},
                        "extra_statements": [
                            {"Sid": "Extra", "Effect": "Allow", "Action": "s3:Get*", "Resource": "arn:aws:s3:::<b>\"'"}
                        ],
                    }
                ]
            }
        ),
        encoding="utf-8",
    )

    assert main(["report", "--to", "1.13.1", "--out", "-"]) == 0

    html = capsys.readouterr().out
    assert html.count("<script>") == 1
    assert "<b>" not in html
    assert "\u202e" not in html
    assert "&lt;b&gt;&quot;&#x27;" in html
