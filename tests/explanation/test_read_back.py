"""What `explain` prints is a clusters.yaml that means the same as the one it explains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodeless.cli.explain import explanation
from nodeless.resolved.installation import Installation
from nodeless.spec.reading import parse
from nodeless.spec.resolution import load, resolve
from tests.conftest import LITERALS, ROOT

FILES = [ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]

SETTINGS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "literals": LITERALS,
    "GovCloud, whose default is no Fargate": {"region": "us-gov-west-1"},
    "Fargate by a word": {"fargate": True, "interruption": True},
    "neither Fargate nor queue": {"fargate": False, "interruption": False},
    "a minor, and another style": {"karpenter": {"version": "1.8"}, "names": "official"},
    "a release beyond the tables": {"karpenter": {"version": "1.99.0", "tables": "1.14.1"}},
    "an isolated VPC": {"karpenter": {"isolated_vpc": True, "repository": "oci://mirror.example.com/karpenter"}},
    "names": {"names": {"queue": "events", "policies": {"zonal_shift": "zones"}, "with_region": True}},
    "a stack and a path": {"stack": "other", "path": "/team/"},
    "node roles": {"nodes": {"roles": {"gpu": {}, "batch": {"arn": "arn:aws:iam::123456789012:role/b"}}}},
    "one role to assume": {"provider": {"assume_role": {"role_arn": "arn:aws:iam::123456789012:role/r"}}},
    "two roles to assume": {
        "provider": {
            "assume_role": [
                {"role_arn": "arn:aws:iam::123456789012:role/r", "external_id": "xy"},
                {"role_arn": "arn:aws:iam::123456789012:role/s", "tags": {"a": "b"}},
            ]
        },
        "auth": "token",
    },
    "statements": {
        "extra_statements": [
            {"Action": "s3:GetObject", "Resource": "*"},
            {"Sid": "A", "Action": ["s3:*"], "Resource": ["*"], "Condition": {"StringLike": {"a:b": "c*"}}},
        ]
    },
    "empty lists": {"node_pools": [], "tags": {}},
    "explicit nulls": {"account": None, "stack": None, "kubernetes": None},
    "selectors": {
        "fargate": {
            "selectors": [{"namespace": "karpenter"}, {"namespace": "a", "labels": {"b": "c"}}],
            "coredns": True,
        }
    },
    "texts that look like something else": {
        "tags": {"a": "yes", "b": "010", "c": "null", "e": "1e3", "f": " x ", "g": "a: b"},
    },
    "values of every kind": {
        "karpenter": {
            "values": {
                "tolerations": [{"tolerationSeconds": 3, "effect": None}, {"key": "a", "operator": "Exists"}],
                "podAnnotations": {
                    "n": "1",
                    "ü": "\u2028",
                    "line": "a\n  b\n",
                    "quotes": "\"'",
                    "back": "\\x1b",
                    "-": "- x",
                    "a:": "b:",
                },
            }
        }
    },
    "s3": {"backend": {"type": "s3", "bucket": "states", "region": "eu-north-1"}},
    "cloud": {"backend": {"type": "cloud", "organization": "o"}},
    "cloud by tags": {"backend": {"type": "cloud", "organization": "o", "workspaces": {"tags": ["t"]}}},
    "cloud by tags with values": {
        "backend": {"type": "cloud", "organization": "o", "workspaces": {"tags": {"app": "karpenter"}}}
    },
    "remote by prefix": {"backend": {"type": "remote", "organization": "o", "workspaces": {"prefix": "p-"}}},
    "http": {"backend": {"type": "http", "address": "https://example.com/state", "retry_max": 3}},
    "kubernetes": {"backend": {"type": "kubernetes", "exec": {"api_version": "v1", "command": "aws", "args": ["a"]}}},
}


def read_back(text: str) -> tuple[Installation, ...]:
    tree, layout = parse(text, Path("explained.yaml"))
    return tuple(found for _, found in resolve(tree, source="explained.yaml", layout=layout))


@pytest.mark.parametrize("width", [20, 60, 120])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_example_resolves_to_the_same(file: Path, width: int) -> None:
    assert read_back(explanation([file], width=width)) == load(file)


@pytest.mark.parametrize("keys", SETTINGS.values(), ids=SETTINGS)
def test_every_kind_of_setting_resolves_to_the_same(keys: dict[str, Any], tmp_path: Path) -> None:
    file = written(tmp_path, {"clusters": [{"name": "demo", "region": "eu-north-1", **keys}]})

    assert read_back(explanation([file])) == load(file)


@pytest.mark.parametrize("keys", SETTINGS.values(), ids=SETTINGS)
def test_defaults_resolve_to_the_same(keys: dict[str, Any], tmp_path: Path) -> None:
    shared = {key: value for key, value in keys.items() if key not in {"name", "stack", "names", "backend"}}
    rows = [{"name": name, "region": keys.get("region", "eu-north-1")} for name in ("one", "two")]
    file = written(tmp_path, {"defaults": shared, "clusters": rows})

    assert read_back(explanation([file])) == load(file)


def test_one_cluster_of_several_resolves_to_the_same() -> None:
    file = ROOT / "examples" / "production.yaml"

    assert read_back(explanation([file], ["staging"])) == load(file)[1:]


def test_settings_alone_resolve_to_the_same() -> None:
    file = ROOT / "clusters.yaml"
    text = explanation([file], with_sections=False)

    assert text == explanation([file]).partition("\n\n#")[0] + "\n"
    assert read_back(text) == load(file)


def test_what_was_explained_explains_itself(tmp_path: Path) -> None:
    first = explanation([ROOT / "clusters.yaml"], with_sections=False)
    (tmp_path / "again.yaml").write_text(first, encoding="utf-8")

    again = explanation([tmp_path / "again.yaml"], with_sections=False)

    assert [line.partition("#")[0].rstrip() for line in again.splitlines()] == [
        line.partition("#")[0].rstrip() for line in first.splitlines()
    ]


def test_an_address_is_shown_without_what_may_be_a_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    backend = {"type": "http", "address": "https://example.com/state?token=hunter2", "username": "me"}
    file = written(tmp_path, {"clusters": [{"name": "demo", "region": "eu-north-1", "backend": backend}]})

    text = explanation([file])

    assert "hunter2" not in text
    assert "https://example.com/state?…" in text
    assert "a part that may be secret is not shown" in text
    assert capsys.readouterr().err == (
        "demo: note: a part of its backend that may be secret is not shown; read back, this is another file\n"
    )


def written(folder: Path, tree: dict[str, Any]) -> Path:
    """Write a file in JSON, which is YAML too."""
    file = folder / "clusters.yaml"
    file.write_text(json.dumps(tree), encoding="utf-8")
    return file
