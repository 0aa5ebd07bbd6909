"""Node starts in the background: requests wait for it, and a failure is raised at the first chance."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from nodeless.imports import FRAMEWORK, node_process
from nodeless.imports.fast_bindings import NODE_HOOK
from tests.imports.processes import node_in_use, node_with, run

# A Node that starts only when the file `go` exists.
WAITING_NODE = """\
#!/bin/sh
while [ ! -e '{go}' ]; do sleep 0.05; done
exec '{node}' "$@"
"""
WAITING_PROGRAM = """
import pathlib, sys, threading
from nodeless.imports.aws import IamRole
from nodeless.imports.cdk import App, TerraformStack
from jsii import kernel

go, process = pathlib.Path(sys.argv[1]), kernel.provider._process
loads = process._pending[:]
assert len(loads) == 4, loads  # Node's start, constructs, the framework and the provider.
assert not any(load.done() for load in loads), "Python did not wait"

threading.Timer(0.5, go.touch).start()
stack = TerraformStack(App(outdir=sys.argv[2]), "own")
assert go.exists() and all(load.done() for load in loads), "the first request waited"
assert process._pending == []
assert IamRole(stack, "role", assume_role_policy="{}", name="own").name_input == "own"
"""
FIRST_REQUEST = """
import sys
from nodeless.imports.cdk import App
print("imported", flush=True)
App(outdir=sys.argv[1])
print("made", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the waiting Node is a shell script")
def test_python_goes_on_while_node_starts_and_the_first_request_waits_for_every_load(tmp_path: Path) -> None:
    node, go = tmp_path / "node", tmp_path / "go"
    node.write_text(WAITING_NODE.format(go=go, node=node_in_use()), encoding="utf-8")
    node.chmod(0o755)

    done = run("-c", WAITING_PROGRAM, str(go), str(tmp_path / "out"), JSII_NODE=str(node))

    assert done.returncode == 0, done.stderr


def test_a_node_that_does_not_exist_is_an_error_at_once(tmp_path: Path) -> None:
    program = "import nodeless.imports\nprint('imported')"

    done = run("-c", program, JSII_NODE=str(tmp_path / "no-node"))

    assert done.returncode == 1
    assert done.stdout == ""
    assert "NodeError: JSII_NODE" in done.stderr


def test_a_node_that_ends_before_its_first_message_is_an_error_by_the_first_request(tmp_path: Path) -> None:
    done = run("-c", FIRST_REQUEST, str(tmp_path), JSII_NODE="false")

    # It may end so fast that the import sees it.
    assert done.returncode == 1
    assert "made" not in done.stdout
    assert "NodeError: JSII_NODE" in done.stderr


def test_a_package_that_cannot_be_loaded_is_an_error_at_the_next_request(tmp_path: Path) -> None:
    broken = f"""
const load = require.extensions[".js"];
require.extensions[".js"] = (module, file) => {{
  if (/{FRAMEWORK.core}.lib.index.js$/.test(file)) throw new Error("a broken package");
  load(module, file);
}};
"""
    done = run("-c", FIRST_REQUEST, str(tmp_path), JSII_NODE=str(node_with(tmp_path, broken)))

    assert done.returncode == 1
    assert done.stdout == "imported\n"
    assert "a broken package" in done.stderr


@pytest.mark.slow
def test_without_a_cache_that_can_be_used_packages_are_loaded_without_one(tmp_path: Path) -> None:
    no_folder = tmp_path / "file"
    no_folder.touch()

    done = run("-c", FIRST_REQUEST, str(tmp_path), JSII_RUNTIME_PACKAGE_CACHE_ROOT=str(no_folder))

    assert (done.returncode, done.stdout, done.stderr) == (0, "imported\nmade\n", "")


@pytest.mark.slow
def test_the_first_run_leaves_all_that_makes_the_next_one_quick(tmp_path: Path) -> None:
    program = "import nodeless.imports.aws\n" + FIRST_REQUEST

    done = run("-c", program, str(tmp_path), JSII_RUNTIME_PACKAGE_CACHE_ROOT=str(tmp_path / "cache"))

    assert done.returncode == 0, done.stderr
    packages = {file.parent for file in tmp_path.glob("cache/**/.jsii")}
    assert len(packages) == 3  # constructs, the framework and the provider
    assert {file.parent for file in tmp_path.glob("cache/**/.jsii.runtime.v*.json")} == packages


@pytest.mark.parametrize(("folder", "is_waited_for"), [("", True), ("missing", False)])
def test_node_ends_when_an_index_is_written_if_it_can_be(tmp_path: Path, folder: str, *, is_waited_for: bool) -> None:
    thread = tmp_path / "runtime-index-worker.js"
    thread.write_text(f"setTimeout(() => require('fs').writeFileSync({json.dumps(str(tmp_path / 'index'))}, ''), 500)")
    place = json.dumps({"workerData": {"packageDir": str(tmp_path / folder)}})
    program = f"new (require('worker_threads').Worker)({json.dumps(str(thread))}, {place}); process.exit(7)"

    done = subprocess.run([node_in_use(), "--require", NODE_HOOK, "-e", program], timeout=60, check=False)

    assert done.returncode == 7
    assert (tmp_path / "index").exists() == is_waited_for


@pytest.mark.slow
def test_a_damaged_cache_is_not_used(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    variables = {"JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(cache)}
    assert run("-c", FIRST_REQUEST, str(tmp_path), **variables).returncode == 0
    (entry,) = cache.glob(f"**/{FRAMEWORK.core}/**/lib/app.js")
    entry.write_text("this is no JavaScript", encoding="utf-8")

    done = run("-c", FIRST_REQUEST, str(tmp_path), **variables)

    assert (done.returncode, done.stdout, done.stderr) == (0, "imported\nmade\n", "")


def test_what_a_package_prints_is_passed_on(tmp_path: Path) -> None:
    prints = 'if (/program.js$/.test(process.argv[1])) { console.log("to stdout"); console.error("to stderr"); }'

    done = run("-c", FIRST_REQUEST, str(tmp_path), JSII_NODE=str(node_with(tmp_path, prints)))

    assert "to stdout" in done.stdout
    assert "to stderr" in done.stderr


def test_an_error_that_is_not_about_the_temporary_folder_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> str:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(node_process.NodeProcess, "_jsii_runtime", fail)

    with pytest.raises(OSError, match="Invalid argument") as raised:
        node_process.NodeProcess().start()

    assert raised.value.__cause__ is None
