"""The table of sinks: each row is an attack that does nothing, and that works when its guard is taken out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from nodeless import finding
from nodeless.finding import SpecError
from nodeless.karpenter.policy import Condition, Statement
from nodeless.resolved import node_access, terraform_text
from nodeless.resolved.charts import chart_values
from nodeless.resolved.delivery import gitops_files
from nodeless.resolved.installation import Installation
from nodeless.resolved.node_access import identity_mapping_commands, mapped_roles
from nodeless.resolved.permissions import controller_policies, place_of
from nodeless.spec.resolution import resolve
from nodeless.stacks.files import terraform_tests, yaml_text
from tests.conftest import LITERALS
from tests.sinks.readers import (
    by_a_shell,
    by_go,
    by_yaml_1_2,
    evaluated,
    evaluated_hcl,
    helm_needed,
    rendered,
    synthesized,
    terraform_needed,
)

Works = Callable[[Installation, Path], bool]
Part = Callable[[dict[str, Any]], Any]

EVALUATED = "EVALUATED"
EXPRESSION, DIRECTIVE, TEMPLATE = '${upper("evaluated")}', "%{if true}EVAL%{endif}UATED", '{{ upper "evaluated" }}'
COMMAND = "$(echo EVALUATED)"
# It makes the assertion one about no statement at all.
BREAKOUT = 'https://x"] == "" if ["'
RAW = "\x1b[31m\u202e"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """What a user writes, how to see that it had an effect, and what keeps it from having one.

    Where the edge refuses it, `past_the_edge` is what an installation would hold if it did not.
    """

    keys: Mapping[str, Any]
    works: Works
    past_the_edge: Mapping[str, Any] = field(default_factory=dict)
    taken_out: tuple[tuple[ModuleType, str, object], ...] = ()


def in_terraform(part: Part) -> Works:
    """See whether Terraform evaluates a part of the stack."""
    return lambda installation, folder: (
        EVALUATED in json.dumps(evaluated({"part": part(synthesized(installation, folder))}, folder))
    )


def in_helm(installation: Installation, folder: Path) -> bool:
    """See whether Karpenter's chart would evaluate the endpoint."""
    place = place_of(installation, account="123456789012")
    values = chart_values(installation, place, endpoint=installation.endpoint)
    return EVALUATED in rendered("tpl .Values.settings.clusterEndpoint .", json.dumps(values), folder)


def in_hcl(installation: Installation, folder: Path) -> bool:
    """See whether an assertion about the controller's trust holds for a trust that asks for nothing."""
    place = place_of(installation, account="123456789012")
    statements = "[{ Condition = { StringEquals = {} } }]"
    assertions = terraform_tests._trusts(installation, place)  # noqa: SLF001 - the conditions, one by one
    conditions = [row.condition for row in assertions if "StringEquals" in row.condition]
    assert len(conditions) == 2
    asked = conditions[0].replace("jsondecode(aws_iam_role.controller.assume_role_policy).Statement", statements)
    return evaluated_hcl(f"try({asked}, false)", folder) is True


def in_yaml(read: Callable[[str, Path], Any]) -> Works:
    """See whether a reader of the GitOps files takes the text for something else."""

    def works(installation: Installation, folder: Path) -> bool:
        (values,) = gitops_files(installation)["values.yaml"]
        found = read(yaml_text.yaml_text(values), folder)
        return bool(found["podAnnotations"] != installation.values["podAnnotations"])

    return works


def in_a_shell(installation: Installation, _: Path) -> bool:
    """See whether a shell runs something in the printed commands."""
    roles = mapped_roles(installation, place_of(installation, account="123456789012"))
    (line,) = identity_mapping_commands(roles, cluster=installation.name, region=installation.region)
    return EVALUATED in by_a_shell(line)


def in_a_terminal(_: Installation, __: Path) -> bool:
    """See whether a message sends what a terminal acts on."""
    try:
        resolve({"clusters": [{**LITERALS, RAW: "x"}]}, source=f"{RAW}.yaml")
    except SpecError as error:
        return any(character in str(error) for character in RAW if not character.isprintable())
    raise AssertionError


def in_cdktf(installation: Installation, folder: Path) -> bool:
    """See whether CDKTF takes a key for a token of its own; it knows none, and stops."""
    try:
        values = synthesized(installation, folder)["locals"]["karpenter_values"]
    except RuntimeError as error:
        return "Token" in str(error)
    return bool(values["podAnnotations"] != installation.values["podAnnotations"])


def in_iam(installation: Installation, _: Path) -> bool:
    """See whether the controller may pass roles of any path."""
    policies = controller_policies(installation, place_of(installation, account="123456789012"))
    statements = [row for policy in policies for row in policy.statements if "iam:PassRole" in row.actions]
    assert statements
    return any("*" in arn for row in statements for arn in row.resources)


def labels(value: object) -> dict[str, Any]:
    return {"karpenter": {"values": {"podAnnotations": value}}}


