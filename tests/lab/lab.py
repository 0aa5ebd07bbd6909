"""One lab: an account with an EKS cluster that has a real API server, its machines, and a registry with the charts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3

from nodeless.karpenter.versions import Release
from nodeless.trees import merged
from tests.lab import charts, control_plane, machines, registry, token_webhook
from tests.lab.aws_overlay import CLUSTERS
from tests.lab.control_plane import ControlPlane
from tests.lab.kube import Kube
from tests.lab.machines import Machines
from tests.lab.registry import Registry
from tests.lab.token_webhook import TokenWebhook
from tests.terraform import aws_server, provider_settings, world
from tests.terraform.lives import CLUSTER, REGION
from tests.terraform.runner import Tally, Terraform, environment_for
from tests.terraform.synthesis import stack_folder
from tests.terraform.tools import Tools
from tests.terraform.world import DISCOVERY, World


@dataclass(frozen=True)
class Lab:
    """Everything that a stack meets, running."""

    folder: Path
    world: World
    plane: ControlPlane
    machines: Machines
    webhook: TokenWebhook
    registry: Registry
    tools: Tools
    tally: Tally

    @property
    def kube(self) -> Kube:
        """The API server, with all rights."""
        return self.plane.kube

    def config(self, keys: Mapping[str, Any] | None = None) -> str:
        """Write a clusters.yaml that takes the charts from this lab; JSON is YAML too."""
        cluster = {"name": CLUSTER, "region": REGION, "karpenter": {"repository": self.registry.repository}}
        return json.dumps({"clusters": [merged(cluster, dict(keys or {}))]})

    def stack(self, keys: Mapping[str, Any] | None = None) -> Terraform:
        """Synthesize the cluster with these keys, and return a Terraform in its folder; it is not yet initialized."""
        folder = stack_folder(self.config(keys), scratch=self.folder)
        provider_settings.write(folder, self.world.aws.url)
        return self.terraform(folder)

    def terraform(self, folder: Path, environment: Mapping[str, str] | None = None) -> Terraform:
        """Return a Terraform in a folder, with these variables beyond those of the lab."""
        return Terraform(self.tools, folder, environment={**self.environment, **(environment or {})}, tally=self.tally)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of Terraform here: it trusts the lab's authority, and keeps Helm's files in the lab."""
        config = self.folder / "terraform.rc"
        config.write_text(self.tools.cli_config(self.folder / "plugin-cache"), "utf-8")
        homes = {f"HELM_{kind}_HOME": str(self.folder / "helm" / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        return environment_for(config) | homes | {"SSL_CERT_FILE": str(self.plane.certificate_authority)}


@contextmanager
def running(
    folder: Path, *, tools: Tools, tally: Tally, releases: Sequence[str], kubernetes: str = "1.35"
) -> Iterator[Lab]:
    """Start a lab with the charts of these releases, and stop it afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plugin-cache").mkdir()
    with aws_server.running(folder / "aws.log", "tests.lab.serve_aws") as aws:
        made = world.create(aws, cluster=CLUSTER, region=REGION, version=kubernetes, audiences=["sts.amazonaws.com"])
        tag = [{"Key": DISCOVERY, "Value": CLUSTER}]
        aws.client("ec2", REGION).create_tags(Resources=[made.security_groups[1]], Tags=tag)
        with (
            token_webhook.running(folder, cluster=CLUSTER, aws_url=aws.url) as webhook,
            control_plane.running(folder, issuer=made.oidc_issuer, token_webhook=webhook.kubeconfig) as plane,
            registry.running(
                folder / "registry", pair=plane.authority.server("registry"), authority=plane.certificate_authority
            ) as store,
            machines.looked_after(made, plane.kube) as looked_after,
        ):
            _tell(aws.url, plane)
            for release in releases:
                for package in charts.packages(Release.parse(release)):
                    store.push(package)
            yield Lab(folder, made, plane, looked_after, webhook, store, tools, tally)


def _tell(aws_url: str, plane: ControlPlane) -> None:
    """Say to EKS where the cluster's API server is."""
    authority = base64.b64encode(plane.certificate_authority.read_bytes()).decode()
    body = {"endpoint": plane.url, "certificateAuthority": {"data": authority}}
    urllib3.request("PUT", f"{aws_url}{CLUSTERS}{CLUSTER}", json=body)
