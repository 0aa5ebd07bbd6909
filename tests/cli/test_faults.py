"""One row per fault of the surroundings: a message with a fix and exit code 2, or the same bytes as ever."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nodeless.cli import process
from nodeless.output.inventory import config_name
from nodeless.output.paths import INVENTORY
from tests.cli.nodeless_process import MAIN, NEEDS_ROOT, contents, run
from tests.conftest import ROOT
from tests.imports.processes import node_with

pytestmark = pytest.mark.slow

SYNTH = f"exec {MAIN} --config {shlex.quote(str(ROOT / 'clusters.yaml'))} --out out"
SCHEMA = f"exec {shlex.quote(MAIN.split(maxsplit=1)[0])} -m nodeless schema"


@dataclass(frozen=True)
class Refused:
    """A fault that ends in a message; {folder} is the test's own."""

    fault: str
    says: str
    without_guard: str
    environment: Mapping[str, str] = field(default_factory=dict)
    line: str = SYNTH
    marks: tuple[pytest.MarkDecorator, ...] = ()


REFUSED = (
    Refused("JSII_NODE names nothing", "JSII_NODE", "FileNotFoundError", environment={"JSII_NODE": "{folder}/none"}),
    Refused("JSII_NODE is a text file", "JSII_NODE", "PermissionError", environment={"JSII_NODE": "{folder}/text"}),
    Refused(
        "JSII_NODE is no program", "JSII_NODE", "OSError ENOEXEC", environment={"JSII_NODE": "{folder}/no-program"}
    ),
    Refused("JSII_NODE is a folder", "JSII_NODE", "PermissionError", environment={"JSII_NODE": "{folder}"}),
    Refused("JSII_NODE is another program", "another program", "JSONDecodeError", environment={"JSII_NODE": "echo"}),
    Refused("JSII_NODE ends at once", "a Node that starts", "JSONDecodeError", environment={"JSII_NODE": "true"}),
    Refused("an unknown framework", "cdktf or cdktn", "KeyError", environment={"NODELESS_FRAMEWORK": "pulumi"}),
    Refused(
        "a framework that is not installed",
        "run pip install cdktn==",
        "ModuleNotFoundError",
        environment={"NODELESS_FRAMEWORK": "cdktn"},
    ),
    Refused(
        "a temporary folder that is full",
        "a folder for some 150 MB of temporary files",
        "OSError ENOSPC",
        line="mkdir t && mount -t tmpfs -o size=1M none t && TMPDIR=$PWD/t " + SYNTH,
        marks=(NEEDS_ROOT,),
    ),
    Refused(
        "no space for the packages, with no cache",
        "a folder for some 150 MB of temporary files",
        "RuntimeError ENOSPC",
        environment={"JSII_RUNTIME_PACKAGE_CACHE_ROOT": "{folder}/text"},
        line="mkdir t && mount -t tmpfs -o size=9M none t && TMPDIR=$PWD/t " + SYNTH,
        marks=(NEEDS_ROOT,),
    ),
    Refused(
        "an output disk that is full",
        "no space left on device",
        "RuntimeError ENOSPC",
        line="mkdir d && mount -t tmpfs -o size=32k none d && " + SYNTH.replace("--out out", "--out d/out"),
        marks=(NEEDS_ROOT,),
    ),
    Refused("a limit on file sizes", "ulimit -f", "OSError EFBIG", line="ulimit -f 100; " + SYNTH),
    Refused("a limit on open files", "ulimit -n", "OSError EMFILE", line="ulimit -n 10; " + SYNTH),
    Refused("a limit on memory", "free some memory", "JSONDecodeError", line="ulimit -v 1500000; " + SYNTH),
    Refused(
        "a current folder that is gone",
        "a folder that exists",
        "JSONDecodeError: Node cannot start there",
        line='mkdir gone && cd gone && rmdir "$PWD" && ' + SYNTH,
    ),
    Refused(
        "a full device as stdout",
        "cannot write to standard output (No space left on device)",
        "OSError ENOSPC",
        line=SCHEMA + " >/dev/full",
    ),
    Refused(
        "a closed stdout",
        "cannot write to standard output (Bad file descriptor)",
        "exit code 0, though the output is lost",
        line=SCHEMA + " >&-",
    ),
    Refused("a folder as the file", "a file, not a folder", "IsADirectoryError", line=SYNTH + " --config ."),
    Refused("a device as the file", "a larger file", "never ends", line=SYNTH + " --config /dev/zero"),
)


