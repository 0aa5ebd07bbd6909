"""The checks on what runs in the cluster: pools, classes, the smoke test, and what they need around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from nodeless.finding import Finding, Path
from nodeless.karpenter.custom_resource_fields import GATED
from nodeless.karpenter.custom_resources import ALPHA, NODE_POOLS, PROFILE_FIELD, all_classes
from nodeless.karpenter.versions import in_effect
from nodeless.resolved import smoke_test
from nodeless.resolved.installation import Installation
from nodeless.resolved.references import is_reference
from nodeless.resolved.resources import resource_inputs
from nodeless.spec.guards.custom_resource_checks import Given, flaws

SELECTORS_LIMIT = 5


def resources_fit_the_release(installation: Installation) -> Iterator[Finding]:
    """Pools and classes are what the release's API takes."""
    yield from flaws(given(installation))


def gates_are_open(installation: Installation) -> Iterator[Finding]:
    """A field behind a feature gate has its gate open."""
    open_gates = installation.values
    for key in ("settings", "featureGates"):
        found = open_gates.get(key)
        open_gates = found if isinstance(found, Mapping) else {}
    # 1.8.0 spells its gate with a capital.
    names = {str(name).lower() for name, is_open in open_gates.items() if is_open}
    for key, field, gate in in_effect(installation.release, GATED):
        named = installation.node_pools if key == "node_pools" else installation.node_classes
        for index, (_, spec) in enumerate(named):
            if spec.get(field) is not None and gate.lower() not in names:
                yield Finding(
                    (key, index, "spec", field),
                    spec[field],
                    f"Karpenter {installation.release} looks at this field only with the feature gate {gate}",
                    f"set karpenter.values.settings.featureGates.{gate}: true",
                )


def resources_are_delivered(installation: Installation) -> Iterator[Finding]:
    """What is to run in the cluster is installed by something."""
    asked: tuple[tuple[Path, object], ...] = (
        (("node_pools",), ", ".join(name for name, _ in installation.node_pools)),
        (("node_classes",), ", ".join(name for name, _ in installation.node_classes)),
        (("smoke_test",), installation.smoke_test),
        (("fargate", "logging"), installation.fargate is not None and installation.fargate.logging),
    )
    for path, wanted in asked:
        if wanted and installation.delivery == "none":
            rule = "delivery: none installs nothing in the cluster"
            yield Finding(path, wanted, rule, "remove it, or set delivery: helm")


def default_class_has_an_identity(installation: Installation) -> Iterator[Finding]:
    """The default class names an instance profile where it cannot name a role."""
    release, inputs = installation.release, resource_inputs(installation)
    classes = all_classes(release, inputs, installation.node_pools, installation.node_classes)
    if installation.delivery == "none" or len(classes) == len(installation.node_classes):
        return
    if installation.isolated_vpc and release in NODE_POOLS and release not in PROFILE_FIELD:
        yield Finding(
            ("karpenter", "version"),
            str(release),
            "in an isolated VPC a class names an instance profile, which it can from 0.32.2 on",
            "set karpenter.version to 0.32.10",
        )
    elif inputs.instance_profile is None and (installation.isolated_vpc or release in ALPHA):
        yield Finding(
            path=("nodes", "instance_profile"),
            value=False,
            expected="the default class names the instance profile of this stack: "
            + ("there is no IAM endpoint in an isolated VPC" if installation.isolated_vpc else "its API knows no role"),
            fix="set it to true, or give a class of your own named default",
        )


def smoke_test_runs_on_nodes(installation: Installation) -> Iterator[Finding]:
    """The pods of the smoke test can be pulled, and wait for a node."""
    if not installation.smoke_test:
        return
    if installation.isolated_vpc:
        yield Finding(
            path=("smoke_test",),
            value=True,
            expected=f"an isolated VPC does not reach {smoke_test.IMAGE}",
            fix="remove it",
        )
    for index, (namespace, labels) in enumerate(installation.fargate.selectors if installation.fargate else ()):
        if namespace == smoke_test.NAMESPACE and not labels:
            yield Finding(
                ("fargate", "selectors", index),
                namespace,
                "the pods of the smoke test are for Karpenter's nodes, and this selector takes them to Fargate",
                "add a label to the selector, or remove smoke_test",
            )


def selectors_fit(installation: Installation) -> Iterator[Finding]:
    """A Fargate profile has at most five selectors, the one for CoreDNS included."""
    if installation.fargate and len(installation.fargate.selectors) > SELECTORS_LIMIT:
        yield Finding(
            ("fargate", "selectors"),
            len(installation.fargate.selectors),
            f"a profile has at most {SELECTORS_LIMIT} selectors, and coredns: true adds one",
            "take one out",
        )


def given(installation: Installation) -> Given:
    """Say what the user's pools and classes are held against: the roles and profiles their nodes can have."""
    names, further = installation.names, installation.node_roles
    made = [role.key for role in further if role.arn is None]
    brought = [role.arn.rpartition("/")[2] for role in further if role.arn is not None]
    roles = (names.node_role, *(names.extra_node_role(key) for key in made), *brought)
    profiles = (names.instance_profile, *(names.extra_instance_profile(key) for key in made))
    return Given(
        release=installation.release,
        pools=installation.node_pools,
        classes=installation.node_classes,
        roles=None if any(map(is_reference, roles)) else roles,
        # A role that is brought along may have an instance profile that is brought along.
        profiles=None
        if brought or any(map(is_reference, profiles))
        else profiles
        if installation.instance_profile
        else (),
        isolated_vpc=installation.isolated_vpc,
    )


RESOURCE_GUARDS: tuple[Callable[[Installation], Iterator[Finding]], ...] = (
    resources_fit_the_release,
    gates_are_open,
    resources_are_delivered,
    default_class_has_an_identity,
    smoke_test_runs_on_nodes,
    selectors_fit,
)


def one_spot_role(installations: Sequence[Installation]) -> Iterator[tuple[int, Finding]]:
    """An account has one service-linked role for spot, and so one stack that makes it."""
    owners: dict[tuple[str, str | None], int] = {}
    for index, installation in enumerate(installations):
        if not installation.spot_service_linked_role:
            continue
        first = owners.setdefault((installation.partition.name, installation.account), index)
        if first != index:
            rule = f"one stack makes the account's service-linked role for spot; clusters[{first}] does"
            finding = Finding(path=("spot_service_linked_role",), value=True, expected=rule, fix="remove it here")
            yield index, finding
