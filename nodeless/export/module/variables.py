"""The variables of a module: what its caller decides, each with its type, its meaning and what is refused.

Patterns are those of the file's own types of text. Terraform has no lookahead, so two of them are written anew here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.label_text import LOWER_LABEL
from nodeless.karpenter.releases import NEWEST_KUBERNETES, kubernetes_range
from nodeless.resolved.module import Module
from nodeless.resolved.names import NAME_LIMITS, POLICY_LIMIT
from nodeless.resolved.partitions import PARTITIONS
from nodeless.sinks.hcl import quoted
from nodeless.spec import text_types as text
from nodeless.spec.guards.limits import LONGEST_TAG_KEY, LONGEST_TAG_VALUE
from nodeless.spec.text_type import TextType

# An issuer with or without its scheme; IAM writes it without.
ISSUER = rf"(?:https://)?{text.HOST}(?:/[A-Za-z0-9._~-]+)*"
OIDC_ARN = rf"arn:{text.PARTITION}:iam::[0-9]{{12}}:oidc-provider/[!-~]+"
LONGEST_PATH = 512
TAG_TEXT = r"[\p{L}\p{Z}\p{N}_.:/=+@-]"
TAGGED = r"(?:subnet|sg)-[0-9a-f]{8,17}"
REPLICAS = (1, 5)
MOST_TAGS = 50


@dataclass(frozen=True, slots=True)
class Validation:
    """A condition on one variable, and the sentence for a value that does not meet it."""

    condition: str
    error_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable; without a default it is required."""

    name: str
    type: str
    description: str
    validations: tuple[Validation, ...] = ()
    default: Any = None
    is_required: bool = False

    def block(self) -> dict[str, Any]:
        """Write the block in Terraform JSON; a null stands for the default, where that is not null itself."""
        block: dict[str, Any] = {"type": self.type, "description": self.description}
        if not self.is_required:
            block["default"] = self.default
        if self.is_required or self.default is not None:
            block["nullable"] = False
        rows = [
            {"condition": f"${{{each.condition}}}", "error_message": each.error_message} for each in self.validations
        ]
        return {**block, "validation": rows} if rows else block


def matches(pattern: str, value: str) -> str:
    """Write the condition that a whole text matches a pattern."""
    return f"can(regex({quoted(f'^(?:{pattern})$')}, {value}))"


def variables(module: Module) -> tuple[Variable, ...]:
    """Return the variables of a module, the required ones first."""
    rows = [*_cluster(module), *_installation(module), *_names(module), *(_charts(module) if module.with_helm else ())]
    return tuple(sorted(rows, key=lambda row: not row.is_required))


def _text(name: str, description: str, type_: TextType, **more: Any) -> Variable:  # noqa: ANN401 - fields of Variable
    """Make the variable of a text that has a type in the file too."""
    value = f"var.{name}"
    condition = matches(type_.pattern, value)
    if more.get("default", "") is None:
        condition = f"{value} == null || {condition}"
    validation = Validation(condition, f"{name} must be {type_.expected}.")
    return Variable(name=name, type="string", description=description, validations=(validation,), **more)


def _type_of(annotation: Any) -> TextType:  # noqa: ANN401 - an Annotated type
    (type_,) = annotation.__metadata__
    assert isinstance(type_, TextType)  # noqa: S101 - every type of text is made of one
    return type_


