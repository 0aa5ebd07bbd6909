"""The builder of the lab's tools, on tiny Go modules that need no network; and the pins of the real ones."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from nodeless.karpenter.releases import RELEASES
from nodeless.karpenter.versions import Release
from tests.conftest import ROOT
from tools.lab import __main__ as lab, store
from tools.lab.store import NotBuilt, Tool

go_needed = pytest.mark.skipif(shutil.which("go") is None, reason="there is no go on the PATH")

HELLO = Tool("hello", "greetings", "made.up/hello", ("main.word=hello",))
BYE = Tool("bye", "farewells", "made.up/bye", ("main.word=bye",))
PROVIDER = Tool("terraform-provider-helm", "helm-provider", "made.up/provider")
PRINTS_A_WORD = 'package main\n\nvar word = "nothing"\n\nfunc main() { println(word) }\n'

# What is wrong with a module, and what Go says of it.
WRONG = {
    "it does not compile": (PRINTS_A_WORD.replace("println", "prinln"), "", "undefined: prinln"),
    # As where a proxy does not have the module.
    "it cannot be downloaded": (
        PRINTS_A_WORD.replace("\n", '\n\nimport _ "made.up/missing"\n', 1),
        "require made.up/missing v1.0.0\n",
        "module lookup disabled by GOPROXY=off",
    ),
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the store be a new folder, the table two made-up tools, and Go do without a network."""
    for name, value in {"GOPROXY": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(store.CACHE_VARIABLE, str(tmp_path / "store"))
    monkeypatch.setattr(store, "MODULES", tmp_path / "modules")
    monkeypatch.setattr(store, "TOOLS", (HELLO, BYE))
    for tool in (HELLO, BYE, PROVIDER):
        write_module(tool)
    return tmp_path / "store"


def write_module(tool: Tool, program: str = PRINTS_A_WORD, requirement: str = "") -> Path:
    """Write a module as those of the lab are, but for its tool, which lies beside it."""
    folder, name = store.MODULES / tool.module, tool.package.rpartition("/")[2]
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "go.mod").write_text(
        f"module nodeless.example/lab/{tool.module}\n\ngo 1.24\n\ntool {tool.package}\n\n"
        f"require {tool.package} v0.0.0\n\nreplace {tool.package} => ./{name}\n{requirement}"
    )
    (folder / "go.sum").write_text(
        "".join(f"made.up/missing v1.0.0{file} h1:{'A' * 43}=\n" for file in ("", "/go.mod")) if requirement else ""
    )
    (folder / name / "go.mod").write_text(f"module {tool.package}\n\ngo 1.24\n{requirement}")
    (folder / name / "main.go").write_text(program)
    return folder


def said(tool: str) -> str:
    """Run a tool of the store."""
    return subprocess.run([store.find(tool)], capture_output=True, text=True, check=True).stderr.strip()


@go_needed
def test_what_is_built_is_found_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotBuilt, match="hello is not built: make lab"):
        store.find("hello")

    assert lab.main([]) == 0
    assert [said("hello"), said("bye")] == ["hello", "bye"]
    assert re.findall(r"^(\w+) +built in \d+ s$", capsys.readouterr().out, re.MULTILINE) == ["hello", "bye"]


@go_needed
def test_the_second_run_builds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    lab.main(["greetings"])
    before = store.find("hello").stat()
    capsys.readouterr()

    assert lab.main(["greetings"]) == 0
    assert store.find("hello").stat() == before
    assert re.search(r"^hello +there already$", capsys.readouterr().out, re.MULTILINE)


@go_needed
def test_a_build_changes_nothing_in_the_clone_and_leaves_nothing_beside_what_it_made(cache: Path) -> None:
    before = {path: path.read_bytes() for path in store.MODULES.rglob("*") if path.is_file()}
    lab.main([])

    assert {path: path.read_bytes() for path in store.MODULES.rglob("*") if path.is_file()} == before
    made = {path for path in cache.iterdir() if not path.name.endswith(".lock")}
    assert made == {store.folder("greetings"), store.folder("farewells")}


