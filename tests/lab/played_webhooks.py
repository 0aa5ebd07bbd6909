"""Plays the webhooks of the releases before v1, for stories in which no controller runs.

Their charts make the API server ask the controller about every pool and class, and call it to convert between v1beta1
and v1. As in a cluster, nothing answers before a pod of the controller runs. Then this server admits everything and
converts by name only: so what the controller itself would refuse is not seen here.
"""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from tests.lab.certificates import LOOPBACK
from tests.lab.kube import Kube, KubeError, Object
from tests.lab.lab import Lab

PAUSE = 0.1
PODS = "/api/v1/pods?labelSelector=app.kubernetes.io/name%3Dkarpenter"
ADMISSION = tuple(
    f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations" for kind in ("mutating", "validating")
)
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Handler(BaseHTTPRequestHandler):
    """Answers an AdmissionReview or a ConversionReview."""

    def do_POST(self) -> None:
        """Answer in the version in which was asked."""
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review.pop("request")
        review["response"] = {"uid": request["uid"], **ANSWERS[review["kind"]](request)}
        body = json.dumps(review).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def admit(_request: Object) -> Object:
    """Let an object pass as it is."""
    return {"allowed": True}


def convert(request: Object) -> Object:
    """Give objects the version that is asked for, and leave everything else."""
    version = request["desiredAPIVersion"]
    objects = [{**each, "apiVersion": version} for each in request["objects"]]
    return {"convertedObjects": objects, "result": {"status": "Success"}}


ANSWERS = {"AdmissionReview": admit, "ConversionReview": convert}


@dataclass(frozen=True)
class Reachable:
    """Tells the API server where the webhooks are, as soon as a pod of the controller runs."""

    kube: Kube
    address: dict[str, Any]
    stop: Event

    def keep(self) -> None:
        """Look again and again: a release may be installed at any time."""
        while not self.stop.wait(PAUSE):
            try:
                if any(pod["status"]["phase"] == "Running" for pod in self.kube.items(PODS)):
                    self._name_admission()
                    self._name_conversion()
            except KubeError:
                # It was removed meanwhile, or written by somebody else: the next look shows.
                continue

    def _name_admission(self) -> None:
        for path in ADMISSION:
            for found in self.kube.items(path):
                if any("service" in each["clientConfig"] for each in found["webhooks"]):
                    webhooks = [{**each, "clientConfig": self.address} for each in found["webhooks"]]
                    self.kube.patch(f"{path}/{found['metadata']['name']}", {"webhooks": webhooks})

    def _name_conversion(self) -> None:
        for found in self.kube.items(DEFINITIONS):
            conversion = found["spec"]["conversion"].get("webhook", {})
            if "service" in conversion.get("clientConfig", {}):
                webhook = {"clientConfig": {"service": None, **self.address}}
                path = f"{DEFINITIONS}/{found['metadata']['name']}"
                self.kube.patch(path, {"spec": {"conversion": {"webhook": webhook}}})


@contextmanager
def played(lab: Lab) -> Iterator[None]:
    """Answer for the controller until the end."""
    pair, context = lab.plane.authority.server("webhooks"), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    authority = base64.b64encode(lab.plane.certificate_authority.read_bytes()).decode()
    stop = Event()
    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        address = {"url": f"https://{LOOPBACK}:{server.server_port}/", "caBundle": authority}
        reachable = Reachable(lab.kube, address, stop)
        threads = [Thread(target=target, daemon=True) for target in (server.serve_forever, reachable.keep)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            server.shutdown()
            for thread in threads:
                thread.join()
