"""The EKS calls that moto lacks, served in front of it: access entries, pod identity associations, add-ons, their tags.

Of a cluster moto does not tell the VPC and the authentication mode; these are added to its answers. Every other request
goes on to moto unchanged. The checks are those EKS itself makes before it accepts such a call, so that a stack which
real EKS would refuse is refused here too.
"""
# ruff: noqa: D102
# The public methods are operations of the EKS API, whose reference describes them.

from __future__ import annotations

import json
import re
import secrets
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends
from moto.eks.models import EKSBackend, eks_backends
from moto.iam.models import iam_backends
from moto.utilities.utils import get_partition
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# A resource or an answer, in the JSON shape of the EKS API.
Record: TypeAlias = dict[str, Any]

# The user name and the groups of a node's access entry are EKS's own; giving any is an error.
# https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
NODE_USERNAME = "system:node:{{EC2PrivateDNSName}}"
NODE_GROUPS: Mapping[str, tuple[str, ...]] = {
    "EC2_LINUX": ("system:nodes",),
    "EC2_WINDOWS": ("eks:kube-proxy-windows", "system:nodes"),
    "FARGATE_LINUX": ("system:nodes",),
}
STANDARD = "STANDARD"

# EKS picks a version where none is asked for; which one does not matter here.
DEFAULT_ADDON_VERSION = "v1.0.0-eksbuild.1"

# What UpdateAddon and UpdatePodIdentityAssociation may change, by the names of the API.
ADDON_SETTINGS = ("addonVersion", "configurationValues", "serviceAccountRoleArn")
ASSOCIATION_SETTINGS = ("disableSessionTags", "roleArn", "targetRoleArn")

SIGNED_FOR_EKS = re.compile(r"Credential=[^/]+/\d+/(?P<region>[^/]+)/eks/aws4_request")

# What EKS gives a cluster for which none is asked for.
DEFAULT_AUTHENTICATION = {"authenticationMode": "CONFIG_MAP"}

# (method, path, the method of EksOverlay that answers). An ARN in a path holds slashes: WSGI has decoded them by now.
ROUTES = (
    ("POST", "/clusters", "create_cluster"),
    ("GET", "/clusters/<cluster>", "describe_cluster"),
    ("POST", "/clusters/<cluster>/access-entries", "create_access_entry"),
    ("GET", "/clusters/<cluster>/access-entries", "list_access_entries"),
    ("GET", "/clusters/<cluster>/access-entries/<path:principal>", "describe_access_entry"),
    ("POST", "/clusters/<cluster>/access-entries/<path:principal>", "update_access_entry"),
    ("DELETE", "/clusters/<cluster>/access-entries/<path:principal>", "delete_access_entry"),
    ("POST", "/clusters/<cluster>/pod-identity-associations", "create_association"),
    ("GET", "/clusters/<cluster>/pod-identity-associations", "list_associations"),
    ("GET", "/clusters/<cluster>/pod-identity-associations/<id_>", "describe_association"),
    ("POST", "/clusters/<cluster>/pod-identity-associations/<id_>", "update_association"),
    ("DELETE", "/clusters/<cluster>/pod-identity-associations/<id_>", "delete_association"),
    ("POST", "/clusters/<cluster>/addons", "create_addon"),
    ("GET", "/clusters/<cluster>/addons", "list_addons"),
    ("GET", "/clusters/<cluster>/addons/<name>", "describe_addon"),
    ("POST", "/clusters/<cluster>/addons/<name>/update", "update_addon"),
    ("DELETE", "/clusters/<cluster>/addons/<name>", "delete_addon"),
    ("GET", "/clusters/<cluster>/updates/<id_>", "describe_update"),
    ("GET", "/tags/<path:arn>", "list_tags"),
    ("POST", "/tags/<path:arn>", "tag"),
    ("DELETE", "/tags/<path:arn>", "untag"),
)


