"""One stack through what its file goes through in years: changes, upgrades, every delivery and back, another role.

The ways between deliveries are those of docs/guides/gitops.md: commands and files are read from there.
"""

from __future__ import annotations

import json
import re
import shlex
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import quote

from ruamel.yaml import YAML

from nodeless.karpenter.chart import CONTROLLER_CHART
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.resolved.resources import all_manifests
from nodeless.trees import merged
from tests.lab import charts
from tests.lab.as_asked import path_of
from tests.lab.inventory import differences, inventory
from tests.lab.karpenter_life import releases
from tests.lab.kube import Kube, Object
from tests.lab.lab import Lab
from tests.lab.upgrades import (
    DEFINITIONS,
    NAMESPACE,
    POOLS_AND_CLASSES,
    Upgrade,
    differing,
    upgrade,
    upstreams_definitions,
)
from tests.terraform.account import Account
from tests.terraform.aws_server import ACCOUNT
from tests.terraform.lives import installation_of
from tests.terraform.runner import Plan, Terraform

Keys = dict[str, Any]
Snapshot = dict[str, tuple[str, str]]
RELEASES = ("1.0.14", "1.13.1", "1.14.1")
POOL = "/apis/karpenter.sh/v1/nodepools/default"
# Of CPU: in the file, and what somebody sets in the cluster.
LIMIT, OTHER_LIMIT = "200", "300"

# What no change of the delivery may replace; most of them may not even touch it.
LOOKED_AT = (
    *POOLS_AND_CLASSES,
    DEFINITIONS,
    f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments",
    f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
    f"/api/v1/namespaces/{NAMESPACE}/services",
    "/apis/apps/v1/namespaces/default/deployments",
    "/api/v1/namespaces/aws-observability/configmaps",
)
DIVIDED = ("eks_integration", "iam_integration", "node_lifecycle", "resource_discovery", "zonal_shift")
CHARTS = ("karpenter_crd", "karpenter")
MANIFESTS = ("fargate_logging", "node_pools")


class Guide:
    """The guide's commands and files, by the section and the language."""

    FILE = Path(__file__).parents[2] / "docs" / "guides" / "gitops.md"
    FENCED = re.compile(r"^ *```(?P<language>\w+)\n(?P<text>.*?)^ *```", re.DOTALL | re.MULTILINE)

    def __init__(self) -> None:
        there, back = self.FILE.read_text("utf-8").split("\n## From `delivery: helm`")[1].split("\n## Back to ")
        (self.delete_records,) = self._blocks(there, "sh")
        (self.install_charts,) = self._blocks(back, "sh")
        self.import_charts, self.import_manifests, self.take_ownership = self._blocks(back, "hcl")

    def _blocks(self, section: str, language: str) -> Iterator[str]:
        return (dedent(each["text"]) for each in self.FENCED.finditer(section) if each["language"] == language)


@dataclass(frozen=True)
class Step:
    """Something that the user does: by hand, to the file, and to the files beside the JSON; and what the plan is then.

    Of `actions` the keys are addresses of Helm releases without their type, or whole addresses.
    """

    actions: Mapping[str, str]
    keys: Callable[[Lab, Installation], Keys] = field(default=lambda *_: {})
    """laid over the file; a key without a value is removed"""
    by_hand: Callable[[Lab, Terraform, Guide], None] = field(default=lambda *_: None)
    files: Callable[[Guide], Mapping[str, str | None]] = field(default=lambda _: {})
    """beside the JSON; a file without a text is removed"""
    look: Callable[[Lab, Path], Iterable[str]] = field(default=lambda *_: ())
    """afterwards, at the cluster and the stack's folder; returns what is wrong"""

    @property
    def expected(self) -> dict[str, str]:
        """What happens to each address."""
        return {
            address if "." in address else f"helm_release.{address}": action for address, action in self.actions.items()
        }


