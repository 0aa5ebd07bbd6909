"""The checks on an adoption: that the stack has the names that exist already, and that every address exists."""

from __future__ import annotations

from collections.abc import Iterator

from nodeless.finding import MISSING, Finding, Path
from nodeless.karpenter.interruption import event_rules
from nodeless.resolved.adoption import importable
from nodeless.resolved.adoption_rows import ASSOCIATION, CLOUDFORMATION, QUEUE, ROLE, RULE, SETUPS, TERRAFORM_AWS_EKS
from nodeless.resolved.installation import Installation
from nodeless.resolved.names import NO_PATH, RULES
from nodeless.spec.conversion import tables_of
from nodeless.spec.guards.guard import RELEASE_KEYS, guard
from nodeless.spec.guards.policies import NAMED_IN_STATEMENTS
from nodeless.spec.model import Cluster
from nodeless.suggestions import closest

NONE = "none"
# The keys that decide which resources a stack has.
CREATES = (
    *NAMED_IN_STATEMENTS,
    "account",
    "karpenter",
    "extra_statements",
    "permissions_boundary",
    "fargate",
    "identity",
    "oidc_provider",
    "nodes",
    "discovery",
    "delivery",
    "exclusive_policies",
)


@guard("adopt")
def setup_is_named(cluster: Cluster) -> Iterator[Finding]:
    """The other keys of an adoption say something about a set-up."""
    given = cluster.adopt
    if given.setup == NONE and (given.module or given.without or given.ids):
        expected = f"one of {', '.join(SETUPS)}, because other keys of `adopt` are given"
        yield Finding(("adopt", "setup"), NONE, expected, "name the set-up, or remove `adopt`")


@guard("adopt")
def module_is_in_a_state(cluster: Cluster) -> Iterator[Finding]:
    """Only what comes from Terraform is in a module of a state."""
    setup = SETUPS.get(cluster.adopt.setup)
    if setup and cluster.adopt.module and not setup.has_state:
        expected = f"no module: what {cluster.adopt.setup} made is in no Terraform state"
        yield Finding(("adopt", "module"), cluster.adopt.module, expected, "remove the key")


@guard("adopt", "names.style", "names.with_region")
def names_are_those_that_exist(cluster: Cluster) -> Iterator[Finding]:
    """A stack with other names would create everything a second time."""
    setup = SETUPS.get(cluster.adopt.setup)
    if setup is None:
        return
    if cluster.names.style != setup.style:
        expected = f"{setup.style}: these are the names that {cluster.adopt.setup} gives"
        yield Finding(("names",), cluster.names.style, expected, f"set names: {setup.style}, or names.style to it")
    if cluster.names.with_region:
        expected = f"false: the names that {cluster.adopt.setup} gives have no region in them"
        yield Finding(("names", "with_region"), "true", expected, "remove the key")


@guard("adopt", "path")
def path_is_that_of_the_tool(cluster: Cluster) -> Iterator[Finding]:
    """A role or policy that gets another path is replaced."""
    if cluster.adopt.setup not in {NONE, TERRAFORM_AWS_EKS} and cluster.path != NO_PATH:
        expected = f"/, where {cluster.adopt.setup} creates roles and policies: with another path they are replaced"
        yield Finding(("path",), cluster.path, expected, "remove the key")


@guard("name", "adopt", "names", "interruption?", *RELEASE_KEYS)
def generated_names_are_given(cluster: Cluster) -> Iterator[Finding]:
    """A name that the tool has made up is known to the account only."""
    setup, without = SETUPS.get(cluster.adopt.setup), cluster.adopt.without
    fix = f"run `nodeless adopt {cluster.name}`, which finds it; or list {{}} under adopt.without, if it does not exist"
    for key in setup.generated if setup else ():
        if key == RULES:
            continue
        address = f"{ROLE}.{key.removesuffix('_role')}"
        if not getattr(cluster.names, key) and address not in without:
            expected = f"the name that {cluster.adopt.setup} gave the role"
            yield Finding(("names", key), MISSING, expected, fix.format(address))
    if setup is None or RULES not in setup.generated or not cluster.interruption or QUEUE in without:
        return
    for event in event_rules(tables_of(cluster)):
        address = f"{RULE}.interruption_{event.key}"
        if event.key not in cluster.names.rules and address not in without:
            expected = f"the name that {cluster.adopt.setup} gave the rule for {event.detail_type!r}"
            yield Finding(("names", RULES, event.key), MISSING, expected, fix.format(address))


@guard("name", "adopt", "identity")
def association_has_an_id(cluster: Cluster) -> Iterator[Finding]:
    """The id of a Pod Identity association does not follow from a name."""
    given = cluster.adopt
    is_needed = given.setup == CLOUDFORMATION and cluster.identity == "pod-identity"
    if is_needed and ASSOCIATION not in (*given.ids, *given.without):
        expected = f"<cluster>,<id of the Pod Identity association> for {ASSOCIATION}"
        fix = f"run `nodeless adopt {cluster.name}`, which finds it; or list {ASSOCIATION} under adopt.without"
        yield Finding(("adopt", "ids"), MISSING, expected, fix)


@guard("adopt", *CREATES)
def addresses_exist(installation: Installation) -> Iterator[Finding]:
    """Only resources of the stack can be taken over."""
    adoption = installation.adoption
    if adoption is None:
        return
    known = importable(installation)
    rows: tuple[tuple[Path, str], ...] = (
        *((("adopt", "without", index), address) for index, address in enumerate(adoption.without)),
        *((("adopt", "ids", address), address) for address in adoption.ids),
    )
    for path, address in rows:
        if address not in known:
            near = closest(address, known)
            fix = f"did you mean {near}?" if near else "remove it; `nodeless explain` lists the resources"
            yield Finding(path, address, "a resource of this stack that can be imported", fix, at_key=path[1] == "ids")


CLUSTER_GUARDS = (
    setup_is_named,
    module_is_in_a_state,
    names_are_those_that_exist,
    path_is_that_of_the_tool,
    generated_names_are_given,
    association_has_an_id,
)
INSTALLATION_GUARDS = (addresses_exist,)
