"""Secrets do not belong in the file: each is refused, with the variable to use, and never shown."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from nodeless.spec import backends
from nodeless.spec.secrets import Secret
from tests.refusals import problems

NEEDED: dict[str, dict[str, Any]] = {
    "s3": {"bucket": "bbb", "region": "eu-north-1"},
    "cloud": {"organization": "acme"},
    "remote": {"organization": "acme"},
    "http": {"address": "https://state.example.com"},
    "gcs": {"bucket": "bbb"},
    "azurerm": {"storage_account_name": "a", "container_name": "c"},
    "oss": {"bucket": "bbb"},
    "cos": {"bucket": "bbb", "region": "ap-guangzhou"},
}

SECRETS = [
    (get_args(member.model_fields["type"].annotation)[0], name, note.variable)
    for member in get_args(get_args(backends.Backend)[0])
    for name, field in member.model_fields.items()
    for note in field.metadata
    if isinstance(note, Secret)
]

# What the backends take in, in Terraform's own documentation of each.
KNOWN = {
    ("s3", "secret_key"),
    ("cloud", "token"),
    ("remote", "token"),
    ("http", "password"),
    ("http", "client_private_key_pem"),
    ("gcs", "access_token"),
    ("gcs", "encryption_key"),
    ("azurerm", "access_key"),
    ("azurerm", "sas_token"),
    ("azurerm", "client_secret"),
    ("azurerm", "client_certificate_password"),
    ("consul", "access_token"),
    ("consul", "http_auth"),
    ("kubernetes", "token"),
    ("kubernetes", "password"),
    ("kubernetes", "client_key"),
    ("oss", "secret_key"),
    ("cos", "secret_key"),
}


def test_the_secrets_of_every_backend_are_known() -> None:
    assert {(kind, name) for kind, name, _ in SECRETS} >= KNOWN


@pytest.mark.parametrize(("kind", "name", "variable"), SECRETS)
def test_a_secret_is_refused_and_not_shown(kind: str, name: str, variable: str) -> None:
    (finding,) = problems(backend={"type": kind, **NEEDED.get(kind, {}), name: "hunter2"})

    assert finding.where() == f"clusters[0].backend.{name}"
    assert f"set the environment variable {variable} " in finding.fix
    assert "hunter2" not in str(finding)


@pytest.mark.parametrize(
    "backend",
    [
        {"type": "http", "address": "https://terraform:hunter2@state.example.com"},
        {"type": "http", "address": "https://x", "lock_address": "https://terraform:hunter2@state.example.com"},
        {"type": "pg", "conn_str": "postgres://terraform:hunter2@db.example.com/state"},
        {"type": "pg", "conn_str": "host=db.example.com password='hunter2'"},
        {"type": "gcs", "bucket": "bbb", "credentials": '{"private_key": "hunter2"}'},
    ],
    ids=str,
)
def test_a_secret_within_a_value_is_refused_and_not_shown(backend: dict[str, Any]) -> None:
    (finding,) = problems(backend=backend)

    assert "hunter2" not in str(finding)


@pytest.mark.parametrize(
    "backend",
    [
        {"type": "http", "address": "https://state.example.com:8443/a@b", "password": None},
        {"type": "pg", "conn_str": "postgres://terraform@db.example.com:5432/state?sslmode=require"},
        {"type": "gcs", "bucket": "bbb", "credentials": "/run/secrets/key.json"},
    ],
    ids=str,
)
def test_a_value_without_a_secret_passes(backend: dict[str, Any]) -> None:
    assert problems(backend=backend) == []


def test_an_unknown_key_of_a_backend_gets_a_suggestion_of_that_backend() -> None:
    (finding,) = problems(backend={"type": "gcs", "bucket": "bbb", "prefx": "x"})
    (other,) = problems(backend={"type": "s3", "bucket": "bbb", "region": "eu-north-1", "prefix": "x"})
    (elsewhere,) = problems(nodes={"schema_name": "x"})

    assert finding.fix == "did you mean prefix?"
    assert other.fix == "did you mean profile?"
    assert "backend" not in elsewhere.fix