def _cluster(module: Module) -> Iterator[Variable]:
    """Yield what is known of the cluster; the module looks nothing up, so that all of it may come from a resource."""
    template = module.template
    yield _text("cluster_name", "The EKS cluster.", _type_of(text.ClusterName), is_required=True)
    yield _text("cluster_endpoint", "Address of the cluster's API server.", _type_of(text.Endpoint), is_required=True)
    if template.identity == "irsa":
        yield Variable(
            name="cluster_oidc_url",
            type="string",
            description="The cluster's OIDC issuer, with or without https://.",
            validations=(
                Validation(
                    matches(ISSUER, "var.cluster_oidc_url"),
                    "cluster_oidc_url must be an OIDC issuer such as "
                    "https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF, without a slash at its end.",
                ),
            ),
            is_required=True,
        )
        if not template.creates_oidc_provider:
            yield Variable(
                name="cluster_oidc_arn",
                type="string",
                description="The account's IAM OIDC provider for that issuer.",
                validations=(
                    Validation(
                        matches(OIDC_ARN, "var.cluster_oidc_arn"),
                        "cluster_oidc_arn must be the ARN of an IAM OIDC provider.",
                    ),
                ),
                is_required=True,
            )
    if template.fargate:
        yield Variable(
            name="cluster_subnet_ids",
            type="list(string)",
            description="Private subnets for the controller's pods on Fargate. Other subnets replace the profile.",
            validations=(
                Validation("length(var.cluster_subnet_ids) > 0", "cluster_subnet_ids must have at least one subnet."),
                Validation(
                    f"alltrue([for id in var.cluster_subnet_ids : {matches(_type_of(text.Subnet).pattern, 'id')}])",
                    "cluster_subnet_ids must be subnet ids such as subnet-0123456789abcdef0.",
                ),
            ),
            is_required=True,
        )
    yield _kubernetes(module)
    regions = "|".join(row.region_pattern for row in PARTITIONS)
    yield Variable(
        name="region",
        type="string",
        description="The cluster's region. The plan stops if the AWS provider is configured for another one. "
        "Without it, the provider's region is used as it is.",
        validations=(
            Validation(
                f"var.region == null || {matches(regions, 'var.region')}",
                "region must be an AWS region such as eu-north-1.",
            ),
        ),
    )


def _kubernetes(module: Module) -> Variable:
    release = module.template.release
    first, last = kubernetes_range(release)
    minor = 'tonumber(split(".", var.cluster_version)[1])'
    fits = f"{minor} >= {first} && {minor} <= {last} || {minor} > {NEWEST_KUBERNETES}"
    is_minor = matches(_type_of(text.Kubernetes).pattern, "var.cluster_version")
    return Variable(
        name="cluster_version",
        type="string",
        description="The cluster's Kubernetes minor, which is compared with what the Karpenter release supports. "
        "Without it, nothing is compared.",
        validations=(
            Validation(
                f"var.cluster_version == null || {is_minor}",
                "cluster_version must be a Kubernetes minor such as 1.35.",
            ),
            Validation(
                f"var.cluster_version == null || try({fits}, true)",
                f"Karpenter {release} runs on Kubernetes 1.{first} to 1.{last}: export the module for another release.",
            ),
        ),
    )


def _installation(module: Module) -> Iterator[Variable]:
    template = module.template
    if module.chooses_namespace:
        yield _label("namespace", "Namespace of the controller.", template.namespace)
    yield _label("service_account", "Service account of the controller.", template.service_account)
    least, most = REPLICAS
    yield Variable(
        name="replicas",
        type="number",
        description="Replicas of the controller; one leads, the others stand by.",
        validations=(
            Validation(
                f"var.replicas >= {least} && var.replicas <= {most} && floor(var.replicas) == var.replicas",
                f"replicas must be a whole number from {least} to {most}.",
            ),
        ),
        default=template.replicas,
    )
    if module.without_queue:
        yield Variable(
            name="interruption",
            type="bool",
            description="Create the interruption queue, its rules and the permission to read it.",
            default=template.queue is not None,
        )
    if module.chooses_path:
        yield Variable(
            name="path",
            type="string",
            description="IAM path of every role, instance profile and policy.",
            validations=(
                Validation(
                    f"{matches(f'/{text.IAM_PATH}', 'var.path')} && length(var.path) <= {LONGEST_PATH}",
                    f"path must be an IAM path of at most {LONGEST_PATH} characters that starts and ends with a slash.",
                ),
            ),
            default=template.path,
        )
    yield _text(
        "permissions_boundary",
        "Permissions boundary of every role.",
        _type_of(text.PolicyArn),
        default=template.permissions_boundary,
    )
    yield _tags(template.tags)
    yield Variable(
        name="tagged_resource_ids",
        type="map(string)",
        description=f"Subnets and security groups that get the tag {template.tag_key} with the cluster's name, "
        "each under a key of your own.",
        validations=(
            Validation(
                f"alltrue([for id in values(var.tagged_resource_ids) : {matches(TAGGED, 'id')}])",
                "tagged_resource_ids must be ids of subnets and security groups.",
            ),
        ),
        default={},
    )


def _label(name: str, description: str, default: str) -> Variable:
    expected = f"{name} must be a Kubernetes name: at most 63 lower-case letters, digits and hyphens."
    validation = Validation(matches(LOWER_LABEL, f"var.{name}"), expected)
    return Variable(name=name, type="string", description=description, validations=(validation,), default=default)


