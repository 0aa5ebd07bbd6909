"""Plays the machines of the lab: pods on Fargate, and the kubelets of the EC2 instances that Karpenter launches.

What decides is real: the Fargate profiles in EKS, the instances in EC2 with their launch templates and user data, and
the access entries, which give a node its rights in the cluster. Only containers are not run: a pod that has a node is
said to run, and one that is deleted is gone. Whoever runs a pod's program as a process answers its readiness probe.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_string
from http import HTTPStatus
from threading import Event, Thread
from typing import Any

from botocore.exceptions import ClientError
from ruamel.yaml import YAML

from tests.lab.kube import Kube, KubeError, Object
from tests.terraform.world import World

PAUSE = 0.4
FARGATE = {"eks.amazonaws.com/compute-type": "fargate"}
FARGATE_TAINT = {"key": "eks.amazonaws.com/compute-type", "value": "fargate", "effect": "NoSchedule"}
NODES = "/api/v1/nodes"


def at_once(_pod: Object) -> bool:
    """Answer the readiness probe of a pod whose program is not run."""
    return True


@dataclass
class Machines:
    """All machines of one cluster; a thread looks after them."""

    world: World
    kube: Kube
    is_ready: Callable[[Object], bool] = at_once
    """asked about a pod that runs, until it is ready"""
    faults: list[str] = field(default_factory=list)
    """what went wrong in the thread: the tests look at it"""
    refused: dict[str, str] = field(default_factory=dict)
    """instances whose kubelet may not join, with what the API server said"""
    _joined: dict[str, str] = field(default_factory=dict)
    _stop: Event = field(default_factory=Event)

    def look_after(self) -> None:
        """Do what kubelets and Fargate do, until told to stop."""
        while not self._stop.wait(PAUSE):
            try:
                self._look_once()
            except (KubeError, ClientError) as error:
                if getattr(error, "status", None) not in {HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND}:
                    self.faults.append(str(error))
            except Exception as error:  # noqa: BLE001 - a thread must not end in silence
                self.faults.append(repr(error))

    def _look_once(self) -> None:
        self._register_instances()
        pods = self.kube.items("/api/v1/pods")
        waiting = [pod for pod in pods if "nodeName" not in pod["spec"] and "deletionTimestamp" not in pod["metadata"]]
        profiles = list(self._profiles()) if waiting else []
        for pod in waiting:
            if any(_selects(profile, pod) for profile in profiles):
                self._start_on_fargate(pod)
        for pod in pods:
            if "nodeName" in pod["spec"]:
                self._run(pod)

    # Fargate.

    def _profiles(self) -> Iterator[Mapping[str, Any]]:
        eks = self.world.aws.client("eks", self.world.region)
        for name in eks.list_fargate_profiles(clusterName=self.world.cluster)["fargateProfileNames"]:
            found = eks.describe_fargate_profile(clusterName=self.world.cluster, fargateProfileName=name)
            yield found["fargateProfile"]

    def _start_on_fargate(self, pod: Object) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        node = f"fargate-{pod['metadata']['uid']}"
        if self.kube.find(f"{NODES}/{node}") is None:
            self.kube.create(
                NODES, {"metadata": {"name": node, "labels": FARGATE}, "spec": {"taints": [FARGATE_TAINT]}}
            )
        self.kube.create(
            f"/api/v1/namespaces/{namespace}/pods/{name}/binding",
            {"metadata": {"name": name, "namespace": namespace}, "target": {"kind": "Node", "name": node}},
        )

    # EC2.

    def _register_instances(self) -> None:
        ec2 = self.world.aws.client("ec2", self.world.region)
        running = [{"Name": "instance-state-name", "Values": ["running"]}]
        for reservation in ec2.describe_instances(Filters=running)["Reservations"]:
            for instance in reservation["Instances"]:
                if instance["InstanceId"] not in self._joined:
                    self._boot(ec2, instance)
        for node in self._joined.values():
            self._heartbeat(node)

    def _boot(self, ec2: Any, instance: Mapping[str, Any]) -> None:  # noqa: ANN401 - boto3 makes its clients at run time
        """Register the node as its kubelet does: with the rights of the instance's role, as its user data says."""
        settings = node_config(user_data(ec2, instance["InstanceId"]))
        if settings["cluster"]["name"] != self.world.cluster:
            self.refused[instance["InstanceId"]] = "its user data names another cluster"
            return
        name = instance["PrivateDnsName"]
        kubelet = self.kube.impersonating(f"system:node:{name}", self._groups(instance))
        try:
            kubelet.create(NODES, node_object(ec2, instance, settings))
        except KubeError as error:
            self.refused[instance["InstanceId"]] = str(error)
            return
        self.refused.pop(instance["InstanceId"], None)
        self._joined[instance["InstanceId"]] = name

    def _groups(self, instance: Mapping[str, Any]) -> list[str]:
        """Return the groups that the cluster gives this instance, by the access entry of its role."""
        iam, eks = (self.world.aws.client(service, self.world.region) for service in ("iam", "eks"))
        profile = instance["IamInstanceProfile"]["Arn"].rpartition("/")[2]
        (role,) = iam.get_instance_profile(InstanceProfileName=profile)["InstanceProfile"]["Roles"]
        entries = eks.list_access_entries(clusterName=self.world.cluster)["accessEntries"]
        if role["Arn"] not in entries:
            return []
        entry = eks.describe_access_entry(clusterName=self.world.cluster, principalArn=role["Arn"])["accessEntry"]
        return list(entry["kubernetesGroups"])

    def _heartbeat(self, name: str) -> None:
        node = self.kube.find(f"{NODES}/{name}")
        if node is None or _has(node, "Ready"):
            return
        self.kube.patch(f"{NODES}/{name}/status", {"status": {"conditions": [_condition("Ready", "KubeletReady")]}})

    # Pods.

    def _run(self, pod: Object) -> None:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        if "deletionTimestamp" in pod["metadata"]:
            self.kube.delete(path, grace=0)
            if pod["spec"]["nodeName"].startswith("fargate-"):
                self.kube.delete(f"{NODES}/{pod['spec']['nodeName']}")
        elif not _has(pod, "Ready"):
            is_ready = self.is_ready(pod)
            if is_ready or pod["status"]["phase"] == "Pending":
                self.kube.patch(f"{path}/status", {"status": _running(pod, is_ready=is_ready)})


