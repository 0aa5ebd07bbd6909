"""Starts Node and loads the packages into it in a thread, while Python goes on importing.

jsii waits for Node after each package, although Python needs no answer before the first construct is made. How much
time this saves is measured in docs/decisions/0011-one-installed-name.md.
"""

import contextlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

from jsii import errors, kernel
from jsii._kernel.providers.process import ProcessProvider
from jsii._kernel.types import LoadRequest, LoadResponse

from nodeless.imports.node_process import NO_SPACE, NodeError, temporary_folder_error
from nodeless.imports.requests_ahead import RequestsAhead


class BackgroundProcess(RequestsAhead):
    """jsii's Node process. It starts and loads packages in a thread; every other request waits until that is done."""

    def __init__(self) -> None:
        super().__init__()
        self._loaded: list[tuple[LoadRequest, Any]] = []
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="jsii-load")
        self._is_started = Event()
        try:
            self._begun = self._worker.submit(self.start)
        except RuntimeError as error:
            fix = "raise the limit on processes and threads (ulimit -u)"
            raise NodeError("Python", str(error), "a thread that starts", fix) from error
        self._begun.add_done_callback(lambda _: self._is_started.set())
        self._pending: list[Future[Any]] = [self._begun]

    def wait_until_started(self) -> None:
        """Wait until the process has been created with the current environment; raise if that failed."""
        self._is_started.wait()
        if self._begun.done():
            self._begun.result()

    def handshake(self) -> None:
        """Wait for Node's first message. jsii calls this when it has created the process."""
        self._is_started.set()
        super().handshake()

    def send(self, request: Any, response_type: Any) -> Any:  # noqa: ANN401 - as in jsii
        """Send a request. The thread loads packages; jsii gets an answer at once, which it does not read."""
        if isinstance(request, LoadRequest):
            self._pending.append(self._worker.submit(self._load, request, response_type))
            return LoadResponse(assembly=request.name, types=0)
        while self._pending:
            self._pending.pop(0).result()
        return super().send(request, response_type)

    def _load(self, request: LoadRequest, response_type: Any) -> None:  # noqa: ANN401 - as in jsii
        """Load a package. If that fails, load all of them once more without jsii's cache.

        The cache is below the user's home, which may be missing, full or not writable; what is in it may be damaged.
        """
        self._loaded.append((request, response_type))
        try:
            self._unpack(request, response_type)
        except (errors.JSIIError, RuntimeError, OSError) as error:
            ended = isinstance(error, NodeError) and error.subject != "TMPDIR"
            if ended or self._environ.get("JSII_RUNTIME_PACKAGE_CACHE") == "disabled":
                raise
            self.stop()
            self._environ["JSII_RUNTIME_PACKAGE_CACHE"] = "disabled"
            self.start()
            for each in self._loaded:
                self._unpack(*each)

    def _unpack(self, request: LoadRequest, response_type: Any) -> None:  # noqa: ANN401 - as in jsii
        try:
            super().send(request, response_type)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            raise temporary_folder_error(error) from error


class BackgroundProvider(ProcessProvider):
    """jsii's provider, with a process that starts in the background."""

    def __init__(self) -> None:
        self._node = BackgroundProcess()

    @property
    def _process(self) -> BackgroundProcess:
        return self._node


@contextlib.contextmanager
def starting_node() -> Iterator[None]:
    """Start Node while the block runs. At the end Node's process exists, so the environment may change again."""
    if type(kernel.provider) is not ProcessProvider:
        yield
        return
    kernel.provider = provider = BackgroundProvider()
    yield
    provider._process.wait_until_started()  # noqa: SLF001 - the name is jsii's