@pytest.mark.parametrize("row", [pytest.param(row, marks=row.marks, id=row.fault) for row in REFUSED])
def test_a_fault_that_cannot_be_helped_is_a_message_with_a_fix(tmp_path: Path, row: Refused) -> None:
    (tmp_path / "text").write_text("a text\n", encoding="utf-8")
    (tmp_path / "no-program").write_bytes(b"\x00\x01")
    (tmp_path / "no-program").chmod(0o755)
    line = f"unshare -m sh -c {shlex.quote(row.line)}" if NEEDS_ROOT in row.marks else row.line
    environment = {name: value.format(folder=tmp_path) for name, value in row.environment.items()}

    outcome = run(tmp_path, line, environment=environment)

    assert outcome.returncode == 2, outcome.stderr
    assert row.says in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert not (tmp_path / "out").exists()


def test_a_node_that_is_too_old_is_refused(tmp_path: Path) -> None:
    # The Node of this environment, which says that it is another one.
    node = node_with(tmp_path, 'Object.defineProperty(process.versions, "node", { value: "16.20.2" });')

    outcome = run(tmp_path, SYNTH, environment={"JSII_NODE": str(node)})

    assert outcome.returncode == 2
    assert "Node 18 or newer" in outcome.stderr


@pytest.mark.parametrize(
    ("end", "says"),
    [
        ("process.kill(process.pid, 'SIGKILL')", "ended by SIGKILL"),
        ("process.kill(process.ppid, 'SIGKILL')", "ended by SIGKILL"),
        ("process.abort()", "ended by SIGABRT"),
        ("process.exit(7)", "ended with status 7"),
    ],
    ids=["second Node killed", "first Node killed", "aborted", "ended"],
)
def test_a_node_that_ends_in_the_middle_is_a_message(tmp_path: Path, end: str, says: str) -> None:
    # It ends when CDKTF writes the stack.
    program = f"""
const fs = require("fs"), write = fs.writeFileSync;
fs.writeFileSync = (file, ...rest) => {{
  if (String(file).endsWith("cdk.tf.json")) {end};
  return write(file, ...rest);
}};
"""
    outcome = run(tmp_path, SYNTH, environment={"JSII_NODE": str(node_with(tmp_path, program))})

    assert outcome.returncode == 2, outcome.stderr
    assert says in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert not (tmp_path / "out").exists()


@dataclass(frozen=True)
class Harmless:
    """A fault or a variable that changes nothing."""

    fault: str
    without_guard: str
    environment: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    line: str = SYNTH
    marks: tuple[pytest.MarkDecorator, ...] = ()
    # What the inventory calls the file, if not as elsewhere.
    config: str = ""


