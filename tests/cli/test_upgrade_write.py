"""`nodeless upgrade --write`: one value of the file changes and nothing else, or nothing at all."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from nodeless.cli.main import main
from nodeless.spec.resolution import load

TO = "1.13.1"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("clusters.yaml")


@pytest.fixture
def run(config: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Write a file, run the command, and return its exit code, output and messages."""

    def command(text: str, *words: str, to: str = TO) -> tuple[int, str, str]:
        config.write_bytes(text.encode())
        code = main(["upgrade", *words, "--to", to, "--write"])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return command


# Each file, with what is replaced by what in it, between « and »; the cluster is named.
EDITS = {
    "block": ("clusters:\n  - name: demo\n    region: eu-north-1\n    karpenter:\n      version: «1.12.0→1.13.1»\n"),
    "comments, odd spaces and a minor": (
        "# a\nclusters:   # b\n- name: demo\n  region:   eu-north-1 # c\n  karpenter: # d\n    # e\n"
        '    version:   "«1.12→1.13.1»"    # f "1.12"\n    replicas: 2\n# g\n'
    ),
    "single quotes": "clusters: [{name: demo, region: eu-north-1, karpenter: {version: '«1.12→1.13.1»'}}]\n",
    "flow style over lines": (
        "clusters: [\n  {name: demo, region: eu-north-1,\n   karpenter: { version : «1.12.0→1.13.1» , replicas: 2 } } ]"
    ),
    "CRLF": (
        "clusters:\r\n  - name: demo\r\n    region: eu-north-1\r\n    karpenter:\r\n      version: «1.12.0→1.13.1»\r\n"
    ),
    "no newline at the end": (
        "clusters:\n- name: demo\n  region: eu-north-1\n  karpenter:\n    version: «1.12.0→1.13.1»"
    ),
    "a byte order mark, and characters of several bytes": (
        "\ufeff# ü😀\n"
        "clusters: [{name: demo, region: eu-north-1, tags: {a: ü}, karpenter: {version: «1.12.0→1.13.1»}}]\n"
    ),
    "a key that comes twice": (
        "clusters:\n- {name: one, region: eu-north-1, karpenter: {version: 1.12.0}}\n"
        "- {name: demo, region: eu-north-1, karpenter: {version: «1.12.0→1.13.1»}}\n"
    ),
    "no karpenter": (
        'clusters:\n  - name: demo  # it\n    «→karpenter: {version: "1.13.1"}\n    »# where it is\n'
        "    region: eu-north-1\n"
    ),
    "no karpenter, CRLF": (
        'clusters:\r\n  - name: demo\r\n    «→karpenter: {version: "1.13.1"}\r\n    »region: eu-north-1\r\n'
    ),
    "no karpenter, one key on the last line": (
        'defaults: {region: eu-north-1}\nclusters:\n  - name: demo«→\n    karpenter: {version: "1.13.1"}»'
    ),
    "no karpenter, in braces": 'clusters: [{name: demo, «→karpenter: {version: "1.13.1"}, »region: eu-north-1}]\n',
    "no karpenter, one key in braces": (
        'defaults: {region: eu-north-1}\nclusters: [ { «→karpenter: {version: "1.13.1"}, »name: demo } ]\n'
    ),
    "karpenter without a version": (
        "clusters:\n- name: demo\n  region: eu-north-1\n  karpenter:\n    # two\n    replicas: 2   # yes\n"
        '    «→version: "1.13.1"\n    »zonal_shift: true\n'
    ),
    "karpenter without anything on one line": (
        'clusters:\n- name: demo\n  region: eu-north-1\n  karpenter:\n    «→version: "1.13.1"\n    »'
        "values:\n      podLabels: {a: b}\n"
    ),
    "an empty karpenter": 'clusters: [{name: demo, region: eu-north-1, karpenter: {«→version: "1.13.1"»}}]\n',
    "a version from the defaults becomes the cluster's own": (
        "defaults: {region: eu-north-1, karpenter: {version: 1.12.0, replicas: 1}}\nclusters:\n"
        '- name: demo\n«→  karpenter: {version: "1.13.1"}\n»- name: two\n'
    ),
    "anchors elsewhere": (
        "defaults: {region: &r eu-north-1, tags: &t {a: b}}\nclusters:\n"
        "- {name: demo, region: *r, karpenter: {version: «1.12.0→1.13.1»}}\n- {name: two, tags: *t}\n"
    ),
    "an alias before the place in braces": (
        "defaults: {tags: {a: &d demo}, region: eu-north-1}\n"
        'clusters: [{name: *d , «→karpenter: {version: "1.13.1"}, »region: eu-north-1}]\n'
    ),
    "an alias on the first line": (
        "defaults: {tags: {a: &d demo}}\nclusters:\n- name: *d\n  region: eu-north-1\n"
        '  «→karpenter: {version: "1.13.1"}\n  »smoke_test: true\n'
    ),
}


