"""The checks on where the controller's pods run and where their image comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nodeless.finding import Finding
from nodeless.karpenter import chart_keys
from nodeless.karpenter.chart import CONTROLLER_CHART, REPOSITORY
from nodeless.resolved.installation import Installation
from nodeless.resolved.references import is_reference
from nodeless.spec.guards.guard import RELEASE_KEYS, guard
from nodeless.spec.guards.pools.pool_checks import label_findings
from nodeless.spec.text_type import written
from nodeless.trees import places, value_at

KUBE_SYSTEM = "kube-system"
NAME_LABEL, INSTANCE_LABEL = "app.kubernetes.io/name", "app.kubernetes.io/instance"
UPSTREAM = REPOSITORY.removeprefix("oci://").partition("/")[0]
# Values of the chart that become labels.
LABELS_OF_CHART = ("podLabels", "additionalLabels", "serviceMonitor.additionalLabels", "nodeSelector")
HOOK_IMAGE = ("postInstallHook", "image")


@guard("fargate", "karpenter.namespace", "karpenter.values")
def selectors_match_the_controller(installation: Installation) -> Iterator[Finding]:
    """A selector of the Fargate profile matches the controller's pods: no node exists yet on which they could run."""
    if installation.fargate is None:
        return
    pods = _pod_labels(installation.values)
    namespace, selectors = installation.namespace, installation.fargate.selectors
    if any(where == namespace and _match(labels, pods) for where, labels in selectors):
        return
    labels = f", labels: {{{NAME_LABEL}: {pods[NAME_LABEL]}}}" if namespace == KUBE_SYSTEM else ""
    yield Finding(
        ("fargate", "selectors"),
        ", ".join(where for where, _ in selectors),
        f"a selector that matches the controller's pods, which are in the namespace {namespace} "
        f"with {', '.join(f'{key}={value}' for key, value in pods.items())}",
        f"add {{namespace: {namespace}{labels}}}",
    )


@guard("fargate")
def selectors_leave_kube_system(installation: Installation) -> Iterator[Finding]:
    """A selector does not take every pod of kube-system to Fargate."""
    for index, (namespace, labels) in enumerate(installation.fargate.selectors if installation.fargate else ()):
        if namespace == KUBE_SYSTEM and not labels:
            yield Finding(
                ("fargate", "selectors", index),
                namespace,
                "labels as well: this selector would run every pod of kube-system on Fargate",
                f"add labels: {{{NAME_LABEL}: {CONTROLLER_CHART}}} to it, or use coredns: true for CoreDNS",
            )


def _pod_labels(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels of the controller's pods, as the charts of all releases set them."""
    more = values.get("podLabels")
    return {
        NAME_LABEL: str(values.get("nameOverride") or CONTROLLER_CHART),
        INSTANCE_LABEL: CONTROLLER_CHART,
        **({str(key): str(value) for key, value in more.items()} if isinstance(more, Mapping) else {}),
    }


def _match(selector: Mapping[str, str], pods: Mapping[str, str]) -> bool:
    return selector.items() <= pods.items()


@guard("karpenter.values")
def labels_are_labels(installation: Installation) -> Iterator[Finding]:
    """The API server takes the labels that the chart gives the controller's resources."""
    for key in LABELS_OF_CHART:
        for path, labels in places(installation.values, key):
            if not isinstance(labels, Mapping):
                continue
            texts = {name: value for name, value in labels.items() if isinstance(value, str)}
            for finding in label_findings(("karpenter", "values", *path), texts):
                # What a reference stands for is not known yet.
                if installation.is_literal or not is_reference(str(finding.value)):
                    yield finding
            for name, value in labels.items():
                if isinstance(value, bool | int | float):
                    fix = f'write "{written(value)}", with the quotes'
                    yield Finding(("karpenter", "values", *path, name), value, "must be a quoted string", fix)


IMAGE_KEYS = (
    *RELEASE_KEYS,
    "karpenter.isolated_vpc",
    "karpenter.repository",
    "karpenter.image",
    "karpenter.values",
    "delivery",
)


@guard(*IMAGE_KEYS)
def isolated_vpc_has_a_mirror(installation: Installation) -> Iterator[Finding]:
    """An isolated VPC cannot pull from upstream's registry, which has no VPC endpoint."""
    if not installation.isolated_vpc or installation.delivery == "none":
        return
    given = value_at(installation.values, ("controller", "image"))
    image = value_at(given, ("repository",)) if isinstance(given, Mapping) else given
    if str(image or installation.image.repository or UPSTREAM).startswith(UPSTREAM):
        yield Finding(
            ("karpenter", "isolated_vpc"),
            "true",
            f"a mirror of the controller's image, because an isolated VPC cannot pull from {UPSTREAM}",
            "set karpenter.repository to a mirror that has the charts and beside them the image controller, "
            "or set karpenter.image.repository",
        )


@guard(*IMAGE_KEYS)
def isolated_vpc_can_run_the_hook(installation: Installation) -> Iterator[Finding]:
    """The first releases that serve v1 run a job with an image of its own after the installation."""
    release = installation.release
    if not installation.isolated_vpc or installation.delivery == "none" or not chart_keys.reads(release, HOOK_IMAGE):
        return
    image = value_at(installation.values, (*HOOK_IMAGE, "repository"))
    if str(image or UPSTREAM).startswith(UPSTREAM):
        yield Finding(
            ("karpenter", "version"),
            str(release),
            f"a newer patch: this one runs a job after the installation, with an image from {UPSTREAM}",
            f"set karpenter.version to {release.major}.{release.minor}, or "
            f"karpenter.values.{'.'.join(HOOK_IMAGE)}.repository to a mirror",
        )


GUARDS = (
    labels_are_labels,
    selectors_match_the_controller,
    selectors_leave_kube_system,
    isolated_vpc_has_a_mirror,
    isolated_vpc_can_run_the_hook,
)