HARMLESS = (
    Harmless("no HOME", "jsii takes the home of the user database", without=("HOME",)),
    Harmless("HOME that cannot exist", "JSIIError: no package cache", environment={"HOME": "{folder}/text/home"}),
    Harmless(
        "HOME that is full",
        "JSIIError: no package cache",
        line="mkdir h && mount -t tmpfs -o size=1M none h && HOME=$PWD/h " + SYNTH,
        without=("XDG_CACHE_HOME",),
        marks=(NEEDS_ROOT,),
    ),
    Harmless(
        "a cache that cannot be used",
        "JSIIError: no package cache",
        environment={"JSII_RUNTIME_PACKAGE_CACHE_ROOT": "{folder}/text"},
    ),
    Harmless("TMPDIR that is missing", "RuntimeError ENOENT in Node", environment={"TMPDIR": "{folder}/missing"}),
    Harmless(
        "variables of Node",
        "Node does not start",
        environment={
            "NODE_OPTIONS": "--no-such-option",
            "NODE_PATH": "{folder}",
            "NODE_DEBUG": "*",
            "OPENSSL_CONF": "{folder}/missing",
            "GRACEFUL_FS_PLATFORM": "win32",
            "TESTING_TAR_FAKE_PLATFORM": "win32",
        },
    ),
    Harmless(
        "variables of jsii",
        "debug lines on stderr, and the paths of Python files in the requests",
        environment={
            "JSII_DEBUG": "1",
            "JSII_DEBUG_TIMING": "1",
            "JSII_HOST_STACK_TRACES": "1",
            "JSII_RUNTIME": "{folder}/missing",
            "JSII_VALIDATE_ASSEMBLIES": "1",
        },
    ),
    Harmless("a context that is not JSON", "RuntimeError", environment={"CDKTF_CONTEXT_JSON": "nonsense"}),
    Harmless(
        "variables of CDKTF",
        "HCL instead of JSON, and other addresses",
        environment={
            "CDKTF_CONTEXT_JSON": '{{"excludeStackIdFromLogicalIds": "true", "allowSepCharsInLogicalIds": "true"}}',
            "SYNTH_HCL_OUTPUT": "true",
            "CDKTF_TARGET_STACK_ID": "another",
            "CDKTF_CONTINUE_SYNTH_ON_ERROR_ANNOTATIONS": "1",
            "CDKTF_DISABLE_PLUGIN_CACHE_ENV": "1",
            "CDKTF_LOG_LEVEL": "debug",
            "TERRAFORM_BINARY_NAME": "tofu",
        },
    ),
    Harmless(
        "variables of Terraform and AWS",
        "nothing reads them",
        environment={
            "TF_CLI_ARGS": "-no-such-option",
            "TF_VAR_region": "moon-1",
            "TF_DATA_DIR": "{folder}/missing",
            "AWS_PROFILE": "missing",
            "AWS_REGION": "moon-1",
            "AWS_ACCESS_KEY_ID": "key",
        },
    ),
    Harmless(
        "variables of Python",
        "nothing today, because no dependency warns; test_unforeseen.py has a command that does",
        environment={"PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1", "PYTHONOPTIMIZE": "2", "PYTHONINSPECT": "1"},
    ),
    Harmless(
        "another locale, zone and terminal",
        "UnicodeEncodeError for a text that is not ASCII",
        environment={
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "TZ": "Pacific/Kiritimati",
            "COLUMNS": "wide",
            "TERM": "none",
            "FORCE_COLOR": "1",
        },
    ),
    Harmless("a umask that allows nothing", "PermissionError, or files nobody can read", line="umask 777; " + SYNTH),
    Harmless("closed streams", "AttributeError: None has no flush", line=SYNTH + " <&- >&- 2>&-"),
    Harmless("a full device as stderr", "nothing to report, so nothing fails", line=SYNTH + " 2>/dev/full"),
    Harmless(
        "a pipe as the file",
        "it is read",
        line=f"cat {ROOT}/clusters.yaml | {MAIN} --config /dev/stdin --out out",
        config="-",
    ),
    Harmless("no network", "nothing needs it", line=f"unshare -n sh -c {shlex.quote(SYNTH)}", marks=(NEEDS_ROOT,)),
)


SUCCESS = "out: 1 stack written (1 new)\n"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("expected")
    outcome = run(folder, SYNTH)
    assert (outcome.returncode, outcome.stderr) == (0, SUCCESS)
    return contents(folder / "out")


