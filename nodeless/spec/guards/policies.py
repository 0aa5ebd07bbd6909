"""The checks on the controller's policies: their size, and what the flat policy of a guide allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nodeless.finding import Finding
from nodeless.karpenter.custom_resources import all_classes
from nodeless.karpenter.guides import GUIDES, allows_termination, class_tags, lacking, newest_served
from nodeless.karpenter.packing import EXTRA_KEY
from nodeless.karpenter.policy import ATTACHMENTS_LIMIT, MANAGED_POLICY_LIMIT
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import ANY_ACCOUNT, grant_of, place_of
from nodeless.resolved.resources import resource_inputs
from nodeless.spec.guards.guard import RELEASE_KEYS, guard

# What the ARNs in the controller's statements are made of.
NAMED_IN_STATEMENTS = ("name", "region", "names", "path", "nodes.roles", "interruption", "fargate.profile_name")


@guard(*NAMED_IN_STATEMENTS, *RELEASE_KEYS, "karpenter.policy", "extra_statements")
def policies_fit(installation: Installation) -> Iterator[Finding]:
    """Every policy is within IAM's size, and the role within its number of attachments."""
    measured = installation.packing.sizes
    for key, characters in measured.items():
        if characters > MANAGED_POLICY_LIMIT:
            yield Finding(
                # Of upstream's statements only PassRole's list of roles has no end.
                ("extra_statements",) if key == EXTRA_KEY else ("nodes", "roles"),
                f"{installation.names.policy(key)}: {characters} characters",
                f"a managed policy has at most {MANAGED_POLICY_LIMIT} characters without white space",
                f"remove {characters - MANAGED_POLICY_LIMIT} characters, or attach them in a policy of your own",
            )
    if len(measured) > ATTACHMENTS_LIMIT:
        expected = f"a role takes at most {ATTACHMENTS_LIMIT} policies"
        yield Finding(("karpenter", "version"), len(measured), expected, "report this: it is a mistake in nodeless")


GUIDE_READS = (
    *NAMED_IN_STATEMENTS,
    *RELEASE_KEYS,
    "karpenter.policy",
    "karpenter.isolated_vpc",
    "karpenter.zonal_shift",
    "extra_statements",
    "nodes.instance_profile",
    "discovery.tag_key",
    "node_pools[].spec",
    "node_classes",
    "delivery",
    "tags",
)


@guard(*GUIDE_READS)
def guide_serves_release(installation: Installation) -> Iterator[Finding]:
    """The policy of a guide allows every call the release makes."""
    guide = GUIDES.get(installation.policy)
    if guide is None:
        return
    grant = grant_of(installation, place_of(installation, account=ANY_ACCOUNT))
    release = installation.release
    newest = f"set karpenter.version to {newest_served(guide, grant)}, the newest release that it serves unchanged"
    if release not in guide.serves:
        yield Finding(
            ("karpenter", "policy"),
            guide.key,
            f"another policy: {guide.title} recognizes instances by a tag that Karpenter {release} does not set, "
            "so it never allows one to be terminated",
            f"write policy: official, or {newest}",
        )
        return
    missing = lacking(
        guide,
        grant,
        given_profile=_given_profile(installation),
        zonal_shift=installation.zonal_shift,
        extra=installation.extra_statements,
    )
    queue = [action for action in missing if action.startswith("sqs:")]
    rest = [action for action in missing if action not in queue]
    for actions, fix in ((queue, "set interruption: false"), (rest, newest)):
        if actions:
            yield Finding(
                ("karpenter", "policy"),
                guide.key,
                f"{guide.title} does not allow what Karpenter {release} calls here: {', '.join(actions)}",
                f"write policy: official, {fix}, or allow these under extra_statements",
            )


@guard("name", "karpenter.policy", *RELEASE_KEYS, "node_classes.*.spec")
def guide_recognizes_instances(installation: Installation) -> Iterator[Finding]:
    """Every node class sets the tag that a guide's policy asks for before an instance may be terminated."""
    policy, release, cluster = installation.policy, installation.release, installation.name
    for index, (_, spec) in enumerate(installation.node_classes):
        tags = spec.get("tags") or {}
        if isinstance(tags, Mapping) and not allows_termination(policy, release, cluster, tags):
            ((key, value),) = class_tags(policy, release, cluster).items()
            yield Finding(
                ("node_classes", index, "spec", "tags"),
                tags.get(key),
                f"{GUIDES[policy].title} lets Karpenter terminate an instance only by its tag {key}",
                f"add {key}: {value}",
            )


def _given_profile(installation: Installation) -> bool:
    """Tell whether every node class names an instance profile, so that Karpenter creates none."""
    classes = all_classes(
        installation.release, resource_inputs(installation), installation.node_pools, installation.node_classes
    )
    return installation.delivery != "none" and all("instanceProfile" in spec for _, spec in classes)


GUARDS = (policies_fit, guide_serves_release, guide_recognizes_instances)
