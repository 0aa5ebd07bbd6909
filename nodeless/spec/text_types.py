"""The types of text a user may write: what each accepts, what a message says, and whether Python may pass a token."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import PydanticCustomError, core_schema

from nodeless.karpenter.releases import NEWEST, UnknownReleaseError, find, is_known
from nodeless.karpenter.versions import Release
from nodeless.resolved.names import NAME_LIMITS
from nodeless.resolved.partitions import PARTITIONS, nearest_region, partition_of
from nodeless.resolved.references import is_reference, is_whole_reference, references_in

LITERAL = "a literal: Terraform would evaluate ${…} and %{…} here"
LITERAL_FIX = "write the value itself, or use the Karpenter construct in Python, which takes references"

# Set in the validation context by the Python front door, whose values may be tokens of the user's own stack.
REFERENCES = "references"
# The type of the errors made here; `expected` and `fix` are in their context.
REFUSED = "refused"


def refused(expected: str, fix: str) -> PydanticCustomError:
    """Make the error for a value that is not what is expected."""
    return PydanticCustomError(REFUSED, "{expected}", {"expected": expected, "fix": fix})


def written(value: object) -> str:
    """Write a value as the file has it: numbers know their text, and `True` is `true`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextType:
    """The one place that says what a type of text is: validation, messages, docs and the JSON schema read it."""

    pattern: str
    expected: str
    fix: str
    takes_references: bool = False
    also: Callable[[str, Mapping[str, Any]], None] | None = None
    """a further check, with the keys of the same section that are read before this one"""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:  # noqa: ANN401 - pydantic's protocol
        return core_schema.with_info_wrap_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "pattern": f"^{self.pattern}$"}

    def _check(
        self, value: object, text: core_schema.ValidatorFunctionWrapHandler, info: ValidationInfo[dict[str, bool]]
    ) -> str:
        if isinstance(value, bool | int | float):
            raise refused("must be a quoted string", f'write "{written(value)}", with the quotes')
        read: str = text(value)
        if is_reference(read):
            self._check_reference(read, allowed=bool((info.context or {}).get(REFERENCES)))
            return read
        if re.fullmatch(self.pattern, read) is None:
            raise refused(self.expected, self.fix)
        if self.also:
            self.also(read, info.data or {})
        return read

    def _check_reference(self, text: str, *, allowed: bool) -> None:
        if not (allowed and self.takes_references):
            raise refused(LITERAL, LITERAL_FIX)
        if not is_whole_reference(text):
            raise refused("a literal or one reference, with no text beside it", "pass the token itself")


def literal_tree(value: Any) -> Any:  # noqa: ANN401 - any YAML
    """Refuse a tree with something in it that Terraform would evaluate."""
    for path, _ in references_in(value):
        where = ".".join(str(step) for step in path)
        raise refused(f"{LITERAL} (at {where})" if where else LITERAL, "write the value itself")
    return value


def switch(section: type) -> BeforeValidator:
    """Read `true` as a section with all its defaults, and `false` as no section."""

    def read(value: Any) -> Any:  # noqa: ANN401 - whatever the file holds
        if value is True:
            return {}
        return None if value is False else value

    return BeforeValidator(read, json_schema_input_type=bool | section)


def _in_a_partition(region: str, _: Mapping[str, Any]) -> None:
    if partition_of(region) is None:
        nearest, examples = nearest_region(region), ", ".join(row.example_region for row in PARTITIONS)
        raise refused(
            "a region of a known partition", f"did you mean {nearest}?" if nearest else f"write one such as {examples}"
        )


def _released(version: str, section: Mapping[str, Any]) -> None:
    try:
        find(version)
    except UnknownReleaseError as error:
        # A key that is wrong itself is not in the section.
        if error.is_newer and section.get("tables", "wrong"):
            _whole_number(version)
            return
        choice = ", or set `tables` to the known release whose tables to use" if error.is_newer else ""
        raise refused("a Karpenter release", f"{error.advice}{choice}") from None


def _known(version: str, _: Mapping[str, Any]) -> None:
    _released(version, {})
    if not is_known(find(version)):
        raise refused("a known Karpenter release", f"write one such as {NEWEST}")


def _whole_number(version: str) -> None:
    try:
        Release.parse(version)
    except ValueError:
        raise refused("a release with its patch, because its minor is not known", f"write {version}.0") from None


