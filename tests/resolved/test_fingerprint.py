"""The hash of a stack's input: another one for each setting that matters, and the same for everything else."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from nodeless.origin import INPUT
from nodeless.resolved.fingerprint import DERIVED, NOT_IN_A_MODULE, origin_of, origin_of_module
from nodeless.resolved.installation import Installation
from nodeless.resolved.module import module_of
from nodeless.spec.conversion import installation_of
from nodeless.spec.model import Cluster
from nodeless.spec.resolution import load
from nodeless.version import VERSION
from tests.conftest import LITERALS, ROOT
from tests.fuzz.model_values import keys_of

Keys = Mapping[str, Any]

ROLE = "arn:aws:iam::123456789012:role/other"
POLICY = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
KEY = "arn:aws:kms:eu-north-1:123456789012:key/0123abcd-0123-0123-0123-0123456789ab"
SELECTOR = {"namespace": "karpenter"}
ASSUMED = {"role_arn": ROLE}
STATEMENT = {"Sid": "Mine", "Action": "ec2:DescribeHosts", "Resource": "*"}
POOL: Keys = {
    "name": "mine",
    "spec": {
        "template": {
            "spec": {
                "requirements": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}],
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            }
        }
    },
}
CLASS: Keys = {
    "name": "default",
    "spec": {
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "role": "demo-karpenter-node",
        "subnetSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
        "securityGroupSelectorTerms": [{"tags": {"karpenter.sh/discovery": "demo"}}],
    },
}


def _roles(**role: Any) -> Keys:  # noqa: ANN401 - keys of a role
    return {"nodes": {"roles": {"gpu": role}}}


# A key -> the keys of two clusters that differ in nothing else. A section stands for its keys.
CHANGES: Mapping[str, tuple[Keys, Keys]] = {
    "name": ({}, {"name": "other"}),
    "stack": ({}, {"stack": "other"}),
    "region": ({"oidc_issuer": None}, {"oidc_issuer": None, "region": "eu-west-1"}),
    "new_region": (
        {"region": "eu-north-9", "oidc_issuer": None},
        {"region": "eu-north-9", "oidc_issuer": None, "new_region": True},
    ),
    "account": ({}, {"account": "210987654321"}),
    "provider.profile": ({}, {"provider": {"profile": "mine"}}),
    "provider.assume_role": ({}, {"provider": {"assume_role": [ASSUMED]}}),
    **{
        f"provider.assume_role.{key}": (
            {"provider": {"assume_role": [ASSUMED]}},
            {"provider": {"assume_role": [{**ASSUMED, key: value}]}},
        )
        for key, value in {
            "role_arn": f"{ROLE}-2",
            "external_id": "mine",
            "session_name": "mine",
            "duration": "1h",
            "source_identity": "mine",
            "policy_arns": [POLICY],
            "tags": {"a": "b"},
        }.items()
    },
    "provider.assume_role.transitive_tag_keys": (
        {"provider": {"assume_role": [{**ASSUMED, "tags": {"a": "b"}}]}},
        {"provider": {"assume_role": [{**ASSUMED, "tags": {"a": "b"}, "transitive_tag_keys": ["a"]}]}},
    ),
    "endpoint": ({}, {"endpoint": "https://other.example.com"}),
    "oidc_issuer": ({}, {"oidc_issuer": f"{LITERALS['oidc_issuer'][:-1]}0"}),
    "certificate_authority": ({}, {"certificate_authority": "LS0tLS1CRUdJTi1="}),
    "subnets": ({}, {"subnets": ["subnet-0123456789abcdef0"]}),
    "karpenter.tables": (
        {"karpenter": {"version": "1.14.9", "tables": "1.14.1"}},
        {"karpenter": {"version": "1.14.9", "tables": "1.13.1"}},
    ),
    "karpenter.version": ({}, {"karpenter": {"version": "1.13.1"}}),
    "karpenter.namespace": ({}, {"karpenter": {"namespace": "other"}}),
    "karpenter.service_account": ({}, {"karpenter": {"service_account": "other"}}),
    "karpenter.replicas": ({}, {"karpenter": {"replicas": 1}}),
    "karpenter.policy": ({}, {"karpenter": {"policy": "blog"}}),
    "karpenter.repository": ({}, {"karpenter": {"repository": "oci://mirror.example.com/karpenter"}}),
    "karpenter.image.repository": ({}, {"karpenter": {"image": {"repository": "mirror.example.com/controller"}}}),
    "karpenter.image.tag": ({}, {"karpenter": {"image": {"tag": "mine"}}}),
    "karpenter.image.digest": ({}, {"karpenter": {"image": {"digest": "none"}}}),
    "karpenter.isolated_vpc": ({}, {"karpenter": {"isolated_vpc": True}}),
    "karpenter.zonal_shift": ({}, {"karpenter": {"zonal_shift": True}}),
    "karpenter.values": ({}, {"karpenter": {"values": {"logLevel": "debug"}}}),
    "identity": ({"fargate": False}, {"fargate": False, "identity": "pod-identity"}),
    "oidc_provider": ({}, {"oidc_provider": "create"}),
    "fargate": ({}, {"fargate": False}),
    "fargate.profile_name": ({}, {"fargate": {"profile_name": "other"}}),
    "fargate.selectors": ({}, {"fargate": {"selectors": [SELECTOR, {"namespace": "other"}]}}),
    "fargate.selectors.namespace": (
        {"fargate": {"selectors": [SELECTOR, {"namespace": "other"}]}},
        {"fargate": {"selectors": [SELECTOR, {"namespace": "another"}]}},
    ),
    "fargate.selectors.labels": (
        {"fargate": {"selectors": [SELECTOR, {"namespace": "other"}]}},
        {"fargate": {"selectors": [SELECTOR, {"namespace": "other", "labels": {"a": "b"}}]}},
    ),
    "fargate.cni_policy": ({}, {"fargate": {"cni_policy": True}}),
    "fargate.coredns": ({}, {"fargate": {"coredns": True}}),
    "fargate.logging": ({}, {"fargate": {"logging": True}}),
    "interruption": ({}, {"interruption": False}),
    "interruption.queue_name": ({}, {"interruption": {"queue_name": "other"}}),
    "interruption.kms_key_arn": ({}, {"interruption": {"kms_key_arn": KEY}}),
    "nodes.access": ({}, {"nodes": {"access": "aws-auth"}}),
    "nodes.instance_profile": ({}, {"nodes": {"instance_profile": False}}),
    "nodes.roles": ({}, _roles()),
    "nodes.roles.*.arn": (_roles(), _roles(arn=ROLE)),
    "nodes.roles.*.policies": (_roles(), _roles(policies=[POLICY])),
    "nodes.roles.*.os": (_roles(), _roles(os="windows")),
    "nodes.roles.*.access_entry": (_roles(arn=ROLE), _roles(arn=ROLE, access_entry=False)),
    "nodes.policies": ({}, {"nodes": {"policies": [POLICY]}}),
    "nodes.ipv6": ({}, {"nodes": {"ipv6": True}}),
    "discovery.tag_key": ({}, {"discovery": {"tag_key": "mine"}}),
    "discovery.subnets": ({}, {"discovery": {"subnets": ["subnet-0123456789abcdef0"]}}),
    "discovery.security_groups": ({}, {"discovery": {"security_groups": ["sg-0123456789abcdef0"]}}),
    "names.style": ({}, {"names": "official"}),
    **{
        f"names.{key}": ({}, {"names": {key: "other"}})
        for key in ("controller_role", "fargate_role", "node_role", "instance_profile", "queue", "fargate_profile")
    },
    "names.policies": ({}, {"names": {"policies": {"interruption": "other"}}}),
    "names.rules": ({}, {"names": {"rules": {"spot": "other"}}}),
    "names.with_region": ({}, {"names": {"with_region": True}}),
    "path": ({}, {"path": "/mine/"}),
    "permissions_boundary": ({}, {"permissions_boundary": "arn:aws:iam::123456789012:policy/mine"}),
    "extra_statements": ({}, {"extra_statements": [STATEMENT]}),
    **{
        f"extra_statements.{key}": (
            {"extra_statements": [STATEMENT]},
            {"extra_statements": [{**STATEMENT, key: value}]},
        )
        for key, value in {
            "Sid": "Other",
            "Effect": "Deny",
            "Action": ["ec2:DescribeTags"],
            "Resource": ["arn:aws:ec2:eu-north-1:123456789012:instance/*"],
            "Condition": {"StringEquals": {"aws:RequestedRegion": "eu-north-1"}},
        }.items()
    },
    "tags": ({}, {"tags": {"team": "mine"}}),
    "node_classes": ({}, {"node_classes": [CLASS]}),
    "node_classes.name": (
        {"node_classes": [CLASS, {**CLASS, "name": "one"}]},
        {"node_classes": [CLASS, {**CLASS, "name": "two"}]},
    ),
    "node_classes.spec": (
        {"node_classes": [CLASS]},
        {"node_classes": [{**CLASS, "spec": {**CLASS["spec"], "detailedMonitoring": True}}]},
    ),
    "node_pools": ({}, {"node_pools": [POOL]}),
    "node_pools.name": ({"node_pools": [POOL]}, {"node_pools": [{**POOL, "name": "other"}]}),
    "node_pools.spec": (
        {"node_pools": [POOL]},
        {"node_pools": [{**POOL, "spec": {**POOL["spec"], "weight": 5}}]},
    ),
    "smoke_test": ({}, {"smoke_test": True}),
    "spot_service_linked_role": ({}, {"spot_service_linked_role": True}),
    "delivery": ({}, {"delivery": "none"}),
    "auth": ({}, {"auth": "token"}),
    "backend": ({}, {"backend": {"type": "s3", "bucket": "mine", "region": "eu-north-1"}}),
    "adopt.setup": ({}, {"adopt": "cloudformation", "names": "official"}),
    "adopt.module": (
        {"adopt": {"setup": "terraform-aws-eks"}, "names": "terraform-aws-eks"},
        {"adopt": {"setup": "terraform-aws-eks", "module": "module.mine"}, "names": "terraform-aws-eks"},
    ),
    "adopt.without": (
        {"adopt": {"setup": "cloudformation"}, "names": "official"},
        {"adopt": {"setup": "cloudformation", "without": ["aws_sqs_queue.interruption"]}, "names": "official"},
    ),
    "adopt.ids": (
        {"adopt": {"setup": "cloudformation"}, "names": "official"},
        {"adopt": {"setup": "cloudformation", "ids": {"aws_iam_role.fargate": "mine"}}, "names": "official"},
    ),
    "exclusive_policies": ({}, {"exclusive_policies": True}),
}
# A key that only a check reads, and that nothing in a stack follows from.
ONLY_CHECKED = {"kubernetes"}
# They are in the model only so that a message can say where secrets belong.
REFUSED = {"provider.access_key", "provider.secret_key", "provider.token"}


def resolved(**keys: Any) -> Installation:  # noqa: ANN401 - keys of a cluster
    """Resolve a cluster without the checks across keys, which a table of single keys would not pass."""
    return installation_of(Cluster.model_validate({**LITERALS, **keys}), is_literal=True)


def digest(**keys: Any) -> str:  # noqa: ANN401 - keys of a cluster
    return origin_of(resolved(**keys)).input


def _keys() -> Iterator[str]:
    """Name every key with a value of its own, but those of backends: a backend is taken over whole."""
    sections = {key.rpartition(".")[0].removesuffix(".*") for key in keys_of(Cluster)}
    for key in keys_of(Cluster):
        if not key.startswith("backend.") and (key not in sections or key in CHANGES):
            yield key


def test_the_table_has_every_key_of_the_file() -> None:
    assert {*CHANGES} | ONLY_CHECKED | REFUSED == {*_keys()}


@pytest.mark.parametrize("key", CHANGES)
def test_another_value_is_another_hash(key: str) -> None:
    before, after = CHANGES[key]

    assert INPUT.fullmatch(digest(**before))
    assert digest(**before) == digest(**before)
    assert digest(**before) != digest(**after)


@pytest.mark.parametrize(
    "backend",
    [
        {"type": "local", "path": "mine.tfstate"},
        {"type": "s3", "bucket": "mine", "region": "eu-north-1"},
        {"type": "s3", "bucket": "mine", "region": "eu-west-1"},
        {"type": "s3", "bucket": "mine", "region": "eu-north-1", "key": "mine"},
        {"type": "cloud", "organization": "mine", "workspaces": {"name": "one"}},
        {"type": "cloud", "organization": "mine", "workspaces": {"name": "two"}},
    ],
    ids=str,
)
def test_another_key_of_a_backend_is_another_hash(backend: Keys) -> None:
    others = [{"type": "local"}, {"type": "s3", "bucket": "other", "region": "eu-north-1"}]

    assert digest(backend=backend) not in {digest(backend=each) for each in others}


SAME: Mapping[str, Keys] = {
    "a default that is written down": {"karpenter": {"namespace": "karpenter", "replicas": 2}, "path": "/"},
    "a section of defaults": {"fargate": True, "interruption": {}, "nodes": {}, "tags": {}},
    "the version in another spelling": {"karpenter": {"version": "v1.14.1"}},
    "a name that it has anyway": {
        "names": {"node_role": "demo-karpenter-node", "rules": {"spot": "demo-karpenter-spot"}}
    },
    "a policy's name that it has anyway": {
        "names": {"policies": {"interruption": "KarpenterControllerInterruptionPolicy-demo"}}
    },
    "the default selector": {"fargate": {"selectors": [SELECTOR]}},
    "the default state": {"backend": {"type": "local", "path": "../../../terraform.demo.tfstate"}},
    "the Kubernetes version, which is only checked": {"kubernetes": "1.35"},
}


@pytest.mark.parametrize("what", SAME)
def test_what_changes_nothing_in_the_stack_is_the_same_hash(what: str) -> None:
    assert digest(**SAME[what]) == digest()


FILE = """\
defaults: {region: eu-north-1}
clusters:
  - name: demo
    tags: {a: "1", b: "2"}
    karpenter: {values: {logLevel: debug, nodeSelector: {x: "1", y: "2"}}}
