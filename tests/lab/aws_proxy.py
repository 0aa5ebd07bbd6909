"""Takes HTTPS calls to AWS's own addresses to the lab's AWS: for a controller that cannot be told another address.

Releases before 1.2 use version 1 of AWS's SDK, which has no variable for it. They do honour HTTPS_PROXY, and trust the
lab's authority, which issues a certificate for each host they call.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import urllib3

from tests.lab.certificates import LOOPBACK, Authority

# A queue is asked to wait for messages for up to 20 seconds.
TIMEOUT = 60
NOT_PASSED_ON = {"connection", "content-length", "transfer-encoding", "accept-encoding"}


@contextmanager
def running(authority: Authority, aws_url: str) -> Iterator[str]:
    """Serve the proxy; return its address."""
    pool, lock = urllib3.PoolManager(maxsize=20, timeout=TIMEOUT, retries=False), Lock()
    contexts: dict[str, ssl.SSLContext] = {}

    def context_for(host: str) -> ssl.SSLContext:
        with lock:
            if host not in contexts:
                pair = authority.server(host, host)
                contexts[host] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                contexts[host].load_cert_chain(pair.certificate, pair.key)
            return contexts[host]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            host = self.path.partition(":")[0]
            self.send_response(200)
            self.end_headers()
            self.connection = context_for(host).wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", buffering=0)
            self.close_connection = False

        def handle(self) -> None:
            # A controller that is stopped does not wait for its answers.
            with suppress(ConnectionError, ssl.SSLError):
                super().handle()

        def finish(self) -> None:
            with suppress(ConnectionError, ssl.SSLError):
                super().finish()
            self.connection.close()

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in NOT_PASSED_ON}
            answer = pool.request(self.command, f"{aws_url}{self.path}", body=body, headers=headers)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in NOT_PASSED_ON:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.data)))
            self.end_headers()
            self.wfile.write(answer.data)

        do_GET = do_POST = do_PUT = do_DELETE = pass_on  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