@dataclass(frozen=True)
class Lived:
    """One step as it was seen."""

    plan: Plan
    imported: set[str]
    before: Snapshot
    """what is looked at, with UID and version, just before the apply"""
    after: Snapshot
    helm_releases: dict[str, str]
    in_the_state: set[str]
    limits: tuple[str, str]
    """of CPU, in the default pool before and after"""
    wrong: list[str]

    @property
    def actions(self) -> dict[str, str]:
        """What the plan does, without what it reads."""
        return {address: action for address, action in self.plan.actions.items() if action != "read"}


@dataclass(frozen=True)
class ScriptedLife:
    """A stack from its creation to its end."""

    found: dict[str, str]
    """definitions that were there before, with their UIDs"""
    found_differing: list[str]
    created: Lived
    owners: dict[str, str]
    """definitions after the first apply, each with its Helm release"""
    differing: list[str]
    steps: dict[str, Lived]
    upgrades: dict[str, Upgrade]
    settled: Plan
    objects_left: set[str]
    holdings_left: set[str]
    state_at_the_end: dict[str, dict[str, Any]]
    faults: list[str]


def keys(**given: Any) -> Callable[[Lab, Installation], Keys]:  # noqa: ANN401 - keys of a cluster
    """Lay these keys over the file."""
    return lambda *_: given


def for_a_tool(lab: Lab, _installation: Installation) -> Keys:
    """Return `delivery: gitops`, with the values that are not looked up then."""
    values = {"account": ACCOUNT, "endpoint": lab.plane.url, "oidc_issuer": lab.world.oidc_issuer}
    return {"delivery": "gitops", **values}


def with_another_limit(_lab: Lab, installation: Installation) -> Keys:
    """Write the default pool and class into the file, with another limit."""
    by_kind = {manifest["kind"]: manifest for manifest in all_manifests(installation)}
    pool, node_class = by_kind["NodePool"], by_kind["EC2NodeClass"]
    return {
        "node_pools": [{"name": pool["metadata"]["name"], "spec": {**pool["spec"], "limits": {"cpu": LIMIT}}}],
        "node_classes": [{"name": node_class["metadata"]["name"], "spec": node_class["spec"]}],
    }


def each(action: str, *addresses: str) -> dict[str, str]:
    """Do the same to all of these."""
    return dict.fromkeys(addresses, action)


def leave_to_the_tool(lab: Lab, _terraform: Terraform, guide: Guide) -> None:
    """Do what Argo CD and its user do: Helm's records go, and somebody changes a pool, which then has no owner."""
    for command in commands(guide.delete_records):
        selector = quote(command[command.index("--selector") + 1])
        for record in lab.kube.items(f"/api/v1/namespaces/{NAMESPACE}/secrets?labelSelector={selector}"):
            lab.kube.delete(f"/api/v1/namespaces/{NAMESPACE}/secrets/{record['metadata']['name']}")
    annotations = dict.fromkeys(("meta.helm.sh/release-name", "meta.helm.sh/release-namespace"))
    no_owner = {"labels": {"app.kubernetes.io/managed-by": None}, "annotations": annotations}
    lab.kube.patch(POOL, {"metadata": no_owner, "spec": {"limits": {"cpu": OTHER_LIMIT}}})


def take_over_from_the_tool(lab: Lab, terraform: Terraform, guide: Guide) -> None:
    """Let Helm take over the charts, with the guide's commands; they come from the lab's packages."""
    leave_to_the_tool(lab, terraform, guide)
    packages = dict(zip(("karpenter", "karpenter-crd"), charts.packages(Release.parse(RELEASES[-1])), strict=True))
    for _, *words in commands(guide.install_charts):
        given = [
            str(packages[word.rpartition("/")[2]] if word.startswith("oci://") else word)
            for word in words
            if word not in {"--version", RELEASES[-1]}
        ]
        values = [str(terraform.stack / word) if word.endswith(".yaml") else word for word in given]
        helm(lab, *values)


def commands(block: str) -> Iterator[list[str]]:
    """Split a block of the guide into commands, and these into words."""
    for line in block.replace("\\\n", " ").splitlines():
        yield shlex.split(line, comments=True)


