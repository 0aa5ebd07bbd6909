"""The process behind `aws_server`: moto and the EKS overlay on a free port, until standard input closes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server
from werkzeug.wrappers import Response

from tests.terraform.eks_overlay import EksOverlay
from tests.terraform.recorder import FILE_VARIABLE, Recorder

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class OneAtATime:
    """Lets one request in after the other: moto's stores are plain dicts, which break when two threads use them.

    An answer that gets lost on its way is asked for again under the same invocation id. It is given again, since the
    call itself was made: a second CreateRole would be a conflict.
    """

    def __init__(self, behind: WSGIApplication) -> None:
        self._behind, self._lock = behind, Lock()
        self._given: dict[str, Response] = {}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request, to its last byte."""
        invocation = environ.get("HTTP_AMZ_SDK_INVOCATION_ID", "")
        with self._lock:
            answer = self._given.get(invocation)
            if answer is None:
                answer = Response.from_app(self._behind, environ, buffered=True)
                if invocation and answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
                    self._given[invocation] = answer
        return answer(environ, start_response)


def serve() -> None:
    """Print the port as the first line, then serve."""
    app = OneAtATime(EksOverlay(DomainDispatcherApplication(create_backend_app)))
    recorder = Recorder(app, Path(os.environ[FILE_VARIABLE]))
    server = make_server("127.0.0.1", 0, recorder, threaded=True, request_handler=MotoRequestHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    serve()
