"""Karpenter's real webhooks in the lab: how the API server reaches them, and who answers for a release before v1.

The API server calls webhooks through the network of the cluster, and the lab has none. So the Service of the chart is
changed: it names an address of this machine, where a relay listens and passes everything on. The certificate and the
definitions that name the webhooks stay as the chart and the controller write them.

The controller of 0.37 is not built. Its conversions are those of 1.0, line by line, so the binary of 1.0 makes them:
with the settings of the pod of 0.37, and without leading, so that it does nothing else. The webhooks with which 0.37
checks pools and classes are played by a server that admits everything.
"""

from __future__ import annotations

import base64
import contextlib
import random
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

from nodeless.karpenter.versions import Release, before
from tests.lab import aws_proxy
from tests.lab.certificates import LOOPBACK
from tests.lab.controller import Controller
from tests.lab.kube import Object, eventually
from tests.lab.lab import Lab
from tests.lab.played_webhooks import ADMISSION, Handler

NAMESPACE = "karpenter"
SERVICE = f"/api/v1/namespaces/{NAMESPACE}/services/karpenter"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
LEASE = "karpenter-leader-election"
NOBODY = "nobody"
HOST, PORT, PORT_NAME = f"karpenter.{NAMESPACE}.svc", 8443, "https-webhook"
OF_THE_CHART = "labelSelector=app.kubernetes.io/name%3Dkarpenter"

# Releases that are not built, and the one whose conversions they have.
CONVERTS_LIKE_V1, V1 = before(1, 0), "1.0.8"


class Relay(ThreadingTCPServer):
    """Passes every connection on to the port of the process that runs at the moment."""

    daemon_threads = True
    port: int | None = None

    def connect(self) -> socket.socket:
        """Connect to a process that is ready: when pods are replaced, no process may run for some seconds."""
        eventually(self._is_ready, "a controller serves its webhooks", seconds=30)
        return socket.create_connection((LOOPBACK, self.port or 0))

    def _is_ready(self) -> bool:
        """Shake hands, as the probe of a real pod does: at first the process has no certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with (
                socket.create_connection((LOOPBACK, self.port or 0), timeout=5) as plain,
                context.wrap_socket(plain, server_hostname=HOST),
            ):
                return True
        except OSError:
            return False


class Passing(BaseRequestHandler):
    """One connection through the relay."""

    server: Relay

    def handle(self) -> None:
        """Copy both ways until both sides have ended."""
        with self.server.connect() as there:
            back = Thread(target=_copy, args=(there, self.request), daemon=True)
            back.start()
            _copy(self.request, there)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@dataclass
class ControllerWithWebhooks(Controller):
    """The controller, its webhooks within reach of the API server."""

    relay: Relay = field(kw_only=True)
    admitting: str = field(kw_only=True)
    """the address of the server that admits everything"""

    def _look_once(self) -> None:
        super()._look_once()
        self._name_relay()
        self._admit_everything()

    def _name_relay(self) -> None:
        service = self.lab.kube.find(SERVICE)
        if service and service["spec"]["type"] == "ClusterIP" and self._has_webhooks(service):
            name = {"type": "ExternalName", "externalName": self.relay.server_address[0]}
            self.lab.kube.patch(SERVICE, {"spec": {**name, "clusterIP": None, "clusterIPs": None}})

    @staticmethod
    def _has_webhooks(service: Object) -> bool:
        return any(port["name"] == PORT_NAME for port in service["spec"]["ports"])

    def _start(self, pod: Object) -> None:
        (container,) = pod["spec"]["containers"]
        image, _, tag = container["image"].partition("@")[0].rpartition(":")
        if Release.parse(tag) in CONVERTS_LIKE_V1:
            self._let_nobody_lead()
            pod = deepcopy(pod)
            pod["spec"]["containers"][0]["image"] = f"{image}:{V1}"
        elif (lease := self.lab.kube.find(f"{LEASES}/{LEASE}")) and lease["spec"]["holderIdentity"] == NOBODY:
            self.lab.kube.delete(f"{LEASES}/{LEASE}")
        super()._start(pod)

    def _environment(self, pod: Object, container: Object) -> dict[str, str]:
        environment = super()._environment(pod, container)
        self.relay.port = int(environment.get("WEBHOOK_PORT", 0))
        return environment

    def _let_nobody_lead(self) -> None:
        if self.lab.kube.find(f"{LEASES}/{LEASE}") is None:
            spec = {"holderIdentity": NOBODY, "leaseDurationSeconds": 24 * 60 * 60}
            self.lab.kube.create(LEASES, {"metadata": {"name": LEASE}, "spec": spec})

    def _admit_everything(self) -> None:
        authority = base64.b64encode(self.lab.plane.certificate_authority.read_bytes()).decode()
        for path in ADMISSION:
            for found in self.lab.kube.items(f"{path}?{OF_THE_CHART}"):
                if any("service" in each["clientConfig"] for each in found["webhooks"]):
                    client = {"url": self.admitting, "caBundle": authority}
                    webhooks = [{**each, "clientConfig": client} for each in found["webhooks"]]
                    self.lab.kube.patch(f"{path}/{found['metadata']['name']}", {"webhooks": webhooks})


@contextmanager
def following(lab: Lab) -> Iterator[ControllerWithWebhooks]:
    """Let the controller run whenever its pods do, with its webhooks."""
    pair, context = lab.plane.authority.server("admitting"), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    # The definitions name the port, so every lab has an address of its own.
    address = ".".join(("127", *(str(random.randrange(1, 255)) for _ in range(3))))  # noqa: S311 - no secret
    with (
        aws_proxy.running(lab.plane.authority, lab.world.aws.url) as proxy,
        Relay((address, PORT), Passing) as relay,
        ThreadingHTTPServer((LOOPBACK, 0), Handler) as admitting,
    ):
        admitting.socket = context.wrap_socket(admitting.socket, server_side=True)
        controller = ControllerWithWebhooks(
            lab,
            lab.folder / "karpenter.log",
            proxy,
            relay=relay,
            admitting=f"https://{LOOPBACK}:{admitting.server_port}/",
        )
        controller.log.touch()
        lab.machines.is_ready = controller.is_ready
        threads = [
            Thread(target=target, daemon=True)
            for target in (relay.serve_forever, admitting.serve_forever, controller.follow)
        ]
        for thread in threads:
            thread.start()
        try:
            yield controller
        finally:
            controller._stop.set()  # noqa: SLF001 - of this module
            threads.pop().join()
            relay.shutdown()
            admitting.shutdown()
