"""Processes that try cases one after the other: a case that hangs or takes all memory ends its process, not the run."""

from __future__ import annotations

import json
import multiprocessing
import resource
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from nodeless.linked_folders import import_linked
from nodeless.spec.resolution import load
from tests.fuzz.files import Case
from tests.fuzz.provider_schema import mistakes
from tests.fuzz.subject import FAILED, Outcome, examine, place_of

# A run may take this much. The first counts the time of the processor, since the machine may be busy.
MOST_SECONDS, MOST_MB = 5.0, 500
# With more than this a process is stopped.
WALL_SECONDS, ADDRESS_SPACE = 90, 3 * 1024**3

Answer = tuple[Outcome, Any]
Work = Callable[[Case, Path], Answer]


class Worker:
    """A process of its own, started when there is something to do and again after it was stopped."""

    def __init__(self, serve: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401 - whatever it serves
        self._serve, self._arguments = serve, arguments
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def try_case(self, case: Case) -> Answer:
        """Try a case; a process that does not answer is a failure of the case."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=self._serve, args=(theirs, *self._arguments), daemon=True)
            self._process.start()
            theirs.close()
        assert self._pipe is not None
        self._pipe.send(case)
        try:
            if self._pipe.poll(WALL_SECONDS):
                answer: Answer = self._pipe.recv()
                return _judged(answer[0]), answer[1]
            where = f"no answer in {WALL_SECONDS} s"
        except EOFError:
            where = "the process ended"
        self.stop()
        return Outcome(FAILED, where=where, details=where), None

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = None


def _judged(outcome: Outcome) -> Outcome:
    if outcome.end != FAILED and outcome.seconds > MOST_SECONDS:
        where = f"more than {MOST_SECONDS} s"
        return replace(outcome, end=FAILED, where=where, details=f"{outcome.seconds} s")
    if outcome.end != FAILED and outcome.peak_mb > MOST_MB:
        where = f"more than {MOST_MB} MB"
        return replace(outcome, end=FAILED, where=where, details=f"{outcome.peak_mb} MB")
    return outcome


def serve_subject(pipe: Connection) -> None:
    """Examine cases until the pipe is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        _serve(pipe, lambda case: (examine(case, Path(folder)), None))


def serve_synthesis(pipe: Connection, schema_file: Path | None, kept: Path) -> None:
    """Synthesize cases in one long process; compare each stack with the schema, and keep it for Terraform."""
    schema = json.loads(schema_file.read_text("utf-8")) if schema_file else None
    app = import_linked("nodeless.stacks.app")
    number = 0

    def work(case: Case) -> Answer:
        nonlocal number
        number += 1
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            return _synthesized(case, app.build, Path(folder), schema, kept / str(number))

    _serve(pipe, work)


def _synthesized(case: Case, build: Callable[..., None], folder: Path, schema: Any, kept: Path) -> Answer:  # noqa: ANN401 - any value of JSON
    file, out = folder / "clusters.yaml", folder / "out"
    file.write_bytes(case.text if isinstance(case.text, bytes) else case.text.encode())
    began = time.process_time()
    try:
        build(load(file), out)
        stacks = sorted((out / "stacks").iterdir())
        if schema:
            for stack in stacks:
                tree = json.loads((stack / "cdk.tf.json").read_text("utf-8"))
                found = list(mistakes(tree, schema))
                assert not found, f"the provider's schema: {found}"
    # Whatever goes wrong here is what the fuzzer looks for.
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        where = f"synthesis: {place_of(error)}"
        return Outcome(FAILED, where=where, details=traceback.format_exc()), None
    kept.mkdir(parents=True)
    for position, stack in enumerate(stacks):
        shutil.copytree(stack, kept / str(position))
    return Outcome("synthesized", clusters=len(stacks), seconds=time.process_time() - began), kept


def _serve(pipe: Connection, work: Callable[[Case], Answer]) -> None:
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            return
        pipe.send(work(case))
