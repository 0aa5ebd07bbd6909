"""The types of text a user may write: what each accepts, what a message says, and whether Python may pass a token."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from nodeless.karpenter import label_text
from nodeless.karpenter.label_text import LOWER_LABEL
from nodeless.karpenter.releases import (
    LAST_PATCHES,
    NEWEST,
    NEWEST_KUBERNETES,
    OLDEST_KUBERNETES,
    UnknownReleaseError,
    find,
    is_known,
)
from nodeless.karpenter.versions import Release
from nodeless.resolved.names import NAME_LIMITS, POLICY_LIMIT, RULE_LIMIT
from nodeless.resolved.partitions import BY_REGION, PARTITIONS, nearest_region, partition_of
from nodeless.spec.text_type import TextType, refused


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
        raise refused(error.expected, f"{error.advice}{choice}") from None


def _known(version: str, _: Mapping[str, Any]) -> None:
    _released(version, {})
    if not is_known(find(version)):
        raise refused("a known Karpenter release", f"write one such as {NEWEST}")


def _whole_number(version: str) -> None:
    try:
        Release.parse(version)
    except ValueError:
        raise refused("a release with its patch, because its minor is not known", f"write {version}.0") from None


def _is_an_address(address: str, _: Mapping[str, Any]) -> None:
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        raise refused("an address with a port of at most 65535", "correct the port") from None
    if len(parts.hostname or "") > LONGEST_HOST or port == 0:
        raise refused(f"an address whose host has at most {LONGEST_HOST} characters", "correct the address")


def _decodes(text: str, _: Mapping[str, Any]) -> None:
    try:
        base64.b64decode(text, validate=True).decode()
    except ValueError:
        raise refused("base64 of text", "copy the whole of it") from None


def _minor(version: str) -> str | None:
    found = re.search(r"(?<![0-9.])(1\.[0-9]{2})(?![0-9])", version)
    return f'"{found[1]}"' if found else None


def _twelve_digits(account: str) -> str | None:
    found = re.fullmatch(r"arn:[^:]*:[^:]*:[^:]*:([0-9]{12}):.*", account)
    digits = found[1] if found else re.sub(r"[\s-]", "", account)
    return f'"{digits}"' if re.fullmatch(r"[0-9]{12}", digits) else None


def _name_in_arn(name: str) -> str | None:
    found = re.fullmatch(r"arn:.*:cluster/([A-Za-z0-9_-]+)", name)
    return found[1] if found else None


def _with_scheme(scheme: str, pattern: str) -> Callable[[str], str | None]:
    """Make the advice to write an address with its scheme, and without a slash at its end."""

    def right(address: str) -> str | None:
        candidate = f"{scheme}{re.sub(r'^[a-z]+://', '', address).rstrip('/')}"
        return candidate if re.fullmatch(pattern, candidate) else None

    return right


def _in_lower_case(pattern: str) -> Callable[[str], str | None]:
    """Make the advice to write a name in lower case, with hyphens."""

    def right(name: str) -> str | None:
        candidate = re.sub(r"[\s_.]+", "-", name.strip()).lower()
        return candidate if re.fullmatch(pattern, candidate) else None

    return right


def _policy_of_aws(name: str) -> str | None:
    return f"arn:aws:iam::aws:policy/{name}" if re.fullmatch(r"(?:Amazon|AWS)[A-Za-z0-9_]+", name) else None


# Patterns that several types share. Each set of characters is written out: \w, \d and \s also match other scripts.
LONGEST_HOST = 253
DNS_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
HOST = rf"{DNS_LABEL}(?:\.{DNS_LABEL})*"
PORT = r"(?::[0-9]{1,5})?"
# A segment of dots alone would be another path.
URL_PATH = r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*"
OCI_PATH = r"(?:/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*"
PARTITION = r"aws(?:-[a-z]+)*"
IAM_NAME = r"[A-Za-z0-9_+=,.@-]"
_MODULE = r'module\.[A-Za-z_][A-Za-z0-9_-]{0,80}(?:\[(?:[0-9]{1,5}|"[A-Za-z0-9_./-]{1,80}")\])?'
MODULE_ADDRESS = rf"{_MODULE}(?:\.{_MODULE}){{0,5}}"
# What IAM takes, without wildcards (`*`, `?`), policy variables (`$`, `{`, `}`), quotes, `%`, `&`, `<`, `>` and `\`.
IAM_PATH = r"(?:[!#()+,.0-9:;=@A-Z\[\]^_a-z|~-]+/)*"
ONE_LINE = r"(?![^\r\n]*[$%]\{)[^\r\n]"

ClusterName = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}",
        expected="an EKS cluster name: 1 to 100 letters, digits, hyphens and underscores, "
        "starting with a letter or digit",
        fix="use the name that `aws eks list-clusters` shows",
        instead=_name_in_arn,
        takes_references=True,
    ),
]
StackName = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9][A-Za-z0-9_-]{0,119}",
        expected="the name of a stack: 1 to 120 letters, digits, hyphens and underscores, "
        "starting with a letter or digit",
        fix="write a name such as demo-eu-north-1",
    ),
]
Region = Annotated[
    str,
    TextType(
        pattern=r"[a-z0-9-]+",
        expected="an AWS region",
        fix="write a region such as eu-north-1",
        instead=_in_lower_case(r"[a-z]+(?:-[a-z]+)+-[0-9]"),
        also=_in_a_partition,
        also_pattern="|".join(partition.region_pattern for partition in PARTITIONS),
        suggestions=tuple(sorted(BY_REGION)),
    ),
]
# The newest patch of each minor, then the minors themselves.
RELEASE_NUMBER = r"v?[0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,4})?"
NEWEST_PATCHES = [Release(*patch) for patch in reversed(LAST_PATCHES)]
RELEASE_NAMES = (*map(str, NEWEST_PATCHES), *(f"{release.major}.{release.minor}" for release in NEWEST_PATCHES))
Version = Annotated[
    str,
    TextType(
        pattern=r"[!-~]+",
        expected="a Karpenter release",
        fix=f"write one such as {NEWEST}",
        also=_released,
        also_pattern=RELEASE_NUMBER,
        suggestions=RELEASE_NAMES,
    ),
]
KnownVersion = Annotated[
    str,
    TextType(
        pattern=r"[!-~]+",
        expected="a known Karpenter release",
        fix=f"write one such as {NEWEST}",
        also=_known,
        also_pattern=RELEASE_NUMBER,
        suggestions=RELEASE_NAMES,
    ),
]
Account = Annotated[
    str,
    TextType(
        pattern=r"[0-9]{12}",
        expected="an account id: twelve digits, in quotes",
        fix='write it as "123456789012"',
        instead=_twelve_digits,
        takes_references=True,
    ),
]
Kubernetes = Annotated[
    str,
    TextType(
        pattern=r"1\.[0-9]{2}",
        expected="a Kubernetes minor version, in quotes",
        fix='write it as "1.35"',
        instead=_minor,
        suggestions=tuple(f"1.{minor}" for minor in range(NEWEST_KUBERNETES, OLDEST_KUBERNETES - 1, -1)),
    ),
]
Endpoint = Annotated[
    str,
    TextType(
        pattern=rf"https://{HOST}{PORT}/?",
        expected="an https:// address: a host and perhaps a port, without a path",
        fix="use the address that `aws eks describe-cluster` shows",
        instead=_with_scheme("https://", rf"https://{HOST}{PORT}/?"),
        takes_references=True,
        also=_is_an_address,
    ),
]
Issuer = Annotated[
    str,
    TextType(
        pattern=rf"https://{HOST}{URL_PATH}",
        expected="an https:// OIDC issuer: a host and a path of letters, digits and any of ._~-, "
        "which does not end with a slash",
        fix="use cluster.identity.oidc.issuer of `aws eks describe-cluster`",
        instead=_with_scheme("https://", rf"https://{HOST}{URL_PATH}"),
        takes_references=True,
        also=_is_an_address,
    ),
]
Base64 = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9+/]+={0,2}",
        expected="the cluster's certificate authority, in base64",
        fix="use cluster.certificateAuthority.data of `aws eks describe-cluster`",
        takes_references=True,
        also=_decodes,
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
        pattern=LOWER_LABEL,
        expected="a Kubernetes name: at most 63 lower-case letters, digits and hyphens; "
        "it must not start or end with a hyphen",
        fix="write a name such as karpenter",
        instead=_in_lower_case(LOWER_LABEL),
    ),
]


SecretSuffix = Annotated[
    str,
    TextType(
        pattern=r"(?!.*-[0-9]+$)[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?",
        expected="the end of a secret's name: at most 63 lower-case letters, digits, hyphens and dots; "
        "it must not end with a hyphen and a number",
        fix="write an end such as demo-karpenter",
    ),
]

WorkspaceTag = Annotated[
    str,
    TextType(
        pattern=r"(?=.{1,255}$)[A-Za-z0-9]([A-Za-z0-9:_-]*[A-Za-z0-9])?",
        expected="the tag of a workspace: at most 255 letters, digits, hyphens, underscores and colons, with a "
        "letter or digit at both ends",
        fix="write one such as karpenter",
    ),
]


def iam_name(limit: int) -> TextType:
    """Make the type of a name that IAM or EKS bounds at this many characters."""
    return TextType(
        pattern=rf"{IAM_NAME}{{1,{limit}}}",
        expected=f"a name of at most {limit} characters: letters, digits and any of +=,.@_-",
        fix="choose a shorter or simpler name",
    )


ControllerRoleName = Annotated[str, iam_name(NAME_LIMITS["controller_role"])]
FargateRoleName = Annotated[str, iam_name(NAME_LIMITS["fargate_role"])]
NodeRoleName = Annotated[str, iam_name(NAME_LIMITS["node_role"])]
InstanceProfileName = Annotated[str, iam_name(NAME_LIMITS["instance_profile"])]
FargateProfileName = Annotated[str, iam_name(NAME_LIMITS["fargate_profile"])]
PolicyName = Annotated[str, iam_name(POLICY_LIMIT)]
# A check of its own says which ones exist.
PartKey = Annotated[
    str,
    TextType(
        pattern=r"[a-z_]{1,40}",
        expected="the key of a policy or rule: lower-case letters and underscores",
        fix="write a key such as interruption",
    ),
]
RuleName = Annotated[
    str,
    TextType(
        pattern=rf"[A-Za-z0-9._-]{{1,{RULE_LIMIT}}}",
        expected=f"the name of an EventBridge rule: at most {RULE_LIMIT} letters, digits and any of ._-",
        fix="choose a shorter or simpler name",
    ),
]
ResourceAddress = Annotated[
    str,
    TextType(
        pattern=r"[a-z][a-z0-9_]{1,80}\.[A-Za-z0-9_]{1,200}",
        expected="the address of a resource in the stack",
        fix="write an address such as aws_sqs_queue.interruption; `nodeless explain` lists all of them",
    ),
]
ModuleAddress = Annotated[
    str,
    TextType(
        pattern=MODULE_ADDRESS,
        expected="the address of a module in the state",
        fix="write an address such as module.karpenter; `terraform state list` shows it",
    ),
]
ImportId = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9][A-Za-z0-9_+=,.@:/-]{0,999}",
        expected="the id that `terraform import` takes: letters, digits and any of _+=,.@:/-",
        fix="write the id as it is in docs/adopting.md",
    ),
]
IamPath = Annotated[
    str,
    TextType(
        pattern=rf"(?=.{{1,512}}$)/{IAM_PATH}",
        expected="an IAM path: it starts and ends with a slash, "
        "and has no spaces, wildcards, quotes or any of $&%{}<>\\",
        fix="write / or /team/",
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
        pattern=rf"arn:{PARTITION}:iam::(?:[0-9]{{12}}|aws):policy/{IAM_PATH}{IAM_NAME}{{1,128}}",
        expected="the ARN of a managed policy",
        fix="write an ARN such as arn:aws:iam::123456789012:policy/name",
        instead=_policy_of_aws,
        takes_references=True,
    ),
]
RoleArn = Annotated[
    str,
    TextType(
        pattern=rf"arn:{PARTITION}:iam::[0-9]{{12}}:role/{IAM_PATH}{IAM_NAME}{{1,64}}",
        expected="the ARN of a role",
        fix="write an ARN such as arn:aws:iam::123456789012:role/name",
        takes_references=True,
    ),
]
SessionName = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9_+=,.@-]{2,64}",
        expected="a session name: 2 to 64 letters, digits and any of +=,.@_-",
        fix="write a name such as terraform",
    ),
]
ExternalId = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9_+=,.@:/-]{2,1224}",
        expected="an external id: 2 to 1224 letters, digits and any of +=,.@:/_-",
        fix="use the id that the role's trust policy asks for",
    ),
]
SessionDuration = Annotated[
    str,
    TextType(
        pattern=r"([0-9]+(h|m|s))+", expected="a duration from 15 minutes to 12 hours", fix="write one such as 1h30m"
    ),
]
KmsKeyArn = Annotated[
    str,
    TextType(
        pattern=rf"arn:{PARTITION}:kms:[a-z0-9-]+:[0-9]{{12}}:key/[A-Za-z0-9-]+",
        expected="the ARN of a KMS key (not an alias: IAM does not resolve it)",
        fix="write an ARN such as arn:aws:kms:eu-north-1:123456789012:key/…",
        takes_references=True,
    ),
]
Repository = Annotated[
    str,
    TextType(
        pattern=rf"oci://{HOST}{PORT}{OCI_PATH}",
        expected="an oci:// registry path that holds the charts karpenter and karpenter-crd",
        fix="write a path such as oci://123456789012.dkr.ecr.eu-north-1.amazonaws.com/karpenter",
        instead=_with_scheme("oci://", rf"oci://{HOST}{PORT}{OCI_PATH}"),
        also=_is_an_address,
    ),
]
LabelKey = Annotated[
    str,
    TextType(
        pattern=label_text.KEY,
        expected=f"the key of a Kubernetes label: {label_text.KEY_RULE}",
        fix="write a key such as app.kubernetes.io/name",
    ),
]
LabelValue = Annotated[
    str,
    TextType(
        pattern=label_text.VALUE,
        expected=f"the value of a Kubernetes label: {label_text.VALUE_RULE}",
        fix="write a value such as karpenter",
    ),
]
ImageRepository = Annotated[
    str,
    TextType(
        pattern=rf"{HOST}{PORT}(?=/){OCI_PATH}",
        expected="the repository of an image, without scheme, tag and digest",
        fix="write it like 123456789012.dkr.ecr.eu-north-1.amazonaws.com/karpenter/controller",
    ),
]
ImageTag = Annotated[
    str,
    TextType(
        pattern=r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}",
        expected="a tag of an image",
        fix=f"write a tag such as {NEWEST}",
    ),
]
ImageDigest = Annotated[
    str,
    TextType(
        pattern=r"sha256:[0-9a-f]{64}|none",
        expected="the digest of an image, or none",
        fix="write sha256: and 64 digits, or none to use the tag alone",
    ),
]
TagKey = Annotated[
    str,
    TextType(
        pattern=rf"{ONE_LINE}{{1,128}}",
        expected="a tag key of at most 128 characters, on one line",
        fix="choose a shorter key",
    ),
]
# For tags of everything: a check of its own says which characters AWS takes, and how many.
TagName = Annotated[
    str,
    TextType(
        pattern=rf"{ONE_LINE}*",
        expected="the key of a tag, on one line",
        fix="write it on one line",
        takes_references=True,
        takes_templates=True,
    ),
]
TagValue = Annotated[
    str,
    TextType(
        pattern=rf"{ONE_LINE}+",
        expected="the value of a tag: one line of text, not empty",
        fix="write it on one line",
        takes_references=True,
        takes_templates=True,
    ),
]
StatementText = Annotated[
    str,
    TextType(
        pattern=r"(?![^\r\n]*&\{)[\x20-\x7e\xa0-\xff]+",
        expected="the text of a policy: characters that IAM takes, without &{, which the AWS provider turns into ${",
        fix="write ${…}, which reaches IAM as written",
        takes_references=True,
        takes_templates=True,
    ),
]
# For backends, whose arguments Terraform takes as they are and OpenTofu evaluates.
Line = Annotated[
    str,
    TextType(
        pattern=rf"{ONE_LINE}+",
        expected="one line of text",
        fix="write it on one line",
    ),
]
