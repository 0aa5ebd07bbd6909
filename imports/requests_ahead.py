"""Sends requests to Node before the answers to earlier ones are there, if these answers are known beforehand.

jsii waits for Node after each request. But the answer to a request for a new object is the next number, and some
methods return nothing: Python can go on while Node works. An error then reaches Python at a later request, which would
confuse whoever writes an app, so this is on only while nodeless builds its own stacks.
"""

import contextlib
import json
import os
import select
from collections import deque
from collections.abc import Iterator
from typing import Any

from jsii import _kernel as jsii_kernel, errors
from jsii._kernel.providers.process import jdefault
from jsii._kernel.types import CreateRequest, CreateResponse, GetResponse, InvokeRequest, InvokeResponse

from nodeless.imports.node_process import NodeError, NodeProcess, system_error

# Methods that return nothing.
SILENT = {"overrideLogicalId", "addOverride"}
# So many answers are waited for at most.
MOST_AWAITED = 128
# Requests go to Node in groups: each group is a change between two processes. After each group, the answers that are
# there are read: if Node waited for space in its pipe, and Python for space in the other one, neither would ever read.
# The answers to one group fit into a pipe, even if all of them are errors with their stack traces.
GROUP = 8
SUCCESS = b'{"ok":'
ENCODER = json.JSONEncoder(default=jdefault)
FROM_PYTHON = jsii_kernel._make_reference_for_native  # noqa: SLF001 - jsii has no public name for it


class RequestsAhead(NodeProcess):
    """jsii's Node process, which can be some requests behind Python."""

    def __init__(self) -> None:
        super().__init__()
        self._is_ahead = False
        # The start of each answer that is still to come, in the order of the requests.
        self._awaited: deque[bytes] = deque()
        self._posted = 0
        # The number of the next object; None if only Node knows it.
        self._next_number: int | None = None

    @contextlib.contextmanager
    def ahead(self) -> Iterator[None]:
        """Go ahead while the block runs; at its end, Node has done everything."""
        if os.name != "posix":  # Elsewhere, nobody can tell whether there is something in a pipe.
            yield
            return
        self._is_ahead, self._next_number = True, None
        as_before = jsii_kernel._make_reference_for_native  # noqa: SLF001 - jsii has no other place to change this
        jsii_kernel._make_reference_for_native = _serialized  # noqa: SLF001 - the same
        try:
            yield
            self._catch_up()
        except Exception:
            # The next request must not get the answer to one of these.
            with contextlib.suppress(NodeError, OSError):
                self._forget()
            raise
        finally:
            self._is_ahead = False
            jsii_kernel._make_reference_for_native = as_before  # noqa: SLF001 - the same

    def send(self, request: Any, response_type: Any) -> Any:  # noqa: ANN401 - as in jsii
        """Send a request, and wait for its answer only if that is not known."""
        if not self._is_ahead:
            return super().send(request, response_type)
        if type(request) is CreateRequest and self._next_number is not None and not request.overrides:
            reference = f"{request.fqn}@{self._next_number}"
            self._next_number += 1
            self._post(_create(request), SUCCESS + f'{{"$jsii.byref":"{reference}"'.encode())
            return CreateResponse(ref=reference)
        if type(request) is InvokeRequest and request.method in SILENT:
            self._post(_invoke(request), SUCCESS)
            return InvokeResponse()
        self._catch_up()
        answer = super().send(request, response_type)
        if isinstance(answer, CreateResponse):
            self._next_number = int(answer.ref.rpartition("@")[2]) + 1
        elif not (isinstance(answer, GetResponse) and _is_text(answer.value)):
            # It may contain objects, with numbers that are not looked for here.
            self._next_number = None
        return answer

    def _post(self, message: dict[str, Any], answer: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None  # noqa: S101 - as in jsii
        try:
            pipe.write(ENCODER.encode(message).encode() + b"\n")
        except BrokenPipeError as error:
            raise self._ended() from error
        self._awaited.append(answer)
        self._posted += 1
        if self._posted % GROUP == 0:
            self._flush()
            # Half of them at once: Python then goes on for a while before it waits again.
            most = MOST_AWAITED // 2 if len(self._awaited) >= MOST_AWAITED else MOST_AWAITED
            while self._awaited and (len(self._awaited) > most or self._has_answered()):
                self._receive()

    def _has_answered(self) -> bool:
        """Tell whether Node has written something that is not read yet."""
        pipe = self._process.stdout
        assert pipe is not None  # noqa: S101 - as in jsii
        return bool(select.select([pipe], [], [], 0)[0])

    def _catch_up(self) -> None:
        """Wait until Node has answered everything."""
        if self._awaited:
            self._flush()
            while self._awaited:
                self._receive()
            self._pass_on()

    def _flush(self) -> None:
        """Send what is written."""
        pipe = self._process.stdin
        assert pipe is not None  # noqa: S101 - as in jsii
        try:
            pipe.flush()
        except BrokenPipeError as error:
            raise self._ended() from error

    def _receive(self) -> None:
        """Read the next answer; raise the error that it is."""
        line, expected = self._next_line(), self._awaited.popleft()
        if not line.startswith(expected):
            raise _error(line, expected)

    def _forget(self) -> None:
        """Read the answers that are still to come, and do nothing with them."""
        if self._awaited:
            self._flush()
        while self._awaited:
            self._next_line()
            self._awaited.popleft()


def _serialized(kernel: jsii_kernel.Kernel, d: Any) -> Any:  # noqa: ANN401 - as in jsii, also the names
    """Write a value as jsii does, but leave out what a struct does not have.

    jsii reads every property of a struct, and each read builds the type of the property anew.
    """
    if isinstance(d, str) or d is None:
        return d
    if isinstance(d, dict):
        return {"$jsii.map": {key: _serialized(kernel, item) for key, item in d.items()}}
    if isinstance(d, list):
        return [_serialized(kernel, item) for item in d]
    names = getattr(d, "__jsii_name_mapping__", None)
    if names is None:
        return FROM_PYTHON(kernel, d)
    data = {names[name]: _serialized(kernel, item) for name, item in d._values.items()}  # noqa: SLF001 - jsii's own
    return {"$jsii.struct": {"fqn": d.__jsii_type__, "data": data}}


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _create(request: CreateRequest) -> dict[str, Any]:
    return {
        "api": "create",
        "fqn": request.fqn,
        "args": request.args,
        "overrides": [],
        "interfaces": request.interfaces,
    }


def _invoke(request: InvokeRequest) -> dict[str, Any]:
    reference = {"$jsii.byref": request.objref.ref}
    return {"api": "invoke", "objref": reference, "method": request.method, "args": request.args}


def _error(line: bytes, expected: bytes) -> Exception:
    """Make the error that jsii would have raised."""
    answer = json.loads(line)
    if "error" not in answer:
        return errors.JSIIError(f"Node answered {line!r}; expected {expected!r}")
    kind = errors.JSIIError if answer.get("name") == "@jsii/kernel.Fault" else RuntimeError
    error = system_error(answer["error"]) or kind(answer["error"])
    error.__cause__ = errors.JavaScriptError(answer.get("stack"))  # type: ignore[no-untyped-call] # jsii's own is not typed
    return error
