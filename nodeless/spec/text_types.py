"""The kinds of text a user may write, each with the rule it keeps and the way out when it does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from nodeless.karpenter.releases import NEWEST, UnknownReleaseError, find
from nodeless.resolved.partitions import PARTITIONS, nearest_region, partition_of
from nodeless.resolved.references import is_reference, is_whole_reference, references_in

LITERAL_RULE = "a literal: Terraform would evaluate ${…} and %{…} here"
LITERAL_WAY_OUT = "write the value itself, or use the Karpenter construct in Python, which takes references"

# Set in the validation context by the Python front door, whose values may be tokens of the user's own stack.
REFERENCES = "references"


def broken(rule: str, fix: str) -> PydanticCustomError:
    """Make the error of a broken rule; the way out travels in its context."""
    return PydanticCustomError("rule", "{rule}", {"rule": rule, "fix": fix})


def kind(
    pattern: str, rule: str, fix: str, *, takes_references: bool = False, also: Callable[[str], None] | None = None
) -> Any:  # noqa: ANN401 - an Annotated type
    """Make a type of text that fits a pattern; where a token may stand for it, Python callers may pass one."""

    def check(value: str, info: ValidationInfo) -> str:
        if is_reference(value):
            if takes_references and (info.context or {}).get(REFERENCES):
                if not is_whole_reference(value):
                    raise broken("a literal or one reference, with no text beside it", "pass the token itself")
                return value
            raise broken(LITERAL_RULE, LITERAL_WAY_OUT)
        if re.fullmatch(pattern, value) is None:
            raise broken(rule, fix)
        if also:
            also(value)
        return value

    return Annotated[
        str, BeforeValidator(_quoted), AfterValidator(check), Field(json_schema_extra={"pattern": f"^{pattern}$"})
    ]


def literal_tree(value: Any) -> Any:  # noqa: ANN401 - any YAML
    """Refuse a tree that holds something Terraform would evaluate."""
    for path, _ in references_in(value):
        where = ".".join(str(part) for part in path)
        raise broken(f"{LITERAL_RULE} (at {where})" if where else LITERAL_RULE, "write the value itself")
    return value


def switch(model: type, *, default: Callable[[], dict[str, Any]] = dict) -> BeforeValidator:
    """Let `true` stand for a section with all defaults, and `false` for none."""

    def read(value: Any) -> Any:  # noqa: ANN401 - whatever the file holds
        if value is True:
            return default()
        return None if value is False else value

    return BeforeValidator(read, json_schema_input_type=bool | model)


def _quoted(value: Any) -> Any:  # noqa: ANN401 - whatever the file holds
    if isinstance(value, bool | int | float):
        raise broken(
            "text, which YAML reads as a number or a truth value unless it is quoted",
            f'write "{value}", with its quotes and all its digits',
        )
    return value


ClusterName = kind(
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}",
    "an EKS cluster name: 1 to 100 letters, digits, hyphens and underscores, starting with a letter or digit",
    "use the name that `aws eks list-clusters` shows",
    takes_references=True,
)


def _in_a_partition(region: str) -> None:
    if partition_of(region) is None:
        nearest, examples = nearest_region(region), ", ".join(book.example_region for book in PARTITIONS)
        raise broken(
            "a region of a known partition", f"did you mean {nearest}?" if nearest else f"write one such as {examples}"
        )


def _released(version: str) -> None:
    try:
        find(version)
    except UnknownReleaseError as error:
        raise broken("a Karpenter release", error.advice) from None


Region = kind(r"[a-z0-9-]+", "an AWS region", "write a region such as eu-north-1", also=_in_a_partition)
Version = kind(r"\S+", "a Karpenter release", f"write one such as {NEWEST}", also=_released)
Account = kind(
    r"\d{12}", "an account id: twelve digits, in quotes", 'write it as "123456789012"', takes_references=True
)
Kubernetes = kind(r"1\.\d{2}", "a Kubernetes minor version, in quotes", 'write it as "1.35"')
Https = kind(
    r"https://[^\s]+",
    "an https:// address",
    "use the address that `aws eks describe-cluster` shows",
    takes_references=True,
)
Issuer = kind(
    r"https://[^\s/]+(/[^\s/]+)*",
    "an https:// OIDC issuer, without a slash at its end",
    "use cluster.identity.oidc.issuer of `aws eks describe-cluster`",
    takes_references=True,
)
Base64 = kind(
    r"[A-Za-z0-9+/]+={0,2}",
    "the cluster's certificate authority, in base64",
    "use cluster.certificateAuthority.data of `aws eks describe-cluster`",
    takes_references=True,
)
Subnet = kind(
    r"subnet-[0-9a-f]{8,17}", "a subnet id", "write an id such as subnet-0123456789abcdef0", takes_references=True
)
SecurityGroup = kind(
    r"sg-[0-9a-f]{8,17}", "a security group id", "write an id such as sg-0123456789abcdef0", takes_references=True
)
DnsLabel = kind(
    r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
    "a Kubernetes name: at most 63 lower-case letters, digits and hyphens, not at its ends a hyphen",
    "write a name such as karpenter",
)
IamName = kind(r"[\w+=,.@-]{1,128}", "an IAM name: letters, digits and any of +=,.@_-", "take the other characters out")
IamPath = kind(r"/|/[!-~]{0,510}/", "an IAM path: it begins and ends with a slash", "write / or /team/")
QueueName = kind(
    r"[A-Za-z0-9_-]{1,80}",
    "an SQS queue name: at most 80 letters, digits, hyphens and underscores",
    "choose a shorter or plainer name",
)
# The key is part of a role's name and of its address, where `extra` stands before the policies a user adds.
RoleKey = kind(
    r"(?=.{1,20}$)(?!(.*-)?extra(-|$))[a-z][a-z0-9]*(-[a-z0-9]+)*",
    "the key of a node role: at most 20 lower-case letters, digits and single hyphens, without the word extra",
    "write a key such as windows",
)
PolicyArn = kind(
    r"arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[\w+=,.@/-]+",
    "the ARN of a managed policy",
    "write an ARN such as arn:aws:iam::123456789012:policy/name",
    takes_references=True,
)
RoleArn = kind(
    r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+",
    "the ARN of a role",
    "write an ARN such as arn:aws:iam::123456789012:role/name",
    takes_references=True,
)
KmsKeyArn = kind(
    r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+",
    "the ARN of a KMS key (an alias does not do: IAM does not resolve it)",
    "write an ARN such as arn:aws:kms:eu-north-1:123456789012:key/…",
    takes_references=True,
)
Repository = kind(
    r"oci://[A-Za-z0-9.-]+(:\d+)?(/[A-Za-z0-9._-]+)*",
    "an oci:// registry path that holds the charts karpenter and karpenter-crd",
    "write a path such as oci://123456789012.dkr.ecr.eu-north-1.amazonaws.com/karpenter",
)
TagKey = kind(r".{1,128}", "a tag key of at most 128 characters", "choose a shorter key")
Plain = kind(r"[^\n]+", "one line of text", "write it on one line")
