"""A real OCI registry on 127.0.0.1, over TLS, that the charts are pushed to and pulled from."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path

from tests.lab.certificates import LOOPBACK, KeyPair
from tests.lab.charts import helm
from tests.lab.control_plane import free_port
from tests.lab.kube import eventually
from tools.lab import store

NAMESPACE = "karpenter"


@dataclass(frozen=True)
class Registry:
    """A running registry: where it is, and the certificate that its clients trust."""

    address: str
    authority: Path
    folder: Path

    @property
    def repository(self) -> str:
        """Where the charts are, in the form of a chart's `repository`."""
        return f"oci://{self.address}/{NAMESPACE}"

    def push(self, package: Path) -> None:
        """Push a packaged chart; its name and its version are in the package."""
        self._helm("push", package, self._repository_for_helm)

    def show(self, chart: str, version: str) -> str:
        """Pull a chart and return its Chart.yaml."""
        return self._helm("show", "chart", f"{self._repository_for_helm}/{chart}", "--version", version)

    @property
    def _repository_for_helm(self) -> str:
        # Up to 3.17, helm speaks plain HTTP with an address of this machine and with localhost, if in lower case.
        return self.repository.replace(LOOPBACK, "LOCALHOST")

    def _helm(self, *arguments: str | Path) -> str:
        return helm(*arguments, "--ca-file", self.authority, home=self.folder / "helm")


@contextmanager
def running(folder: Path, *, pair: KeyPair, authority: Path) -> Iterator[Registry]:
    """Start a registry with this certificate, signed by this authority, and stop it afterwards; it keeps nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    port, config, log = free_port(), folder / "registry.json", folder / "registry.log"
    config.write_text(json.dumps(_configuration(port, pair)), "utf-8")
    # It would send traces to a collector on this machine, which nobody runs.
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "none"}
    with (
        log.open("w") as written,
        subprocess.Popen(
            [store.find("registry"), "serve", config],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
        ) as process,
    ):
        try:
            eventually(
                lambda: process.poll() is not None or _answers(port, authority), f"the registry answers; see {log}"
            )
            assert process.poll() is None, f"the registry did not start:\n{log.read_text('utf-8')}"
            yield Registry(f"{LOOPBACK}:{port}", authority, folder)
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()


def _configuration(port: int, pair: KeyPair) -> dict[str, object]:
    """Write the registry's configuration; JSON is YAML too."""
    return {
        "version": "0.1",
        "log": {"level": "info"},
        "storage": {"inmemory": {}},
        "http": {
            "addr": f"{LOOPBACK}:{port}",
            "tls": {"certificate": str(pair.certificate), "key": str(pair.key)},
        },
    }


def _answers(port: int, authority: Path) -> bool:
    connection = HTTPSConnection(LOOPBACK, port, context=ssl.create_default_context(cafile=authority), timeout=5)
    try:
        connection.request("GET", "/v2/")
        return connection.getresponse().status == 200
    except ConnectionError:
        return False
    finally:
        connection.close()
