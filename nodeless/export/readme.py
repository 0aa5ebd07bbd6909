"""The README of an exported cluster: what is created, which file has it, and how it is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodeless.export import layout, local_state
from nodeless.export.hcl import Block
from nodeless.resolved.backends import state_shown
from nodeless.resolved.installation import Installation
from nodeless.resolved.inventory import LOOKUPS, Resource
from nodeless.sinks.markdown import escaped
from nodeless.sinks.terminal import printable

# A file or folder -> what is in it.
FILES = {
    layout.VERSIONS: "the versions of Terraform and of the providers",
    layout.BACKEND: "where the state is",
    layout.PROVIDERS: "the providers, and how they log in",
    "data": "what is looked up in the account",
    "locals": "Helm values and manifests, as objects",
    "fargate": "the Fargate profile and its role",
    "controller": "the controller's role and what it may do",
    "nodes": "the role of the nodes, and how they join the cluster",
    "interruption": "the interruption queue and the rules that fill it",
    "discovery": "what Karpenter finds by tags, and the role for spot instances",
    "charts": "the Helm releases",
    "checks": "what each plan checks",
    "outputs": "what other configurations may use",
    "imports": "what exists already and is taken over",
    "moved": "what had another address",
    "removed": "what Terraform forgets without destroying it",
    "nodeless.tftest.hcl": "tests for `terraform test`, which call nothing",
    "assets": "the local chart for the node pools",
    "gitops": "values and manifests for Argo CD or Flux",
}
# These only connect others, and are left out.
CONNECTIONS = ("aws_iam_role_policy_attachment.", "aws_cloudwatch_event_target.", "terraform_data.")
HANDLING = """\
`nodeless export` wrote these files. It does not overwrite a file that was changed by hand, and does not touch other
files in this folder. To change something, change the file that the export was made from, or add a file of your own."""
USE = """\
```sh
terraform init
terraform plan -out plan.tfplan
terraform apply plan.tfplan
```

Commit `.terraform.lock.hcl`. `terraform test` checks trust policies, the sizes of policies, and the queue."""


def text(
    installation: Installation,
    resources: Sequence[Resource],
    files: Mapping[str, Sequence[Block]],
    beside: Sequence[str],
) -> str:
    """Write the page; `files` are those of the configuration, and `beside` is what else is in the folder."""
    rows = [*((name, name.partition(".")[0]) for name in files), *((name, name) for name in beside)]
    looked_up = [(_what(each), _code(each.address)) for each in resources if each.part == LOOKUPS]
    parts = [
        f"# Karpenter for {escaped(installation.name)}",
        _about(installation),
        HANDLING,
        "## What it creates",
        _table(("what", "name", "address"), _created(resources)),
        *(["## What it looks up", _table(("what", "address"), looked_up)] if looked_up else []),
        "## Files",
        _table(("file", "what is in it"), [(_code(name), FILES.get(key, "")) for name, key in rows]),
        "## Use",
        USE,
        f"State: {_state(installation)}",
    ]
    return "\n\n".join(parts) + "\n"


def _about(installation: Installation) -> str:
    cluster, region = _code(installation.name), _code(installation.region)
    return f"Karpenter {installation.version} for the EKS cluster {cluster} in {region}, which exists already."


def _created(resources: Sequence[Resource]) -> Iterator[tuple[str, str, str]]:
    for each in resources:
        if each.part != LOOKUPS and not each.address.startswith(CONNECTIONS):
            yield _what(each), _code(each.name) if each.name else "", _code(each.address)


def _what(resource: Resource) -> str:
    return escaped(printable(resource.purpose))


def _code(value: str) -> str:
    """Show a name as code; a bar would end the cell of a table."""
    return f"`{printable(value)}`".replace("|", "\\|")


def _state(installation: Installation) -> str:
    path = local_state.path_of(installation)
    if path is None:
        return f"{escaped(printable(state_shown(installation.backend)))}."
    return f"the file {_code(path)}, seen from this folder. Use a remote backend for more than a trial."


def _table(head: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))
