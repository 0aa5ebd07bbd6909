"""Recorded calls as the requests that IAM weighs: an action, a resource, and what IAM knows of the request.

Most calls are one action of the same name. The tables say where a call needs more, or none, with the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, unquote

import botocore.session

from tests.terraform.recorder import Recorded

Params = Mapping[str, Any]
Context = dict[str, str | list[str]]

# Calls that no policy has to allow.
FREE = {
    "sts:GetCallerIdentity": "IAM never denies it: the STS reference, GetCallerIdentity",
    "iam:GetUser": "called only because the tests skip the validation of credentials: otherwise the provider takes "
    "the account from sts:GetCallerIdentity",
}

SERVICE_LINKED = {
    "spot.amazonaws.com": "AWSServiceRoleForEC2Spot",
    "eks-fargate.amazonaws.com": "AWSServiceRoleForAmazonEKSForFargate",
}
MOTO_NAMES = {"AWSServiceRoleForspot": "AWSServiceRoleForEC2Spot"}
QUERY_SERVICES = {"ec2", "iam", "sts"}
# SQS has two protocols: the newer one names the operation in a header, the older one in the body, as these services do.
QUERY = "Action="
ID = "0a1b2c3d-0000-1111-2222-333344445555"


class IamRequest(NamedTuple):
    """One action on one resource; the context as JSON, so that equal requests are equal."""

    action: str
    resource: str
    context: str = "{}"


@dataclass
class Reader:
    """Reads the calls of one account in their order: the path of a role is known from the call that created it."""

    account: str
    region: str
    partition: str = "aws"
    paths: dict[str, str] = field(default_factory=dict)

    def read(self, calls: Iterable[Recorded]) -> Iterator[tuple[str, IamRequest]]:
        """Return each request with the Terraform command that made it."""
        for call in calls:
            command = re.search(r"nodeless-test-command/(\w+)", call.agent)
            if "HashiCorp/1.0 Terraform/" not in call.agent or command is None:
                continue
            for request in self.requests(call):
                yield command[1], request

    def requests(self, call: Recorded) -> Iterator[IamRequest]:
        """Return what IAM is asked about one call."""
        operation, params = decoded(call)
        action = f"{call.service}:{operation}"
        if action not in FREE:
            yield from READERS[call.service](self, action, params)

    def iam(self, resource: str) -> str:
        """Name an IAM resource of the account."""
        return f"arn:{self.partition}:iam::{self.account}:{resource}"

    def regional(self, service: str, resource: str) -> str:
        """Name a resource of the account in its region."""
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"

    def role(self, name: str) -> str:
        """Return the ARN of a role; moto calls the one for spot by another name than AWS."""
        name = MOTO_NAMES.get(name, name)
        service = next((service for service, role in SERVICE_LINKED.items() if role == name), None)
        path = f"/aws-service-role/{service}/" if service else self.paths.get(f"role {name}", "/")
        return self.iam(f"role{path}{name}")


def decoded(call: Recorded) -> tuple[str, Params]:
    """Return the operation of a call and its parameters, in the protocol of its service."""
    if call.service == "s3":
        return of_s3(call)
    if call.target:
        return call.target.rpartition(".")[2], json.loads(call.body or "{}")
    if call.service in QUERY_SERVICES or call.body.startswith(QUERY):
        params = dict(parse_qsl(call.body, keep_blank_values=True))
        return params["Action"], params
    return of_rest(call)


def of_rest(call: Recorded) -> tuple[str, Params]:
    """Find the operation by method and path, as botocore's model of the service has them."""
    model = botocore.session.get_session().get_service_model(call.service)
    for name in model.operation_names:
        http = model.operation_model(name).http
        # An ARN in a path has slashes: WSGI has decoded them by now.
        pattern = re.sub(r"\\\{(\w+)\\\}", lambda one: path_part(one[1]), re.escape(http["requestUri"]))
        found = re.fullmatch(pattern, call.path)
        if http["method"] == call.method and found:
            return name, {**json.loads(call.body or "{}"), **found.groupdict(), "query": parse_qs(call.query)}
    raise AssertionError(f"no operation of {call.service} for {call.method} {call.path}")