def a_class(spec: dict[str, Any]) -> dict[str, Any]:
    terms = {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "demo-karpenter-node"}
    terms |= {f"{kind}SelectorTerms": [{"tags": {"a": "b"}}] for kind in ("subnet", "securityGroup")}
    return {"node_classes": [{"name": "own", "spec": {**terms, **spec}}]}


def statement(**keys: object) -> dict[str, Any]:
    return {"extra_statements": [{"Action": "s3:GetObject", "Resource": "*", **keys}]}


def helm_values(tree: dict[str, Any]) -> object:
    return tree["locals"]["karpenter_values"]["podAnnotations"]


def node_class(tree: dict[str, Any]) -> object:
    return tree["locals"]["node_pools_values"]


def statements(tree: dict[str, Any]) -> object:
    documents = tree["data"]["aws_iam_policy_document"]
    return [row for name in documents if "extra" in name for row in documents[name]["statement"]]


def tags(tree: dict[str, Any]) -> object:
    return tree["provider"]["aws"][0]["default_tags"]


def selectors(tree: dict[str, Any]) -> object:
    return tree["resource"]["aws_eks_fargate_profile"]["karpenter"]["selector"]


def discovery(tree: dict[str, Any]) -> object:
    return tree["locals"]["node_pools_values"]


ESCAPE = (terraform_text, "_escaped", lambda installation: installation)
QUOTED = (terraform_tests, "quoted", lambda text: f'"{text}"')
YAML_QUOTES = (yaml_text, "_means_something_else", lambda _: False)
SHELL_QUOTES = (node_access, "shlex", SimpleNamespace(join=" ".join))
PRINTABLE = (finding, "printable", str)

TERRAFORM_JSON = {
    "the text of a Helm value": Attack(
        keys=labels({"a": EXPRESSION}), works=in_terraform(helm_values), taken_out=(ESCAPE,)
    ),
    "a directive in a Helm value": Attack(
        keys=labels({"a": [DIRECTIVE]}), works=in_terraform(helm_values), taken_out=(ESCAPE,)
    ),
    "a key of a Helm value": Attack(
        keys=labels({"a": {EXPRESSION: "x"}}), works=in_terraform(helm_values), taken_out=(ESCAPE,)
    ),
    "user data": Attack(
        keys=a_class({"userData": f"#!/bin/sh\necho {EXPRESSION}\n"}),
        works=in_terraform(node_class),
        taken_out=(ESCAPE,),
    ),
    "the key of a tag in a node class": Attack(
        keys=a_class({"tags": {EXPRESSION: "x"}}), works=in_terraform(node_class), taken_out=(ESCAPE,)
    ),
    "the action of a statement": Attack(
        keys=statement(Action=f"s3:{EXPRESSION}"),
        works=in_terraform(statements),
        past_the_edge={"extra_statements": (Statement(actions=(EXPRESSION,), resources=("*",)),)},
        taken_out=(ESCAPE,),
    ),
    "the resource of a statement": Attack(
        keys=statement(Resource=["*", f"arn:aws:s3:::{EXPRESSION}"]),
        works=in_terraform(statements),
        taken_out=(ESCAPE,),
    ),
    "the operator of a condition": Attack(
        keys=statement(Condition={EXPRESSION: {"aws:a": "b"}}),
        works=in_terraform(statements),
        past_the_edge={
            "extra_statements": (
                Statement(actions=("*",), resources=("*",), conditions=(Condition(EXPRESSION, "aws:a", ("b",)),)),
            )
        },
        taken_out=(ESCAPE,),
    ),
    "the key of a condition": Attack(
        keys=statement(Condition={"StringLike": {f"aws:PrincipalTag/{EXPRESSION}": "b"}}),
        works=in_terraform(statements),
        taken_out=(ESCAPE,),
    ),
    "the value of a condition": Attack(
        keys=statement(Condition={"StringLike": {"aws:a": [EXPRESSION]}}),
        works=in_terraform(statements),
        taken_out=(ESCAPE,),
    ),
    "the key of a tag": Attack(
        keys={"tags": {EXPRESSION: "x"}},
        works=in_terraform(tags),
        past_the_edge={"tags": {EXPRESSION: "x"}},
        taken_out=(ESCAPE,),
    ),
    "the value of a tag": Attack(
        keys={"tags": {"x": DIRECTIVE}},
        works=in_terraform(tags),
        past_the_edge={"tags": {"x": DIRECTIVE}},
        taken_out=(ESCAPE,),
    ),
    "the key of a selector's label": Attack(
        keys={"fargate": {"selectors": [{"namespace": "karpenter", "labels": {EXPRESSION: "x"}}]}},
        works=in_terraform(selectors),
        past_the_edge={"fargate_labels": {EXPRESSION: "x"}},
        taken_out=(ESCAPE,),
    ),
    "the discovery tag": Attack(
        keys={"discovery": {"tag_key": EXPRESSION}},
        works=in_terraform(discovery),
        past_the_edge={"tag_key": EXPRESSION},
        taken_out=(ESCAPE,),
    ),
    "the endpoint": Attack(
        keys={"endpoint": f"https://{EXPRESSION}"},
        works=in_terraform(lambda tree: tree["locals"]["karpenter_values"]["settings"]),
        past_the_edge={"endpoint": f"https://{EXPRESSION}"},
    ),
}

