"""One installation with its controller running: applied, changed, put to work, interrupted, idle, and destroyed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from zipfile import ZipFile

from nodeless.resolved.installation import Installation
from nodeless.resolved.resources import all_manifests
from tests.lab import aws_command, controller
from tests.lab.inventory import differences, inventory
from tests.lab.kube import Kube, Object, eventually
from tests.lab.lab import Lab
from tests.terraform import recorder
from tests.terraform.account import Account
from tests.terraform.lives import installation_of
from tests.terraform.recorder import Recorded
from tests.terraform.runner import PLAN_FILE, Plan, Terraform

INFLATE = "/apis/apps/v1/namespaces/default/deployments/inflate"
PLURALS = {"NodePool": "nodepools", "EC2NodeClass": "ec2nodeclasses"}
# Karpenter's own pool gives an empty node half a minute; terminating it takes a few rounds of its controllers.
PATIENCE = 180
# moto keeps the tags of instances and templates that are gone; those that are not are looked for themselves.
TAG_OF_WHAT_IS_GONE = re.compile(r"tag .+ of (i|lt|vol|eni|fleet|sir)-")
TOKEN = "k8s-aws-v1."  # noqa: S105 - how a token of the aws CLI begins


@dataclass(frozen=True)
class Instance:
    """An EC2 instance, as far as a test looks at it."""

    id: str
    state: str
    role: str
    """of its instance profile"""
    lifecycle: str
    subnet: str
    groups: tuple[str, ...]
    tags: Mapping[str, str]


@dataclass(frozen=True)
class KarpenterLife:
    """What was seen on the way."""

    installation: Installation
    plan: Plan
    applied: Counter[str]
    releases: dict[str, str]
    """each Helm release and its status"""
    not_as_asked: list[str]
    second_plan: Plan
    secrets: dict[str, list[str]]
    """for each way to log in: the files of Terraform that hold a token"""
    plans_by_login: dict[str, Plan]
    pool_changed: Plan
    controllers: list[str]
    """the releases whose controller ran"""
    nodes_refused: dict[str, str]
    claims: list[Object]
    inflated: list[Instance]
    after_interruption: list[Instance]
    messages_left: int
    after_scaling_down: list[Instance]
    claims_after_scaling_down: list[Object]
    before_destroy: list[Instance]
    destroyed: Counter[str]
    instances_left: list[Instance]
    templates_left: list[str]
    objects_left: set[str]
    holdings_left: set[str]
    state_at_the_end: dict[str, dict[str, Any]]
    calls: tuple[Recorded, ...]
    tags: dict[str, dict[str, str]]
    """of every EC2 resource that ever had one"""
    faults: list[str]


def live(
    start: Callable[..., AbstractContextManager[Lab]],
    release: str,
    *,
    kubernetes: str = "1.35",
    settings: Mapping[str, Any] | None = None,
) -> KarpenterLife:
    """Go through the life of an installation of this release, with further settings of Karpenter."""
    with start(releases=[release], kubernetes=kubernetes) as lab, controller.following(lab) as karpenter:
        account = Account(lab.world)
        # The state of an S3 backend or of the lab's own objects is not in it: Terraform's state is a local file.
        objects, holdings = inventory(lab.kube), account.holdings()
        keys: dict[str, Any] = {"karpenter": {"version": release, **(settings or {})}, "smoke_test": True}
        terraform = lab.stack(keys)
        terraform.init()
        installation = installation_of(terraform)
        plan, applied = terraform.plan(), terraform.apply()
        started: dict[str, Any] = {
            "releases": releases(lab.kube),
            "not_as_asked": not_as_asked(lab.kube, installation),
            "second_plan": terraform.replan(),
        }
        secrets = {"ephemeral": holding_a_token(lab, terraform)}
        plans_by_login = {}
        for auth in ("exec", "token"):
            plans_by_login[auth] = logged_in_by(lab, terraform, {**keys, "auth": auth})
            secrets[auth] = holding_a_token(lab, terraform)
        pool_changed = with_another_limit(lab, terraform, keys)
        worked = at_work(lab)
        destroyed = terraform.destroy()
        ec2 = lab.world.aws.client("ec2", lab.world.region)
        return KarpenterLife(
            installation=installation,
            plan=plan,
            applied=applied,
            **started,
            secrets=secrets,
            plans_by_login=plans_by_login,
            pool_changed=pool_changed,
            controllers=karpenter.started,
            nodes_refused=lab.machines.refused,
            **worked,
            destroyed=destroyed,
            instances_left=[each for each in instances(lab) if each.state != "terminated"],
            templates_left=launch_templates(lab),
            objects_left=inventory(lab.kube) - objects,
            holdings_left=still_there(account.holdings() - holdings),
            state_at_the_end=terraform.state(),
            calls=tuple(recorder.read(lab.world.aws.requests)),
            tags=all_tags(ec2),
            faults=[*lab.machines.faults, *karpenter.faults, *(f"exit code {code}" for code in karpenter.exited)],
        )


def at_work(lab: Lab) -> dict[str, Any]:
    """Let pods need a node, take the node away, let the pods go, and leave two for the destroy."""
    scale(lab.kube, 3)
    # Pods may run on a node that Karpenter has not yet looked at for the last time.
    wait_for(lab, lambda: all(is_ready(claim) for claim in claims(lab.kube)), "every claim is ready")
    seen: dict[str, Any] = {"inflated": running(lab), "claims": claims(lab.kube)}
    interrupt(lab, seen["inflated"][0].id)
    wait_for(lab, lambda: seen["inflated"][0].id not in {each.id for each in running(lab)}, "the instance is gone")
    ready(lab.kube, 3)
    # With the claim the message must be gone too; the controller deletes it after it has acted.
    seen |= {"after_interruption": running(lab), "messages_left": messages(lab)}
    scale(lab.kube, 0)
    wait_for(lab, lambda: not claims(lab.kube), "no claim is left")
    seen |= {"after_scaling_down": running(lab), "claims_after_scaling_down": claims(lab.kube)}
    scale(lab.kube, 2)
    return seen | {"before_destroy": running(lab)}


def scale(kube: Kube, replicas: int) -> None:
    """Ask for this many pods of the smoke test, and wait until they run."""
    kube.patch(INFLATE, {"spec": {"replicas": replicas}})
    ready(kube, replicas)


def ready(kube: Kube, replicas: int) -> None:
    """Wait until this many pods of the smoke test run."""
    eventually(
        lambda: kube.get(INFLATE)["status"].get("readyReplicas", 0) == replicas,
        f"{replicas} pods of the smoke test run",
        seconds=PATIENCE,
    )


def wait_for(lab: Lab, look: Callable[[], bool], what: str) -> None:
    """Wait, and in the end say where the controller's log is."""
    eventually(look, f"{what}; the controller's log is {lab.folder / 'karpenter.log'}", seconds=PATIENCE)


