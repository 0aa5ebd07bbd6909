"""A backend of the type http: one state in memory, and every request noted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class StateServer(BaseHTTPRequestHandler):
    """Keeps one state in memory, and notes every request."""

    state = b""
    seen: list[str]

    def do_GET(self) -> None:
        """Return the state."""
        self._answer(200 if type(self).state else 404, type(self).state)

    def do_POST(self) -> None:
        """Keep the state."""
        type(self).state = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200)

    def do_LOCK(self) -> None:
        """Lock or unlock."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200)

    do_UNLOCK = do_LOCK  # noqa: N815 - the same

    def _answer(self, status: int, body: bytes = b"") -> None:
        type(self).seen.append(f"{self.command} {self.path.partition('?')[0]}")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the signature of http.server
        """Print nothing."""


@contextmanager
def serving() -> Iterator[tuple[str, type[StateServer]]]:
    """Serve a state on a free port; return the address, and what holds the state."""
    handler = type("Handler", (StateServer,), {"seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", handler
    finally:
        server.shutdown()
        server.server_close()
