"""The clusters whose Terraform scanners read: every example, and variants of what a scanner may look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nodeless.karpenter.interruption import EVENT_RULES
from nodeless.resolved.installation import Installation
from nodeless.spec.resolution import installation, load

ROOT = Path(__file__).parents[2]
ACCOUNT = "123456789012"
LITERALS = {
    "account": ACCOUNT,
    "endpoint": "https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-north-1.eks.amazonaws.com",
    "oidc_issuer": "https://oidc.eks.eu-north-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF",
    "certificate_authority": "LS0tLS1CRUdJTi0=",
    "subnets": ["subnet-0123456789abcdef0"],
}
KEY = f"arn:aws:kms:eu-north-1:{ACCOUNT}:key/0a1b2c3d-0000-1111-2222-333344445555"

VARIANTS: dict[str, dict[str, Any]] = {
    "own-key": {"interruption": {"kms_key_arn": KEY}, **LITERALS},
    "isolated": {
        "karpenter": {"isolated_vpc": True, "repository": f"oci://{ACCOUNT}.dkr.ecr.eu-north-1.amazonaws.com"}
    },
    "everything": {
        "fargate": {"coredns": True, "logging": True},
        "oidc_provider": "create",
        "nodes": {"ipv6": True, "roles": {"windows": {"os": "windows"}}},
        "spot_service_linked_role": True,
        "discovery": {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]},
        "backend": {"type": "s3", "bucket": "states", "region": "eu-north-1"},
        "exclusive_policies": True,
        "smoke_test": True,
    },
    "little": {
        "fargate": False,
        "interruption": False,
        "nodes": {"access": "none", "instance_profile": False},
        "delivery": "none",
    },
    "pods": {"identity": "pod-identity", "fargate": False, "delivery": "gitops", **LITERALS},
    "cloud": {
        "backend": {"type": "cloud", "organization": "acme", "workspaces": {"name": "karpenter"}},
        "auth": "token",
    },
    "exec": {"auth": "exec", "nodes": {"access": "aws-auth"}, "tags": {"team": "platform"}},
    "names": {"names": "official", "path": "/platform/"},
    "oldest": {"karpenter": {"version": "0.25.0"}, **LITERALS},
    "before-v1": {"karpenter": {"version": "0.37.8"}},
    "one-policy": {"karpenter": {"version": "1.8.8"}},
    "adopt-cloudformation": {
        "adopt": "cloudformation",
        "names": {"style": "official", "rules": {event.key: f"Rule-{event.key}" for _, event in EVENT_RULES}},
    },
    "adopt-eksctl": {"adopt": "eksctl", "names": "eksctl", "interruption": False, "delivery": "none"},
    "adopt-module": {
        "adopt": "terraform-aws-eks",
        "names": {"style": "terraform-aws-eks", "controller_role": "karpenter", "node_role": "nodes"},
        "interruption": False,
        "delivery": "none",
    },
    "extra": {"extra_statements": [{"Sid": "ReadImages", "Action": "ec2:DescribeImageAttribute", "Resource": "*"}]},
    "moved": {"adopt": {"setup": "blog", "module": "module.karpenter"}},
}


def installations() -> tuple[Installation, ...]:
    """Return every cluster; their stacks have different names."""
    files = (ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml")))
    examples = [each for file in files for each in load(file, warn=lambda *_: None)]
    variants = [installation(name=f"the-{name}", region="eu-north-1", **keys) for name, keys in VARIANTS.items()]
    return (*examples, *variants)