def before(marked: str) -> str:
    return re.sub("«(.*)→(.*)»", r"\1", marked, flags=re.DOTALL)


def after(marked: str) -> str:
    return re.sub("«(.*)→(.*)»", r"\2", marked, flags=re.DOTALL)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_only_the_version_changes(edit: str, run: Run, config: Path) -> None:
    code, out, err = run(before(edit), "demo")

    assert (code, config.read_bytes().decode()) == (0, after(edit)), err
    assert "1.13.1" in out
    assert err.startswith("clusters.yaml:")
    (demo,) = (row for row in load(config) if row.name == "demo")
    assert str(demo.version) == TO


def test_the_line_of_success_says_what_was_there(run: Run) -> None:
    _, _, err = run(before(EDITS["block"]), "demo")

    assert err == "clusters.yaml:5: clusters[0].karpenter.version: 1.13.1, was 1.12.0\n"
    assert run(before(EDITS["no karpenter"]))[2] == "clusters.yaml:3: clusters[0].karpenter.version: 1.13.1, added\n"
    assert run(after(EDITS["block"]))[2] == "clusters.yaml:5: clusters[0].karpenter.version: 1.13.1 already\n"


DEFAULTS = """\
defaults:
  region: eu-north-1
  karpenter: {version: 1.12.0}  # for all
clusters:
  - name: one
  - name: two
    karpenter: {version: 1.11.0}
  - name: three
"""


def test_without_a_cluster_the_version_of_the_defaults_changes(run: Run, config: Path) -> None:
    code, out, err = run(DEFAULTS)

    assert (code, config.read_text()) == (0, DEFAULTS.replace("1.12.0", TO))
    assert "(also changes three)" in out
    assert err == "clusters.yaml:3: defaults.karpenter.version: 1.13.1, was 1.12.0\n"


def test_for_a_cluster_that_is_named_no_other_changes(run: Run, config: Path) -> None:
    code, out, _ = run(DEFAULTS, "three")

    assert (code, config.read_text()) == (0, f'{DEFAULTS}    karpenter: {{version: "{TO}"}}\n')
    assert "clusters.yaml: add clusters[2].karpenter.version" in out
    assert [str(row.version) for row in load(config)] == ["1.12.0", "1.11.0", TO]


