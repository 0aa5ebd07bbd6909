"""The process behind `aws_server`: moto and the EKS overlay on a free port, until standard input closes."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from tests.terraform.eks_overlay import EksOverlay
from tests.terraform.recorder import FILE_VARIABLE, Recorder

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# How often a queue is asked whether it has a message, in seconds.
POLL = 0.5


class OneAtATime:
    """Lets one request in after the other: moto's stores are plain dicts, which break when two threads use them.

    An answer that gets lost on its way is asked for again under the same invocation id. It is given again, since the
    call itself was made: a second CreateRole would be a conflict.

    Calls of the query protocol, which IAM and EC2 have, are written down in the order in which they take effect.
    """

    def __init__(self, behind: WSGIApplication, calls: Path) -> None:
        self._behind, self._calls, self._lock = behind, calls, Lock()
        self._given: dict[str, Response] = {}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request, to its last byte."""
        invocation = environ.get("HTTP_AMZ_SDK_INVOCATION_ID", "")
        with self._lock:
            answer = self._given.get(invocation)
            if answer is None:
                body = Request(environ).get_data()
                environ["wsgi.input"] = BytesIO(body)  # it can be read once, and moto has to read it too
                answer = Response.from_app(self._behind, environ, buffered=True)
                if answer.status_code == HTTPStatus.OK:
                    self._write_down(body)
                if invocation and answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
                    self._given[invocation] = answer
        return answer(environ, start_response)

    def _write_down(self, body: bytes) -> None:
        if body.startswith(b"Action="):
            with self._calls.open("a", encoding="utf-8") as calls:
                calls.write(f"{json.dumps(dict(parse_qsl(body.decode())))}\n")


class LongPolls:
    """Waits for messages of a queue outside of `OneAtATime`, which would let nobody else in while it waits."""

    def __init__(self, behind: WSGIApplication) -> None:
        self._behind = behind

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Ask for messages again and again for as long as the caller wants to wait."""
        if environ.get("HTTP_X_AMZ_TARGET") != "AmazonSQS.ReceiveMessage":
            return self._behind(environ, start_response)
        asked = json.loads(Request(environ).get_data())
        end = time.monotonic() + asked.pop("WaitTimeSeconds", 0)
        body = json.dumps({**asked, "WaitTimeSeconds": 0}).encode()
        environ |= {"CONTENT_LENGTH": str(len(body))}
        # Otherwise the first answer would be given again.
        environ.pop("HTTP_AMZ_SDK_INVOCATION_ID", None)
        while True:
            answer = Response.from_app(self._behind, {**environ, "wsgi.input": BytesIO(body)}, buffered=True)
            if answer.status_code != HTTPStatus.OK or b'"Messages"' in answer.get_data() or time.monotonic() > end:
                return answer(environ, start_response)
            time.sleep(POLL)


def serve(calls: Path, overlay: Callable[[WSGIApplication], WSGIApplication] = EksOverlay) -> None:
    """Print the port as the first line, then serve."""
    app = OneAtATime(overlay(DomainDispatcherApplication(create_backend_app)), calls)
    recorder = Recorder(LongPolls(app), Path(os.environ[FILE_VARIABLE]))
    server = make_server("127.0.0.1", 0, recorder, threaded=True, request_handler=MotoRequestHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
