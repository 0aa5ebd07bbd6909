"""What the tables of nodeless say of a release, in the same words as upstream's files, and where each row stands."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from nodeless.karpenter import chart, chart_key_rows, chart_keys, controller, custom_resource_fields
from nodeless.karpenter.chart_key_rows import KeyTable
from nodeless.karpenter.custom_resources import api_of
from nodeless.karpenter.grant import Grant
from nodeless.karpenter.interruption import RETENTION_SECONDS, TARGET_ID, event_rules, queue_policy
from nodeless.karpenter.nodes import node_policies
from nodeless.karpenter.packing import SPLIT_BY_DUTY, pack, policy_title
from nodeless.karpenter.place import Place
from nodeless.karpenter.policy import Statement
from nodeless.karpenter.releases import kubernetes_range
from nodeless.karpenter.trust import node_trust
from nodeless.karpenter.versions import Release, Window, in_effect, the_one
from nodeless.upgrade.resource_changes import KINDS
from tools.new_release.facts import (
    ACCOUNT,
    CLUSTER,
    DNS_SUFFIX,
    NODE_ROLE,
    NODE_ROLE_ARN,
    PARTITION,
    QUEUE,
    QUEUE_ARN,
    REGION,
    Facts,
    statement_facts,
    statement_name,
)

PLACE = Place(partition=PARTITION, dns_suffix=DNS_SUFFIX, region=REGION, account=ACCOUNT, cluster=CLUSTER)
RULE_ARN = "the stack's own rules"

KARPENTER, UPGRADE = "nodeless/karpenter", "nodeless/upgrade"
RELEASES_PLACE = f"{KARPENTER}/releases.py LAST_PATCHES"
RULES_PLACE = f"{KARPENTER}/interruption.py EVENT_RULES"
QUEUE_PLACE = f"{KARPENTER}/interruption.py queue_policy, RETENTION_SECONDS"
KINDS_PLACE = f"{UPGRADE}/resource_changes.py KINDS"
KUBERNETES_PLACE = f"{KARPENTER}/releases.py KUBERNETES"
NOTES_PLACE = f"{UPGRADE}/path.py UPGRADE_NOTES, RELEASE_WARNINGS, WAYPOINTS"
UNKNOWN_PLACE = "stacks/components (a resource of a new type)"

# The tables that a statement's lists come from; anything else is in the statement's own function.
STATEMENT_TABLES = {
    ("AllowScopedEC2InstanceAccessActions", "resource"): "INSTANCE_ACCESS",
    ("AllowScopedEC2InstanceActionsWithTags", "resource"): "LAUNCHED_WITH_TAGS",
    ("AllowScopedEC2InstanceActionsWithTags", "action"): "LAUNCH_ACTIONS_WITH_TAGS",
    ("AllowScopedResourceCreationTagging", "resource"): "TAGGED_AT_CREATION",
    ("AllowScopedResourceTagging", "condition"): "TAG_KEYS_SET_LATER, later_tagging",
    ("AllowRegionalReadActions", "action"): "REGIONAL_READS",
    ("AllowInterruptionQueueActions", "action"): "QUEUE_ACTIONS",
    ("AllowPassingInstanceRole", "condition"): "PASSED_TO, passing_node_roles",
}

KEYS_FILE = f"{KARPENTER}/chart_key_rows.py"
KEY_TABLES = ("SETTINGS", "GATES", "LOGGING", "WEBHOOK", "CONTROLLER", "SCHEDULING", "METADATA")
# The table of a key that is in none of them yet, by how its name begins.
NEW_KEY_TABLES = (
    ("settings.featureGates.", "GATES"),
    ("settings.", "SETTINGS"),
    ("log", "LOGGING"),
    ("webhook.", "WEBHOOK"),
    ("controller.", "CONTROLLER"),
    ("", "SCHEDULING or METADATA"),
)


def controller_statements(release: Release) -> tuple[tuple[str, Statement], ...]:
    """Return the controller's statements with the name of the managed policy that holds each upstream."""
    packed = pack(_grant(release), whole=not the_one(release, SPLIT_BY_DUTY))
    return tuple((f"{policy_title(key)}-{CLUSTER}", row) for key, rows in packed.items() for row in rows)


def statements(release: Release) -> Facts:
    """Return what is true of each of the controller's statements."""
    return {
        statement_name(row): statement_facts(row) | {f"policy {policy}"}
        for policy, row in controller_statements(release)
    }


def statement_place(release: Release, name: str, part: str) -> str:
    """Name the table or the function that holds a part of a statement."""
    table = "STATEMENTS" if part == "policy" else STATEMENT_TABLES.get((name, part))
    functions = [
        build.__name__
        for _, build in in_effect(release, controller.STATEMENTS)
        if (row := build(_grant(release))) and statement_name(row) == name
    ]
    return f"{KARPENTER}/controller.py {table or ', '.join(functions) or 'STATEMENTS, and a function for it'}"


def rules(release: Release) -> Facts:
    """Return the EventBridge rules."""
    return {
        rule.title: frozenset({f"source {rule.source}", f"detail-type {rule.detail_type}", f"target {TARGET_ID}"})
        for rule in event_rules(release)
    }