def _tags(default: Mapping[str, str]) -> Variable:
    key, value = f"{TAG_TEXT}{{1,{LONGEST_TAG_KEY}}}", f"{TAG_TEXT}{{0,{LONGEST_TAG_VALUE}}}"
    return Variable(
        name="tags",
        type="map(string)",
        description="Tags of everything that can be tagged; the default node class puts them on instances too.",
        validations=(
            Validation(f"length(var.tags) <= {MOST_TAGS}", f"tags must be at most {MOST_TAGS}."),
            Validation(
                f"alltrue([for key, value in var.tags : {matches(key, 'key')} && {matches(value, 'value')}])",
                f"tags must have keys of 1 to {LONGEST_TAG_KEY} and values of at most {LONGEST_TAG_VALUE} letters, "
                "digits, spaces and any of _.:/=+-@.",
            ),
            Validation(
                'alltrue([for text in concat(keys(var.tags), values(var.tags)) : !startswith(lower(text), "aws:")])',
                "tags must not start with aws:, which AWS keeps for itself.",
            ),
            Validation(
                "length(distinct([for key in keys(var.tags) : lower(key)])) == length(var.tags)",
                "tags must have keys that differ in more than their case, for IAM.",
            ),
        ),
        default=dict(default),
    )


def _names(module: Module) -> Iterator[Variable]:
    keys = [key for _, key in module.name_rules()]
    yield Variable(
        name="names",
        type="map(string)",
        description="Names that differ from those the module makes of the cluster's, by their keys: "
        f"{', '.join(keys)}.",
        validations=(
            Validation(
                f"alltrue([for key in keys(var.names) : contains([{', '.join(map(quoted, keys))}], key)])",
                "names must have keys that the module knows: see the description of the variable.",
            ),
            Validation(
                f"alltrue([for key, name in var.names : can(regex({_pattern_of_name()}, name))])",
                "names must have letters, digits and any of +=,.@_-: at most 64 for roles, 128 for policies and "
                "instance profiles. Rules have 64 and only ._-, the queue 80, the Fargate profile 100 and only _-.",
            ),
        ),
        default=dict(module.template.names.overrides),
    )
    yield Variable(
        name="names_with_region",
        type="bool",
        description="Put the region after the cluster's name in names: for a cluster of the same name in another "
        "region of the account.",
        default=module.template.names.region is not None,
    )


def _pattern_of_name() -> str:
    """Write the expression for the pattern of a name, which depends on the service that has it."""
    others = {
        "policies": rf"{text.IAM_NAME}{{1,{POLICY_LIMIT}}}",
        "instance_profile": rf"{text.IAM_NAME}{{1,{NAME_LIMITS['instance_profile']}}}",
        "rules": _type_of(text.RuleName).pattern,
        "queue": _type_of(text.QueueName).pattern,
        "fargate_profile": rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{NAME_LIMITS['fargate_profile'] - 1}}}",
    }
    rows = ", ".join(f"{key} = {quoted(f'^{pattern}$')}" for key, pattern in others.items())
    roles = quoted(f"^{text.IAM_NAME}{{1,{NAME_LIMITS['node_role']}}}$")
    return f'lookup({{ {rows} }}, split(".", key)[0], {roles})'


def _charts(module: Module) -> Iterator[Variable]:
    template = module.template
    yield Variable(
        name="helm_values",
        type="any",
        description="Helm values for the chart karpenter; Helm merges them over the module's own.",
        validations=(Validation("can(keys(var.helm_values))", "helm_values must be an object."),),
        default={},
    )
    for name, what, rows in (
        ("node_pools", "Node pools; without one, the module makes a pool `default`.", template.node_pools),
        (
            "node_classes",
            "Node classes; the module makes the class `default` if a pool names it and it is not here.",
            template.node_classes,
        ),
    ):
        yield Variable(
            name=name,
            type="any",
            description=f"{what} A list of objects with `name` and `spec`, in the shape of the release's API.",
            validations=(
                Validation(
                    f"alltrue([for item in var.{name} : {matches(LOWER_LABEL, 'item.name')} && can(keys(item.spec))])",
                    f"{name} must be a list of objects with a `name`, at most 63 lower-case letters, digits and "
                    "hyphens, and a `spec`.",
                ),
                Validation(
                    f"length(distinct([for item in var.{name} : item.name])) == length(var.{name})",
                    f"{name} must have different names.",
                ),
            ),
            default=[{"name": key, "spec": dict(spec)} for key, spec in rows],
        )
