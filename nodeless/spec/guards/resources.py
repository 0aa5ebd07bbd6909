"""The checks on what runs in the cluster: node pools, node classes, the smoke test, and how they are delivered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from nodeless.finding import MISSING, Finding
from nodeless.karpenter.custom_resource_fields import GATED, INSTANCE_TAGS_LIMIT, TAGS_SET_BY_KARPENTER
from nodeless.karpenter.custom_resources import ALPHA, DEFAULT, NODE_POOLS, PROFILE_FIELD, Named, class_named_by
from nodeless.karpenter.versions import in_effect
from nodeless.resolved import smoke_test
from nodeless.resolved.installation import Installation
from nodeless.resolved.references import is_reference
from nodeless.resolved.resources import instance_tags
from nodeless.spec.guards.guard import RELEASE_KEYS, Guard, guard, repeats
from nodeless.spec.guards.pools import PoolsAndClasses, pool_findings
from nodeless.spec.model import SELECTORS_LIMIT
from nodeless.trees import value_at

SPECS = (*RELEASE_KEYS, "karpenter.isolated_vpc", "node_pools.*.spec", "node_classes.*.spec")
NODE_NAMES = (
    "name",
    "names.style",
    "names.node_role",
    "names.instance_profile",
    "nodes.roles",
    "nodes.instance_profile",
)


@guard(*SPECS)
def resources_fit_the_release(installation: Installation) -> Iterator[Finding]:
    """Pools and classes are what the release's API accepts."""
    yield from _on_literals(installation, pools_and_classes(installation, class_names=False, node_names=False))


@guard(*SPECS, "node_classes[].name")
def pools_name_known_classes(installation: Installation) -> Iterator[Finding]:
    """Pools name classes of the file, or the default one."""
    yield from _on_literals(installation, pools_and_classes(installation, node_names=False))


@guard(*SPECS, *NODE_NAMES)
def classes_name_known_roles(installation: Installation) -> Iterator[Finding]:
    """Classes name roles and instance profiles that the stack creates or is given."""
    yield from _on_literals(installation, pools_and_classes(installation, class_names=False))


def _on_literals(installation: Installation, resources: PoolsAndClasses) -> Iterator[Finding]:
    """Leave out what is said about a reference: what it stands for is not known yet."""
    for finding in pool_findings(resources):
        referred = isinstance(finding.value, str) and is_reference(finding.value)
        if installation.is_literal or not referred:
            yield finding


def _names_are_unique(key: str, named: Callable[[Installation], Sequence[Named]]) -> Guard[Installation, Finding]:
    """Make the guard that no two pools, or no two classes, have the same name."""

    @guard(f"{key}.*.name")
    def check(installation: Installation) -> Iterator[Finding]:
        for (index, (name, _)), (first, _) in repeats(enumerate(named(installation)), lambda row: row[1][0]):
            expected = f"names must be unique; {key}[{first}] has the same one"
            yield Finding((key, index, "name"), name, expected, "give one of the two another name")

    return check


@guard(*RELEASE_KEYS, "karpenter.values", "node_pools.*.spec", "node_classes.*.spec")
def gates_are_open(installation: Installation) -> Iterator[Finding]:
    """A field behind a feature gate has its gate open."""
    gates = value_at(installation.values, ("settings", "featureGates"))
    is_open = gates if isinstance(gates, Mapping) else {}
    for key, field, gate in in_effect(installation.release, GATED):
        named = installation.node_pools if key == "node_pools" else installation.node_classes
        for index, (_, spec) in enumerate(named):
            if spec.get(field) is not None and not is_open.get(gate):
                yield Finding(
                    (key, index, "spec", field),
                    spec[field],
                    f"Karpenter {installation.release} reads this field only with the feature gate {gate}",
                    f"set karpenter.values.settings.featureGates.{gate}: true",
                )


def _is_delivered(key: str, wanted: Callable[[Installation], object]) -> Guard[Installation, Finding]:
    """Make the guard that something installs what one key puts into the cluster."""

    @guard("delivery", key)
    def check(installation: Installation) -> Iterator[Finding]:
        value = wanted(installation)
        if value and installation.delivery == "none":
            expected = "nothing, because delivery: none installs nothing in the cluster"
            yield Finding(tuple(key.split(".")), value, expected, "remove it, or set delivery: helm")

    return check


def _is_literal(
    key: str, value_of: Callable[[Installation], str | None], what: str, *more: str
) -> Guard[Installation, Finding]:
    """Make the guard that a key is written down where the delivery is gitops: files cannot look a value up."""

    @guard("delivery", key, *more)
    def check(installation: Installation) -> Iterator[Finding]:
        value = value_of(installation)
        if installation.delivery == "gitops" and (value is None or is_reference(value)):
            expected = "a literal, because the files of delivery: gitops cannot look it up"
            yield Finding((key,), value or MISSING, expected, f"write {what}")

    return check


@guard(
    *RELEASE_KEYS,
    "karpenter.isolated_vpc",
    "node_pools[].spec",
    "node_classes[].name",
    "nodes.instance_profile",
    "delivery",
)
def default_class_has_an_identity(installation: Installation) -> Iterator[Finding]:
    """The default class names an instance profile where it cannot name a role."""
    release = installation.release
    if installation.delivery == "none" or not _uses_default_class(installation):
        return
    if installation.isolated_vpc and release in NODE_POOLS and release not in PROFILE_FIELD:
        yield Finding(
            ("karpenter", "version"),
            str(release),
            "0.32.2 or newer: in an isolated VPC a class names an instance profile, which older releases cannot",
            "set karpenter.version to 0.32.10",
        )
    elif not installation.instance_profile and (installation.isolated_vpc or release in ALPHA):
        why = (
            "an isolated VPC has no IAM endpoint" if installation.isolated_vpc else "this API version has no role field"
        )
        yield Finding(
            ("nodes", "instance_profile"),
            "false",
            f"true, because the default class names the instance profile of this stack: {why}",
            "set it to true, or write a class of your own named default",
        )


