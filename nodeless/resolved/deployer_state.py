"""The S3 objects of a stack's state, as the deployer's policy names them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from nodeless.karpenter.policy import Condition
from nodeless.resolved.deployer_targets import Arns, Subject


def with_own_permissions(arns: Arns) -> Arns:
    """Return the ARNs if Terraform reaches the bucket with the deployer's own permissions."""
    return lambda subject: () if any(state_role(subject)) else arns(subject)


def with_a_role(arns: Arns) -> Arns:
    """Return the ARNs if Terraform assumes a role to reach the bucket: that role then needs them."""
    return lambda subject: arns(subject) if any(state_role(subject)) else ()


def state_role(subject: Subject) -> Iterator[str]:
    """Return the role with which Terraform reaches the bucket."""
    role = _s3(subject).get("role_arn")
    if role:
        yield str(role)


def bucket(subject: Subject) -> Iterator[str]:
    """Return the bucket of the state."""
    keys = _s3(subject)
    if keys:
        yield _s3_arn(subject, str(keys["bucket"]))


def state_object(subject: Subject) -> Iterator[str]:
    """Return the object that is the state."""
    keys = _s3(subject)
    if keys:
        yield _s3_arn(subject, f"{keys['bucket']}/{_literal(str(keys['key']))}")


def lock_object(subject: Subject) -> Iterator[str]:
    """Return the object that locks the state."""
    if _s3(subject).get("use_lockfile"):
        yield from (f"{arn}.tflock" for arn in state_object(subject))


def lock_table(subject: Subject) -> Iterator[str]:
    """Return the table that locks the state in the old way."""
    keys = _s3(subject)
    if keys.get("dynamodb_table"):
        yield _beside_the_bucket(subject, "dynamodb", f"table/{keys['dynamodb_table']}")


def state_key(subject: Subject) -> Iterator[str]:
    """Return the key that encrypts the state; the permission to use a key cannot name an alias."""
    name = str(_s3(subject).get("kms_key_id") or "")
    if "alias/" in name:
        yield _beside_the_bucket(subject, "kms", "key/*")
    elif name:
        yield name if name.startswith("arn:") else _beside_the_bucket(subject, "kms", f"key/{name}")


def below_the_key(subject: Subject) -> Iterator[Condition]:
    """List the other workspaces, which Terraform does first, and the state: S3 says that it is missing only then."""
    keys = _s3(subject)
    prefix = str(keys.get("workspace_key_prefix") or "env:")
    yield Condition("StringLike", "s3:prefix", (_literal(str(keys["key"])), f"{_literal(prefix)}/*"))


def _s3(subject: Subject) -> Mapping[str, object]:
    backend = subject.installation.backend
    return backend if backend["type"] == "s3" else {}


def _literal(text: str) -> str:
    """Write the characters that mean something in a policy as IAM's variables for them."""
    return re.sub(r"[*?$]", r"${\g<0>}", text)


def _beside_the_bucket(subject: Subject, service: str, resource: str) -> str:
    place = subject.place
    return f"arn:{place.partition}:{service}:{_s3(subject)['region']}:{place.account}:{resource}"


def _s3_arn(subject: Subject, resource: str) -> str:
    return f"arn:{subject.place.partition}:s3:::{resource}"
