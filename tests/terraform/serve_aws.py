"""The process behind `aws_server`: moto and the EKS overlay on a free port, until standard input closes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
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


def serve(calls: Path) -> None:
    """Print the port as the first line, then serve."""
    app = OneAtATime(EksOverlay(DomainDispatcherApplication(create_backend_app)), calls)
    recorder = Recorder(app, Path(os.environ[FILE_VARIABLE]))
    server = make_server("127.0.0.1", 0, recorder, threaded=True, request_handler=MotoRequestHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
