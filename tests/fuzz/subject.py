"""What is tried with each case: everything but synthesis, in one process, with what it took and how it ended."""

from __future__ import annotations

import contextlib
import io
import re
import resource
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nodeless.cli.explain import explanation
from nodeless.cli.main import main
from nodeless.finding import Finding, SpecError
from nodeless.karpenter.releases import LAST_PATCHES
from nodeless.linked_folders import import_linked
from nodeless.resolved import permissions
from nodeless.resolved.delivery import gitops_files, metadata
from nodeless.resolved.installation import Installation
from nodeless.resolved.resources import vpc_endpoints
from nodeless.spec.bounds import LARGEST_FILE
from nodeless.spec.fleet import load_fleet
from nodeless.spec.reading import parse
from nodeless.spec.resolution import installation, resolve
from tests.fuzz.files import Case

ACCEPTED, REFUSED, FAILED = "accepted", "refused", "failed"
# A line end is fine; anything else that a terminal acts on is not.
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
FORMATS = ("text", "markdown", "json")
HIDDEN = "may be secret is not shown"


@dataclass(frozen=True)
class Outcome:
    """How a case ended; `where` tells one failure from another."""

    end: str
    keys: frozenset[str] = frozenset()
    clusters: int = 0
    where: str = ""
    details: str = ""
    seconds: float = 0.0
    peak_mb: int = 0


def examine(case: Case, folder: Path) -> Outcome:
    """Try a case, and measure it."""
    began = time.process_time()
    try:
        outcome = _examined(case, folder)
    # Whatever is raised but a SpecError is what the fuzzer looks for.
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is a finding
        outcome = Outcome(FAILED, where=place_of(error), details=traceback.format_exc())
    return replace(outcome, seconds=time.process_time() - began, peak_mb=_peak_mb())


def _peak_mb() -> int:
    """Return the most memory this process had; Linux's own count, since getrusage has that of the parent in it."""
    status = Path("/proc/self/status")
    if status.exists() and (high := re.search(r"VmHWM:\s+([0-9]+) kB", status.read_text("ascii"))):
        return int(high[1]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def place_of(error: BaseException) -> str:
    """Name the kind of an error and the innermost line of this project that it came through."""
    rows = [row for row in traceback.extract_tb(error.__traceback__) if "site-packages" not in row.filename]
    own = [row for row in rows if "/nodeless/" in row.filename or "/stacks/" in row.filename] or rows
    return f"{type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].name}" if own else type(error).__name__


def _examined(case: Case, folder: Path) -> Outcome:
    try:
        if case.kind == "python":
            _use(installation(**case.keys))
            return Outcome(ACCEPTED, clusters=1)
        file = folder / "clusters.yaml"
        data = case.text if isinstance(case.text, bytes) else case.text.encode("utf-8", "surrogatepass")
        file.write_bytes(data)
        members = load_fleet([file])
    except SpecError as error:
        _check_message(error)
        return Outcome(REFUSED, keys=frozenset(_wrong_keys(error.findings)))
    for member in members:
        _use(member.installation)
    _commands(file, [member.installation for member in members])
    keys = frozenset(key for member in members for key in keys_set(member.cluster))
    return Outcome(ACCEPTED, keys=keys, clusters=len(members))


def _use(resolved: Installation) -> None:
    """Compute what the files beside a stack hold, and read back what is written."""
    metadata(resolved, permissions.place_of(resolved, account=resolved.account or ""))
    vpc_endpoints(resolved)
    if resolved.delivery != "gitops":
        return
    yaml_text = import_linked("nodeless.stacks.files.yaml_text").yaml_text
    for documents in gitops_files(resolved).values():
        for document in documents:
            # To this reader a file of YAML 1.1 is one of 1.2: what is quoted in the one is text in the other.
            read, _ = parse(yaml_text(document), Path("gitops"))
            assert read == document, f"written {document!r}, read {read!r}"


def _check_read_back(explained: str, rows: list[Installation]) -> None:
    """Check that what explain prints is a file that means the same, unless it hides something or is too long."""
    if HIDDEN in explained or len(explained.encode()) > LARGEST_FILE:
        return
    tree, layout = parse(explained, Path("explain"))
    assert [found for _, found in resolve(tree, source="explain", layout=layout)] == rows, explained


def _commands(file: Path, rows: list[Installation]) -> None:
    """Run the other verbs on the file."""
    out, resolved = io.StringIO(), rows[0]
    with contextlib.redirect_stderr(out):
        _check_read_back(explanation([file], with_sections=False), rows)
        explanation([file])
    number = sum(map(ord, resolved.name + resolved.region))
    if number % 3:
        return
    version = ".".join(map(str, LAST_PATCHES[number % len(LAST_PATCHES)]))
    form = FORMATS[number // 3 % len(FORMATS)]
    for words in (
        ["upgrade", resolved.name, "--to", version, "--format", form],
        ["upgrade", "--fleet", "--to", version, "--format", form],
        ["explain", "--fleet"],
    ):
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main([*words, "--config", str(file)])
        assert status in {0, 2}, f"{words} ended with {status}"
        assert not CONTROL.search(out.getvalue()), f"{words} printed {CONTROL.findall(out.getvalue())}"


def _check_message(error: SpecError) -> None:
    """Check that a message is complete and does nothing to a terminal."""
    text = str(error)
    assert not CONTROL.search(text), f"the message holds {CONTROL.findall(text)}"
    for finding in error.findings:
        assert finding.expected, finding
        assert finding.fix, finding


def keys_set(model: BaseModel, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Name every key that a file sets, as in `nodes.roles.*.arn`."""
    for name in model.model_fields_set:
        here = (*path, name)
        yield ".".join(here)
        for below, steps in _models_in(getattr(model, name)):
            yield from keys_set(below, (*here, *steps))


def _models_in(value: Any, steps: tuple[str, ...] = ()) -> Iterator[tuple[BaseModel, tuple[str, ...]]]:  # noqa: ANN401 - any value of a model
    if isinstance(value, BaseModel):
        yield value, steps
    elif isinstance(value, dict):
        for below in value.values():
            yield from _models_in(below, (*steps, "*"))
    elif isinstance(value, list):
        for below in value:
            yield from _models_in(below, steps)


def _wrong_keys(findings: tuple[Finding, ...]) -> Iterator[str]:
    """Name the keys that findings are about; a key of the user's own in `nodes.roles` is `*`."""
    for finding in findings:
        steps = [step for step in finding.path if isinstance(step, str) and step not in {"clusters", "defaults"}]
        if steps[:2] == ["nodes", "roles"]:
            steps[2:3] = ["*"] * (len(steps) > 3)
        for length in range(1, len(steps) + 1):
            yield ".".join(steps[:length])
