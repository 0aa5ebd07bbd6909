"""Compares what a cluster holds with what an installation asks for: pools, classes, logging, and the controller."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nodeless.karpenter.chart import CONTROLLER_CHART, IMAGE, REPOSITORY, Values, chart_version
from nodeless.karpenter.place import Place
from nodeless.karpenter.versions import Window, before, since, the_one
from nodeless.resolved.charts import chart_values
from nodeless.resolved.installation import Installation
from nodeless.resolved.resources import all_manifests, fargate_logging_manifests
from tests.lab.inventory import differences
from tests.lab.kube import Kube, Object

# Where an object is, and what it must hold at least.
Asked = tuple[str, Mapping[str, Any]]

WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
ROLE_ANNOTATION = "eks.amazonaws.com/role-arn"
# Of a class.
FIELDS_WITH_NAMES = {"role": "role", "instanceProfile": "instance profile"}
GLOBAL_SETTINGS = "karpenter-global-settings"
# What the chart takes from the values as it is.
OF_THE_POD = ("dnsPolicy", "topologySpreadConstraints")


def not_as_asked(kube: Kube, installation: Installation, place: Place, *, endpoint: str) -> list[str]:
    """Name everything that was asked for and is not so; what the server and the chart add does not count."""
    wanted = [*manifests(kube, installation, place), *controller(installation, place, endpoint=endpoint)]
    return [
        f"{path}: {difference}"
        for path, asked in wanted
        for difference in differences(dict(asked), with_environment(kube.find(path) or {}))
    ]


def manifests(kube: Kube, installation: Installation, place: Place) -> Iterator[Asked]:
    """Return the objects that nodeless writes itself."""
    for manifest in (*all_manifests(installation), *fargate_logging_manifests(installation, place)):
        yield path_of(kube, manifest), manifest


def path_of(kube: Kube, manifest: Mapping[str, Any]) -> str:
    """Return where the API server keeps the object of a manifest; it knows the plural of every kind."""
    version, metadata = manifest["apiVersion"], manifest["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    (plural,) = (
        each["name"]
        for each in kube.get(root)["resources"]
        if each["kind"] == manifest["kind"] and "/" not in each["name"]
    )
    namespace = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{namespace}/{plural}/{metadata['name']}"


def controller(installation: Installation, place: Place, *, endpoint: str) -> Iterator[Asked]:
    """Return what upstream's chart must have made of the values."""
    values, namespace = chart_values(installation, place, endpoint=endpoint), installation.namespace
    account = values["serviceAccount"]
    yield (
        f"/api/v1/namespaces/{namespace}/serviceaccounts/{account['name']}",
        {"metadata": {"annotations": account["annotations"]}},
    )
    container = {"resources": values["controller"]["resources"], "image": image(installation, values)}
    pod = {key: values[key] for key in OF_THE_POD if key in values}
    pod |= {"serviceAccountName": account["name"], "containers": [container]}
    yield deployment(namespace), {"spec": {"replicas": values["replicas"], "template": {"spec": pod}}}
    environment = {each["name"]: each["value"] for each in values["controller"]["env"]}
    yield deployment(namespace), {"environment": environment}
    yield the_one(installation.release, SETTINGS)(namespace, values["settings"])


def named_resources(kube: Kube, installation: Installation) -> set[str]:
    """Return the AWS resources that the cluster names, in the words of `Account.holdings`."""
    return set(_named_resources(kube, installation))


def _named_resources(kube: Kube, installation: Installation) -> Iterator[str]:
    account = kube.get(f"/api/v1/namespaces/{installation.namespace}/serviceaccounts/{installation.service_account}")
    yield f"role {account['metadata']['annotations'][ROLE_ANNOTATION].rpartition('/')[2]}"
    environment = with_environment(kube.get(deployment(installation.namespace)))["environment"]
    if queue := environment.get("INTERRUPTION_QUEUE"):
        yield f"queue {queue}"
    for manifest in all_manifests(installation):
        spec = kube.get(path_of(kube, manifest))["spec"]
        yield from (f"{what} {spec[field]}" for field, what in FIELDS_WITH_NAMES.items() if field in spec)


def deployment(namespace: str) -> str:
    """Return where the controller's Deployment is."""
    return f"/apis/apps/v1/namespaces/{namespace}/deployments/{CONTROLLER_CHART}"


def image(installation: Installation, values: Values) -> str:
    """Write the controller's image in one line, as the oldest chart has it in the values too."""
    given = values["controller"].get("image", {})
    if isinstance(given, str):
        return given
    upstream = {
        "repository": f"{REPOSITORY.removeprefix('oci://')}/{IMAGE}",
        "tag": chart_version(installation.version),
    }
    parts = {**upstream, "digest": "", **given}
    return f"{parts['repository']}:{parts['tag']}" + (f"@{parts['digest']}" if parts["digest"] else "")


def settings_in_a_config_map(namespace: str, settings: Values) -> Asked:
    """Return the settings as the charts of the alpha API pass them on: `aws.clusterName`."""
    data = {f"aws.{name}": text(value) for name, value in settings["aws"].items()}
    return f"/api/v1/namespaces/{namespace}/configmaps/{GLOBAL_SETTINGS}", {"data": data}


def settings_in_the_environment(namespace: str, settings: Values) -> Asked:
    """Return the settings as later charts pass them on: `clusterName` is CLUSTER_NAME."""
    environment = {WORD.sub("_", name).upper(): text(value) for name, value in settings.items()}
    return deployment(namespace), {"environment": environment}


SETTINGS: tuple[tuple[Window, Callable[[str, Values], Asked]], ...] = (
    (before(0, 32), settings_in_a_config_map),
    (since(0, 32), settings_in_the_environment),
)


def text(value: object) -> str:
    """Write a setting as Helm does."""
    return value if isinstance(value, str) else json.dumps(value)


def with_environment(found: Object) -> Object:
    """Add the environment of a Deployment's container by name; the order and what the chart adds do not matter."""
    if found.get("kind") != "Deployment":
        return found
    (container,) = found["spec"]["template"]["spec"]["containers"]
    return {**found, "environment": {each["name"]: each.get("value") for each in container.get("env", ())}}
