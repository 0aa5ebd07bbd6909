"""A made-up upstream for the tests of new_release: the tables, written in the shapes of upstream's files."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nodeless.karpenter.chart_key_rows import CONTROLLER_CHART_KEYS, CRD_CHART_KEYS
from nodeless.karpenter.chart_keys import keys_read
from nodeless.karpenter.interruption import TARGET_ID, event_rules
from nodeless.karpenter.policy import document
from nodeless.karpenter.releases import NEWEST, kubernetes_range
from nodeless.karpenter.versions import Release
from tools.new_release import tables
from tools.new_release.facts import CLUSTER, NODE_ROLE, QUEUE, QUEUE_ARN, QUEUE_POLICY, Facts

NEXT = Release(NEWEST.major, NEWEST.minor + 1, 0)

TEMPLATE = "website/content/en/preview/getting-started/getting-started-with-karpenter/cloudformation.yaml"
GUIDE = "website/content/en/preview/upgrading/upgrade-guide.md"
VALUES, CRD_VALUES = "charts/karpenter/values.yaml", "charts/karpenter-crd/values.yaml"
CRD_TEMPLATES, CRDS = "charts/karpenter-crd/templates", "pkg/apis/crds"
MATRIX = "hack/docs/compatibilitymatrix_gen/compatibility.yaml"
POOLS, CLASSES = f"{CRDS}/nodepool.yaml", f"{CRDS}/ec2nodeclass.yaml"

Files = dict[str, Any]


class Upstream:
    """A small upstream: the tables written out in the shapes of upstream's files, and a git repository of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = files_of(NEWEST)
        self._git("init", "--quiet")

    def release(self, release: Release) -> None:
        """Commit the files and tag them. JSON is YAML too."""
        for name, content in self.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", str(release))
        self._git("tag", f"v{release}")

    def _git(self, *words: str) -> None:
        settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        who = {f"GIT_{role}_{what}": "maintainer" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", "-C", self.folder, *words], check=True, env={**os.environ, **settings, **who})


def files_of(release: Release) -> Files:
    """Write the tables of a release as upstream's files, so that nothing differs but what is meant to."""
    (pool_version, pool_kind), (class_version, class_kind) = tables.apis(release)
    specs = {
        f"{pool_version} {pool_kind}": schema(*tables.pool_fields(release)),
        f"{class_version} {class_kind}": schema(*tables.class_fields(release)),
    }
    definitions = {
        kind.rpartition(" ")[2].lower(): definition(kind, specs.get(kind, {})) for kind in tables.kinds(release)
    }
    first, last = kubernetes_range(release)
    return {
        TEMPLATE: {"Resources": template(release)},
        VALUES: nested(
            (key.name, (key.default or "").strip('"')) for key in chart_keys(release, CONTROLLER_CHART_KEYS)
        ),
        CRD_VALUES: nested((key.name, "") for key in chart_keys(release, CRD_CHART_KEYS)),
        "charts/karpenter/templates/deployment.yaml": "replicas: {{ .Values.replicas }}\n",
        **{f"{CRD_TEMPLATES}/{name}.yaml": "{{- with .Values.additionalAnnotations }}" for name in definitions},
        **{f"{CRDS}/{name}.yaml": definition_ for name, definition_ in definitions.items()},
        MATRIX: {
            "compatibility": [
                {
                    "appVersion": f"{minor}.x",
                    "minK8sVersion": f"1.{first}",
                    "maxK8sVersion": f"1.{last}",
                }
                for minor in (f"{each.major}.{each.minor}" for each in (release, NEXT))
            ]
        },
        GUIDE: f"### Upgrading to `{release}`+\n",
    }


def template(release: Release) -> dict[str, Any]:
    """Write the CloudFormation template, with the queue's policy as upstream has it: open to every rule."""
    policies: dict[str, list[Any]] = {}
    for policy, statement in tables.controller_statements(release):
        policies.setdefault(policy, []).extend(document([statement])["Statement"])
    send = {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": QUEUE_ARN}
    deny = {"Sid": "DenyHTTP", "Effect": "Deny", "Action": "sqs:*", "Resource": QUEUE_ARN, "Principal": "*"}
    role = {
        "RoleName": f"{NODE_ROLE}-{CLUSTER}",
        "AssumeRolePolicyDocument": {
            "Statement": [
                {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.${AWS::URLSuffix}"}}
            ]
        },
        "ManagedPolicyArns": [
            f"arn:aws:iam::aws:policy/{fact.removeprefix('policy ')}"
            for fact in sorted(tables.node_role(release)[NODE_ROLE])
            if fact.startswith("policy ")
        ],
    }
    return {
        NODE_ROLE: resource("AWS::IAM::Role", role),
        **{
            f"Policy{index}": resource(
                "AWS::IAM::ManagedPolicy",
                {"ManagedPolicyName": name, "PolicyDocument": json.dumps({"Statement": rows})},
            )
            for index, (name, rows) in enumerate(policies.items())
        },
        QUEUE: resource("AWS::SQS::Queue", {"MessageRetentionPeriod": 300, "SqsManagedSseEnabled": True}),
        QUEUE_POLICY: resource(
            "AWS::SQS::QueuePolicy",
            {
                "PolicyDocument": {
                    "Statement": [
                        send | {"Principal": {"Service": ["events.amazonaws.com", "sqs.amazonaws.com"]}},
                        deny | {"Condition": {"Bool": {"aws:SecureTransport": False}}},
                    ]
                }
            },
        ),
        **{
            rule.title: resource(
                "AWS::Events::Rule", {"EventPattern": json.loads(rule.pattern), "Targets": [{"Id": TARGET_ID}]}
            )
            for rule in event_rules(release)
        },
    }


def resource(type_: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"Type": type_, "Properties": properties}


def chart_keys(release: Release, table: Any) -> Iterable[Any]:  # noqa: ANN401 - a table of keys
    return keys_read(release, table).values()


def nested(leaves: Iterable[tuple[str, str]]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in leaves:
        *above, last = name.split(".")
        below = tree
        for key in above:
            below = below.setdefault(key, {})
        below[last] = value
    return tree


def definition(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    group, version, name = re.split(r"[/ ]", kind)
    schema_ = {"openAPIV3Schema": {"properties": {"spec": spec}}}
    versions = [{"name": version, "served": True, "schema": schema_}]
    return {"spec": {"group": group, "names": {"kind": name}, "versions": versions}}


def schema(fields: Facts, required: set[str]) -> dict[str, Any]:
    """Write fields as a schema: values as a list, families of an alias and reserved tags as rules."""
    top: dict[str, Any] = {}
    for path, facts in fields.items():
        leaf = at(top, path)
        values = sorted(fact.removeprefix("value ") for fact in facts if fact.startswith("value "))
        if path.endswith(".alias"):
            message = "family is not supported, must be one of the following"
            leaf["x-kubernetes-validations"] = [{"message": message, "rule": f"self.split('@')[0] in {values}"}]
        elif values:
            leaf["enum"] = values
        tags = sorted(fact.removeprefix("reserved ") for fact in facts if fact.startswith("reserved "))
        if tags:
            leaf["x-kubernetes-validations"] = [
                {"message": f"tag contains a restricted tag matching {tag}", "rule": "true"} for tag in tags
            ]
    for path in sorted(required):
        above, _, name = path.rpartition(".")
        at(top, above).setdefault("required", []).append(name)
    return top


def at(schema_: dict[str, Any], path: str) -> dict[str, Any]:
    """Find or make the schema of a path."""
    for name in path.split(".") if path else ():
        schema_ = schema_.setdefault("properties", {}).setdefault(name.removesuffix("[]"), {})
        if name.endswith("[]"):
            schema_ = schema_.setdefault("items", {})
    return schema_