def helm(lab: Lab, *words: str | Path) -> str:
    """Run the real helm on the cluster."""
    return charts.helm(*words, "--kubeconfig", lab.plane.kubeconfig, home=lab.folder / "helm-home")


def not_as_delivered(lab: Lab, stack: Path) -> Iterator[str]:
    """Compare the files for a GitOps tool with what Helm installed: values, rendered charts, manifests."""
    folder = stack / "gitops"
    installed = json.loads(helm(lab, "get", "values", "karpenter", "--namespace", NAMESPACE, "--output", "json"))
    if installed != next(documents(folder / "values.yaml")):
        yield f"Helm has the values {installed}"
    controller, _ = charts.packages(Release.parse(RELEASES[-1]))
    values = ("--values", folder / "values.yaml")
    rendered = helm(lab, "template", "karpenter", controller, "--namespace", NAMESPACE, *values)
    manifests = [
        *(document for document in YAML(typ="safe").load_all(rendered) if document),
        *(
            document
            for name in ("node-pools", "fargate-logging")
            for document in documents(folder / f"manifests/{name}.yaml")
        ),
    ]
    for manifest in manifests:
        path = path_of(lab.kube, manifest)
        for difference in differences(manifest, lab.kube.find(path) or {}):
            yield f"{path}: {difference}"


def documents(file: Path) -> Iterator[Object]:
    """Read the documents of a YAML file."""
    yield from YAML(typ="safe").load_all(file.read_text("utf-8"))


IMPORTS, OWNERSHIP = "import.tf", "take_over_override.tf"
# Objects in the cluster, beside pools and classes.
INSTALLED: Keys = {"smoke_test": True, "fargate": {"logging": True}}
LOGS = "aws_iam_role_policy.fargate_logging"

SETTINGS = {
    "one replica": Step({"karpenter": "update"}, keys(karpenter={"replicas": 1})),
    "another limit": Step({"node_pools": "update"}, with_another_limit),
}
DELIVERIES = {
    "delivery by a GitOps tool": Step(each("remove", *CHARTS, *MANIFESTS), for_a_tool, look=not_as_delivered),
    "back from the tool": Step(
        {**each("update", *CHARTS), **each("create", *MANIFESTS)},
        keys(delivery="helm"),
        take_over_from_the_tool,
        lambda guide: {IMPORTS: guide.import_charts, OWNERSHIP: guide.take_ownership},
    ),
    "without the files of the take-over": Step(
        each("update", *MANIFESTS), files=lambda _: {IMPORTS: None, OWNERSHIP: None}
    ),
    # What is installed in the cluster must not be in the file then.
    "no delivery": Step(
        {**each("remove", *CHARTS, *MANIFESTS), LOGS: "delete"},
        keys(delivery="none", node_pools=None, node_classes=None, smoke_test=None, fargate={"logging": False}),
    ),
    "back from none": Step(
        {**each("update", *CHARTS, *MANIFESTS), LOGS: "create"},
        lambda lab, installation: {"delivery": "helm", **INSTALLED, **with_another_limit(lab, installation)},
        files=lambda guide: {IMPORTS: guide.import_charts + guide.import_manifests, OWNERSHIP: guide.take_ownership},
    ),
    "without the files again": Step(each("update", *MANIFESTS), files=lambda _: {IMPORTS: None, OWNERSHIP: None}),
    "another name for the controller's role": Step(
        {
            **each("replace", "aws_iam_role.controller"),
            **each("replace", *(f"aws_iam_role_policy_attachment.controller_{name}" for name in DIVIDED)),
            **each("update", "terraform_data.controller_policies", "karpenter"),
        },
        keys(names={"controller_role": "scaler"}),
    ),
}
STEPS = {**SETTINGS, **DELIVERIES}