def _uses_default_class(installation: Installation) -> bool:
    """Tell whether a pool refers to the class named default and the file does not have it."""
    if any(name == DEFAULT for name, _ in installation.node_classes):
        return False
    pools = [spec for _, spec in installation.node_pools]
    return not pools or any(class_named_by(installation.release, spec) == DEFAULT for spec in pools)


@guard("smoke_test", "karpenter.isolated_vpc", "fargate")
def smoke_test_runs_on_nodes(installation: Installation) -> Iterator[Finding]:
    """The pods of the smoke test can be pulled, and wait for a node."""
    if not installation.smoke_test:
        return
    if installation.isolated_vpc:
        yield Finding(
            path=("smoke_test",),
            value=True,
            expected=f"false, because an isolated VPC cannot pull {smoke_test.IMAGE}",
            fix="remove it",
        )
    for index, (namespace, labels) in enumerate(installation.fargate.selectors if installation.fargate else ()):
        if namespace == smoke_test.NAMESPACE and not labels:
            yield Finding(
                ("fargate", "selectors", index),
                namespace,
                "another namespace, or labels: this selector would run the smoke test on Fargate",
                "add a label to the selector, or remove smoke_test",
            )


@guard("fargate")
def selectors_fit(installation: Installation) -> Iterator[Finding]:
    """A Fargate profile has at most five selectors, the one for CoreDNS included."""
    if installation.fargate and len(installation.fargate.selectors) > SELECTORS_LIMIT:
        yield Finding(
            ("fargate", "selectors"),
            len(installation.fargate.selectors),
            f"a profile has at most {SELECTORS_LIMIT} selectors, and coredns: true adds one",
            "remove one",
        )


@guard(*RELEASE_KEYS, "node_pools[].spec", "node_classes[].name", "tags", "name", "karpenter.policy", "delivery")
def tags_fit_on_instances(installation: Installation) -> Iterator[Finding]:
    """Instances of the default class have the user's tags and Karpenter's own, which together EC2 must take."""
    if installation.delivery == "none" or not _uses_default_class(installation):
        return
    most = INSTANCE_TAGS_LIMIT - TAGS_SET_BY_KARPENTER
    count = len(instance_tags(installation))
    if count > most:
        yield Finding(
            ("tags",),
            f"{count} tags",
            f"at most {most}: they go on instances too, which take {INSTANCE_TAGS_LIMIT} tags, "
            f"and {TAGS_SET_BY_KARPENTER} of them are Karpenter's own",
            "remove some, or write a class of your own named default",
        )


def pools_and_classes(
    installation: Installation, *, class_names: bool = True, node_names: bool = True
) -> PoolsAndClasses:
    """Collect what the checks need: the pools and classes and, if asked for, the names they may refer to."""
    roles, profiles = _roles_and_profiles(installation) if node_names else (None, None)
    return PoolsAndClasses(
        release=installation.release,
        pools=installation.node_pools,
        classes=installation.node_classes,
        class_names=tuple(name for name, _ in installation.node_classes) if class_names else None,
        roles=roles,
        profiles=profiles,
        isolated_vpc=installation.isolated_vpc,
    )


def _roles_and_profiles(installation: Installation) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Name the roles and profiles of the nodes; None where a name is only known at apply, or may exist elsewhere."""
    names, extra = installation.names, installation.node_roles
    created = [role.key for role in extra if role.arn is None]
    existing = [role.arn.rpartition("/")[2] for role in extra if role.arn is not None]
    roles = (names.node_role, *(names.extra_node_role(key) for key in created), *existing)
    profiles = (names.instance_profile, *(names.extra_instance_profile(key) for key in created))
    # The instance profile of an existing role may exist already too.
    unknown = bool(existing) or any(map(is_reference, profiles))
    return (
        None if any(map(is_reference, roles)) else roles,
        None if unknown else profiles if installation.instance_profile else (),
    )


GUARDS: tuple[Guard[Installation, Finding], ...] = (
    resources_fit_the_release,
    pools_name_known_classes,
    classes_name_known_roles,
    _names_are_unique("node_pools", lambda installation: installation.node_pools),
    _names_are_unique("node_classes", lambda installation: installation.node_classes),
    gates_are_open,
    _is_delivered("node_pools", lambda installation: ", ".join(name for name, _ in installation.node_pools)),
    _is_delivered("node_classes", lambda installation: ", ".join(name for name, _ in installation.node_classes)),
    _is_delivered("smoke_test", lambda installation: installation.smoke_test),
    _is_delivered("fargate.logging", lambda installation: bool(installation.fargate and installation.fargate.logging)),
    _is_literal("name", lambda installation: installation.name, "the EKS cluster's name"),
    _is_literal("account", lambda installation: installation.account, "the cluster's account id"),
    _is_literal(
        "oidc_issuer",
        lambda installation: installation.oidc_issuer if installation.identity == "irsa" else "",
        "cluster.identity.oidc.issuer of `aws eks describe-cluster`",
        "identity",
    ),
    default_class_has_an_identity,
    smoke_test_runs_on_nodes,
    selectors_fit,
    tags_fit_on_instances,
)