def interrupt(lab: Lab, instance: str) -> None:
    """Announce the end of a spot instance, as EC2 does: the rule takes it to the queue."""
    lab.world.aws.client("events", lab.world.region).put_events(
        Entries=[
            {
                "Source": "aws.ec2",
                "DetailType": "EC2 Spot Instance Interruption Warning",
                "Resources": [f"arn:aws:ec2:{lab.world.region}:instance/{instance}"],
                "Detail": json.dumps({"instance-id": instance, "instance-action": "terminate"}),
            }
        ]
    )


def messages(lab: Lab) -> int:
    """Count the messages in the queue, those that somebody is working on included."""
    sqs = lab.world.aws.client("sqs", lab.world.region)
    (url,) = sqs.list_queues()["QueueUrls"]
    kinds = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    return sum(map(int, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=kinds)["Attributes"].values()))


def running(lab: Lab) -> list[Instance]:
    """Return the instances that run."""
    return [each for each in instances(lab) if each.state == "running"]


def still_there(holdings: Iterable[str]) -> set[str]:
    """Leave out the tags of what Karpenter made; whether that is gone, `instances` and `launch_templates` tell."""
    return {each for each in holdings if not TAG_OF_WHAT_IS_GONE.match(each)}


def launch_templates(lab: Lab) -> list[str]:
    """Name the launch templates in the account."""
    ec2 = lab.world.aws.client("ec2", lab.world.region)
    return [each["LaunchTemplateName"] for each in ec2.describe_launch_templates()["LaunchTemplates"]]


