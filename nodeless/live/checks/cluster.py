"""Checks of the cluster itself: its state, its version, and what the file says about it."""

from __future__ import annotations

import shlex

from nodeless.karpenter import releases
from nodeless.live.checks.check import Check, Results, error, warning
from nodeless.live.cluster import ACTIVE, CONFIG_MAP
from nodeless.live.subject import Subject

# Updates leave the API server where it is.
WORKING = frozenset({ACTIVE, "UPDATING"})


def status(subject: Subject) -> Results:
    """An apply needs a cluster that answers."""
    live = subject.live
    if live.status not in WORKING:
        command = shlex.join(
            ("aws", "eks", "describe-cluster", "--name", live.name, "--region", subject.account.region)
        )
        yield error(f"the cluster is {live.status}", f"wait until it is ACTIVE: {command} --query cluster.status")


def release(subject: Subject) -> Results:
    """The release supports the cluster's Kubernetes version."""
    minor, wanted = subject.live.kubernetes_minor, subject.installation.release
    first, last = releases.kubernetes_range(wanted)
    if first <= minor <= last:
        return
    runs = f"Karpenter {wanted} runs on Kubernetes 1.{first} to 1.{last}, and the cluster has {subject.live.kubernetes}"
    if minor > releases.NEWEST_KUBERNETES:
        fix = "look at Karpenter's compatibility matrix, and for a newer nodeless"
        yield warning(f"{runs}, which is newer than this nodeless", fix)
        return
    nearest = releases.nearest_for(minor, wanted)
    yield error(runs, f'set karpenter.version: "{nearest}"' if nearest else "upgrade the cluster")


def kubernetes(subject: Subject) -> Results:
    """The file names the version that the cluster has."""
    if subject.kubernetes not in {None, subject.live.kubernetes}:
        text = f"the file says Kubernetes {subject.kubernetes}, and the cluster has {subject.live.kubernetes}"
        yield warning(text, f'set kubernetes: "{subject.live.kubernetes}"')


def literals(subject: Subject) -> Results:
    """What the file says about the cluster is what EKS says."""
    installation, live = subject.installation, subject.live
    rows = (
        ("oidc_issuer", installation.oidc_issuer, live.issuer),
        ("endpoint", (installation.endpoint or "").rstrip("/"), live.endpoint.rstrip("/")),
        ("certificate_authority", installation.certificate_authority, live.certificate_authority),
    )
    for key, written, found in rows:
        if written and written != found:
            yield error(
                f"{key} in the file is {_start(written)}, and the cluster has {_start(found)}", _literal(key, found)
            )


def _literal(key: str, found: str) -> str:
    return f'set {key}: "{found}", or remove the key' if found else f"remove {key}"


def _start(text: str, limit: int = 90) -> str:
    return text if len(text) <= limit else f"{text[:20]}…{text[-20:]}"


def authentication_mode(subject: Subject) -> Results:
    """The cluster has access entries."""
    live = subject.live
    if live.authentication_mode == CONFIG_MAP:
        command = shlex.join(
            (
                *("aws", "eks", "update-cluster-config", "--name", live.name, "--region", subject.account.region),
                *("--access-config", "authenticationMode=API_AND_CONFIG_MAP"),
            )
        )
        yield error(
            f"the authentication mode is {CONFIG_MAP}, which has no access entries: no node could join",
            f"run {command}, or set nodes.access: aws-auth",
        )


def auto_mode(subject: Subject) -> Results:
    """Only one Karpenter launches nodes."""
    if subject.live.is_auto_mode:
        text = "EKS Auto Mode is on, which runs a Karpenter of its own: both would launch nodes for a pending pod"
        yield warning(text, "turn Auto Mode off, or keep its node pools and these apart by taints")


CHECKS = (
    Check("cluster", "the cluster exists and is active", status),
    Check("auto-mode", "EKS Auto Mode is off", auto_mode),
    Check("release", "the Karpenter release supports the cluster's Kubernetes version", release),
    Check("kubernetes", "the Kubernetes version in the file is the cluster's", kubernetes),
    Check("literals", "issuer, endpoint and certificate authority in the file are the cluster's", literals),
    Check(
        "authentication-mode",
        "the cluster has access entries",
        authentication_mode,
        lambda installation: installation.access == "access-entry",
    ),
)