REFUSED = {
    "a version that a guard refuses": (
        'clusters: [{name: demo, region: eu-north-1, kubernetes: "1.25", karpenter: {version: 1.4.4}}]\n',
        "Karpenter 1.13.1 runs on Kubernetes 1.26 to 1.36",
    ),
    "a version with an anchor": (
        "clusters: [{name: demo, region: eu-north-1, karpenter: {version: &v 1.12.0}}]\n",
        "clusters[0].karpenter.version has the anchor &v",
    ),
    "a version by an alias": (
        "defaults: {tags: {v: &v 1.12.0}}\nclusters: [{name: demo, region: eu-north-1, karpenter: {version: *v}}]\n",
        "clusters[0].karpenter.version has the anchor &v",
    ),
    "a section by an alias": (
        (
            "defaults: {region: eu-north-1}\nclusters: [{name: a, karpenter: &k {version: 1.12.0}}, "
            "{name: demo, karpenter: *k}]\n"
        ),
        "clusters[1].karpenter has the anchor &k",
    ),
    "a merge key in the cluster": (
        "defaults: &d {region: eu-north-1, karpenter: {replicas: 1}}\nclusters:\n- <<: *d\n  name: demo\n",
        "karpenter may come from the merge key <<",
    ),
    "a merge key in the section": (
        (
            "defaults: {region: eu-north-1, karpenter: &k {version: 1.12.0}}\n"
            "clusters:\n- name: demo\n  karpenter:\n    <<: *k\n    replicas: 1\n"
        ),
        "version may come from the merge key <<",
    ),
    "a tag": (
        "clusters: [{name: demo, region: eu-north-1, karpenter: {version: !!str 1.12.0}}]\n",
        "written in a way that an edit would not keep",
    ),
    "a text of several lines": (
        "clusters:\n- name: demo\n  region: eu-north-1\n  karpenter:\n    version: >-\n      1.12.0\n",
        "written in a way that an edit would not keep",
    ),
    "an explicit key": (
        "clusters:\n- ? name\n  : demo\n  ? region\n  : eu-north-1\n",
        "an edit of this text would change more than the version",
    ),
    "a file that is wrong already": (
        "clusters: [{name: demo, region: eu-north-1, karpentr: {}}]\n",
        "did you mean karpenter?",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_edited_stays_as_it_is(text: str, why: str, run: Run, config: Path) -> None:
    code, _, err = run(text, "demo")

    assert (code, config.read_text()) == (2, text)
    assert why in err
    assert "nothing was written" in err
    assert list(Path().iterdir()) == [config]


def test_all_findings_about_the_new_version_are_shown(run: Run, config: Path) -> None:
    text = (
        'clusters: [{name: demo, region: eu-north-1, kubernetes: "1.36", '
        "karpenter: {version: 1.14.1, zonal_shift: true}}]\n"
    )

    code, out, err = run(text, "demo", to="1.9.2")

    assert (code, config.read_text()) == (2, text)
    assert out.startswith("demo (eu-north-1), Karpenter 1.14.1 -> 1.9.2: a downgrade")
    assert "2 problems, nothing was written" in err
    for path in ("clusters[0].kubernetes", "clusters[0].karpenter.zonal_shift"):
        assert path in err


def test_a_stop_on_the_way_is_not_skipped(run: Run, config: Path) -> None:
    text = "clusters: [{name: demo, region: eu-north-1, karpenter: {version: 0.37.8}, delivery: none}]\n"

    code, out, err = run(text, "demo")

    assert (code, config.read_text()) == (2, text)
    assert out.startswith("demo (eu-north-1), Karpenter 0.37.8 -> 1.13.1")
    assert "stop there first: nodeless upgrade demo --to 1.0.14 --write" in err
    assert run(text, "demo", to="1.0.14")[0] == 0


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["1.8", "--to", "1.9", "--write"], "write nodeless upgrade CLUSTER --to 1.9.2 --write"),
        (["demo", "--to", "1.13.1", "--write", "--config", "-"], "name the file with --config"),
        (["demo", "--to", "1.13.1", "--write", "--config", "missing.yaml"], "create the file"),
    ],
)
def test_only_a_file_can_be_written(words: list[str], fix: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upgrade", *words]) == 2

    assert fix in capsys.readouterr().err


def test_permissions_stay(run: Run, config: Path) -> None:
    config.touch()
    config.chmod(0o640)

    assert run(before(EDITS["block"]), "demo")[0] == 0

    assert stat.S_IMODE(config.stat().st_mode) == 0o640


def test_a_link_stays_a_link_and_its_target_changes(run: Run, config: Path) -> None:
    Path("real").mkdir()
    target = Path("real", "file.yaml")
    target.touch()
    config.symlink_to(target)

    code, _, err = run(before(EDITS["block"]), "demo")

    assert code == 0
    assert config.is_symlink()
    assert target.read_text() == after(EDITS["block"])
    assert str(target.resolve()) in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_a_message(run: Run, config: Path) -> None:
    config.parent.chmod(0o500)

    code, _, err = run(before(EDITS["block"]), "demo")

    config.parent.chmod(0o700)
    assert (code, "a file that can be replaced" in err) == (2, True)


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(
    run: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(Path, "replace", fail)

    code, _, err = run(before(EDITS["block"]), "demo")

    assert (code, config.read_text()) == (2, before(EDITS["block"]))
    assert "a file that can be replaced" in err
    assert list(Path().iterdir()) == [config]
