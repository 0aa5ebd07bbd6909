"""What upstream's own files say of a release: template, charts, custom resource definitions, compatibility matrix."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from nodeless.karpenter.policy import Principal, Statement, statement_from
from nodeless.karpenter.versions import Release
from tools.new_release.checkout import CheckoutError, Tag
from tools.new_release.facts import (
    ACCOUNT,
    NODE_ROLE,
    NODE_ROLE_ARN,
    PARTITION,
    QUEUE,
    QUEUE_POLICY,
    Facts,
    statement_facts,
    statement_name,
)

WEBSITE = "website/content/en/preview"
CRDS = "pkg/apis/crds"
MATRIX_FOLDER = "hack/docs"

RULE_TYPE, POLICY_TYPE = "AWS::Events::Rule", "AWS::IAM::ManagedPolicy"
# Every part of the template that the functions below read, and the instance profile, which is a choice of the user's.
KNOWN_TYPES = {
    RULE_TYPE,
    POLICY_TYPE,
    "AWS::IAM::Role",
    "AWS::IAM::InstanceProfile",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
}

VALUE = re.compile(r"\.Values((?:\.\w+)+)")
TEMPLATE_COMMENT = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}|^\s*#.*$", re.DOTALL | re.MULTILINE)
ONE_OF = re.compile(r" in \[([^\]]*)\]$")
QUOTED = re.compile(r"'([^']*)'")
RESTRICTED_TAG = re.compile(r"restricted tag (?:matching )?(?:pattern )?(\S+)")

Tree = Mapping[str, Any]


class Template:
    """The CloudFormation template of the getting-started guide: at a tag, the preview is the release's own."""

    def __init__(self, tag: Tag) -> None:
        found = [
            path for path in tag.files(f"{WEBSITE}/getting-started", "/cloudformation.yaml") if "karpenter" in path
        ]
        found = found or tag.files(f"{WEBSITE}/getting-started", "/cloudformation.yaml")
        if not found:
            raise CheckoutError(f"{tag.name} has no CloudFormation template below {WEBSITE}/getting-started")
        self.path = found[0]
        self.resources: Tree = tag.yaml(self.path)["Resources"]

    def statements(self) -> Facts:
        """Return the controller's statements, each with the managed policy that holds it."""
        found: Facts = {}
        # Old templates spell out the ARN of the node role.
        role = f"arn:{PARTITION}:iam::{ACCOUNT}:role/{self.resources[NODE_ROLE]['Properties']['RoleName']}"
        for resource in self._of_type(POLICY_TYPE).values():
            policy = f"policy {resource['ManagedPolicyName']}"
            for row in _statements(resource["PolicyDocument"]):
                facts = {fact.replace(f"resource {role}", f"resource {NODE_ROLE_ARN}") for fact in statement_facts(row)}
                found[statement_name(row)] = frozenset({policy, *facts})
        return found

    def rules(self) -> Facts:
        """Return the EventBridge rules."""
        return {
            name: frozenset(
                f"{key} {value}" for key, values in resource["EventPattern"].items() for value in values
            ) | {f"target {target['Id']}" for target in resource["Targets"]}
            for name, resource in self._of_type(RULE_TYPE).items()
        }  # fmt: skip

    def node_role(self) -> Facts:
        """Return the node role's managed policies, and who may assume it."""
        role = self.resources[NODE_ROLE]["Properties"]
        policies = {f"policy {arn.rpartition('/')[2]}" for arn in role["ManagedPolicyArns"]}
        trusted = {
            fact
            for row in _statements(role["AssumeRolePolicyDocument"])
            for fact in statement_facts(row)
            if fact.startswith("principal ")
        }
        return {NODE_ROLE: frozenset(policies | trusted)}

    def queue(self) -> Facts:
        """Return the queue's settings and the statements of its policy."""
        settings = self.resources[QUEUE]["Properties"]
        policy = self.resources[QUEUE_POLICY]["Properties"]["PolicyDocument"]
        return {
            QUEUE: frozenset(f"{key} {value}" for key, value in settings.items() if key != "QueueName"),
            **{f"queue policy: {row.effect} {row.actions[0]}": statement_facts(row) for row in _statements(policy)},
        }

    def unknown(self) -> Facts:
        """Return what is of a type that no release had before."""
        return {
            name: frozenset({f"type {resource['Type']}"})
            for name, resource in self.resources.items()
            if resource["Type"] not in KNOWN_TYPES
        }

    def _of_type(self, type_: str) -> dict[str, Tree]:
        return {name: row["Properties"] for name, row in self.resources.items() if row["Type"] == type_}


def chart_defaults(tag: Tag, chart: str) -> dict[str, Any]:
    """Return every key of a chart's values.yaml with its default."""
    path = f"charts/{chart}/values.yaml"
    return dict(_leaves(tag.yaml(path))) if path in tag.files(f"charts/{chart}") else {}


