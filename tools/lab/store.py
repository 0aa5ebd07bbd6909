"""Where the lab's tools are: a folder per Go module in the user's cache, named by what the module is built from."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path

CACHE_VARIABLE = "NODELESS_LAB_CACHE"
MODULES = Path(__file__).parent / "modules"

KUBERNETES = "1.35.4"
HELM_PROVIDER = "3.1.2"
# Terraform and OpenTofu look for the same provider under different hosts.
PROVIDER_HOSTS = ("registry.terraform.io", "registry.opentofu.org")


class NotBuilt(Exception):  # noqa: N818 - a reason to skip a test, not an error
    """A tool is not in the store; the text says what to do."""


@dataclass(frozen=True)
class Tool:
    """A binary: its name, the folder of its go.mod, its package, and the variables that the linker sets in it."""

    name: str
    module: str
    package: str
    variables: tuple[str, ...] = ()


# Helm compares the API server's version with what a chart allows; without these it would be 0.0.0.
KUBERNETES_VARIABLES = tuple(
    f"k8s.io/component-base/version.{name}={value}"
    for name, value in zip(
        ("gitVersion", "gitMajor", "gitMinor"), (f"v{KUBERNETES}", *KUBERNETES.split(".")[:2]), strict=True
    )
)

# Every variable is one that the project's own release build sets.
TOOLS = (
    Tool("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    *(
        Tool(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", KUBERNETES_VARIABLES)
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    ),
    Tool("registry", "registry", "github.com/distribution/distribution/v3/cmd/registry"),
    Tool(
        "terraform-provider-helm",
        "helm-provider",
        "github.com/hashicorp/terraform-provider-helm",
        (f"main.Version={HELM_PROVIDER}",),
    ),
    *(
        Tool(
            f"karpenter-{release}",
            f"karpenter-{release}",
            "github.com/aws/karpenter-provider-aws/cmd/controller",
            (f"sigs.k8s.io/karpenter/pkg/operator.Version={release}",),
        )
        for release in ("1.14.1", "1.0.8")
    ),
    # Without "no", these two would call themselves a development version.
    Tool("tofu", "opentofu", "github.com/opentofu/opentofu/cmd/tofu", ("github.com/opentofu/opentofu/version.dev=no",)),
    Tool(
        "terraform", "terraform", "github.com/hashicorp/terraform", ("github.com/hashicorp/terraform/version.dev=no",)
    ),
)


def root() -> Path:
    """Return the folder of the store, which several clones share."""
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nodeless" / "lab"


def machine() -> tuple[str, str]:
    """Return this machine's operating system and architecture, in Go's words."""
    architecture = platform.machine().lower()
    return platform.system().lower(), {"x86_64": "amd64", "aarch64": "arm64"}.get(architecture, architecture)


def tools_of(module: str) -> list[Tool]:
    """Return the tools that one module builds."""
    return [tool for tool in TOOLS if tool.module == module]


def folder(module: str) -> Path:
    """Return the folder of a module's binaries; another go.mod, go.sum or row of the table is another folder."""
    content = hashlib.sha256(repr(tools_of(module)).encode())
    for file in ("go.mod", "go.sum"):
        content.update(hashlib.sha256((MODULES / module / file).read_bytes()).digest())
    return root() / "-".join((module, content.hexdigest()[:12], *machine()))


def find(name: str) -> Path:
    """Return the path of a tool."""
    (module,) = (tool.module for tool in TOOLS if tool.name == name)
    binary = folder(module) / name
    if not binary.is_file():
        raise NotBuilt(f"{name} is not built: make lab")
    return binary


def helm_mirror() -> Path:
    """Return a provider mirror with the Helm provider only, for Terraform and OpenTofu."""
    return find("terraform-provider-helm").parent / "mirror"
