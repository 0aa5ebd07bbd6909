"""Real Terraform takes every key of every backend: init fails at most because nothing listens where it points."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest

from nodeless.resolved.backends import LOCATIONS
from nodeless.spec import backends
from nodeless.spec.secrets import Secret
from nodeless.spec.section import Section
from tests.terraform.runner import TerraformError
from tests.terraform.state_server import serving

if TYPE_CHECKING:
    from tests.terraform.conftest import Synth, TerraformIn
    from tests.terraform.runner import Terraform

pytestmark = pytest.mark.terraform

NOWHERE = "127.0.0.1:9"
# What Terraform says about a configuration that its backend does not understand.
NOT_UNDERSTOOD = (
    "Unsupported argument",
    "Unsupported block",
    "Extraneous JSON object property",
    "Missing required argument",
    "Incorrect attribute value type",
    "Incorrect JSON value type",
    "Inappropriate value",
    "Invalid backend type",
    "Invalid or unknown key",
    "Unsupported backend type",
    "Invalid JSON",
)

# Every key of every backend, with addresses at which nothing listens.
WHOLE: dict[str, dict[str, Any]] = {
    "remote": {"organization": "acme", "hostname": "localhost", "workspaces": {"prefix": "karpenter-"}},
    "http": {
        "address": f"http://{NOWHERE}/state",
        "update_method": "PUT",
        "lock_address": f"http://{NOWHERE}/lock",
        "lock_method": "PUT",
        "unlock_address": f"http://{NOWHERE}/lock",
        "unlock_method": "DELETE",
        "username": "terraform",
        "skip_cert_verification": True,
        "retry_max": 1,
        "retry_wait_min": 1,
        "retry_wait_max": 1,
        "client_ca_certificate_pem": "x",
        "client_certificate_pem": "x",
    },
    "gcs": {
        "bucket": "acme",
        "prefix": "karpenter/demo",
        "credentials": "no-such-file.json",
        "impersonate_service_account": "a@b.iam.gserviceaccount.com",
        "impersonate_service_account_delegates": ["c@d.iam.gserviceaccount.com"],
        "kms_encryption_key": "projects/p/locations/l/keyRings/r/cryptoKeys/k",
        "storage_custom_endpoint": f"http://{NOWHERE}/",
    },
    "azurerm": {
        "storage_account_name": "acme",
        "container_name": "state",
        "key": "demo.tfstate",
        "resource_group_name": "rg",
        "subscription_id": "00000000-0000-0000-0000-000000000000",
        "tenant_id": "00000000-0000-0000-0000-000000000000",
        "environment": "public",
        "metadata_host": NOWHERE,
        "lookup_blob_endpoint": False,
        "snapshot": False,
        "use_azuread_auth": True,
        "use_cli": False,
        "use_msi": False,
        "msi_endpoint": f"http://{NOWHERE}/",
        "use_oidc": True,
        "use_aks_workload_identity": False,
        "ado_pipeline_service_connection_id": "00000000-0000-0000-0000-000000000000",
        "oidc_request_url": f"http://{NOWHERE}/",
        "oidc_token_file_path": "no-such-file",
        "client_id": "00000000-0000-0000-0000-000000000000",
        "client_id_file_path": "no-such-file",
        "client_certificate_path": "no-such-file.pfx",
        "client_secret_file_path": "no-such-file",
    },
    "pg": {
        "conn_str": f"postgres://terraform@{NOWHERE}/state?sslmode=disable",
        "schema_name": "karpenter_demo",
        "skip_schema_creation": False,
        "skip_table_creation": False,
        "skip_index_creation": False,
    },
    "consul": {
        "path": "karpenter/demo",
        "address": NOWHERE,
        "scheme": "https",
        "datacenter": "dc1",
        "gzip": True,
        "lock": True,
        "ca_file": "no-such-file",
        "cert_file": "no-such-file",
        "key_file": "no-such-file",
    },
    "kubernetes": {
        "secret_suffix": "demo-karpenter",
        "namespace": "terraform",
        "labels": {"team": "platform"},
        "in_cluster_config": False,
        "load_config_file": False,
        "config_path": "no-such-file",
        "config_paths": ["no-such-file"],
        "config_context": "x",
        "config_context_auth_info": "x",
        "config_context_cluster": "x",
        "host": f"https://{NOWHERE}",
        "insecure": True,
        "cluster_ca_certificate": "x",
        "client_certificate": "x",
        "username": "x",
        "proxy_url": f"http://{NOWHERE}",
        "exec": {
            "api_version": "client.authentication.k8s.io/v1",
            "command": "true",
            "args": ["x"],
            "env": {"A": "b"},
        },
    },
    "oss": {
        "bucket": "acme",
        "prefix": "terraform",
        "key": "demo.tfstate",
        "region": "cn-beijing",
        "endpoint": NOWHERE,
        "encrypt": True,
        "acl": "private",
        "tablestore_endpoint": f"https://{NOWHERE}",
        "tablestore_table": "lock",
        "sts_endpoint": NOWHERE,
        "profile": "x",
        "shared_credentials_file": "no-such-file",
        "ecs_role_name": "x",
        "assume_role_role_arn": "acs:ram::1:role/x",
        "assume_role_session_name": "x",
        "assume_role_policy": "{}",
        "assume_role_session_expiration": 900,
    },
    "cos": {
        "bucket": "acme-1250000000",
        "prefix": "terraform",
        "key": "demo.tfstate",
        "region": "ap-guangzhou",
        "encrypt": True,
        "acl": "private",
        "accelerate": False,
        "endpoint": f"http://{NOWHERE}",
        "domain": NOWHERE,
        "profile": "x",
        "shared_credentials_dir": "no-such-folder",
        "cam_role_name": "x",
        "assume_role": {
            "role_arn": "qcs::cam::uin/1:roleName/x",
            "session_name": "x",
            "session_duration": 900,
            "policy": "{}",
            "external_id": "xx",
        },
    },
}


def keys_of(section: type[Section]) -> set[str]:
    """Return the keys of a backend that a user may write."""
    return {
        name
        for name, field in section.model_fields.items()
        if name != "type" and not any(isinstance(note, Secret) for note in field.metadata)
    }


MODELS: dict[str, type[Section]] = {
    get_args(member.model_fields["type"].annotation)[0]: member for member in get_args(get_args(backends.Backend)[0])
}


def test_every_backend_has_a_location_and_is_tried_with_all_its_keys() -> None:
    assert set(LOCATIONS) == set(MODELS)
    assert set(WHOLE) == set(MODELS) - {"local", "s3", "cloud"}
    assert {kind: set(keys) for kind, keys in WHOLE.items()} == {kind: keys_of(MODELS[kind]) for kind in WHOLE}


def init(terraform_in: TerraformIn, folder: Path, backend: dict[str, Any], kind: str = "backend") -> str:
    """Initialize a configuration that has nothing but this backend, and return what Terraform says against it."""
    (folder / "main.tf.json").write_text(json.dumps({"terraform": {kind: backend}}), "utf-8")
    try:
        terraform_in(folder).run("init", "-input=false")
    except TerraformError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def trees(synth: Synth) -> dict[str, Any]:
    """Synthesize a cluster for each backend, and return the JSON of each."""
    clusters = [
        f"  - name: {kind}\n    region: eu-north-1\n    delivery: none\n"
        f"    backend: {json.dumps({'type': kind, **keys})}\n"
        for kind, keys in WHOLE.items()
    ]
    stacks = synth(f"clusters:\n{''.join(clusters)}", cluster="pg").parent
    return {kind: json.loads((stacks / kind / "cdk.tf.json").read_text("utf-8")) for kind in WHOLE}


@pytest.mark.parametrize("kind", WHOLE)
def test_terraform_understands_every_key(
    kind: str, terraform_in: TerraformIn, trees: dict[str, Any], tmp_path: Path
) -> None:
    block = trees[kind]["terraform"]["backend"]

    said = init(terraform_in, tmp_path, block)
    assert [text for text in NOT_UNDERSTOOD if text in said] == [], said
    assert block == {kind: WHOLE[kind]}
    assert trees[kind]["//"]["metadata"]["backend"] == kind


@pytest.mark.parametrize("kind", WHOLE)
def test_terraform_refuses_a_key_that_it_does_not_know(kind: str, terraform_in: TerraformIn, tmp_path: Path) -> None:
    said = init(terraform_in, tmp_path, {kind: {**WHOLE[kind], "nonsense": "x"}})

    assert [text for text in NOT_UNDERSTOOD if text in said], said


# How workspaces are selected: each way, and what Terraform must not say about it.
SELECTED: dict[str, dict[str, Any]] = {
    "by-name": {"name": "karpenter-demo", "project": "platform"},
    "by-list": {"tags": ["karpenter", "cost:center"], "project": "platform"},
    "by-map": {"tags": {"app": "karpenter", "cluster": "demo"}, "project": "platform"},
}
WRONG_TAGS = ("tags must be a set or object", "tag elements must be strings", "tag object values must be strings")


def test_terraform_understands_every_way_to_select_workspaces(
    synth: Synth, terraform_in: TerraformIn, tmp_path: Path
) -> None:
    clusters = [
        f"  - name: {name}\n    region: eu-north-1\n    delivery: none\n    backend: "
        f"{json.dumps({'type': 'cloud', 'organization': 'acme', 'hostname': NOWHERE, 'workspaces': where})}\n"
        for name, where in SELECTED.items()
    ]
    stacks = synth(f"clusters:\n{''.join(clusters)}", cluster="by-map").parent

    for name, where in SELECTED.items():
        block = json.loads((stacks / name / "cdk.tf.json").read_text("utf-8"))["terraform"]["cloud"]
        assert block["workspaces"] == where
        said = init(terraform_in, tmp_path, block, "cloud")
        assert "Failed to request discovery document" in said
        assert [text for text in (*NOT_UNDERSTOOD, *WRONG_TAGS) if text in said] == [], said
    wrong = {**block, "workspaces": {"tags": {"app": 1}}}
    assert WRONG_TAGS[-1] in init(terraform_in, tmp_path, wrong, "cloud")


def test_a_state_is_kept_behind_a_real_address(terraform_in: TerraformIn, tmp_path: Path) -> None:
    with serving() as (url, server):
        keys = {"address": f"{url}/demo", "lock_address": f"{url}/demo/lock", "unlock_address": f"{url}/demo/lock"}
        assert init(terraform_in, tmp_path, {"http": keys}) == ""
        (tmp_path / "output.tf.json").write_text(json.dumps({"output": {"a": {"value": "b"}}}), "utf-8")
        terraform_in(tmp_path).run("apply", "-input=false", "-auto-approve")

    assert json.loads(server.state)["outputs"]["a"]["value"] == "b"
    assert {"LOCK /demo/lock", "POST /demo", "UNLOCK /demo/lock"} <= set(server.seen)


def test_a_copied_stack_is_told_where_its_state_would_go_and_a_stack_in_its_place_is_not(
    initialized: Terraform, terraform_in: TerraformIn, tmp_path: Path
) -> None:
    copied = tmp_path / "repository" / "karpenter" / "demo"
    shutil.copytree(initialized.stack, copied, symlinks=True)

    (told,) = terraform_in(copied).plan("-refresh=false").diagnostics
    assert (told.severity, told.summary) == ("warning", "Check block assertion failed")
    assert f"its state would be in {tmp_path}/terraform.demo.tfstate" in told.detail
    assert initialized.plan().diagnostics == ()
