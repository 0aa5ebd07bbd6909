"""The program that compares upstream's files of a release with the tables, on a made-up upstream and on a real one."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from nodeless.karpenter.interruption import TARGET_ID
from nodeless.karpenter.releases import LAST_PATCHES, NEWEST, RELEASES, kubernetes_range
from nodeless.karpenter.versions import Release
from tests.docs.markdown import ROOT, blocks
from tests.tools.made_up_upstream import (
    CLASSES,
    CRD_TEMPLATES,
    CRD_VALUES,
    CRDS,
    GUIDE,
    MATRIX,
    NEXT,
    POOLS,
    TEMPLATE,
    VALUES,
    Files,
    Upstream,
    at,
    definition,
    resource,
)
from tools.new_release import tables
from tools.new_release.__main__ import main
from tools.new_release.checkout import Checkout
from tools.new_release.facts import CLUSTER, NODE_ROLE, QUEUE

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on the PATH")

EKS_POLICY, MOON_POLICY = (f"KarpenterController{duty}Policy-{CLUSTER}" for duty in ("EKSIntegration", "Moon"))

Check = Callable[..., tuple[int, str, str]]


@pytest.fixture
def made_up(tmp_path: Path) -> Upstream:
    """Return a made-up upstream whose files are not committed yet."""
    return Upstream(tmp_path)


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Check:
    """Run the program: exit code, output, errors."""

    def run(folder: Path, *words: str) -> tuple[int, str, str]:
        code = main(["--upstream", str(folder), *words])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def spec_of(files: Files, name: str) -> dict[str, Any]:
    found: dict[str, Any] = files[name]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return found


def properties(files: Files, name: str) -> dict[str, Any]:
    found: dict[str, Any] = files[TEMPLATE]["Resources"][name]["Properties"]
    return found


def edit_statement(sid: str, edit: Callable[[dict[str, Any]], object]) -> Callable[[Files], None]:
    """Edit one statement of the controller, wherever it stands."""

    def change(files: Files) -> None:
        for row in files[TEMPLATE]["Resources"].values():
            text = row["Properties"].get("PolicyDocument")
            if isinstance(text, str) and f'"{sid}"' in text:
                tree = json.loads(text)
                edit(next(statement for statement in tree["Statement"] if statement["Sid"] == sid))
                row["Properties"]["PolicyDocument"] = json.dumps(tree)

    return change


def add_statement(files: Files) -> None:
    policy = next(row for row in files[TEMPLATE]["Resources"].values() if row["Type"] == "AWS::IAM::ManagedPolicy")
    tree = json.loads(policy["Properties"]["PolicyDocument"])
    tree["Statement"].append({"Sid": "AllowMoons", "Effect": "Allow", "Action": "ec2:RunMoons", "Resource": "*"})
    policy["Properties"]["PolicyDocument"] = json.dumps(tree)


def rename_policy(files: Files) -> None:
    for row in files[TEMPLATE]["Resources"].values():
        if row["Properties"].get("ManagedPolicyName") == EKS_POLICY:
            row["Properties"]["ManagedPolicyName"] = MOON_POLICY


def add_kind(files: Files) -> None:
    files[f"{CRDS}/moon.yaml"] = definition("karpenter.sh/v1alpha1 Moon", {})
    files[f"{CRD_TEMPLATES}/moon.yaml"] = ""


CONTROLLER, FIELDS = "nodeless/karpenter/controller.py", "nodeless/karpenter/custom_resource_fields.py"
KEYS, RULES = "nodeless/karpenter/chart_key_rows.py", "nodeless/karpenter/interruption.py"
MOON_RULE = resource(
    "AWS::Events::Rule",
    {"EventPattern": {"source": ["aws.moon"], "detail-type": ["Moon Event"]}, "Targets": [{"Id": TARGET_ID}]},
)

# What is planted, the line that reports it, and the table the line names.
PLANTED: dict[str, tuple[Callable[[Files], object], str, str]] = {
    "an action more": (
        edit_statement("AllowRegionalReadActions", lambda row: row["Action"].append("ec2:DescribeMoons")),
        "AllowRegionalReadActions: add action ec2:DescribeMoons",
        f"{CONTROLLER} REGIONAL_READS",
    ),
    "an action less": (
        edit_statement("AllowRegionalReadActions", lambda row: row["Action"].remove("ec2:DescribeSubnets")),
        "AllowRegionalReadActions: remove action ec2:DescribeSubnets",
        f"{CONTROLLER} REGIONAL_READS",
    ),
    "another resource": (
        edit_statement("AllowSSMReadActions", lambda row: row.update(Resource="*")),
        "AllowSSMReadActions: change resource arn:${AWS::Partition}:ssm:${AWS::Region}::parameter/aws/service/* -> *",
        f"{CONTROLLER} parameter_reads",
    ),
    "a condition less": (
        edit_statement("AllowRegionalReadActions", lambda row: row.pop("Condition")),
        "AllowRegionalReadActions: remove condition StringEquals aws:RequestedRegion = ${AWS::Region}",
        f"{CONTROLLER} regional_reads",
    ),
    "another effect": (
        edit_statement("AllowSSMReadActions", lambda row: row.update(Effect="Deny")),
        "AllowSSMReadActions: change effect Allow -> Deny",
        f"{CONTROLLER} parameter_reads",
    ),
    "a new statement": (add_statement, "AllowMoons: add", f"{CONTROLLER} STATEMENTS, and a function for it"),
    "a statement in another policy": (
        rename_policy,
        f"AllowAPIServerEndpointDiscovery: change policy {EKS_POLICY} -> {MOON_POLICY}",
        f"{CONTROLLER} STATEMENTS",
    ),
    "a new event rule": (
        lambda files: files[TEMPLATE]["Resources"].update(MoonRule=MOON_RULE),
        "MoonRule: add",
        f"{RULES} EVENT_RULES",
    ),
    "an event rule less": (
        lambda files: files[TEMPLATE]["Resources"].pop("RebalanceRule"),
        "RebalanceRule: remove",
        f"{RULES} EVENT_RULES",
    ),
    "another event": (
        lambda files: properties(files, "RebalanceRule")["EventPattern"].update(source=["aws.moon"]),
        "RebalanceRule: change source aws.ec2 -> aws.moon",
        f"{RULES} EVENT_RULES",
    ),
    "another retention": (
        lambda files: properties(files, QUEUE).update(MessageRetentionPeriod=60),
        "KarpenterInterruptionQueue: change MessageRetentionPeriod 300 -> 60",
        f"{RULES} queue_policy, RETENTION_SECONDS",
    ),
    "one more managed policy": (
        lambda files: properties(files, NODE_ROLE)["ManagedPolicyArns"].append("arn:aws:iam::aws:policy/Moon"),
        "KarpenterNodeRole: add policy Moon",
        "nodeless/karpenter/nodes.py NODE_POLICIES",
    ),
    "a resource of a new type": (
        lambda files: files[TEMPLATE]["Resources"].update(Moon=resource("AWS::Moon::Base", {})),
        "Moon: add",
        "stacks/components",
    ),
    "a new value key": (
        lambda files: files[VALUES]["settings"].update(moonPhase="full"),
        "settings.moonPhase: add",
        f"{KEYS} SETTINGS",
    ),
    "a key that only a template reads": (
        lambda files: files.update({"charts/karpenter/templates/moon.yaml": "{{ .Values.controller.moon }}"}),
        "controller.moon: add",
        f"{KEYS} CONTROLLER",
    ),
    "a value key less": (
        lambda files: files[VALUES]["settings"].pop("clusterEndpoint"),
        "settings.clusterEndpoint: remove",
        f"{KEYS} SETTINGS, nodeless/karpenter/chart.py VALUES",
    ),
    "another default": (
        lambda files: files[VALUES]["settings"].update(batchIdleDuration="3s"),
        "settings.batchIdleDuration: change default 1s -> 3s",
        f"{KEYS} SETTINGS",
    ),
    "a new value key of the CRD chart": (
        lambda files: files[CRD_VALUES].update(moon="full"),
        "moon: add",
        f"{KEYS} CRD_CHART_KEYS",
    ),
    "a new kind": (add_kind, "karpenter.sh/v1alpha1 Moon: add", "nodeless/upgrade/resource_changes.py KINDS"),
    "a new field of a pool": (
        lambda files: at(spec_of(files, POOLS), "disruption.moon"),
        "disruption.moon: add",
        f"{FIELDS} POOL_FIELDS",
    ),
    "a field of a pool less": (
        lambda files: spec_of(files, POOLS)["properties"].pop("weight"),
        "weight: remove",
        f"{FIELDS} POOL_FIELDS",
    ),
    "a new field of a class": (
        lambda files: at(spec_of(files, CLASSES), "subnetSelectorTerms[].moon"),
        "subnetSelectorTerms[].moon: add",
        f"{FIELDS} CLASS_FIELDS",
    ),
    "a new value": (
        lambda files: at(spec_of(files, POOLS), "disruption.consolidationPolicy")["enum"].append("WhenFull"),
        "disruption.consolidationPolicy: add value WhenFull",
        f"{FIELDS} POOL_VALUES",
    ),
    "a value less": (
        lambda files: at(spec_of(files, CLASSES), "amiFamily")["enum"].remove("AL2"),
        "amiFamily: remove value AL2",
        f"{FIELDS} CLASS_VALUES",
    ),
    "a new family of images": (
        lambda files: at(spec_of(files, CLASSES), "amiSelectorTerms[].alias").update(
            {"x-kubernetes-validations": [{"message": "must be one of", "rule": "self in ['al2','moon']"}]}
        ),
        "amiSelectorTerms[].alias: add value moon",
        f"{FIELDS} ALIASES",
    ),
    "a tag that is reserved": (
        lambda files: at(spec_of(files, CLASSES), "tags")["x-kubernetes-validations"].append(
            {"message": "tag contains a restricted tag matching moon", "rule": "true"}
        ),
        "tags: add reserved moon",
        f"{FIELDS} RESERVED_TAGS",
    ),
    "a field that is required": (
        lambda files: spec_of(files, CLASSES)["required"].append("userData"),
        "userData: add required",
        f"{FIELDS} CLASS_REQUIRED",
    ),
    "another Kubernetes": (
        lambda files: files[MATRIX]["compatibility"][0].update(maxK8sVersion="1.99"),
        f"Kubernetes: change to 1.{kubernetes_range(NEWEST)[1]} -> 1.99",
        "nodeless/karpenter/releases.py KUBERNETES",
    ),
}
# One line each but where a list is replaced whole.
MORE_LINES = {"a new family of images"}


def test_nothing_is_to_be_edited_where_nothing_differs(made_up: Upstream, check: Check) -> None:
    made_up.release(NEWEST)

    code, out, err = check(made_up.folder, str(NEWEST))

    assert (code, err) == (0, "")
    assert out.endswith("\nNothing to edit.\n")
    assert "- [ ]" not in out


def test_what_differs_on_purpose_is_listed_with_its_reason_and_is_no_work(made_up: Upstream, check: Check) -> None:
    made_up.release(NEWEST)

    _, out, _ = check(made_up.folder, str(NEWEST))

    _, _, listed = out.partition("Different on purpose\n")
    assert [line.count("decision 0007") for line in listed.strip().splitlines()[:2]] == [1, 1]
    assert "aws:SourceArn" in listed


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_is_one_line_that_names_its_table(name: str, made_up: Upstream, check: Check) -> None:
    plant, line, place = PLANTED[name]
    plant(made_up.files)
    made_up.release(NEWEST)

    code, out, _ = check(made_up.folder, str(NEWEST))

    assert code == 1
    found = [row for row in out.splitlines() if row.startswith("- [ ] ")]
    assert f"- [ ] {line}" in found
    assert len(found) == 1 or name in MORE_LINES
    places = re.findall(r"^      in (.*)$", out.partition(f"- [ ] {line}\n")[2], re.MULTILINE)
    assert places[0].startswith(place)


def test_a_new_statement_is_spelled_out(made_up: Upstream, check: Check) -> None:
    add_statement(made_up.files)
    made_up.release(NEWEST)

    _, out, _ = check(made_up.folder, str(NEWEST))

    assert "- [ ] AllowMoons: add\n      Sid AllowMoons\n      action ec2:RunMoons\n      effect Allow\n" in out


def test_a_release_that_is_not_in_the_tables_begins_with_its_own_row(made_up: Upstream, check: Check) -> None:
    made_up.release(NEWEST)
    made_up.files[GUIDE] = f"### Upgrading to `{NEXT}`+\n"
    made_up.release(NEXT)

    code, out, _ = check(made_up.folder, str(NEXT))

    assert code == 1
    assert out.startswith(f"Karpenter {NEXT}: upstream's files against the tables for {NEWEST}\n")
    assert [line for line in out.splitlines() if line.startswith("- [ ] ")] == [
        f"- [ ] {NEXT}: add",
        f"- [ ] {GUIDE}, Upgrading to {NEXT}+: read",
    ]


def test_a_default_that_the_tables_only_describe_is_compared_with_the_chart_before(
    made_up: Upstream, check: Check
) -> None:
    made_up.files[VALUES]["affinity"] = {"podAntiAffinity": ["one per host"]}
    made_up.release(NEWEST)
    made_up.files[VALUES]["affinity"] = {"podAntiAffinity": ["one per moon"]}
    made_up.release(NEXT)

    assert "affinity" not in check(made_up.folder, str(NEWEST))[1]
    assert "- [ ] affinity: change default" in check(made_up.folder, str(NEXT))[1]


def test_known_compares_with_the_tables_of_another_release(made_up: Upstream, check: Check) -> None:
    made_up.release(NEWEST)
    older = max(release for release in RELEASES if release < (1, 10))

    code, out, _ = check(made_up.folder, "--known", str(older), str(NEWEST))

    assert code == 1
    assert f"- [ ] {NEWEST}: add\n" in out
    assert "- [ ] CapacityReservationInterruptionRule: add\n" in out


WRONG = {
    "a tag that is not there": ("9.9.9", f"has no tag v9.9.9, its newest release is v{NEWEST}; run git fetch --tags"),
    "no release number": ("newest", "'newest' is not a release number"),
    "a release before the tables": ("0.1.0", f"0.1.0 is older than {RELEASES[0]}, where the tables begin"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_version_is_a_message_and_exit_code_2(name: str, made_up: Upstream, check: Check) -> None:
    version, message = WRONG[name]
    made_up.release(NEWEST)

    code, out, err = check(made_up.folder, version)

    assert (code, out) == (2, "")
    assert err.startswith("new_release: ")
    assert message in err


@pytest.mark.parametrize("known", ["1.99", f"{NEWEST.major}.{NEWEST.minor}.{NEWEST.patch + 1}", "newest"])
def test_a_wrong_known_release_is_a_message_and_exit_code_2(made_up: Upstream, check: Check, known: str) -> None:
    made_up.release(NEWEST)

    code, _, err = check(made_up.folder, "--known", known, str(NEWEST))

    assert (code, err) == (2, f"new_release: --known {known}: the tables run from {RELEASES[0]} to {NEWEST}\n")


def test_a_folder_that_is_no_checkout_is_a_message_and_exit_code_2(tmp_path: Path, check: Check) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        code, _, err = check(folder, str(NEWEST))

        assert (code, err.partition(";")[0]) == (2, f"new_release: {folder} is not a git checkout")


def test_a_file_that_was_moved_is_named(made_up: Upstream, check: Check) -> None:
    del made_up.files[TEMPLATE]
    made_up.release(NEWEST)

    code, _, err = check(made_up.folder, str(NEWEST))

    assert code == 2
    assert f"v{NEWEST} has no CloudFormation template" in err


def test_a_missing_checkout_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refusal:
        main([str(NEWEST)])

    assert refusal.value.code == 2
    assert "--upstream" in capsys.readouterr().err


def test_tags_of_cloudformation_are_read_and_numbers_stay_as_they_are_written(made_up: Upstream) -> None:
    made_up.files["x.yaml"] = "a: !GetAtt Queue.Arn\nb: !Ref Queue\nc: !Sub 'x-${Name}'\nd: 1.30\ne: false\nf:\n"
    made_up.release(NEWEST)

    assert Checkout(made_up.folder).tag(NEWEST).yaml("x.yaml") == {
        "a": "${Queue.Arn}",
        "b": "${Queue}",
        "c": "x-${Name}",
        "d": "1.30",
        "e": "false",
        "f": "",
    }


def test_every_place_it_names_exists() -> None:
    places = {
        tables.RELEASES_PLACE,
        tables.RULES_PLACE,
        tables.QUEUE_PLACE,
        tables.KINDS_PLACE,
        tables.KUBERNETES_PLACE,
        tables.NOTES_PLACE,
        *(tables.node_role_place(fact) for fact in ("policy X", "principal X")),
        *(f"{CONTROLLER} {table}" for table in tables.STATEMENT_TABLES.values()),
        *(f"{tables.KEYS_FILE} {table.replace(' or ', ', ')}" for _, table in tables.NEW_KEY_TABLES),
        *(f"{tables.KEYS_FILE} {table}" for table in (*tables.KEY_TABLES, "CRD_CHART_KEYS")),
        *(
            tables.field_place(owner, name, fact)
            for owner in ("POOL", "CLASS")
            for name, fact in (("x", ""), ("x", "value x"), ("x", "required"), ("x.alias", "value x"))
        ),
        tables.field_place("CLASS", "tags", "reserved x"),
    }

    for place in places:
        file, _, names = place.partition(" ")
        module = import_module(file.removesuffix(".py").replace("/", "."))
        assert (ROOT / file).is_file()
        assert [name for name in names.split(", ") if not hasattr(module, name)] == []


def test_every_statement_of_the_newest_release_that_has_a_table_is_known_by_its_sid() -> None:
    assert {sid for sid, _ in tables.STATEMENT_TABLES} <= set(tables.statements(NEWEST))


@pytest.fixture
def real_upstream() -> Path:
    """Return the checkout that NODELESS_UPSTREAM names."""
    folder = os.environ.get("NODELESS_UPSTREAM")
    if not folder:
        pytest.skip("NODELESS_UPSTREAM names no checkout of github.com/aws/karpenter-provider-aws")
    return Path(folder)


@pytest.mark.parametrize("release", [Release(*last) for last in LAST_PATCHES], ids=str)
def test_every_minor_is_what_upstream_says(release: Release, real_upstream: Path, check: Check) -> None:
    code, out, _ = check(real_upstream, str(release))

    assert (code, out.splitlines()[-1]) == (0, "Nothing to edit.")


def test_from_1_13_1_to_1_14_1_it_lists_what_1_14_changed(real_upstream: Path, check: Check) -> None:
    _, out, _ = check(real_upstream, "--known", "1.13.1", "1.14.1")

    assert [line for line in out.splitlines() if line.startswith("- [ ] ")] == [
        "- [ ] 1.14.1: add",
        f"- [ ] {GUIDE}, Upgrading to 1.14.0+: read",
        "- [ ] settings.featureGates.capacityBuffer: add",
        "- [ ] autoscaling.x-k8s.io/v1beta1 CapacityBuffer: add",
        "- [ ] disruption.consolidationPolicy: add value Balanced",
    ]
    (shown,) = blocks("text", ROOT / "CONTRIBUTING.md")
    assert out.partition("\n\nDifferent on purpose\n")[0] == shown.text.rstrip("\n")
