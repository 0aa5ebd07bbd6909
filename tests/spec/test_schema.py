"""The JSON schema for editors: it takes every right file, and refuses nothing that synth accepts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # its types are not installed

from nodeless.cli.main import main
from nodeless.finding import SpecError
from nodeless.karpenter.releases import NEWEST_MINOR, RELEASES
from nodeless.resolved.partitions import BY_REGION
from nodeless.spec.model import Cluster, File
from nodeless.spec.reading import parse
from nodeless.spec.resolution import resolve
from nodeless.spec.schema import schema
from nodeless.spec.schema_names import SCHEMA_ID, editor_line
from tests.conftest import LITERALS, ROOT
from tests.fuzz.files import CASES, Case
from tests.spec.guards.test_cluster import ONE_KEY_WRONG

FILES = [ROOT / "clusters.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]
COMMITTED = ROOT / "docs" / "clusters.schema.json"
SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)

Tree = dict[str, Any]


def complaints(tree: Any) -> list[str]:  # noqa: ANN401 - any YAML
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(tree)]


def one(**keys: Any) -> Tree:  # noqa: ANN401 - keys of a cluster
    return {"clusters": [{"name": "demo", "region": "eu-north-1", **keys}]}


def is_accepted(tree: Any) -> bool:  # noqa: ANN401 - any YAML
    try:
        resolve(tree, source="test")
    except SpecError:
        return False
    return True


def test_it_is_a_schema_with_a_name_that_nobody_else_can_answer_for() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    assert SCHEMA["$id"] == SCHEMA_ID
    assert SCHEMA_ID.startswith("urn:")


def test_the_committed_one_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0

    assert COMMITTED.read_text(encoding="utf-8") == capsys.readouterr().out, "make docs writes it again"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_example_passes_and_names_the_schema(file: Path) -> None:
    text = file.read_text(encoding="utf-8")

    assert complaints(parse(text, file)[0]) == []
    named = os.path.relpath(COMMITTED, file.parent)
    assert text.splitlines()[0] == editor_line(named)


RIGHT: dict[str, Tree] = {
    "literals": one(**LITERALS),
    "a region for all": {"defaults": {"region": "eu-north-1"}, "clusters": [{"name": "a"}, {"name": "b"}]},
    "no defaults at all": {"defaults": None, **one()},
    "nothing to include": {"include": [], **one()},
    "no include at all": {"include": None, **one()},
    "a name for all": {"defaults": {"name": "a"}, "clusters": [{"region": "eu-north-1"}]},
    "halves of a backend": {
        "defaults": {"region": "eu-north-1", "backend": {"type": "s3", "region": "eu-north-1"}},
        "clusters": [{"name": "a", "backend": {"bucket": "states"}}],
    },
    "halves of a role": {
        "defaults": {"region": "eu-north-1", "provider": {"assume_role": {"session_name": "ci"}}},
        "clusters": [{"name": "a", "provider": {"assume_role": {"role_arn": "arn:aws:iam::123456789012:role/r"}}}],
    },
    "a newer region": one(region="eu-north-9", new_region=True),
    "a newer patch": one(karpenter={"version": f"{NEWEST_MINOR}.99"}),
    "a newer minor": one(karpenter={"version": "1.99.0", "tables": NEWEST_MINOR}),
    "a newer Kubernetes": one(kubernetes="1.99"),
    "switches": one(fargate=True, interruption=False, names="official"),
    "Pod Identity": one(identity="pod-identity", fargate=False),
    "Pod Identity, where Fargate is off for all": {
        "defaults": {"fargate": False},
        "clusters": [{"name": "demo", "region": "eu-north-1", "identity": "pod-identity"}],
    },
    "Pod Identity in GovCloud": one(identity="pod-identity", region="us-gov-west-1"),
    "a workspace by its name": one(backend={"type": "cloud", "organization": "o", "workspaces": {"name": "w"}}),
    "a workspace, and no tags": one(
        backend={"type": "cloud", "organization": "o", "workspaces": {"name": "w", "tags": []}}
    ),
    "exec without charts": one(auth="exec", delivery="none", backend={"type": "cloud", "organization": "o"}),
    "explicit nulls": one(account=None, stack=None, subnets=None),
    "one statement": one(extra_statements=[{"Action": "s3:GetObject", "Resource": ["*"]}]),
}


@pytest.mark.parametrize("tree", RIGHT.values(), ids=RIGHT)
def test_what_synth_accepts_passes(tree: Tree) -> None:
    assert is_accepted(tree)
    assert complaints(tree) == []


WRONG: dict[str, Any] = {
    "no clusters": {},
    "an empty list": {"clusters": []},
    "not a map": [],
    "an unknown key at the top": {**one(), "cluster": {}},
    "an unknown key": one(karpentr={}),
    "an unknown key of a section": one(karpenter={"replica": 3}),
    "an unknown key of defaults": {"defaults": {"karpentr": {}}, **one()},
    "a wrong value in defaults": {"defaults": {"karpenter": {"replicas": "2"}}, **one()},
    "no name": {"clusters": [{"region": "eu-north-1"}]},
    "no region": {"clusters": [{"name": "demo"}]},
    "no region, with defaults": {"defaults": {"tags": {"a": "b"}}, "clusters": [{"name": "demo"}]},
    "no name, with defaults": {"defaults": {"tags": {"a": "b"}}, "clusters": [{"region": "eu-north-1"}]},
    "no bucket": one(backend={"type": "s3", "region": "eu-north-1"}),
    "no type of backend": one(backend={"bucket": "states"}),
    "an unknown backend": one(backend={"type": "s4"}),
    "a key of another backend": one(backend={"type": "local", "bucket": "states"}),
    "a secret": one(provider={"secret_key": "x"}),
    "a version without quotes": one(karpenter={"version": 1.14}),
    "a word for a version": one(karpenter={"version": "latest"}),
    "a misspelt region": one(region="eu-nrth-1"),
    "Kubernetes with a patch": one(kubernetes="1.30.4"),
    "a word for a switch": one(fargate="yes"),
    "a selector without a namespace": one(fargate={"selectors": [{"labels": {}}]}),
    "a role key that is not one": one(nodes={"roles": {"Extra Role": {}}}),
    "a name that is too long": one(names={"node_role": "x" * 65}),
    "too many tags": one(tags={f"k{number}": "v" for number in range(51)}),
    "a pool without a spec": one(node_pools=[{"name": "a"}]),
    "a set-up that nobody adopts": one(adopt="helm"),
    "Pod Identity on Fargate": one(identity="pod-identity", fargate=True),
    "Pod Identity, and a provider": one(identity="pod-identity", fargate=False, oidc_provider="create"),
    "a workspace by name and tags": one(
        backend={"type": "cloud", "organization": "o", "workspaces": {"name": "w", "tags": {"t": "v"}}}
    ),
    "a workspace by name and prefix": one(
        backend={"type": "remote", "organization": "o", "workspaces": {"name": "w", "prefix": "p"}}
    ),
    "a text to include": {"include": "teams/*.yaml", **one()},
    "a number to include": {"include": [1], **one()},
    "an empty path to include": {"include": [""], **one()},
    "nothing to include, and no clusters": {"include": []},
    "no clusters beside an include": {"include": ["teams/*.yaml"], "clusters": []},
    "an empty list of actions": one(extra_statements=[{"Action": [], "Resource": "*"}]),
    "Pod Identity, and Fargate by default": one(identity="pod-identity"),
    "a runner without the aws CLI": one(auth="exec", backend={"type": "cloud", "organization": "o"}),
    "a tag of a workspace with a space": one(
        backend={"type": "cloud", "organization": "o", "workspaces": {"tags": ["a b"]}}
    ),
    "a statement without an action": one(extra_statements=[{"Resource": "*"}]),
}


def test_clusters_may_be_left_out_beside_an_include() -> None:
    assert complaints({"include": ["teams/*.yaml"]}) == []
    assert complaints({"defaults": {"region": "eu-north-1"}, "include": ["teams/*.yaml"]}) == []


@pytest.mark.parametrize("tree", WRONG.values(), ids=WRONG)
def test_what_synth_refuses_is_refused_where_a_schema_can_say_it(tree: Any) -> None:  # noqa: ANN401 - any YAML
    assert complaints(tree)
    assert not is_accepted(tree)


# Mistakes that only a program can find: what depends on a table, on another key, or on what a text means.
BEYOND_A_SCHEMA = (
    "runs on Kubernetes",
    "a Karpenter release",
    "jsii cannot carry",
    "which CDKTF replaces",
    "the same name",
    "uses this one as",
    "comes with Karpenter",
)


def test_every_mistake_in_one_key_is_refused_if_a_schema_can_say_it() -> None:
    passed = [(keys, expected) for keys, _, expected in ONE_KEY_WRONG if not complaints(one(**keys))]

    assert [row for row in passed if not any(words in row[1] for words in BEYOND_A_SCHEMA)] == []


@pytest.mark.parametrize("kind", ["right", "broken", "one key", "one field", "edited"])
def test_it_refuses_nothing_that_synth_accepts(kind: str) -> None:
    seen = {True: 0, False: 0}

    @settings(
        max_examples=60,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(CASES[kind])
    def attempt(case: Case) -> None:
        assert isinstance(case.text, str)
        try:
            tree, _ = parse(case.text, Path("case"))
        except SpecError:
            return
        refused = complaints(tree)
        seen[bool(refused)] += 1
        assert not (refused and is_accepted(tree)), refused

    attempt()
    assert kind != "right" or seen[False] > 0
    assert kind != "broken" or seen[True] > 0


def test_editors_offer_regions_releases_and_kubernetes() -> None:
    properties = SCHEMA["$defs"]["Cluster"]["properties"]
    version = SCHEMA["$defs"]["Karpenter"]["properties"]["version"]

    assert set(properties["region"]["anyOf"][0]["enum"]) == set(BY_REGION)
    assert str(RELEASES[-1]) == version["anyOf"][0]["enum"][0]
    assert NEWEST_MINOR in version["anyOf"][0]["enum"]
    assert "1.35" in json.dumps(properties["kubernetes"])


def test_every_key_has_a_description() -> None:
    without = [
        f"{name}.{key}"
        for name, section in (("File", SCHEMA), *SCHEMA["$defs"].items())
        for key, value in section["properties"].items()
        if not value.get("description")
    ]

    assert without == []
    assert set(SCHEMA["properties"]) == set(File.model_fields)
    assert set(SCHEMA["$defs"]["PartialCluster"]["properties"]) == set(Cluster.model_fields)
