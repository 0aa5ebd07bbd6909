"""A Kubernetes control plane on 127.0.0.1: etcd, the API server, the controllers and the scheduler, all of them real.

There is no kubelet: `machines` plays the nodes. Users log in with client certificates, service accounts with the tokens
that the API server signs, and AWS users with the tokens of `aws eks get-token`, which a webhook checks as EKS does.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.lab.certificates import LOOPBACK, Authority, KeyPair, service_account_key
from tests.lab.kube import Kube, eventually
from tools.lab import store

# Those that a release, its pods and its nodes need; none for volumes, certificates or jobs.
CONTROLLERS = (
    "node-lifecycle-controller",
    "deployment-controller",
    "replicaset-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "disruption-controller",
    "endpointslice-controller",
    "root-ca-certificate-publisher-controller",
    "taint-eviction-controller",
    "pod-garbage-collector-controller",
)


@dataclass(frozen=True)
class ControlPlane:
    """A running control plane: where it is, how to trust it, and its client with all rights."""

    url: str
    authority: Authority
    kube: Kube
    kubeconfig: Path
    folder: Path
    logs: Mapping[str, Path] = field(default_factory=dict)

    @property
    def certificate_authority(self) -> Path:
        """The file of the certificate that clients trust."""
        return self.authority.certificate


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(folder: Path, *, issuer: str, token_webhook: Path | None = None) -> Iterator[ControlPlane]:
    """Start a control plane whose service account tokens name this issuer, and stop it afterwards.

    `token_webhook` is a kubeconfig of the server that checks tokens of AWS users.
    """
    authority = Authority(folder / "pki")
    admin = authority.client("admin", "system:masters")
    url, etcd_url, etcd_peers = (f"{scheme}://{LOOPBACK}:{free_port()}" for scheme in ("https", "http", "http"))
    kube = Kube(url, authority.certificate, certificate=admin)
    plane = ControlPlane(
        url, authority, kube, write_kubeconfig(folder / "admin.kubeconfig", url, authority, admin), folder
    )
    with ExitStack() as processes:
        processes.enter_context(_process(folder, "etcd", *_etcd(folder, etcd_url, etcd_peers)))
        options = _api_server(folder, authority, url, etcd_url=etcd_url, issuer=issuer, token_webhook=token_webhook)
        processes.enter_context(_process(folder, "kube-apiserver", *options))
        eventually(kube.ready, f"the API server is ready; its log is {folder / 'kube-apiserver.log'}", seconds=120)
        for name, further in (
            ("kube-controller-manager", _controller_manager(folder, authority)),
            ("kube-scheduler", ()),
        ):
            pair = authority.client(f"system:{name}", "system:masters")
            kubeconfig = write_kubeconfig(folder / f"{name}.kubeconfig", url, authority, pair)
            serving = ("--leader-elect=false", f"--bind-address={LOOPBACK}", f"--secure-port={free_port()}")
            processes.enter_context(_process(folder, name, f"--kubeconfig={kubeconfig}", *serving, *further))
        eventually(
            lambda: kube.find("/api/v1/namespaces/default/serviceaccounts/default"),
            "the controllers run: the default namespace has its service account",
        )
        yield plane


def write_kubeconfig(file: Path, url: str, authority: Authority, user: KeyPair | str) -> Path:
    """Write a kubeconfig for a user with a certificate or a token; JSON is YAML too."""
    login = (
        {"token": user}
        if isinstance(user, str)
        else {"client-certificate": str(user.certificate), "client-key": str(user.key)}
    )
    file.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [
                    {"name": "lab", "cluster": {"server": url, "certificate-authority": str(authority.certificate)}}
                ],
                "users": [{"name": "lab", "user": login}],
                "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
                "current-context": "lab",
            }
        ),
        "utf-8",
    )
    file.chmod(0o600)
    return file


def _etcd(folder: Path, url: str, peers: str) -> Iterator[str]:
    yield from (f"--data-dir={folder / 'etcd'}", "--name=lab", f"--initial-cluster=lab={peers}")
    yield from (f"--listen-client-urls={url}", f"--advertise-client-urls={url}")
    yield from (f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}")
    # What a test writes need not survive a power failure.
    yield "--unsafe-no-fsync"


def _api_server(
    folder: Path, authority: Authority, url: str, *, etcd_url: str, issuer: str, token_webhook: Path | None
) -> Iterator[str]:
    serving, key = authority.server("kube-apiserver"), service_account_key(folder / "pki" / "service-accounts.key")
    yield from (f"--etcd-servers={etcd_url}", f"--bind-address={LOOPBACK}", f"--secure-port={url.rpartition(':')[2]}")
    yield from (f"--tls-cert-file={serving.certificate}", f"--tls-private-key-file={serving.key}")
    yield from (f"--client-ca-file={authority.certificate}", "--authorization-mode=Node,RBAC", "--anonymous-auth=true")
    yield from (f"--service-account-issuer={issuer}", f"--service-account-signing-key-file={key}")
    yield from (f"--service-account-key-file={key}", "--api-audiences=https://kubernetes.default.svc")
    yield from ("--service-cluster-ip-range=10.100.0.0/16", f"--advertise-address={LOOPBACK}")
    # Pods here need no volume with a token, and no default storage class or runtime class.
    yield "--disable-admission-plugins=ServiceAccount,DefaultStorageClass,RuntimeClass"
    yield from ("--max-requests-inflight=0", "--profiling=false")
    if token_webhook:
        yield f"--authentication-token-webhook-config-file={token_webhook}"
        yield from ("--authentication-token-webhook-version=v1", "--authentication-token-webhook-cache-ttl=5s")


def _controller_manager(folder: Path, authority: Authority) -> Iterator[str]:
    yield f"--controllers={','.join(CONTROLLERS)}"
    # There are no kubelets that report their nodes as ready again and again.
    yield "--node-monitor-grace-period=24h"
    yield f"--service-account-private-key-file={folder / 'pki' / 'service-accounts.key'}"
    yield from (f"--root-ca-file={authority.certificate}", "--use-service-account-credentials=false")


@contextmanager
def _process(folder: Path, name: str, *options: str) -> Iterator[None]:
    # Nothing of this machine: with the variables of a proxy, the API server would look for webhooks there.
    environment = {"PATH": os.environ["PATH"]}
    with (
        (folder / f"{name}.log").open("w") as log,
        subprocess.Popen(
            [store.find(name), *options], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