OTHER_SINKS = {
    "HCL: the issuer in the tests": Attack(
        keys={"oidc_issuer": BREAKOUT}, works=in_hcl, past_the_edge={"oidc_issuer": BREAKOUT}, taken_out=(QUOTED,)
    ),
    "Helm: the endpoint, which the chart hands to tpl": Attack(
        keys={"endpoint": f"https://{TEMPLATE}"}, works=in_helm, past_the_edge={"endpoint": f"https://{TEMPLATE}."}
    ),
    "YAML: a number in quotes, for Go": Attack(
        keys={"delivery": "gitops", **labels({"a": "08"})}, works=in_yaml(by_go), taken_out=(YAML_QUOTES,)
    ),
    "YAML: a key in quotes, for Go": Attack(
        keys={"delivery": "gitops", **labels({"a": {"+.5": "x"}})}, works=in_yaml(by_go), taken_out=(YAML_QUOTES,)
    ),
    "YAML: a number in quotes, for YAML 1.2": Attack(
        keys={"delivery": "gitops", **labels({"a": "0o10"})},
        works=in_yaml(lambda text, _: by_yaml_1_2(text)),
        taken_out=(YAML_QUOTES,),
    ),
    "shell: the cluster's name in a command": Attack(
        keys={"name": COMMAND}, works=in_a_shell, past_the_edge={"name": COMMAND}, taken_out=(SHELL_QUOTES,)
    ),
    "terminal: a key and the name of a file": Attack(keys={}, works=in_a_terminal, taken_out=(PRINTABLE,)),
    "CDKTF: a token of a map": Attack(
        keys=labels({"a": {"&{TfToken[TOKEN.0]}": "x"}}),
        works=in_cdktf,
        past_the_edge={"values": {"podAnnotations": {"a": {"&{TfToken[TOKEN.0]}": "x"}}}},
    ),
    "IAM: a wildcard in the path": Attack(keys={"path": "/*/"}, works=in_iam, past_the_edge={"path": "/*/"}),
}


def let_in(attack: Attack) -> Installation:
    """Return the installation that the edge would make if it let everything pass."""
    texts = dict(attack.past_the_edge)
    ((_, installation),) = resolve({"clusters": [{**LITERALS, **({} if texts else attack.keys)}]}, source="test")
    if "fargate_labels" in texts:
        assert installation.fargate
        profile = installation.fargate
        object.__setattr__(profile, "selectors", (("karpenter", texts.pop("fargate_labels")),))
    return installation.with_texts(**texts)


def check(attack: Attack, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        ((_, installation),) = resolve({"clusters": [{**LITERALS, **attack.keys}]}, source="test")
    except SpecError:
        assert attack.past_the_edge, "the edge refuses it, so the rest of the row is never reached"
    else:
        assert not attack.past_the_edge, "the edge lets it in"
        assert not attack.works(installation, folder)

    for module, name, replacement in attack.taken_out:
        monkeypatch.setattr(module, name, replacement)

    assert attack.works(let_in(attack), folder), "without its guard the attack does nothing: the row proves nothing"


@terraform_needed
@pytest.mark.terraform
@pytest.mark.parametrize("case", TERRAFORM_JSON)
def test_terraform_evaluates_nothing_that_a_user_wrote(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(TERRAFORM_JSON[case], tmp_path, monkeypatch)


@terraform_needed
@helm_needed
@pytest.mark.terraform
@pytest.mark.parametrize("case", OTHER_SINKS)
def test_no_other_sink_takes_text_for_more_than_text(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(OTHER_SINKS[case], tmp_path, monkeypatch)


SECOND_LINES: dict[str, tuple[dict[str, Any], Part]] = {
    "a tag": ({"tags": {EXPRESSION: DIRECTIVE}}, tags),
    "the discovery tag": ({"tag_key": EXPRESSION}, discovery),
}


@terraform_needed
@pytest.mark.terraform
@pytest.mark.parametrize("case", SECOND_LINES)
def test_free_text_is_escaped_even_if_the_edge_lets_everything_pass(case: str, tmp_path: Path) -> None:
    texts, part = SECOND_LINES[case]
    installation = let_in(Attack(keys={}, works=in_iam, past_the_edge=texts))

    assert EVALUATED not in json.dumps(evaluated({"part": part(synthesized(installation, tmp_path))}, tmp_path))


@terraform_needed
@pytest.mark.terraform
def test_hcl_in_the_tests_is_quoted_even_if_the_edge_lets_everything_pass(tmp_path: Path) -> None:
    assert not in_hcl(let_in(OTHER_SINKS["HCL: the issuer in the tests"]), tmp_path)


def test_commands_are_quoted_even_if_the_edge_lets_everything_pass(tmp_path: Path) -> None:
    assert not in_a_shell(let_in(OTHER_SINKS["shell: the cluster's name in a command"]), tmp_path)