class EksError(Exception):
    """What EKS says no with: a status, a type (in a header) and a message (in the body)."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind


def not_found(what: str) -> EksError:
    return EksError(404, "ResourceNotFoundException", f"{what} could not be found.")


def in_use(what: str) -> EksError:
    return EksError(409, "ResourceInUseException", f"{what} already exists.")


def invalid(message: str) -> EksError:
    return EksError(400, "InvalidParameterException", message)


class NotOurs(Exception):  # noqa: N818  # a signal to hand the request on, not an error
    """The overlay holds nothing under this name: moto may."""


@dataclass(frozen=True)
class Call:
    """One request: the region it was signed for, its JSON body and its query."""

    region: str
    body: Mapping[str, Any]
    query: Mapping[str, list[str]]
    behind: Callable[[], Response]
    """what moto answers to it"""

    @property
    def eks(self) -> EKSBackend:
        return eks_backends[DEFAULT_ACCOUNT_ID][self.region]

    def arn(self, resource: str) -> str:
        return f"arn:{get_partition(self.region)}:eks:{self.region}:{DEFAULT_ACCOUNT_ID}:{resource}"

    def role_exists(self, arn: str) -> bool:
        iam = iam_backends[DEFAULT_ACCOUNT_ID][get_partition(self.region)]
        return any(role.arn == arn for role in iam.roles.values())

    def chosen(self, settings: Iterable[str]) -> Record:
        return {name: self.body[name] for name in settings if self.body.get(name) is not None}


@dataclass
class Shelf:
    """The resources of one cluster, by the id their paths have."""

    access_entries: dict[str, Record] = field(default_factory=dict)
    associations: dict[str, Record] = field(default_factory=dict)
    addons: dict[str, Record] = field(default_factory=dict)
    updates: dict[str, Record] = field(default_factory=dict)


def found(records: Mapping[str, Record], id_: str, what: str) -> Record:
    if id_ not in records:
        raise not_found(f"The {what} {id_}")
    return records[id_]


def taken(records: dict[str, Record], id_: str, what: str) -> Record:
    found(records, id_, what)
    return records.pop(id_)


def stamps() -> Record:
    return {"createdAt": time.time(), "modifiedAt": time.time()}


class EksOverlay:
    """A WSGI application: answers what ROUTES names, and passes everything else to the one behind it."""

    def __init__(self, behind: WSGIApplication) -> None:
        self._behind = behind
        self._routes = Map([Rule(path, methods=[method], endpoint=name) for method, path, name in ROUTES])
        self._shelves: dict[tuple[str, str], Shelf] = {}
        self._authentication: dict[tuple[str, str], Record] = {}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        signed = SIGNED_FOR_EKS.search(environ.get("HTTP_AUTHORIZATION", ""))
        if signed is None:
            return self._behind(environ, start_response)
        request = Request(environ)
        body = request.get_data()
        environ["wsgi.input"] = BytesIO(body)  # a body can be read once, and moto may have to read it too
        try:
            name, arguments = self._routes.bind("").match(request.path, request.method)
            query = request.args.to_dict(flat=False)
            behind = partial(Response.from_app, self._behind, environ, buffered=True)
            call = Call(signed["region"], json.loads(body or b"{}"), query, behind)
            response = Response(json.dumps(getattr(self, name)(call, **arguments)), mimetype="application/json")
        except (NotFound, MethodNotAllowed, NotOurs):
            return self._behind(environ, start_response)
        except EksError as error:
            response = Response(json.dumps({"message": str(error)}), error.status, {"x-amzn-ErrorType": error.kind})
        return response(environ, start_response)

    def _shelf(self, call: Call, cluster: str) -> Shelf:
        if cluster not in call.eks.clusters:
            raise not_found(f"The cluster {cluster}")
        return self._shelves.setdefault((call.region, cluster), Shelf())

    # Clusters: what moto does not tell of them.

    def create_cluster(self, call: Call) -> Record:
        created = self._whole(call, call.body["name"], call.behind())
        created["cluster"]["accessConfig"] = call.body.get("accessConfig", DEFAULT_AUTHENTICATION)
        self._authentication[call.region, call.body["name"]] = created["cluster"]["accessConfig"]
        return created

    def describe_cluster(self, call: Call, cluster: str) -> Record:
        return self._whole(call, cluster, call.behind())

    def _whole(self, call: Call, name: str, answer: Response) -> Record:
        if answer.status_code != HTTPStatus.OK:
            raise EksError(answer.status_code, answer.headers["x-amzn-ErrorType"], str((answer.json or {})["message"]))
        cluster: Record = dict(answer.json or {})["cluster"]
        subnets = ec2_backends[DEFAULT_ACCOUNT_ID][call.region].describe_subnets(
            cluster["resourcesVpcConfig"]["subnetIds"]
        )
        cluster["resourcesVpcConfig"]["vpcId"] = subnets[0].vpc_id
        cluster["accessConfig"] = self._authentication.get((call.region, name), DEFAULT_AUTHENTICATION)
        return {"cluster": cluster}

    # Access entries.

    def create_access_entry(self, call: Call, cluster: str) -> Record:
        entries = self._shelf(call, cluster).access_entries
        if self._authentication.get((call.region, cluster), DEFAULT_AUTHENTICATION) == DEFAULT_AUTHENTICATION:
            raise invalid("The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP].")
        principal, kind = call.body["principalArn"], call.body.get("type") or STANDARD
        kind_and_name = principal.split(":", 5)[5]
        if principal in entries:
            raise in_use(f"The specified access entry {principal} on this cluster")
        if not call.role_exists(principal):
            # The provider waits for IAM to tell EKS about a new role as long as it reads exactly this.
            raise invalid("The specified principalArn is invalid: invalid principal.")
        if kind in NODE_GROUPS:
            if call.body.get("username") or call.body.get("kubernetesGroups"):
                raise invalid(f"An access entry of type {kind} takes neither a username nor groups.")
            username, groups = NODE_USERNAME, list(NODE_GROUPS[kind])
        elif kind == STANDARD:
            role = kind_and_name.rsplit("/", 1)[-1]
            assumed = f"arn:{get_partition(call.region)}:sts::{DEFAULT_ACCOUNT_ID}:assumed-role/{role}"
            username = call.body.get("username") or f"{assumed}/{{{{SessionName}}}}"
            groups = list(call.body.get("kubernetesGroups") or ())
        else:
            raise invalid(f"{kind} is not a type of access entry.")
        kind_of_principal, name = kind_and_name.split("/", 1)
        entries[principal] = {
            "clusterName": cluster,
            "principalArn": principal,
            "type": kind,
            "username": username,
            "kubernetesGroups": groups,
            "accessEntryArn": call.arn(
                f"access-entry/{cluster}/{kind_of_principal}/{DEFAULT_ACCOUNT_ID}/{name}/{uuid.uuid4()}"
            ),
            "tags": dict(call.body.get("tags") or {}),
            **stamps(),
        }
        return {"accessEntry": entries[principal]}

    def list_access_entries(self, call: Call, cluster: str) -> Record:
        return {"accessEntries": sorted(self._shelf(call, cluster).access_entries)}

    def describe_access_entry(self, call: Call, cluster: str, principal: str) -> Record:
        return {"accessEntry": found(self._shelf(call, cluster).access_entries, principal, "access entry")}

    def update_access_entry(self, call: Call, cluster: str, principal: str) -> Record:
        entry = found(self._shelf(call, cluster).access_entries, principal, "access entry")
        if entry["type"] != STANDARD:
            raise invalid(f"The username and the groups of an access entry of type {entry['type']} are set by EKS.")
        entry.update(call.chosen(("username", "kubernetesGroups")), modifiedAt=time.time())
        return {"accessEntry": entry}

    def delete_access_entry(self, call: Call, cluster: str, principal: str) -> Record:
        taken(self._shelf(call, cluster).access_entries, principal, "access entry")
        return {}

    # Pod identity associations.

    def create_association(self, call: Call, cluster: str) -> Record:
        associations = self._shelf(call, cluster).associations
        namespace, account = call.body["namespace"], call.body["serviceAccount"]
        if any((one["namespace"], one["serviceAccount"]) == (namespace, account) for one in associations.values()):
            raise in_use(f"Association for service account {namespace}/{account}")
        self._check_roles(call, ("roleArn", "targetRoleArn"))
        id_ = f"a-{secrets.token_hex(8)}"
        associations[id_] = {
            "clusterName": cluster,
            "namespace": namespace,
            "serviceAccount": account,
            "disableSessionTags": False,
            "associationId": id_,
            "associationArn": call.arn(f"podidentityassociation/{cluster}/{id_}"),
            "tags": dict(call.body.get("tags") or {}),
            **call.chosen(ASSOCIATION_SETTINGS),
            **stamps(),
        }
        return {"association": associations[id_]}

    def list_associations(self, call: Call, cluster: str) -> Record:
        filters = {name: call.query[name][0] for name in ("namespace", "serviceAccount") if name in call.query}
        summary = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId")
        return {
            "associations": [
                {name: one[name] for name in summary}
                for one in self._shelf(call, cluster).associations.values()
                if filters.items() <= one.items()
            ]
        }

    def describe_association(self, call: Call, cluster: str, id_: str) -> Record:
        return {"association": found(self._shelf(call, cluster).associations, id_, "association")}

    def update_association(self, call: Call, cluster: str, id_: str) -> Record:
        association = found(self._shelf(call, cluster).associations, id_, "association")
        self._check_roles(call, ("roleArn", "targetRoleArn"))
        association.update(call.chosen(ASSOCIATION_SETTINGS), modifiedAt=time.time())
        return {"association": association}

    def delete_association(self, call: Call, cluster: str, id_: str) -> Record:
        return {"association": taken(self._shelf(call, cluster).associations, id_, "association")}

    @staticmethod
    def _check_roles(call: Call, names: Iterable[str]) -> None:
        for arn in call.chosen(names).values():
            if not call.role_exists(arn):
                raise invalid("Role provided in the request does not exist.")

    # Add-ons. Creating, updating and deleting take EKS a while: the answer says so, and the next look finds it done.

    def create_addon(self, call: Call, cluster: str) -> Record:
        addons, name = self._shelf(call, cluster).addons, call.body["addonName"]
        if name in addons:
            raise in_use(f"Addon {name}")
        addons[name] = {
            "addonName": name,
            "clusterName": cluster,
            "status": "ACTIVE",
            "addonVersion": DEFAULT_ADDON_VERSION,
            "addonArn": call.arn(f"addon/{cluster}/{name}/{uuid.uuid4()}"),
            "tags": dict(call.body.get("tags") or {}),
            **call.chosen(ADDON_SETTINGS),
            **stamps(),
        }
        return {"addon": addons[name] | {"status": "CREATING"}}

    def list_addons(self, call: Call, cluster: str) -> Record:
        return {"addons": sorted(self._shelf(call, cluster).addons)}

    def describe_addon(self, call: Call, cluster: str, name: str) -> Record:
        return {"addon": found(self._shelf(call, cluster).addons, name, "addon")}

    def update_addon(self, call: Call, cluster: str, name: str) -> Record:
        shelf = self._shelf(call, cluster)
        found(shelf.addons, name, "addon").update(call.chosen(ADDON_SETTINGS), modifiedAt=time.time())
        id_ = str(uuid.uuid4())
        shelf.updates[id_] = {"id": id_, "status": "Successful", "type": "AddonUpdate", "createdAt": time.time()}
        return {"update": shelf.updates[id_] | {"status": "InProgress"}}

    def describe_update(self, call: Call, cluster: str, id_: str) -> Record:
        return {"update": found(self._shelf(call, cluster).updates, id_, "update")}

    def delete_addon(self, call: Call, cluster: str, name: str) -> Record:
        return {"addon": taken(self._shelf(call, cluster).addons, name, "addon") | {"status": "DELETING"}}

    # Tags: of what is kept here, and of Fargate profiles, which moto keeps but cannot tag. Clusters are moto's.

    def _tags_of(self, call: Call, arn: str) -> Record:
        tags: dict[str, Record] = {
            profile.fargate_profile_arn: profile.tags
            for cluster in call.eks.clusters.values()
            for profile in cluster.fargate_profiles.values()
        }
        for shelf in self._shelves.values():
            tags |= {entry["accessEntryArn"]: entry["tags"] for entry in shelf.access_entries.values()}
            tags |= {one["associationArn"]: one["tags"] for one in shelf.associations.values()}
            tags |= {addon["addonArn"]: addon["tags"] for addon in shelf.addons.values()}
        if arn not in tags:
            raise NotOurs
        return tags[arn]

    def list_tags(self, call: Call, arn: str) -> Record:
        return {"tags": self._tags_of(call, arn)}

    def tag(self, call: Call, arn: str) -> Record:
        self._tags_of(call, arn).update(call.body["tags"])
        return {}

    def untag(self, call: Call, arn: str) -> Record:
        tags = self._tags_of(call, arn)
        for key in call.query["tagKeys"]:
            tags.pop(key, None)
        return {}