def node_role(release: Release) -> Facts:
    """Return the node role's managed policies, and who may assume it."""
    policies = {f"policy {name}" for _, name in node_policies(release, ipv6=False)}
    trusted = {
        f"principal {name}"
        for row in node_trust(f"ec2.{PLACE.dns_suffix}")
        for who in row.principals
        for name in who.identifiers
    }
    return {NODE_ROLE: frozenset(policies | trusted)}


def node_role_place(fact: str) -> str:
    """Name the table of the managed policies, or the function of the trust."""
    return f"{KARPENTER}/{'trust.py node_trust' if fact.startswith('principal') else 'nodes.py NODE_POLICIES'}"


def queue(_: Release) -> Facts:
    """Return the queue's settings and the statements of its policy, the same for every release."""
    return {
        QUEUE: frozenset({f"MessageRetentionPeriod {RETENTION_SECONDS}", "SqsManagedSseEnabled true"}),
        **{
            f"queue policy: {row.effect} {row.actions[0]}": statement_facts(row)
            for row in queue_policy(QUEUE_ARN, (RULE_ARN,))
        },
    }


def chart_defaults(release: Release, table: KeyTable) -> dict[str, str | None]:
    """Return the keys the release's chart reads, with the default where the table has one."""
    return {name: key.default for name, key in chart_keys.keys_read(release, table).items()}


def key_place(release: Release, name: str, chart_name: str) -> str:
    """Name the table of a chart's key, and the values nodeless sets where it is one of them."""
    if chart_name != chart.CONTROLLER_CHART:
        return f"{KEYS_FILE} CRD_CHART_KEYS"
    known = [table for table in KEY_TABLES if name in {key.name for _, key in getattr(chart_key_rows, table)}]
    likely = [table for start, table in NEW_KEY_TABLES if name.startswith(start)]
    sets = f", {KARPENTER}/chart.py VALUES" if name in {path for path, _ in in_effect(release, chart.VALUES)} else ""
    return f"{KEYS_FILE} {(known or likely)[0]}{sets}"


def kinds(release: Release) -> Facts:
    """Return every kind that the release's definitions serve."""
    return {kind: frozenset() for kind in in_effect(release, KINDS)}


def pool_fields(release: Release) -> tuple[Facts, set[str]]:
    """Return a pool's fields with their values, and the paths that are required."""
    return _fields(
        release,
        custom_resource_fields.POOL_FIELDS,
        custom_resource_fields.POOL_VALUES,
        custom_resource_fields.POOL_REQUIRED,
    )


def class_fields(release: Release) -> tuple[Facts, set[str]]:
    """Return a class's fields with their values, and the paths that are required."""
    found, required = _fields(
        release,
        custom_resource_fields.CLASS_FIELDS,
        custom_resource_fields.CLASS_VALUES,
        custom_resource_fields.CLASS_REQUIRED,
    )
    if "amiSelectorTerms[].alias" in found:
        aliases = in_effect(release, custom_resource_fields.ALIASES)
        found["amiSelectorTerms[].alias"] = frozenset(f"value {family}" for family, _ in aliases)
    tags = in_effect(release, custom_resource_fields.RESERVED_TAGS)
    # Upstream's message writes the prefix with a slash.
    found["tags"] = frozenset(f"reserved {re.sub(r'[*]$', '/', tag)}" for tag in tags)
    return found, required


def field_place(owner: str, name: str, fact: str) -> str:
    """Name the table of a field (`POOL` or `CLASS`), of a value it may have, or of what must be there."""
    if fact.startswith("reserved"):
        table = "RESERVED_TAGS"
    elif fact == "required":
        table = f"{owner}_REQUIRED"
    elif fact.startswith("value"):
        table = "ALIASES" if name.endswith(".alias") else f"{owner}_VALUES"
    else:
        table = f"{owner}_FIELDS"
    return f"{KARPENTER}/custom_resource_fields.py {table}"


def apis(release: Release) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return API version and kind of pool and class."""
    api = api_of(release)
    return (api.pool_version, api.pool_kind), (api.class_version, api.class_kind)


def kubernetes(release: Release) -> Facts:
    """Return the first and the last Kubernetes minor."""
    first, last = kubernetes_range(release)
    return {"Kubernetes": frozenset({f"from 1.{first}", f"to 1.{last}"})}


def _grant(release: Release) -> Grant:
    return Grant(place=PLACE, release=release, node_role_arns=(NODE_ROLE_ARN,), queue_arn=QUEUE_ARN)


def _fields(
    release: Release,
    fields: Iterable[tuple[Window, str]],
    values: Iterable[tuple[Window, tuple[str, str]]],
    required: Iterable[tuple[Window, tuple[str, str]]],
) -> tuple[Facts, set[str]]:
    allowed = defaultdict(set)
    for path, value in in_effect(release, values):
        allowed[path.removesuffix("[]")].add(f"value {value}")
    found = {path: frozenset(allowed[path]) for path in in_effect(release, fields)}
    return found, {path for path, _ in in_effect(release, required)}