@contextmanager
def looked_after(world: World, kube: Kube) -> Iterator[Machines]:
    """Play the machines of a cluster until the end."""
    machines = Machines(world, kube)
    thread = Thread(target=machines.look_after, daemon=True)
    thread.start()
    try:
        yield machines
    finally:
        machines._stop.set()  # noqa: SLF001 - of this module
        thread.join()


def _selects(profile: Mapping[str, Any], pod: Object) -> bool:
    """Tell whether a profile takes a pod: EKS decides when a pod is created, so the profile must exist by then."""
    born = datetime.fromisoformat(pod["metadata"]["creationTimestamp"]).timestamp()
    if profile["status"] != "ACTIVE" or int(profile["createdAt"].timestamp()) > born:
        return False
    labels = pod["metadata"].get("labels", {})
    return any(
        selector["namespace"] == pod["metadata"]["namespace"] and selector.get("labels", {}).items() <= labels.items()
        for selector in profile["selectors"]
    )


def user_data(ec2: Any, instance: str) -> str:  # noqa: ANN401 - boto3 makes its clients at run time
    """Return the user data an instance was launched with."""
    found = ec2.describe_instance_attribute(InstanceId=instance, Attribute="userData")["UserData"]["Value"]
    return base64.b64decode(found).decode()


def node_config(text: str) -> Mapping[str, Any]:
    """Return the settings for nodeadm in the user data of Amazon Linux 2023."""
    parts = message_from_string(text).walk()
    (config,) = (part for part in parts if part.get_content_type() == "application/node.eks.aws")
    settings: Mapping[str, Any] = YAML(typ="safe").load(str(config.get_payload()))["spec"]
    return settings


def node_object(ec2: Any, instance: Mapping[str, Any], settings: Mapping[str, Any]) -> Object:  # noqa: ANN401 - the same
    """Return the node that a kubelet with these settings registers."""
    kind, zone = instance["InstanceType"], instance["Placement"]["AvailabilityZone"]
    (facts,) = ec2.describe_instance_types(InstanceTypes=[kind])["InstanceTypes"]
    flags = " ".join(settings["kubelet"].get("flags", ()))
    given = re.search(r"--node-labels=\"?([^\"\s]+)", flags)
    labels = dict(pair.split("=", 1) for pair in given[1].split(",")) if given else {}
    architecture = {"x86_64": "amd64", "arm64": "arm64"}[instance["Architecture"]]
    capacity = {
        "cpu": str(facts["VCpuInfo"]["DefaultVCpus"]),
        "memory": f"{facts['MemoryInfo']['SizeInMiB']}Mi",
        "pods": str(settings["kubelet"]["config"].get("maxPods", 110)),
        "ephemeral-storage": "20Gi",
    }
    return {
        "metadata": {
            "name": instance["PrivateDnsName"],
            "labels": {
                **labels,
                "kubernetes.io/arch": architecture,
                "kubernetes.io/os": "linux",
                "kubernetes.io/hostname": instance["PrivateDnsName"],
                "node.kubernetes.io/instance-type": kind,
                "topology.kubernetes.io/zone": zone,
                "topology.kubernetes.io/region": zone[:-1],
            },
        },
        "spec": {
            "providerID": f"aws:///{zone}/{instance['InstanceId']}",
            "taints": settings["kubelet"]["config"].get("registerWithTaints", []),
        },
        "status": {"capacity": capacity, "allocatable": capacity, "conditions": [_condition("Ready", "KubeletReady")]},
    }


def _running(pod: Object, *, is_ready: bool) -> Object:
    """Return the status of a pod whose containers run."""
    started = pod["status"].get("startTime") or _now()
    containers = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": container["image"],
            "ready": is_ready,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": started}},
        }
        for container in pod["spec"]["containers"]
    ]
    conditions = ["PodScheduled", "Initialized", *(("ContainersReady", "Ready") if is_ready else ())]
    return {
        "phase": "Running",
        "startTime": started,
        "containerStatuses": containers,
        "conditions": list(map(_condition, conditions)),
    }


def _has(node_or_pod: Object, condition: str) -> bool:
    return any(each["type"] == condition for each in node_or_pod["status"].get("conditions", ()))


def _condition(kind: str, reason: str = "Lab") -> Object:
    now = _now()
    return {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": now, "lastHeartbeatTime": now}


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
