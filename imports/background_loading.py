"""Node starts and loads the assemblies in a thread while Python goes on importing.

jsii waits for Node at every assembly, though Python does not need the answer before it makes the first construct. What
this gains is measured in docs/decisions/0011-one-installed-name.md.
"""

import contextlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

from jsii import kernel
from jsii._kernel.providers.process import ProcessProvider, _NodeProcess
from jsii._kernel.types import LoadRequest, LoadResponse


class BackgroundProcess(_NodeProcess):
    """Node's process: it starts and loads assemblies in a thread; any other request waits until that is done."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # jsii's own is not typed
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="jsii-load")
        self._is_started = Event()
        self._begun = self._worker.submit(self.start)
        self._begun.add_done_callback(lambda _: self._is_started.set())
        self._pending: list[Future[Any]] = [self._begun]

    def wait_until_started(self) -> None:
        """Return when Node runs with its environment; raise if it could not be started."""
        self._is_started.wait()
        if self._begun.done():
            self._begun.result()

    def handshake(self) -> None:
        """Wait for Node's greeting; by now the process is there and has its environment."""
        self._is_started.set()
        super().handshake()

    def send(self, request: Any, response_type: Any) -> Any:  # noqa: ANN401 - as in jsii
        """Send a request; that an assembly will be loaded is promised at once, and jsii does not read the answer."""
        if isinstance(request, LoadRequest):
            self._pending.append(self._worker.submit(super().send, request, response_type))
            return LoadResponse(assembly=request.name, types=0)
        while self._pending:
            self._pending.pop(0).result()
        return super().send(request, response_type)


class BackgroundProvider(ProcessProvider):
    """jsii's provider with such a process."""

    def __init__(self) -> None:
        self._node = BackgroundProcess()

    @property
    def _process(self) -> BackgroundProcess:
        return self._node


@contextlib.contextmanager
def starting_node() -> Iterator[None]:
    """Let Node start beside what runs inside; on leaving, its process is there and has its environment."""
    if type(kernel.provider) is not ProcessProvider:
        yield
        return
    kernel.provider = provider = BackgroundProvider()
    yield
    provider._process.wait_until_started()  # noqa: SLF001 - the name is jsii's
