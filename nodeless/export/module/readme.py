"""The README of a module, in the shape of terraform-docs: requirements, providers, resources, inputs and outputs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nodeless.export.module.example import FOLDER
from nodeless.export.module.variables import Variable
from nodeless.karpenter.guides import GUIDES
from nodeless.resolved.module import Module
from nodeless.sinks.markdown import escaped
from nodeless.sinks.terminal import printable

Tree = dict[str, Any]

REGISTRY = "https://registry.terraform.io/providers"
LONGEST_DEFAULT = 60
WRITTEN = """\
A Terraform module for this release of Karpenter. `nodeless export --module` wrote it, and does not overwrite a file
that was changed by hand."""


def text(module: Module, tree: Tree, variables: Sequence[Variable]) -> str:
    """Write the page."""
    required = tree["terraform"]
    providers = required["required_providers"]
    parts = [
        f"# Karpenter {module.template.version} on EKS",
        WRITTEN,
        "## Usage",
        _usage(variables),
        *_rules(module),
        "## What is fixed",
        "These were decided when the module was exported. For other values, export another module.",
        "\n".join(f"- {each}" for each in _fixed(module)),
        "## Requirements",
        _table(
            ("Name", "Version"),
            [
                ("terraform", escaped(required["required_version"])),
                *((name, escaped(row["version"])) for name, row in providers.items()),
            ],
        ),
        "## Providers",
        _table(("Name", "Version"), [(name, escaped(row["version"])) for name, row in providers.items()]),
        "## Modules",
        "No modules.",
        "## Resources",
        _table(("Name", "Type"), _resources(tree)),
        "## Inputs",
        _table(("Name", "Description", "Type", "Default", "Required"), map(_input, variables)),
        "## Outputs",
        _table(("Name", "Description"), [(name, escaped(row["description"])) for name, row in tree["output"].items()]),
    ]
    return "\n\n".join(parts) + "\n"


def _usage(variables: Sequence[Variable]) -> str:
    values = {
        "cluster_name": '"demo"',
        "cluster_endpoint": "data.aws_eks_cluster.demo.endpoint",
        "cluster_oidc_url": "data.aws_eks_cluster.demo.identity[0].oidc[0].issuer",
        "cluster_oidc_arn": "data.aws_iam_openid_connect_provider.demo.arn",
        "cluster_subnet_ids": "data.aws_subnets.private.ids",
    }
    needed = [each.name for each in variables if each.is_required]
    width = max(map(len, needed))
    arguments = "\n".join(f"  {name.ljust(width)} = {values[name]}" for name in needed)
    whole = f"[{FOLDER}]({FOLDER}) is a whole configuration."
    block = f'```hcl\nmodule "karpenter" {{\n  source = "./modules/karpenter"\n\n{arguments}\n}}\n```'
    return f"{block}\n\n{whole}"


def _rules(module: Module) -> Iterator[str]:
    yield (
        "The module has no provider and no backend, and looks nothing of the cluster up: its values may come from a "
        "resource of the same configuration. `for_each`, `count` and `providers` work on a call."
    )
    if module.with_helm:
        yield (
            "The charts go to the cluster that the Helm provider of the call is configured for. Calls for several "
            "clusters need a provider each: write one block with `providers` for each of them instead of `for_each`."
        )
    yield (
        "A stack of `nodeless synth` has the same addresses. To go on with its resources, write a `moved` block for "
        "each, such as from `aws_iam_role.controller` to `module.karpenter.aws_iam_role.controller`."
    )
    if module.without_queue:
        yield "What depends on `interruption` has the index `[0]`."


def _fixed(module: Module) -> Iterator[str]:
    template = module.template
    yield f"Karpenter {template.version}, its permissions, events and Helm values"
    yield f"the style of the names: {template.names.style}"
    yield f"delivery: {template.delivery}"
    yield f"the controller runs {'on Fargate' if template.fargate else 'on nodes of your own'}"
    yield f"the controller's role: {'IRSA' if template.identity == 'irsa' else 'EKS Pod Identity'}"
    yield f"how nodes join: {template.access}"
    yield f"an instance profile for the nodes: {'yes' if template.instance_profile else 'no'}"
    yield f"the registry of the charts: {escaped(template.repository)}"
    if not module.chooses_namespace:
        yield f"the namespace {template.namespace}, because selectors of the Fargate profile name it"
    if not module.chooses_path:
        yield f"the IAM path {escaped(template.path)}, because entries of aws-auth are written without one"
    if not module.without_queue:
        yield f"interruption handling: {'yes' if template.queue else 'no'}"
    if template.policy in GUIDES:
        yield f"the flat policy of the guide {template.policy}"
    for role in template.node_roles:
        yield f"a further node role: {escaped(printable(role.arn or role.key))}"
    if template.values:
        yield f"Helm values of the file: {escaped(printable(', '.join(template.values)))}"
    if template.extra_statements:
        yield f"{len(template.extra_statements)} further statements for the controller"


def _resources(tree: Tree) -> Iterator[tuple[str, str]]:
    for section, kind, path in (("resource", "resource", "resources"), ("data", "data source", "data-sources")):
        for type_, blocks in sorted(tree[section].items()):
            for name in sorted(blocks):
                yield _link(type_, name, path), kind


def _link(type_: str, name: str, path: str) -> str:
    provider, _, rest = type_.partition("_")
    if provider == "terraform":
        return f"{type_}.{name}"
    return f"[{type_}.{name}]({REGISTRY}/hashicorp/{provider}/latest/docs/{path}/{rest})"


def _input(variable: Variable) -> tuple[str, ...]:
    default = "n/a" if variable.is_required else _shown(variable.default)
    needed = "yes" if variable.is_required else "no"
    return variable.name, escaped(variable.description), f"`{variable.type}`", default, needed


def _shown(default: object) -> str:
    written = json.dumps(default, ensure_ascii=False)
    return f"`{printable(written)}`".replace("|", "\\|") if len(written) <= LONGEST_DEFAULT else "see variables.tf"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["------"] * len(head), *rows))
