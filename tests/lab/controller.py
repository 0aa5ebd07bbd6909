"""Runs Karpenter's controller as the pods of its Deployment say: the real binary, as a process on this machine.

While a pod of the Deployment runs, so does the process; which release it is, its image tells; what configures it, the
container's environment. It has the rights of its service account in the cluster, and in AWS those of the role that
the service account names.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from threading import Event, Thread

import urllib3

from tests.lab import aws_proxy
from tests.lab.certificates import LOOPBACK
from tests.lab.control_plane import free_port, write_kubeconfig
from tests.lab.kube import KubeError, Object
from tests.lab.lab import Lab
from tools.lab import store

PAUSE = 0.5
APPLICATION = "karpenter"
ROLE_ANNOTATION = "eks.amazonaws.com/role-arn"
PROBE_PORT, PROBE_PATH = "HEALTH_PROBE_PORT", "/readyz"
DAY = 24 * 60 * 60


@dataclass
class Controller:
    """The process of the running pods, if there is one; `started` lists every release that ran."""

    lab: Lab
    log: Path
    _proxy: str
    started: list[str] = field(default_factory=list)
    exited: list[int] = field(default_factory=list)
    """exit codes of processes that ended by themselves"""
    faults: list[str] = field(default_factory=list)
    _template: Object | None = None
    _probe: str = ""
    _process: subprocess.Popen[bytes] | None = None
    _stop: Event = field(default_factory=Event)

    def follow(self) -> None:
        """Keep a process while a pod runs, until told to stop."""
        while not self._stop.wait(PAUSE):
            try:
                self._look_once()
            except (KubeError, store.NotBuilt, KeyError) as error:
                self.faults.append(repr(error))
        self._end()

    def _look_once(self) -> None:
        if self._process and self._process.poll() is not None:
            self.exited.append(self._process.returncode)
            self._process = None
        pod = self._running_pod()
        template = pod and _template_of(pod)
        if template != self._template:
            self._end()
            self._template = template
        if pod and self._process is None:
            self._start(pod)

    def _running_pod(self) -> Object | None:
        """Return the newest pod of the Deployment that runs and is not about to end."""
        pods = [
            pod
            for pod in self.lab.kube.items(f"/api/v1/pods?labelSelector=app.kubernetes.io/name%3D{APPLICATION}")
            if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]
        ]
        return max(pods, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default=None)

    def is_ready(self, pod: Object) -> bool:
        """Answer the readiness probe of a pod: one of the controller is ready when its process says so."""
        if pod["metadata"].get("labels", {}).get("app.kubernetes.io/name") != APPLICATION:
            return True
        if self._process is None or _template_of(pod) != self._template:
            return False
        try:
            answer = urllib3.request("GET", self._probe, timeout=5, retries=False)
        except urllib3.exceptions.HTTPError:
            return False
        return bool(answer.status == HTTPStatus.OK)

    def _start(self, pod: Object) -> None:
        container = next(each for each in pod["spec"]["containers"] if each["name"] == "controller")
        release = container["image"].partition("@")[0].rpartition(":")[2].removeprefix("v")
        environment = {**self._environment(pod, container), **self._login(pod)}
        self._probe = f"http://{LOOPBACK}:{environment[PROBE_PORT]}{PROBE_PATH}"
        self.started.append(release)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [store.find(f"karpenter-{release}"), *container.get("args", ())],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _environment(self, pod: Object, container: Object) -> dict[str, str]:
        """Return the container's environment; only the ports differ, because this machine has one network."""
        given = {each["name"]: value_of(each, pod, container) for each in container.get("env", ())}
        ports = {name: str(free_port()) for name in given if name.endswith("_PORT")}
        return {"PATH": os.environ["PATH"], **given, **ports}

    def _login(self, pod: Object) -> dict[str, str]:
        """Add what EKS and its webhook add to a pod: tokens of its service account, and the role they are good for."""
        namespace, account = pod["metadata"]["namespace"], pod["spec"]["serviceAccountName"]
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}"
        annotations = self.lab.kube.get(path)["metadata"].get("annotations", {})
        kubeconfig = write_kubeconfig(
            self.lab.folder / "karpenter.kubeconfig", self.lab.plane.url, self.lab.plane.authority, self._token(path)
        )
        web_identity = self.lab.folder / "karpenter.token"
        web_identity.write_text(self._token(path, "sts.amazonaws.com"), "utf-8")
        role = {"AWS_ROLE_ARN": annotations[ROLE_ANNOTATION], "AWS_WEB_IDENTITY_TOKEN_FILE": str(web_identity)}
        return {
            "KUBECONFIG": str(kubeconfig),
            # In a pod a file says in which namespace it runs.
            "LEADER_ELECTION_NAMESPACE": namespace,
            "AWS_REGION": self.lab.world.region,
            "AWS_ENDPOINT_URL": self.lab.world.aws.url,
            # The login comes before the SDK reads the line above.
            "AWS_ENDPOINT_URL_STS": self.lab.world.aws.url,
            # For releases whose SDK knows neither; it does not concern the API server, which is on this machine.
            "HTTPS_PROXY": self._proxy,
            "SSL_CERT_FILE": str(self.lab.plane.certificate_authority),
            # Fargate has no metadata service.
            "AWS_EC2_METADATA_DISABLED": "true",
            **role,
        }

    def _token(self, path: str, *audiences: str) -> str:
        spec: Mapping[str, object] = {"audiences": list(audiences), "expirationSeconds": DAY}
        answer = self.lab.kube.create(
            f"{path}/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        )
        return str(answer["status"]["token"])

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=20)
        self._process.kill()
        self._process.wait()
        self._process = None


def _template_of(pod: Object) -> Object:
    """Return what makes one process do for several pods."""
    return {"spec": pod["spec"]["containers"], "namespace": pod["metadata"]["namespace"]}


def value_of(variable: Object, pod: Object, container: Object) -> str:
    """Return the value of an environment variable as a kubelet computes it."""
    source = variable.get("valueFrom", {})
    if "fieldRef" in source:
        section, _, name = source["fieldRef"]["fieldPath"].partition(".")
        return str(pod[section][name])
    if "resourceFieldRef" in source:
        kind, _, name = source["resourceFieldRef"]["resource"].partition(".")
        return str(in_bytes(container["resources"][kind][name]))
    return str(variable.get("value", ""))


def in_bytes(quantity: str) -> int:
    """Read an amount of memory."""
    units = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "": 1}
    number = quantity.rstrip("KMGi")
    return int(number) * units[quantity.removeprefix(number)]


@contextmanager
def following(lab: Lab) -> Iterator[Controller]:
    """Let the controller run whenever its pods do."""
    with aws_proxy.running(lab.plane.authority, lab.world.aws.url) as proxy:
        controller = Controller(lab, lab.folder / "karpenter.log", proxy)
        controller.log.touch()
        lab.machines.is_ready = controller.is_ready
        thread = Thread(target=controller.follow, daemon=True)
        thread.start()
        try:
            yield controller
        finally:
            controller._stop.set()  # noqa: SLF001 - of this module
            thread.join()