def live(start: Callable[..., AbstractContextManager[Lab]]) -> ScriptedLife:
    """Go through all of it."""
    with start(releases=RELEASES, kubernetes="1.31") as lab:
        account, guide = Account(lab.world), Guide()
        objects, holdings = inventory(lab.kube), account.holdings()
        found = create_definitions(lab.kube, Release.parse(RELEASES[0]))
        wanted = upstreams_definitions(lab, Release.parse(RELEASES[0]))
        found_differing = differing(lab.kube, wanted)
        file: Keys = {
            "karpenter": {"version": RELEASES[0]},
            "interruption": False,
            **INSTALLED,
        }
        terraform = lab.stack(file)
        terraform.init()
        installation = installation_of(terraform)
        created = applied(lab, terraform)
        seen: dict[str, Any] = {"owners": owners(lab.kube), "differing": differing(lab.kube, wanted)}
        steps, upgrades = {}, {}

        def lived(step: Step) -> Lived:
            nonlocal file
            step.by_hand(lab, terraform, guide)
            file = {
                key: value for key, value in merged(file, step.keys(lab, installation)).items() if value is not None
            }
            terraform.take_over(lab.stack(file).stack)
            for beside, text in step.files(guide).items():
                if text is None:
                    (terraform.stack / beside).unlink()
                else:
                    (terraform.stack / beside).write_text(text, "utf-8")
            terraform.init()
            return applied(lab, terraform, step.look)

        for name, step in SETTINGS.items():
            steps[name] = lived(step)
        for release in RELEASES[1:]:
            file = merged(file, {"karpenter": {"version": release}})
            upgrades[release] = upgrade(lab, terraform, file)
        for name, step in DELIVERIES.items():
            steps[name] = lived(step)
        settled = terraform.replan()
        terraform.destroy()
        return ScriptedLife(
            found=found,
            found_differing=found_differing,
            created=created,
            **seen,
            steps=steps,
            upgrades=upgrades,
            settled=settled,
            objects_left=inventory(lab.kube) - objects,
            holdings_left=account.holdings() - holdings,
            state_at_the_end=terraform.state(),
            faults=lab.machines.faults,
        )


def applied(lab: Lab, terraform: Terraform, look: Callable[[Lab, Path], Iterable[str]] = lambda *_: ()) -> Lived:
    """Plan, apply, and look before and after."""
    plan = terraform.plan()
    changes = terraform.planned()["resource_changes"]
    before, limit = snapshot(lab.kube), limit_of_the_pool(lab.kube)
    terraform.apply()
    return Lived(
        plan=plan,
        imported={change["address"] for change in changes if "importing" in change["change"]},
        before=before,
        after=snapshot(lab.kube),
        helm_releases=releases(lab.kube),
        in_the_state={address for address in terraform.state() if address.startswith("helm_release.")},
        limits=(limit, limit_of_the_pool(lab.kube)),
        wrong=list(look(lab, terraform.stack)),
    )


def limit_of_the_pool(kube: Kube) -> str:
    """Return how much CPU the default pool may have."""
    pool = kube.find(POOL)
    return str(pool["spec"]["limits"]["cpu"]) if pool else ""


def snapshot(kube: Kube) -> Snapshot:
    """Return the UID and the version of every object that is looked at."""
    return {
        f"{path.rpartition('/')[2]}/{found['metadata']['name']}": (
            found["metadata"]["uid"],
            found["metadata"]["resourceVersion"],
        )
        for path in LOOKED_AT
        for found in kube.items(path)
    }


def create_definitions(kube: Kube, release: Release) -> dict[str, str]:
    """Create the definitions as the controller's own chart does, which leaves them without an owner."""
    controller, _ = charts.packages(release)
    with tarfile.open(controller) as package:
        files = [each for each in package.getmembers() if each.name.startswith(f"{CONTROLLER_CHART}/crds/")]
        texts = [file.read() for each in files if (file := package.extractfile(each))]
    created = [kube.create(DEFINITIONS, YAML(typ="safe").load(text)) for text in texts]
    return {each["metadata"]["name"]: each["metadata"]["uid"] for each in created}


def owners(kube: Kube) -> dict[str, str]:
    """Return the Helm release that each definition belongs to."""
    return {
        each["metadata"]["name"]: each["metadata"].get("annotations", {}).get("meta.helm.sh/release-name", "")
        for each in kube.items(DEFINITIONS)
    }
