"""Writes down every request that the AWS stand-in gets, as one line of JSON each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from werkzeug.wrappers import Request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# The server is told by this variable where to write.
FILE_VARIABLE = "NODELESS_TEST_REQUESTS"

SIGNED = re.compile(r"Credential=[^/]+/\d+/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request")


@dataclass(frozen=True)
class Recorded:
    """One request: who sent it, the service and region it was signed for, and all that names its operation."""

    agent: str
    service: str
    region: str
    method: str
    path: str
    query: str
    target: str
    body: str


class Recorder:
    """A WSGI application: notes a request and passes it on unchanged."""

    def __init__(self, behind: WSGIApplication, file: Path) -> None:
        self._behind, self._file, self._lock = behind, file, Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Note one request; whether it succeeds does not matter, because IAM is asked before."""
        request = Request(environ)
        body = request.get_data()
        environ["wsgi.input"] = BytesIO(body)  # a body can be read once, and moto has to read it too
        signed = SIGNED.search(request.headers.get("Authorization", ""))
        recorded = Recorded(
            agent=request.headers.get("User-Agent", ""),
            service=signed["service"] if signed else "",
            region=signed["region"] if signed else "",
            method=request.method,
            path=request.path,
            query=request.query_string.decode(),
            target=request.headers.get("X-Amz-Target", ""),
            body=body.decode(errors="replace"),
        )
        with self._lock, self._file.open("a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps(asdict(recorded))}\n")
        return self._behind(environ, start_response)


def read(file: Path) -> list[Recorded]:
    """Return what was written down."""
    return [Recorded(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]
