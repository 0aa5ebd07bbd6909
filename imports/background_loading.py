"""Node starts and loads the assemblies while Python still imports its half of the bindings.

jsii waits for Node at every assembly, though nothing in Python needs the answer before the first construct is made.
Here the requests go through a thread, in order, and the first construct waits for them all. Then jsii is as it was.
"""

import contextlib
import functools
import sys
import typing
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from types import ModuleType

from jsii import kernel
from jsii._kernel.providers.process import ProcessProvider, _NodeProcess
from jsii._kernel.types import LoadRequest, LoadResponse


class BackgroundProvider(ProcessProvider):
    """Queues the loading of assemblies; anything else that is asked of Node waits for the queue."""

    def __init__(self, plain: ProcessProvider) -> None:
        self._plain = plain
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="jsii-load")
        self._loads: list[Future[LoadResponse]] = []
        self.started = self._worker.submit(self._node)

    def load(self, request: LoadRequest) -> LoadResponse:
        """Promise the assembly; jsii does not look at the answer."""
        self._loads.append(self._worker.submit(self._plain.load, request))
        return LoadResponse(assembly=request.name, types=0)

    @property
    def _process(self) -> _NodeProcess:
        """Where every other request of jsii passes: Node, with all assemblies loaded."""
        kernel.provider = self._plain
        self._worker.shutdown()
        for load in self._loads:
            load.result()
        _remember_type_hints()
        return self._node()

    def _node(self) -> _NodeProcess:
        node: _NodeProcess = self._plain._process  # noqa: SLF001 - the process that the provider starts when first asked
        return node


@contextlib.contextmanager
def loading_in_background() -> Iterator[None]:
    """Let Node start beside what runs inside; on leaving, its process is there and has its environment."""
    plain = kernel.provider
    if type(plain) is not ProcessProvider:
        yield
        return
    with _announcing_the_process() as there:
        kernel.provider = background = BackgroundProvider(plain)
        background.started.add_done_callback(lambda _: there.set())
        yield
        there.wait()
    if background.started.done():
        background.started.result()


@contextlib.contextmanager
def _announcing_the_process() -> Iterator[Event]:
    """Tell when jsii has Node's process and goes on to wait for its greeting, which takes far longer."""
    there, handshake = Event(), _NodeProcess.handshake

    def announced(process: _NodeProcess) -> None:
        there.set()
        handshake(process)

    _NodeProcess.handshake = announced  # type: ignore[assignment,method-assign] # jsii has no other hook at this point
    try:
        yield there
    finally:
        _NodeProcess.handshake = handshake  # type: ignore[method-assign] # as above


def _remember_type_hints() -> None:
    """Let the generated type checks work out the hints of a function once, not at every call.

    Bindings from newer generators ask jsii for remembered hints; these are older and ask ``typing`` each time, which is
    a third of what a construct costs. Each of their modules gets a copy of ``typing`` that remembers; the real one is
    not touched.
    """
    remembering = ModuleType("typing")
    vars(remembering).update(vars(typing), get_type_hints=functools.cache(typing.get_type_hints))
    for name, module in tuple(sys.modules.items()):
        # Under this name the bindings keep the globals of their functions (the publication package moves them there).
        if name.startswith(("cdktf.", "cdktf_cdktf_provider_", "constructs.")) and name.endswith("._private"):
            vars(module)["typing"] = remembering