@pytest.mark.parametrize("row", [pytest.param(row, marks=row.marks, id=row.fault) for row in HARMLESS])
def test_the_bytes_are_the_same_in_odd_surroundings(tmp_path: Path, row: Harmless, expected: dict[str, bytes]) -> None:
    (tmp_path / "text").write_text("a text\n", encoding="utf-8")
    line = f"unshare -m sh -c {shlex.quote(row.line)}" if "mount " in row.line else row.line
    environment = {name: value.format(folder=tmp_path) for name, value in row.environment.items()}

    outcome = run(tmp_path, line, environment=environment, without=row.without)

    said = "" if " 2>" in row.line else SUCCESS
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", said)
    name = config_name(ROOT / "clusters.yaml", tmp_path / "out")
    inventory = expected[INVENTORY].replace(f'"{name}"'.encode(), f'"{row.config or name}"'.encode())
    assert contents(tmp_path / "out") == expected | {INVENTORY: inventory}


def test_a_message_that_nobody_can_read_changes_no_status(tmp_path: Path) -> None:
    for stderr in ("2>/dev/full", "2>&-"):
        assert run(tmp_path, f"{SCHEMA.replace('schema', 'explain --config missing.yaml')} {stderr}").returncode == 2


def test_text_that_is_not_ascii_is_printed_in_any_locale(tmp_path: Path) -> None:
    text = "clusters:\n  - {name: demo, region: eu-north-1, tags: {owner: Zoë}}\n"
    (tmp_path / "clusters.yaml").write_text(text, encoding="utf-8")
    line = SCHEMA.replace("schema", "explain")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    odd = run(tmp_path, line, environment=ascii_only)

    assert (odd.returncode, odd.stderr) == (0, "")
    assert 'owner: "Zoë"' in odd.stdout
    # A message on stderr too.
    assert run(tmp_path, f"{line} --config Zoë.yaml", environment=ascii_only).returncode == 2


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (MemoryError(), "free some memory"),
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), "ulimit -u"),
        (OSError(errno.EIO, "Input/output error", "clusters.yaml"), "check the disk"),
    ],
)
def test_what_the_system_lacks_is_no_bug(error: Exception, says: str) -> None:
    assert says in str(process._refusal(error))  # noqa: SLF001 - hard to bring about in a process


@pytest.mark.parametrize("error", [OSError(errno.EINVAL, "Invalid argument"), RuntimeError("Node"), RecursionError()])
def test_any_other_error_is_a_bug(error: Exception) -> None:
    assert process._refusal(error) is None  # noqa: SLF001 - hard to bring about in a process


def test_files_are_readable_whatever_the_umask(tmp_path: Path) -> None:
    assert run(tmp_path, "umask 777; " + SYNTH).returncode == 0

    modes = {path.stat().st_mode & 0o600 for path in (tmp_path / "out").rglob("*")}
    assert modes == {0o600}


@pytest.mark.parametrize("verb", ["schema", f"explain --config {ROOT}/clusters.yaml", "upgrade 1.0.1 1.14.1"])
def test_the_other_commands_print_the_same_bytes_in_odd_surroundings(tmp_path: Path, verb: str) -> None:
    line = SCHEMA.replace("schema", verb)
    every = {name: value.format(folder=tmp_path) for row in HARMLESS for name, value in row.environment.items()}
    every["PYTHONOPTIMIZE"] = "1"  # With 2 Python drops the docstrings, which describe the keys in the schema.

    odd, usual = run(tmp_path, line, environment=every), run(tmp_path, line)

    assert usual.returncode == 0
    assert (odd.returncode, odd.stdout, odd.stderr) == (0, usual.stdout, usual.stderr)


@NEEDS_ROOT
@pytest.mark.parametrize("verb", [f"explain --config {ROOT}/clusters.yaml", "upgrade 1.0.1 1.14.1"])
def test_the_other_commands_need_no_network(tmp_path: Path, verb: str) -> None:
    line = SCHEMA.replace("schema", verb)

    offline, usual = run(tmp_path, f"unshare -n sh -c {shlex.quote(line)}"), run(tmp_path, line)

    assert (offline.returncode, offline.stdout) == (0, usual.stdout)