def instances(lab: Lab) -> list[Instance]:
    """Return all instances, those that have been terminated too."""
    profiles = lab.world.aws.client("iam", lab.world.region).list_instance_profiles()["InstanceProfiles"]
    roles = {each["Arn"]: role["RoleName"] for each in profiles for role in each["Roles"]}
    found = lab.world.aws.client("ec2", lab.world.region).describe_instances()
    return [
        Instance(
            id=each["InstanceId"],
            state=each["State"]["Name"],
            role=roles.get(each.get("IamInstanceProfile", {}).get("Arn", ""), ""),
            lifecycle=each.get("InstanceLifecycle", "on-demand"),
            subnet=each.get("SubnetId", ""),
            groups=tuple(group["GroupId"] for group in each["SecurityGroups"]),
            tags={tag["Key"]: tag["Value"] for tag in each.get("Tags", ())},
        )
        for reservation in found["Reservations"]
        for each in reservation["Instances"]
    ]


def all_tags(ec2: Any) -> dict[str, dict[str, str]]:  # noqa: ANN401 - boto3 makes its clients at run time
    """Return the tags of every resource; moto keeps those of what is gone."""
    found: dict[str, dict[str, str]] = {}
    for page in ec2.get_paginator("describe_tags").paginate():
        for tag in page["Tags"]:
            found.setdefault(tag["ResourceId"], {})[tag["Key"]] = tag["Value"]
    return found


def claims(kube: Kube) -> list[Object]:
    """Return the NodeClaims."""
    return kube.items("/apis/karpenter.sh/v1/nodeclaims")


def is_ready(claim: Object) -> bool:
    """Tell whether Karpenter calls a claim ready: launched, registered and initialized."""
    conditions = claim.get("status", {}).get("conditions", ())
    return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)


def releases(kube: Kube) -> dict[str, str]:
    """Return the Helm releases and the status of the newest revision of each."""
    labels = [each["metadata"]["labels"] for each in kube.items("/api/v1/secrets?labelSelector=owner%3Dhelm")]
    return {each["name"]: each["status"] for each in sorted(labels, key=lambda each: int(each["version"]))}


def path_of(manifest: Mapping[str, Any]) -> str:
    """Return where the API server keeps the object of a manifest."""
    if manifest["kind"] == "Deployment":
        return INFLATE
    return f"/apis/{manifest['apiVersion']}/{PLURALS[manifest['kind']]}/{manifest['metadata']['name']}"


def not_as_asked(kube: Kube, installation: Installation) -> list[str]:
    """Compare every pool and class in the API server with what the installation says."""
    return [
        f"{manifest['kind']} {manifest['metadata']['name']}: {difference}"
        for manifest in all_manifests(installation)
        for difference in differences(dict(manifest), kube.find(path_of(manifest)) or {})
    ]


def logged_in_by(lab: Lab, terraform: Terraform, keys: Mapping[str, Any]) -> Plan:
    """Plan with another way to log in: the releases are read back from the cluster with it."""
    terraform.take_over(lab.stack(keys).stack)
    command = aws_command.install(lab.folder / "bin", lab.world.aws.url)
    return lab.terraform(terraform.stack, command).plan()


def holding_a_token(lab: Lab, terraform: Terraform) -> list[str]:
    """Return which of Terraform's files hold a token: the state, and the members of the plan."""
    with ZipFile(terraform.stack / PLAN_FILE) as plan:
        files = {name: plan.read(name) for name in plan.namelist()}
    files["state"] = terraform.run("state", "pull").encode()
    tokens = {TOKEN.encode(), *(token.encode() for token in lab.webhook.tokens)}
    return sorted(name for name, content in files.items() if any(token in content for token in tokens))


def with_another_limit(lab: Lab, terraform: Terraform, keys: Mapping[str, Any]) -> Plan:
    """Change one number of the default pool, and apply that."""
    (pool,) = (row for row in all_manifests(installation_of(lab.stack(keys))) if row["kind"] == "NodePool")
    (node_class,) = (row for row in all_manifests(installation_of(lab.stack(keys))) if row["kind"] == "EC2NodeClass")
    changed = {
        "node_pools": [{"name": pool["metadata"]["name"], "spec": {**pool["spec"], "limits": {"cpu": "200"}}}],
        "node_classes": [{"name": node_class["metadata"]["name"], "spec": node_class["spec"]}],
    }
    terraform.take_over(lab.stack({**keys, **changed}).stack)
    plan = terraform.plan()
    terraform.apply()
    path = f"/apis/{pool['apiVersion']}/nodepools/{pool['metadata']['name']}"
    assert lab.kube.get(path)["spec"]["limits"]["cpu"] == "200"
    return plan