def chart_keys(tag: Tag, chart: str) -> set[str]:
    """Return the keys of values.yaml and those that only the templates name."""
    texts = [TEMPLATE_COMMENT.sub("", tag.text(path)) for path in tag.files(f"charts/{chart}/templates")]
    named = {match[1:] for text in texts for match in VALUE.findall(text)}
    found = named | chart_defaults(tag, chart).keys()
    # A template that takes a whole branch says nothing about the keys below it.
    return {key for key in found if not any(other.startswith(f"{key}.") for other in found)}


def definitions(tag: Tag) -> list[Tree]:
    """Read the custom resource definitions that the chart brings; its own copies may hold Helm's braces."""
    in_chart = {path.rpartition("/")[2] for path in tag.files("charts/karpenter-crd/templates")}
    return [tag.yaml(path)["spec"] for path in tag.files(CRDS, ".yaml") if path.rpartition("/")[2] in in_chart]


def kinds(definitions: Iterable[Tree]) -> Facts:
    """Return every kind that is served."""
    return {
        f"{spec['group']}/{version['name']} {spec['names']['kind']}": frozenset()
        for spec in definitions
        for version in spec["versions"]
        if version["served"] == "true"
    }


def fields(definitions: Iterable[Tree], api_version: str, kind: str) -> tuple[Facts, set[str]] | None:
    """Return the fields of a kind's spec with the values each may have, and the paths that are required.

    None where the release does not know the kind in this API version.
    """
    group, _, version = api_version.partition("/")
    for spec in definitions:
        for row in spec["versions"]:
            if (spec["group"], row["name"], spec["names"]["kind"]) == (group, version, kind):
                below = row["schema"]["openAPIV3Schema"]["properties"]["spec"]
                return dict(_fields(below)), set(_required(below))
    return None


def kubernetes(tag: Tag, release: Release) -> Facts:
    """Return the row of the compatibility matrix: of this patch or an earlier one of its minor, else of the minor."""
    matrices = [path for path in tag.files(MATRIX_FOLDER, ".yaml") if "compatib" in path]
    rows = {}
    for path in matrices:
        for row in tag.yaml(path).get("compatibility", ()):
            minor, _, patch = row["appVersion"].rpartition(".")
            first_patch = 0 if patch == "x" else int(patch)
            if minor == f"{release.major}.{release.minor}" and first_patch <= release.patch:
                rows[first_patch] = row
    if not rows:
        return {}
    row = rows[max(rows)]
    return {"Kubernetes": frozenset({f"from {row['minK8sVersion']}", f"to {row['maxK8sVersion']}"})}


def upgrade_guide_section(tag: Tag, release: Release) -> str | None:
    """Name the section of upstream's upgrade guide that belongs to the release's minor."""
    for path in tag.files(WEBSITE, "upgrade-guide.md"):
        for heading in re.findall(r"^#+ (.*)$", tag.text(path), re.MULTILINE):
            if re.search(rf"\b{release.major}\.{release.minor}\.\d", heading):
                return f"{path}, {heading.replace('`', '')}"
    return None


def _statements(document: str | Tree) -> Iterator[Statement]:
    """Read a policy, which is YAML in old templates and JSON in a text in newer ones."""
    tree = json.loads(document) if isinstance(document, str) else document
    for row in tree["Statement"]:
        principals = row.get("Principal", {})
        typed = {"*": principals} if isinstance(principals, str) else principals
        yield replace(
            statement_from({"Resource": (), **row}),
            principals=tuple(
                Principal(type_, (ids,) if isinstance(ids, str) else tuple(ids)) for type_, ids in typed.items()
            ),
        )


def _leaves(tree: Tree, above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value and "/" not in "".join(value):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _fields(schema: Tree, at: str = "") -> Iterator[tuple[str, frozenset[str]]]:
    """Walk a schema down to what has no fields of its own."""
    if schema.get("properties"):
        for name, below in schema["properties"].items():
            yield from _fields(below, f"{at}.{name}" if at else name)
    elif "items" in schema:
        yield from _fields(schema["items"], f"{at}[]")
    else:
        yield at, frozenset(_allowed(schema))


def _allowed(schema: Tree) -> Iterator[str]:
    """Tell which values a schema names, in a list or in the rules beside it."""
    for value in schema.get("enum", ()):
        yield f"value {value}"
    for check in schema.get("x-kubernetes-validations", ()):
        if (listed := ONE_OF.search(check["rule"])) and "must be one of" in check.get("message", ""):
            yield from (f"value {value}" for value in QUOTED.findall(listed[1]))
        if restricted := RESTRICTED_TAG.search(check.get("message", "")):
            yield f"reserved {restricted[1]}"


def _required(schema: Tree, at: str = "") -> Iterator[str]:
    yield from (f"{at}.{name}" if at else name for name in schema.get("required", ()))
    for name, below in schema.get("properties", {}).items():
        yield from _required(below, f"{at}.{name}" if at else name)
    if "items" in schema:
        yield from _required(schema["items"], f"{at}[]")
