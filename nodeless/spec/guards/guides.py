"""The checks on a guide's policy: it was written for some releases and settings, and fails with others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nodeless.finding import Finding
from nodeless.karpenter.custom_resources import all_classes
from nodeless.karpenter.guides import GUIDES, class_tags, lacking, lets_go, newest_served
from nodeless.resolved.installation import Installation
from nodeless.resolved.permissions import ANY_ACCOUNT, grant_of, place_of
from nodeless.resolved.resources import resource_inputs


def guide_serves_release(installation: Installation) -> Iterator[Finding]:
    """The policy of a guide allows what the release calls."""
    guide = GUIDES.get(installation.policy)
    if guide is None:
        return
    grant = grant_of(installation, place_of(installation, account=ANY_ACCOUNT))
    release = installation.release
    newest = f"set karpenter.version to {newest_served(guide, grant)}, the newest release it serves as it stands"
    if release not in guide.serves:
        yield Finding(
            ("karpenter", "policy"),
            guide.key,
            f"{guide.title} knows instances by a tag that Karpenter {release} does not set, and so never lets one go",
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


def guide_knows_instances(installation: Installation) -> Iterator[Finding]:
    """Every node class sets the tag by which the policy of a guide lets its instances go."""
    policy, release, cluster = installation.policy, installation.release, installation.name
    for index, (_, spec) in enumerate(installation.node_classes):
        tags = spec.get("tags") or {}
        if isinstance(tags, Mapping) and not lets_go(policy, release, cluster, tags):
            ((key, value),) = class_tags(policy, release, cluster).items()
            yield Finding(
                ("node_classes", index, "spec", "tags"),
                tags.get(key),
                f"{GUIDES[policy].title} lets Karpenter terminate an instance only by its tag {key}",
                f"add {key}: {value}",
            )


def _given_profile(installation: Installation) -> bool:
    """Tell whether every node class names an instance profile, so that Karpenter makes none."""
    classes = all_classes(
        installation.release, resource_inputs(installation), installation.node_pools, installation.node_classes
    )
    return installation.delivery != "none" and all("instanceProfile" in spec for _, spec in classes)


GUIDE_GUARDS = (guide_serves_release, guide_knows_instances)