def path_part(name: str) -> str:
    return f"(?P<{name}>{'.+' if name.endswith(('Arn', 'resourceIdentifier')) else '[^/]+'})"


def of_s3(call: Recorded) -> tuple[str, Params]:
    """Name the permission instead of the operation: they differ in S3."""
    bucket, _, key = unquote(call.path).lstrip("/").partition("/")
    query = dict(parse_qsl(call.query, keep_blank_values=True))
    verbs = {"GET": "GetObject", "HEAD": "GetObject", "PUT": "PutObject", "DELETE": "DeleteObject"}
    return verbs[call.method] if key else "ListBucket", {"bucket": bucket, "key": key, "prefix": query.get("prefix")}


def context(**keys: object) -> str:
    return json.dumps({key.replace("__", ":"): value for key, value in keys.items()}, sort_keys=True)


def tag_context(tags: Mapping[str, str]) -> str:
    keys: Context = {f"aws:RequestTag/{key}": value for key, value in tags.items()}
    return json.dumps({**keys, "aws:TagKeys": sorted(tags)}, sort_keys=True)


def query_tags(params: Params, prefix: str = "Tags.member") -> dict[str, str]:
    """Read the tags of the query protocol."""
    numbers = (re.fullmatch(rf"{re.escape(prefix)}\.(\d+)\.Key", name) for name in params)
    return {params[f"{prefix}.{found[1]}.Key"]: params[f"{prefix}.{found[1]}.Value"] for found in numbers if found}


# IAM asks for the permission to tag as well, if something is created with tags.
# https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
TAG_ACTIONS = {
    "iam:CreateRole": "iam:TagRole",
    "iam:CreatePolicy": "iam:TagPolicy",
    "iam:CreateInstanceProfile": "iam:TagInstanceProfile",
    "iam:CreateOpenIDConnectProvider": "iam:TagOpenIDConnectProvider",
    "sqs:CreateQueue": "sqs:TagQueue",
    "events:PutRule": "events:TagResource",
}


def read_iam(reader: Reader, action: str, params: Params) -> Iterator[IamRequest]:
    """Read a call to IAM."""
    kind, name = named_in_iam(params)
    if action in {"iam:CreateRole", "iam:CreatePolicy", "iam:CreateInstanceProfile"}:
        reader.paths[f"{kind} {name}"] = params.get("Path", "/")
    if action == "iam:CreateServiceLinkedRole":
        service = params["AWSServiceName"]
        yield IamRequest(action, reader.role(SERVICE_LINKED[service]), context(iam__AWSServiceName=service))
        return
    if action == "iam:GetServiceLinkedRoleDeletionStatus":
        # A real task names its role; moto's does not. The stack has one such role.
        yield IamRequest(action, reader.role(SERVICE_LINKED["spot.amazonaws.com"]))
        return
    resource = {
        "role": lambda: reader.role(name),
        "arn": lambda: name,
        "url": lambda: reader.iam(f"oidc-provider/{name.removeprefix('https://')}"),
    }.get(kind, lambda: reader.iam(f"{kind}{reader.paths.get(f'{kind} {name}', '/')}{name}"))()
    tags = query_tags(params)
    keys: dict[str, object] = {}
    if "PermissionsBoundary" in params:
        keys["iam:PermissionsBoundary"] = params["PermissionsBoundary"]
    if action in {"iam:AttachRolePolicy", "iam:DetachRolePolicy"}:
        keys["iam:PolicyARN"] = params["PolicyArn"]
    tagging = action.startswith("iam:Tag")
    if tagging or action.startswith("iam:Untag"):
        removed = [value for key, value in params.items() if key.startswith("TagKeys.member.")]
        keys |= json.loads(tag_context(tags)) if tagging else {"aws:TagKeys": removed}
    yield IamRequest(action, resource, json.dumps(keys, sort_keys=True))
    if tags and action in TAG_ACTIONS:
        yield IamRequest(TAG_ACTIONS[action], resource, tag_context(tags))
    if action == "iam:AddRoleToInstanceProfile":
        # "The caller of this operation must be granted the PassRole permission on the IAM role": the IAM reference.
        passed = context(iam__PassedToService="ec2.amazonaws.com")
        yield IamRequest("iam:PassRole", reader.role(params["RoleName"]), passed)