@pytest.mark.parametrize("file", ["go.mod", "go.sum"])
def test_another_pin_is_another_folder(file: str) -> None:
    before = store.folder("greetings")
    pins = store.MODULES / "greetings" / file
    pins.write_text(pins.read_text() + "// changed\n")

    assert store.folder("greetings") != before
    assert store.folder("greetings").name.startswith("greetings-")
    assert store.folder("greetings").name.endswith("-".join(store.machine()))


def test_another_row_of_the_table_is_another_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.folder("greetings"), store.folder("farewells")
    monkeypatch.setattr(store, "TOOLS", (Tool(HELLO.name, HELLO.module, HELLO.package), BYE))

    assert store.folder("greetings") != before[0]
    assert store.folder("farewells") == before[1]


@go_needed
@pytest.mark.parametrize("what", WRONG)
def test_a_module_that_fails_leaves_nothing_and_the_others_are_built(
    what: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, requirement, reason = WRONG[what]
    write_module(HELLO, program, requirement)

    assert lab.main([]) == 1
    assert said("bye") == "bye"
    assert {path.name for path in cache.iterdir() if not path.name.endswith(".lock")} == {
        store.folder("farewells").name
    }
    out = capsys.readouterr().out
    assert "greetings could not be built:\n    " in out
    assert reason in out
    assert "go: downloading" not in out
    assert re.findall(r"^  (\w+) +(there|not there)$", out, re.MULTILINE) == [("hello", "not there"), ("bye", "there")]


@go_needed
def test_a_download_that_is_not_what_go_sum_says_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, requirement, _ = WRONG["it cannot be downloaded"]
    write_module(HELLO, program, requirement)
    served = tmp_path / "proxy/made.up/missing/@v"
    served.mkdir(parents=True)
    (served / "v1.0.0.mod").write_text("module made.up/missing\n")
    monkeypatch.setenv("GOPROXY", (tmp_path / "proxy").as_uri())
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "module-cache"))
    monkeypatch.setenv("GOFLAGS", "-modcacherw")

    assert lab.main(["hello"]) == 1
    assert "checksum mismatch" in capsys.readouterr().out