"""
SAME_FILES = {
    "comments and other keys first": """\
# A comment
clusters:
  - karpenter: {values: {nodeSelector: {y: "2", x: "1"}, logLevel: debug}}  # here too
    tags: {b: "2", a: "1"}
    region: eu-north-1
    name: demo
""",
    "another cluster before it": FILE.replace("clusters:\n", "clusters:\n  - name: other\n"),
    "anchors": """\
defaults: {region: eu-north-1, tags: {a: "1"}}
clusters:
  - name: demo
    tags: {b: "2"}
    karpenter:
      values:
        logLevel: debug
        nodeSelector:
          x: "1"
          y: "2"
""",
}


def _of_file(folder: Path, text: str) -> str:
    folder.mkdir()
    (folder / "clusters.yaml").write_text(text, "utf-8")
    (found,) = [each for each in load(folder / "clusters.yaml") if each.name == "demo"]
    return origin_of(found).input


@pytest.mark.parametrize("what", SAME_FILES)
def test_how_and_where_a_file_is_written_does_not_matter(what: str, tmp_path: Path) -> None:
    assert _of_file(tmp_path / "one", FILE) == _of_file(tmp_path / "two", SAME_FILES[what])


def test_the_seed_of_pythons_hashes_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "clusters.yaml").write_text(FILE, "utf-8")
    program = (
        "from pathlib import Path; from nodeless.spec.resolution import load;"
        "from nodeless.resolved.fingerprint import origin_of;"
        "print(origin_of(load(Path('clusters.yaml'))[0]).input)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(seen) == 1


def test_the_hash_of_the_plainest_cluster_is_that_of_the_first_version() -> None:
    # A setting that is new must be off or empty by default, or every reviewer sees a change that is none.
    plain = installation_of(
        Cluster.model_validate({"name": "demo", "region": "eu-north-1", "karpenter": {"version": "1.14.1"}}),
        is_literal=True,
    )

    assert origin_of(plain).input == "sha256:3ca83f75440f481a7e357d8af0569ee777b14e3a2bb68c7ddabecce150ebedd5"


def test_null_in_a_tree_of_the_user_is_a_value() -> None:
    with_null = {"karpenter": {"values": {"nodeSelector": {"a": None}}}}

    assert digest(**with_null) != digest(karpenter={"values": {"nodeSelector": {}}}) != digest()


def _module(defaults: Keys | None = None, **keys: Any) -> str:  # noqa: ANN401 - keys of a cluster
    return origin_of_module(module_of(resolved(**keys)), defaults or {}).input


def test_a_module_has_a_hash_of_what_is_fixed_and_of_its_defaults() -> None:
    assert _module() == _module(name="other", tags={"a": "b"}, backend={"type": "local", "path": "x"}, auth="token")
    assert _module() != _module(karpenter={"version": "1.13.1"})
    assert _module() != _module(nodes={"access": "aws-auth"})
    assert _module() != _module({"replicas": 3})


def test_what_is_left_out_are_settings() -> None:
    assert {*DERIVED, *NOT_IN_A_MODULE} <= {field.name for field in fields(Installation)}


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

    assert project["project"]["version"] == VERSION
    assert origin_of(resolved()).version == VERSION