ClusterName = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}",
        expected="an EKS cluster name: 1 to 100 letters, digits, hyphens and underscores, "
        "starting with a letter or digit",
        fix="use the name that `aws eks list-clusters` shows",
        takes_references=True,
    ),
]
Region = Annotated[
    str,
    TextType(
        pattern=r"[a-z0-9-]+", expected="an AWS region", fix="write a region such as eu-north-1", also=_in_a_partition
    ),
]
Version = Annotated[
    str, TextType(pattern=r"\S+", expected="a Karpenter release", fix=f"write one such as {NEWEST}", also=_released)
]
KnownVersion = Annotated[
    str, TextType(pattern=r"\S+", expected="a known Karpenter release", fix=f"write one such as {NEWEST}", also=_known)
]
Account = Annotated[
    str,
    TextType(
        pattern=r"[0-9]{12}",
        expected="an account id: twelve digits, in quotes",
        fix='write it as "123456789012"',
        takes_references=True,
    ),
]
Kubernetes = Annotated[
    str,
    TextType(pattern=r"1\.[0-9]{2}", expected="a Kubernetes minor version, in quotes", fix='write it as "1.35"'),
]
Https = Annotated[
    str,
    TextType(
        pattern=r"https://[^\s]+",
        expected="an https:// address",
        fix="use the address that `aws eks describe-cluster` shows",
        takes_references=True,
    ),
]
Issuer = Annotated[
    str,
    TextType(
        pattern=r"https://[^\s/]+(/[^\s/]+)*",
        expected="an https:// OIDC issuer, which does not end with a slash",
        fix="use cluster.identity.oidc.issuer of `aws eks describe-cluster`",
        takes_references=True,
    ),
]
Base64 = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9+/]+={0,2}",
        expected="the cluster's certificate authority, in base64",
        fix="use cluster.certificateAuthority.data of `aws eks describe-cluster`",
        takes_references=True,
    ),
]
Subnet = Annotated[
    str,
    TextType(
        pattern=r"subnet-[0-9a-f]{8,17}",
        expected="a subnet id",
        fix="write an id such as subnet-0123456789abcdef0",
        takes_references=True,
    ),
]
SecurityGroup = Annotated[
    str,
    TextType(
        pattern=r"sg-[0-9a-f]{8,17}",
        expected="a security group id",
        fix="write an id such as sg-0123456789abcdef0",
        takes_references=True,
    ),
]
DnsLabel = Annotated[
    str,
    TextType(
        pattern=r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
        expected="a Kubernetes name: at most 63 lower-case letters, digits and hyphens; "
        "it must not start or end with a hyphen",
        fix="write a name such as karpenter",
    ),
]


def iam_name(limit: int) -> TextType:
    """Make the type of a name that IAM or EKS bounds at this many characters."""
    return TextType(
        pattern=rf"[A-Za-z0-9_+=,.@-]{{1,{limit}}}",
        expected=f"a name of at most {limit} characters: letters, digits and any of +=,.@_-",
        fix="choose a shorter or simpler name",
    )


ControllerRoleName = Annotated[str, iam_name(NAME_LIMITS["controller_role"])]
FargateRoleName = Annotated[str, iam_name(NAME_LIMITS["fargate_role"])]
NodeRoleName = Annotated[str, iam_name(NAME_LIMITS["node_role"])]
InstanceProfileName = Annotated[str, iam_name(NAME_LIMITS["instance_profile"])]
FargateProfileName = Annotated[str, iam_name(NAME_LIMITS["fargate_profile"])]
IamPath = Annotated[
    str,
    TextType(
        pattern=r"/|/[!-~]{0,510}/", expected="an IAM path: it starts and ends with a slash", fix="write / or /team/"
    ),
]
QueueName = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9_-]{1,80}",
        expected="an SQS queue name: at most 80 letters, digits, hyphens and underscores",
        fix="choose a shorter or simpler name",
    ),
]
# The key is part of a role's name and of its address, where `extra` comes before the policies a user adds.
RoleKey = Annotated[
    str,
    TextType(
        pattern=r"(?=.{1,20}$)(?!(.*-)?extra(-|$))[a-z][a-z0-9]*(-[a-z0-9]+)*",
        expected="the key of a node role: at most 20 lower-case letters, digits and single hyphens, "
        "without the word extra",
        fix="write a key such as windows",
    ),
]
PolicyArn = Annotated[
    str,
    TextType(
        pattern=r"arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]+",
        expected="the ARN of a managed policy",
        fix="write an ARN such as arn:aws:iam::123456789012:policy/name",
        takes_references=True,
    ),
]
RoleArn = Annotated[
    str,
    TextType(
        pattern=r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+",
        expected="the ARN of a role",
        fix="write an ARN such as arn:aws:iam::123456789012:role/name",
        takes_references=True,
    ),
]
KmsKeyArn = Annotated[
    str,
    TextType(
        pattern=r"arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+",
        expected="the ARN of a KMS key (not an alias: IAM does not resolve it)",
        fix="write an ARN such as arn:aws:kms:eu-north-1:123456789012:key/…",
        takes_references=True,
    ),
]
Repository = Annotated[
    str,
    TextType(
        pattern=r"oci://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._-]+)*",
        expected="an oci:// registry path that holds the charts karpenter and karpenter-crd",
        fix="write a path such as oci://123456789012.dkr.ecr.eu-north-1.amazonaws.com/karpenter",
    ),
]
TagKey = Annotated[
    str,
    TextType(pattern=r".{1,128}", expected="a tag key of at most 128 characters", fix="choose a shorter key"),
]
Line = Annotated[str, TextType(pattern=r"[^\n]+", expected="one line of text", fix="write it on one line")]