def test_without_go_nothing_is_tried(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert lab.main([]) == 2
    assert "there is no go on the PATH" in capsys.readouterr().err
    assert not cache.exists()


@go_needed
def test_an_unknown_name_is_refused(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.main(["hello", "helo"]) == 2
    assert capsys.readouterr().err == "unknown: helo; known are bye, farewells, greetings, hello\n"
    assert not cache.exists()


RUN = """
from pathlib import Path
from tools.lab import __main__ as lab, store
store.MODULES, store.TOOLS = Path({modules!r}), (store.Tool({tool}),)
raise SystemExit(lab.main([]))
"""


@go_needed
def test_a_build_that_is_killed_leaves_no_half_tool_and_the_next_one_is_whole(tmp_path: Path, cache: Path) -> None:
    # A Go that has written half of the tool, and takes long for the other half.
    slow = tmp_path / "bin/go"
    slow.parent.mkdir()
    slow.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nprintf half > "$2"\nexec sleep 60\n')
    slow.chmod(0o755)
    program = RUN.format(
        modules=str(store.MODULES), tool=f"{HELLO.name!r}, {HELLO.module!r}, {HELLO.package!r}, {HELLO.variables!r}"
    )
    environment = {**os.environ, "PATH": f"{slow.parent}{os.pathsep}{os.environ['PATH']}"}
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    ) as builder:
        until = time.monotonic() + 30
        while not any(cache.glob("*/hello")) and not any(cache.glob(".*/hello")) and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(builder.pid, signal.SIGKILL)
    assert any(cache.glob(".*/hello")), "half a tool lies beside the place of the whole one"
    with pytest.raises(NotBuilt):
        store.find("hello")

    assert lab.main(["hello"]) == 0
    assert said("hello") == "hello"
    assert not any(cache.glob(".*/hello"))


@go_needed
def test_the_helm_provider_is_laid_out_as_a_mirror_for_terraform_and_opentofu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "TOOLS", (PROVIDER,))
    assert lab.main([]) == 0

    mirror = store.helm_mirror()
    files = {path.relative_to(mirror).as_posix() for path in mirror.rglob("*") if path.is_file()}
    place = f"hashicorp/helm/3.1.2/{'_'.join(store.machine())}/terraform-provider-helm_v3.1.2"
    assert files == {f"registry.terraform.io/{place}", f"registry.opentofu.org/{place}"}
    assert all(os.access(mirror / file, os.X_OK) for file in files)


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({store.CACHE_VARIABLE: "/mine", "XDG_CACHE_HOME": "/caches"}, "/mine"),
        ({"XDG_CACHE_HOME": "/caches"}, "/caches/nodeless/lab"),
        ({"HOME": "/ada"}, "/ada/.cache/nodeless/lab"),
    ],
)
def test_the_store_is_in_the_users_cache(
    variables: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (store.CACHE_VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert store.root() == Path(folder)


REAL_MODULES = ROOT / "tools/lab/modules"


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Sequence[Tool]:
    """Return the real table."""
    monkeypatch.undo()
    return store.TOOLS


def pinned(module: str, dependency: str) -> str:
    """Return the version of a dependency in a real go.mod."""
    (version,) = re.findall(rf"^\t{dependency} v(\S+)", (REAL_MODULES / module / "go.mod").read_text(), re.MULTILINE)
    return str(version)


def test_the_table_has_the_tools_of_every_go_mod_and_no_other(real: Sequence[Tool]) -> None:
    tools = {
        (folder.name, package)
        for folder in REAL_MODULES.iterdir()
        for line in re.findall(r"^tool (\(.*?^\)|\S+)$", (folder / "go.mod").read_text(), re.MULTILINE | re.DOTALL)
        for package in line.strip("()").split()
    }

    assert tools == {(tool.module, tool.package) for tool in real}


def test_a_tool_says_the_version_that_is_pinned(real: Sequence[Tool]) -> None:
    releases = [tool.name.partition("-")[2] for tool in real if tool.name.startswith("karpenter-")]

    assert pinned("kubernetes", "k8s.io/kubernetes") == store.KUBERNETES
    assert [pinned(f"karpenter-{release}", "github.com/aws/karpenter-provider-aws") for release in releases] == releases


def test_a_module_takes_nothing_from_the_clone_and_has_the_sums_of_what_it_takes(real: Sequence[Tool]) -> None:
    for module in {tool.module for tool in real}:
        pins = (REAL_MODULES / module / "go.mod").read_text()
        sums = (REAL_MODULES / module / "go.sum").read_text().splitlines()
        assert not re.search(r"=>\s+\.", pins)
        assert sums
        assert all(re.fullmatch(r"\S+ v\S+ h1:[A-Za-z0-9+/]{43}=", line) for line in sums)


def test_terraform_is_built_only_where_there_is_none(
    tmp_path: Path, real: Sequence[Tool], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = list(dict.fromkeys(tool.module for tool in real))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lab.modules([]) == every

    (tmp_path / "terraform").touch(mode=0o755)
    assert lab.modules([]) == [module for module in every if module != "terraform"]
    assert lab.modules(["kube-scheduler", "terraform"]) == ["kubernetes", "terraform"]


def test_a_checksum_of_charts_is_that_of_a_known_release() -> None:
    lines = (ROOT / "tools/lab/charts.sum").read_text().splitlines()
    rows = [re.fullmatch(r"github\.com/aws/karpenter\S* v(\S+) h1:[A-Za-z0-9+/]{43}=", line) for line in lines]

    assert all(row and Release.parse(row[1]) in RELEASES for row in rows)