def named_in_iam(params: Params) -> tuple[str, str]:
    """Return what a call to IAM is about: the kind of its ARN, and its name."""
    for key, kind in (
        ("InstanceProfileName", "instance-profile"),
        ("RoleName", "role"),
        ("PolicyArn", "arn"),
        ("PolicyName", "policy"),
        ("OpenIDConnectProviderArn", "arn"),
        ("Url", "url"),
    ):
        if key in params:
            return kind, params[key]
    return "", ""


EC2_KINDS = {"subnet": "subnet", "sg": "security-group"}


def read_ec2(reader: Reader, action: str, params: Params) -> Iterator[IamRequest]:
    """Read a call to EC2: lookups have no resource, and tags are asked for on each."""
    ids = [value for key, value in params.items() if re.fullmatch(r"ResourceId\.\d+", key)]
    if not ids:
        yield IamRequest(action, "*")
    for id_ in ids:
        tags = query_tags(params, "Tag")
        keys = tag_context(tags) if action == "ec2:CreateTags" else json.dumps({"aws:TagKeys": sorted(tags)})
        yield IamRequest(action, reader.regional("ec2", f"{EC2_KINDS[id_.partition('-')[0]]}/{id_}"), keys)


def read_sqs(reader: Reader, action: str, params: Params) -> Iterator[IamRequest]:
    """Read a call to SQS."""
    name = params.get("QueueName") or params["QueueUrl"].rpartition("/")[2]
    queue = reader.regional("sqs", name)
    tags = params.get("tags") or params.get("Tags") or {}
    keys = {"sqs:TagQueue": tag_context(tags), "sqs:UntagQueue": json.dumps({"aws:TagKeys": params.get("TagKeys")})}
    yield IamRequest(action, queue, keys.get(action, "{}"))
    if tags and action in TAG_ACTIONS:
        yield IamRequest(TAG_ACTIONS[action], queue, tag_context(tags))


def read_events(reader: Reader, action: str, params: Params) -> Iterator[IamRequest]:
    """Read a call to EventBridge."""
    rule = params.get("ResourceARN") or reader.regional("events", f"rule/{params.get('Rule') or params['Name']}")
    tags = {tag["Key"]: tag["Value"] for tag in params.get("Tags", ())}
    keys = {
        "events:PutTargets": json.dumps({"events:TargetArn": [each["Arn"] for each in params.get("Targets", ())]}),
        "events:TagResource": tag_context(tags),
        "events:UntagResource": json.dumps({"aws:TagKeys": params.get("TagKeys")}),
    }
    yield IamRequest(action, rule, keys.get(action, "{}"))
    if tags and action in TAG_ACTIONS:
        yield IamRequest(TAG_ACTIONS[action], rule, tag_context(tags))


def entry(params: Params) -> str:
    """Name an access entry: EKS leaves the path of a role out of it."""
    name = params["principalArn"].rpartition("/")[2]
    return f"access-entry/{params['name']}/role/{params['principalArn'].split(':')[4]}/{name}/{ID}"


