"""What the pages on other guides say is what their examples resolve and synthesize to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nodeless.karpenter.chart import REPOSITORY
from nodeless.karpenter.policy import document
from nodeless.karpenter.releases import NEWEST, find, kubernetes_range
from nodeless.karpenter.versions import Release
from nodeless.resolved.installation import Installation
from nodeless.resolved.interruption import plan_queue
from nodeless.resolved.permissions import controller_policies, node_role_arns, place_of
from nodeless.resolved.resources import all_manifests
from nodeless.resolved.smoke_test import IMAGE
from nodeless.spec.resolution import load
from nodeless.stacks.app import build
from nodeless.upgrade.for_cluster import for_cluster
from tests.docs.markdown import ROOT, blocks, code, rows, section, text_of
from tests.synthesized import Synthesized

GUIDES = ("blog", "official-0.29", "palette", "repost", "workshop")
FOLDER = ROOT / "docs" / "guides"
OVERVIEW, EXISTING = FOLDER / "README.md", FOLDER / "existing-resources.md"
ACCOUNT = "123456789012"

TERRAFORM_ADDRESS = re.compile(r"(data\.)?(aws|helm)_\w+\.\w+…?")


def page(guide: str) -> Path:
    return FOLDER / f"{guide}.md"


def example(guide: str) -> Path:
    return ROOT / "examples" / f"{guide}.yaml"


def resolved(guide: str) -> Installation:
    (installation,) = load(example(guide))
    return installation


def written(text: str, folder: Path) -> Installation:
    """Resolve a cluster file that a page shows."""
    file = folder / "clusters.yaml"
    file.write_text(text, encoding="utf-8")
    (installation,) = load(file)
    return installation


def last_file(guide: str, folder: Path) -> Installation:
    """Resolve the last cluster file of a page: the one for a current release."""
    return written(blocks("yaml", page(guide))[-1].text, folder)


def stages(guide: str) -> list[list[str]]:
    return rows(section(page(guide), "To a current release"))


def minors(bounds: tuple[int, int] | None) -> str:
    assert bounds is not None
    return f"1.{bounds[0]} to 1.{bounds[1]}"


def pool_capacity(installation: Installation) -> set[str]:
    """Return the capacity types that the pools ask for; in the alpha API a pool that asks for none gets on-demand."""
    types: set[str] = set()
    for manifest in all_manifests(installation):
        if manifest["kind"] in {"Provisioner", "NodePool"}:
            spec = manifest["spec"]
            wanted = spec.get("requirements") or spec.get("template", {}).get("spec", {}).get("requirements", [])
            found = [row["values"] for row in wanted if row["key"] == "karpenter.sh/capacity-type"]
            assert found or manifest["kind"] == "Provisioner"
            types |= {value for values in found or [["on-demand"]] for value in values}
    return types


@pytest.fixture(scope="module")
def stack_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Installation], Synthesized]:
    """Synthesize an installation."""

    def synthesize(installation: Installation) -> Synthesized:
        out = tmp_path_factory.mktemp("out")
        build((installation,), out)
        return Synthesized.read(out / "stacks" / installation.name / "cdk.tf.json")

    return synthesize


@pytest.fixture(scope="module")
def built(stack_of: Callable[[Installation], Synthesized]) -> Callable[[str], Synthesized]:
    """Synthesize each example once."""
    return cache(lambda guide: stack_of(resolved(guide)))


def test_the_overview_lists_every_guide() -> None:
    assert len([row for row in rows(text_of(OVERVIEW)) if len(row) == 6]) == len(GUIDES)


@pytest.mark.parametrize("guide", GUIDES)
def test_the_overview_tells_policy_place_access_and_pool(guide: str) -> None:
    installation = resolved(guide)
    ((_, _, policy, place, access, pool),) = (
        row for row in rows(text_of(OVERVIEW)) if row[0].endswith(f"({guide}.md)") and len(row) == 6
    )

    assert code(policy) == [installation.policy]
    assert (place == "Fargate") == (installation.fargate is not None)
    assert code(access) == [installation.access]
    installs = installation.delivery == "helm"
    assert pool.startswith("none: ") != installs
    assert set(re.findall("spot|on-demand", pool)) == (pool_capacity(installation) if installs else set())


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES)
def test_every_address_and_output_that_a_page_names_exists(guide: str, built: Callable[[str], Synthesized]) -> None:
    stack = built(guide)
    data = {f"data.{kind}.{name}" for kind, named in stack.tree["data"].items() for name in named}
    there = stack.addresses() | data
    replacements = [row[1] for row in rows(text_of(page(guide))) if len(row) == 2]
    addresses = [span for cell in replacements for span in code(cell) if TERRAFORM_ADDRESS.fullmatch(span)]
    outputs = re.findall(r"terraform output -raw (\w+)", text_of(page(guide)))

    assert addresses
    unknown = [
        each
        for each in addresses
        if each not in there and not (each.endswith("…") and any(one.startswith(each[:-1]) for one in there))
    ]
    assert unknown == []
    assert [name for name in outputs if name not in stack.tree["output"]] == []


@pytest.mark.parametrize("guide", GUIDES)
def test_the_stages_to_a_current_release_are_those_of_the_upgrade(guide: str) -> None:
    upgrade, _ = for_cluster(None, NEWEST, [example(guide)])

    shown = [(stage, kubernetes) for stage, kubernetes, _ in stages(guide)]
    assert shown == [(f"{stage.before} to {stage.after}", minors(stage.kubernetes)) for stage in upgrade.stages]
    (command,) = re.findall(r"^nodeless upgrade .*$", text_of(page(guide)), re.MULTILINE)
    assert command == f"nodeless upgrade --config examples/{guide}.yaml --to {NEWEST}"
    assert f"{NEWEST} itself supports {minors(kubernetes_range(NEWEST))}" in text_of(page(guide))


@pytest.mark.parametrize("guide", GUIDES)
def test_each_stage_names_the_keys_that_its_release_no_longer_takes(guide: str) -> None:
    named: set[str] = set()
    before: set[str] = set()
    for stage, _, change in stages(guide):
        spans = {word for span in code(change) for word in re.findall(r"\w+", span)}
        assert (change == "nothing") == (not spans), stage
        named |= spans
        _, changes = for_cluster(None, find(stage.rpartition(" ")[2]), [example(guide)])
        needed = {str(finding.path[-1]) for finding in changes.findings}
        assert needed <= named, stage
        assert (needed == before) == (change == "nothing"), stage
        before = needed


@pytest.mark.parametrize("guide", GUIDES)
def test_the_last_file_has_the_newest_release_and_the_names_of_the_example(guide: str, tmp_path: Path) -> None:
    old, new = resolved(guide), last_file(guide, tmp_path)

    assert new.release == NEWEST
    assert new.names == old.names
    assert (new.region, new.access, new.tag_key, new.delivery) == (old.region, old.access, old.tag_key, old.delivery)
    assert (new.fargate is None, new.queue is None) == (old.fargate is None, old.queue is None)
    assert (new.tagged_subnets, new.tagged_security_groups) == (old.tagged_subnets, old.tagged_security_groups)
    if new.delivery == "helm":
        assert pool_capacity(new) == pool_capacity(old)


def test_the_blogs_queue_policy_has_the_sids_that_the_page_names() -> None:
    installation = resolved("blog")
    queue = plan_queue(installation, place_of(installation, account=ACCOUNT))
    (row,) = (row for row in rows(text_of(page("blog"))) if "SQSWrite" in row[0])

    assert queue is not None
    assert code(row[1])[1:] == [statement.sid for statement in queue.policy]


def test_the_blogs_nodes_join_by_an_access_entry_and_the_page_names_the_modes_that_allow_it() -> None:
    assert resolved("blog").access == "access-entry"
    before = section(page("blog"), "Before you apply")
    assert {"API", "API_AND_CONFIG_MAP"} <= set(code(before))


def test_the_template_means_the_newest_patch_whose_permissions_are_those_of_the_first() -> None:
    installation = resolved("official-0.29")
    place = place_of(installation, account=ACCOUNT)
    first = replace(installation, release=Release(0, 29, 0), version=Release(0, 29, 0))

    assert installation.version == Release(0, 29, 2)
    assert f"the file installs {installation.version}" in text_of(page("official-0.29"))
    assert controller_policies(first, place) == controller_policies(installation, place)


# What a reader has to be told before something happens that the file does not show.
TOLD = {
    "official-0.29": ["If Karpenter runs before the entry is there, instances start and never become nodes."],
    "palette": [
        "the new Kubernetes layer makes Palette repave the whole cluster: every node is replaced.",
        "It must be in the profile before Karpenter launches a node; in this order it is.",
    ],
    "repost": [
        "the article installs nothing in the cluster",
        "Add the node role to aws-auth. Without the entry, instances start and never become nodes.",
    ],
    "workshop": [
        "kubectl scale deployment inflate --replicas 0\nkubectl logs",
        "Without the entry, instances start and never become nodes.",
    ],
}


@pytest.mark.parametrize(("guide", "sentence"), [(guide, text) for guide, texts in TOLD.items() for text in texts])
def test_the_page_tells_what_the_file_does_not_show(guide: str, sentence: str) -> None:
    assert sentence in text_of(page(guide))


def test_the_workshops_image_repository_and_seconds_are_those_of_the_file() -> None:
    installation, text = resolved("workshop"), text_of(page("workshop"))
    (pool,) = (spec for _, spec in installation.node_pools)

    assert f"`{IMAGE}`" in text
    assert installation.repository == REPOSITORY
    assert f"`{REPOSITORY}`" in text
    assert f"{pool['ttlSecondsAfterEmpty']} seconds after" in text


@pytest.mark.slow
@pytest.mark.parametrize("guide", ["official-0.29", "repost"])
def test_nodes_can_be_let_in_between_two_applies(guide: str, stack_of: Callable[[Installation], Synthesized]) -> None:
    first, second = (stack_of(replace(resolved(guide), delivery=delivery)) for delivery in ("none", "helm"))

    assert {"aws_auth_commands", "aws_auth_map_roles"} <= set(first.tree["output"])
    assert "helm_release" not in first.tree["resource"]
    installed = {address for address in second.addresses() if address.startswith("helm_release.")}
    assert second.addresses() - first.addresses() == installed
    for kind, named in first.tree["resource"].items():
        assert second.tree["resource"][kind] == named


def test_the_articles_default_pool_would_be_on_demand_only_until_there_is_a_queue(tmp_path: Path) -> None:
    installation = resolved("repost")
    assert installation.delivery == "none"
    assert pool_capacity(replace(installation, delivery="helm")) == {"on-demand"}

    with_queue = blocks("yaml", page("repost"))[-1].text.replace("    interruption: false\n", "")
    assert pool_capacity(written(with_queue, tmp_path)) == {"spot", "on-demand"}


@pytest.mark.slow
def test_with_palettes_name_the_policy_and_the_outputs_speak_of_its_role(
    tmp_path: Path, stack_of: Callable[[Installation], Synthesized]
) -> None:
    named = next(block for block in blocks("yaml", page("palette")) if "node_role:" in block.text)
    installation = written(named.text, tmp_path)
    role = f"arn:aws:iam::{ACCOUNT}:role/my-eks-cluster-nodeRole"
    stack = stack_of(installation)

    assert passed_roles(installation) == [role]
    assert stack.all("aws_iam_role")["node"]["name"] == "my-eks-cluster-nodeRole"
    layer = palette_layer(stack)
    assert [row["rolearn"] for row in layer["managedControlPlane"]["iamAuthenticatorConfig"]["mapRoles"]] == [role]
    assert layer["managedMachinePool"]["roleName"] == "my-eks-cluster-nodeRole"


@pytest.mark.slow
def test_a_role_left_to_palette_is_passed_and_mapped_beside_the_stacks_own(
    tmp_path: Path, stack_of: Callable[[Installation], Synthesized]
) -> None:
    (block,) = (
        YAML(typ="safe").load(found)
        for found in re.findall(r"^  ```yaml\n(.*?)^  ```$", text_of(page("palette")), re.MULTILINE | re.DOTALL)
    )
    tree = YAML(typ="safe").load(example("palette").read_text("utf-8"))
    tree["clusters"][0]["nodes"] |= block["nodes"]
    file = tmp_path / "clusters.yaml"
    with file.open("w", encoding="utf-8") as text:
        YAML().dump(tree, text)
    (installation,) = load(file)
    roles = [
        f"arn:aws:iam::{ACCOUNT}:role/{name}"
        for name in ("KarpenterNodeRole-my-eks-cluster", "my-eks-cluster-nodeRole")
    ]
    layer = palette_layer(stack_of(installation))

    assert passed_roles(installation) == roles
    assert [row["rolearn"] for row in layer["managedControlPlane"]["iamAuthenticatorConfig"]["mapRoles"]] == roles
    assert layer["managedMachinePool"]["roleName"] == "KarpenterNodeRole-my-eks-cluster"


def palette_layer(stack: Synthesized) -> Any:  # noqa: ANN401 - any YAML
    return YAML(typ="safe").load(stack.tree["output"]["palette_map_roles"]["value"])


def passed_roles(installation: Installation) -> list[str]:
    """Return the roles that the controller may pass to instances."""
    place = place_of(installation, account=ACCOUNT)
    granted = [
        row for policy in controller_policies(installation, place) for row in document(policy.statements)["Statement"]
    ]
    (resources,) = (row["Resource"] for row in granted if row["Action"] == "iam:PassRole")
    assert tuple([resources] if isinstance(resources, str) else resources) == node_role_arns(installation, place)
    return [resources] if isinstance(resources, str) else list(resources)


def test_the_import_ids_are_the_names_that_the_examples_have() -> None:
    guide, checked = "", 0
    for first, to, id_ in (row for row in rows(section(EXISTING, "Import")) if len(row) == 3):
        guide = re.sub(r"\[(.*)\].*", r"\1", first) or guide
        installation = resolved(guide)
        if id_.startswith("`"):
            assert code(id_) == [import_id(installation, *code(to))], guide
            checked += 1

    assert guide == GUIDES[-1]
    assert checked >= 10


def import_id(installation: Installation, address: str) -> str:
    """Name a resource as an import does."""
    names, place = installation.names, place_of(installation, account=ACCOUNT)
    queue = f"https://sqs.{installation.region}.{installation.partition.dns_suffix}/{ACCOUNT}/{names.queue}"
    return {
        "aws_iam_role.controller": names.controller_role,
        "aws_iam_role.fargate": names.fargate_role,
        "aws_iam_role.node": names.node_role,
        "aws_iam_instance_profile.node": names.instance_profile,
        "aws_iam_policy.controller_controller": place.iam(f"policy/{names.policy('controller')}"),
        "aws_eks_fargate_profile.karpenter": f"{installation.name}:{names.fargate_profile}",
        "aws_sqs_queue.interruption": queue,
        "aws_sqs_queue_policy.interruption": queue,
    }[address]


def test_the_import_blocks_are_those_of_the_blogs_example() -> None:
    (block,) = blocks("hcl", EXISTING)
    installation = resolved("blog")
    found = re.findall(r'^import \{\n  to = (\S+)\n  id = "([^"]+)"\n\}$', block.text, re.MULTILINE)

    assert len(found) == block.text.count("import {") == 7
    assert dict(found) == {address: import_id(installation, address) for address, _ in found}