# Where EKS looks for the permission to create, and what it creates.
CREATED_IN_EKS: Mapping[str, Callable[[Params], str]] = {
    "eks:CreateFargateProfile": lambda params: f"fargateprofile/{params['name']}/{params['fargateProfileName']}/{ID}",
    "eks:CreateAccessEntry": entry,
    "eks:CreateAddon": lambda params: f"addon/{params['name']}/{params['addonName']}/{ID}",
    "eks:CreatePodIdentityAssociation": lambda params: f"podidentityassociation/{params['name']}/a-{ID}",
}
# Who gets the role that a call hands to EKS.
PASSED_IN_EKS = {
    "eks:CreateFargateProfile": ("podExecutionRoleArn", "eks-fargate-pods.amazonaws.com"),
    "eks:CreatePodIdentityAssociation": ("roleArn", "pods.eks.amazonaws.com"),
    "eks:UpdatePodIdentityAssociation": ("roleArn", "pods.eks.amazonaws.com"),
}


def read_eks(reader: Reader, action: str, params: Params) -> Iterator[IamRequest]:
    """Read a call to EKS."""
    # The model has clusterName in some paths and name in others.
    params = {**params, "name": params.get("clusterName") or params.get("name")}
    cluster = reader.regional("eks", f"cluster/{params['name']}")
    tags = params.get("tags") or {}
    if action in CREATED_IN_EKS:
        keys = json.loads(tag_context(tags)) if tags else {}
        if action == "eks:CreateAccessEntry":
            keys |= {"eks:principalArn": params["principalArn"], "eks:accessEntryType": params["type"]}
        yield IamRequest(action, cluster, json.dumps(keys, sort_keys=True))
        if tags:
            created = reader.regional("eks", CREATED_IN_EKS[action](params))
            yield IamRequest("eks:TagResource", created, tag_context(tags))
    elif action in {"eks:TagResource", "eks:UntagResource"}:
        removed = params["query"].get("tagKeys", [])
        keys_json = tag_context(tags) if action == "eks:TagResource" else json.dumps({"aws:TagKeys": removed})
        yield IamRequest(action, params["resourceArn"], keys_json)
    elif action == "eks:DescribeCluster":
        yield IamRequest(action, cluster)
    else:
        yield IamRequest(action, reader.regional("eks", existing_in_eks(params)))
    if action in PASSED_IN_EKS and PASSED_IN_EKS[action][0] in params:
        key, service = PASSED_IN_EKS[action]
        yield IamRequest("iam:PassRole", params[key], context(iam__PassedToService=service))
    if action == "eks:CreateFargateProfile":
        # EKS looks for its own role, and makes it in a new account, with the caller's permissions.
        # https://github.com/aws-controllers-k8s/community/issues/1821
        service = "eks-fargate.amazonaws.com"
        role = reader.role(SERVICE_LINKED[service])
        yield IamRequest("iam:GetRole", role)
        yield IamRequest("iam:CreateServiceLinkedRole", role, context(iam__AWSServiceName=service))


def existing_in_eks(params: Params) -> str:
    """Name what a call reads, changes or deletes in a cluster."""
    cluster = params["name"]
    if "fargateProfileName" in params:
        return f"fargateprofile/{cluster}/{params['fargateProfileName']}/{ID}"
    if "addonName" in params:
        return f"addon/{cluster}/{params['addonName']}/{ID}"
    if "associationId" in params:
        return f"podidentityassociation/{cluster}/{params['associationId']}"
    return entry(params)


def read_s3(reader: Reader, action: str, params: Params) -> Iterator[IamRequest]:
    """Read a call to S3."""
    if action == "s3:ListBucket":
        keys = {"s3:prefix": params["prefix"]} if params["prefix"] is not None else {}
        yield IamRequest(action, f"arn:{reader.partition}:s3:::{params['bucket']}", json.dumps(keys))
    else:
        yield IamRequest(action, f"arn:{reader.partition}:s3:::{params['bucket']}/{params['key']}")


READERS: Mapping[str, Callable[[Reader, str, Params], Iterator[IamRequest]]] = {
    "ec2": read_ec2,
    "eks": read_eks,
    "events": read_events,
    "iam": read_iam,
    "s3": read_s3,
    "sqs": read_sqs,
}
