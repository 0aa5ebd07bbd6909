"""Which fields a node pool and a node class have in each release, which are required, and what became of the others.

These rows are the only ones: the checks of a user's pools and the upgrade report both read them. A path ends at a field
whose content is passed on as it is; `[]` is each item of a list. The API server drops unknown fields without an
error when a chart brings them, so a misplaced one would only show as a node that is not what it should be.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from nodeless.karpenter import label_text
from nodeless.karpenter.custom_resources import (
    ALPHA,
    BETA,
    BUDGETS,
    GROUP,
    NODE_POOLS,
    PROFILE_FIELD,
    ROLE_FIELD_ONLY,
    V1,
)
from nodeless.karpenter.versions import ALWAYS, Release, Window, before, between, in_effect, since

# The releases in which a rule holds that several rows or checks depend on.
MIN_VALUES = since(0, 35)
REPLICAS = since(1, 8)
# Until 1.0.4 the API server's own default for the whole block does not pass its own check.
DISRUPTION_REQUIRED = between((1, 0), (1, 0, 4))
CLASS_REFERENCE_IS_FIXED = since(1, 1)
ROLE_MAY_HAVE_A_PATH = since(1, 2)
ROLE_MAY_CHANGE = since(1, 7)
RESERVED_CAPACITY = since(1, 3)
BEFORE_V1 = before(1, 0)

REQUIREMENTS: tuple[tuple[Window, str], ...] = ((ALPHA, "requirements"), (NODE_POOLS, "template.spec.requirements"))
TAINTS: tuple[tuple[Window, str], ...] = (
    (ALPHA, "taints"),
    (ALPHA, "startupTaints"),
    (NODE_POOLS, "template.spec.taints"),
    (NODE_POOLS, "template.spec.startupTaints"),
)
LABELS: tuple[tuple[Window, str], ...] = ((ALPHA, "labels"), (NODE_POOLS, "template.metadata.labels"))
ANNOTATIONS: tuple[tuple[Window, str], ...] = ((ALPHA, "annotations"), (NODE_POOLS, "template.metadata.annotations"))
LIMITS: tuple[tuple[Window, str], ...] = ((ALPHA, "limits.resources"), (NODE_POOLS, "limits"))

POOL_FIELDS: tuple[tuple[Window, str], ...] = (
    *LABELS,
    *ANNOTATIONS,
    *LIMITS,
    *((window, f"{at}[].{field}") for window, at in TAINTS for field in ("key", "value", "effect", "timeAdded")),
    *((window, f"{at}[].{field}") for window, at in REQUIREMENTS for field in ("key", "operator", "values")),
    (MIN_VALUES, "template.spec.requirements[].minValues"),
    (ALPHA, "consolidation.enabled"),
    (ALPHA, "kubeletConfiguration"),
    (ALPHA, "provider"),
    *((ALPHA, f"providerRef.{field}") for field in ("apiVersion", "kind", "name")),
    (ALPHA, "ttlSecondsAfterEmpty"),
    (ALPHA, "ttlSecondsUntilExpired"),
    (NODE_POOLS, "disruption.consolidationPolicy"),
    (NODE_POOLS, "disruption.consolidateAfter"),
    (BETA, "disruption.expireAfter"),
    *((BUDGETS, f"disruption.budgets[].{field}") for field in ("nodes", "schedule", "duration")),
    (V1, "disruption.budgets[].reasons"),
    (BETA, "template.spec.kubelet"),
    (BETA, "template.spec.nodeClassRef.apiVersion"),
    (V1, "template.spec.nodeClassRef.group"),
    (NODE_POOLS, "template.spec.nodeClassRef.kind"),
    (NODE_POOLS, "template.spec.nodeClassRef.name"),
    (V1, "template.spec.expireAfter"),
    (V1, "template.spec.terminationGracePeriod"),
    (REPLICAS, "replicas"),
    (ALWAYS, "weight"),
)

CLASS_FIELDS: tuple[tuple[Window, str], ...] = (
    # What is left of the API that had the content of a class in the Provisioner itself.
    (ALPHA, "apiVersion"),
    (ALPHA, "kind"),
    (ALWAYS, "amiFamily"),
    (ALPHA, "amiSelector"),
    *((NODE_POOLS, f"amiSelectorTerms[].{field}") for field in ("id", "name", "owner", "tags")),
    (V1, "amiSelectorTerms[].alias"),
    (since(1, 4), "amiSelectorTerms[].ssmParameter"),
    (since(0, 35), "associatePublicIPAddress"),
    (ALWAYS, "blockDeviceMappings[].deviceName"),
    (ALWAYS, "blockDeviceMappings[].ebs"),
    (NODE_POOLS, "blockDeviceMappings[].rootVolume"),
    (RESERVED_CAPACITY, "capacityReservationSelectorTerms"),
    (since(1, 13), "connectionTracking"),
    (ALWAYS, "context"),
    (since(1, 13), "cpuOptions"),
    (ALWAYS, "detailedMonitoring"),
    (ALPHA | PROFILE_FIELD, "instanceProfile"),
    (since(0, 34), "instanceStorePolicy"),
    (since(1, 8), "ipPrefixCount"),
    (V1, "kubelet"),
    (ALPHA, "launchTemplate"),
    (ALWAYS, "metadataOptions"),
    (since(1, 11), "networkInterfaces"),
    (since(1, 11), "placementGroupSelector"),
    (NODE_POOLS, "role"),
    (ALPHA, "securityGroupSelector"),
    *((NODE_POOLS, f"securityGroupSelectorTerms[].{field}") for field in ("id", "name", "tags")),
    (ALPHA, "subnetSelector"),
    *((NODE_POOLS, f"subnetSelectorTerms[].{field}") for field in ("id", "tags")),
    (ALWAYS, "tags"),
    (ALWAYS, "userData"),
)

# What a field holds where it is not a string, in the words of upstream's CRDs.
STRING, INTEGER, BOOLEAN, OBJECT = "string", "integer", "boolean", "object"
STRINGS, OBJECTS = "list of string", "list of object"
STRING_MAP, QUANTITIES = "map of string", "map of int-or-string"

FIELD_TYPES: dict[str, str] = {
    **{path: STRING_MAP for _, path in (*LABELS, *ANNOTATIONS)},
    **{path: QUANTITIES for _, path in LIMITS},
    **{f"{path}[].values": STRINGS for _, path in REQUIREMENTS},
    "template.spec.requirements[].minValues": INTEGER,
    "consolidation.enabled": BOOLEAN,
    "kubeletConfiguration": OBJECT,
    "provider": OBJECT,
    "ttlSecondsAfterEmpty": INTEGER,
    "ttlSecondsUntilExpired": INTEGER,
    "disruption.budgets[].reasons": STRINGS,
    "template.spec.kubelet": OBJECT,
    "replicas": INTEGER,
    "weight": INTEGER,
    "amiSelector": STRING_MAP,
    "amiSelectorTerms[].tags": STRING_MAP,
    "associatePublicIPAddress": BOOLEAN,
    "blockDeviceMappings[].ebs": OBJECT,
    "blockDeviceMappings[].rootVolume": BOOLEAN,
    "capacityReservationSelectorTerms": OBJECTS,
    "connectionTracking": OBJECT,
    "cpuOptions": OBJECT,
    "detailedMonitoring": BOOLEAN,
    "ipPrefixCount": INTEGER,
    "kubelet": OBJECT,
    "metadataOptions": OBJECT,
    "networkInterfaces": OBJECTS,
    "placementGroupSelector": OBJECT,
    "securityGroupSelector": STRING_MAP,
    "securityGroupSelectorTerms[].tags": STRING_MAP,
    "subnetSelector": STRING_MAP,
    "subnetSelectorTerms[].tags": STRING_MAP,
    "tags": STRING_MAP,
}

# Fields of another generation: in which releases they are out of place, and where their content belongs there.
POOL_MOVED: tuple[tuple[Window, tuple[str, str]], ...] = (
    (ALPHA, ("template", "write its requirements, taints, labels and annotations directly below spec")),
    (ALPHA, ("disruption", "use consolidation.enabled or ttlSecondsAfterEmpty, and ttlSecondsUntilExpired")),
    (NODE_POOLS, ("providerRef", "use template.spec.nodeClassRef")),
    (NODE_POOLS, ("provider", "use template.spec.nodeClassRef, and a class in node_classes")),
    (NODE_POOLS, ("requirements", "move it to template.spec.requirements")),
    (NODE_POOLS, ("taints", "move it to template.spec.taints")),
    (NODE_POOLS, ("startupTaints", "move it to template.spec.startupTaints")),
    (NODE_POOLS, ("labels", "move it to template.metadata.labels")),
    (NODE_POOLS, ("annotations", "move it to template.metadata.annotations")),
    (NODE_POOLS, ("limits.resources", "write its content directly below limits")),
    (BETA, ("consolidation", "use disruption.consolidationPolicy: WhenUnderutilized")),
    (
        V1,
        ("consolidation", "use disruption.consolidationPolicy: WhenEmptyOrUnderutilized with consolidateAfter"),
    ),
    (
        NODE_POOLS,
        ("ttlSecondsAfterEmpty", "use disruption.consolidationPolicy: WhenEmpty with consolidateAfter, such as 30s"),
    ),
    (BETA, ("ttlSecondsUntilExpired", "use disruption.expireAfter, such as 720h")),
    (V1, ("ttlSecondsUntilExpired", "use template.spec.expireAfter, such as 720h")),
    (BETA, ("kubeletConfiguration", "move it to template.spec.kubelet")),
    (V1, ("kubeletConfiguration", "move it to the node class: node_classes[].spec.kubelet")),
    (BETA, ("template.spec.expireAfter", "move it to disruption.expireAfter")),
    (BETA, ("template.spec.nodeClassRef.group", f"use apiVersion: {GROUP}/v1beta1")),
    (V1, ("disruption.expireAfter", "move it to template.spec.expireAfter")),
    (V1, ("template.spec.kubelet", "move it to the node class: node_classes[].spec.kubelet")),
    (V1, ("template.spec.nodeClassRef.apiVersion", f"use group: {GROUP}")),
)

CLASS_MOVED: tuple[tuple[Window, tuple[str, str]], ...] = (
    (ALPHA, ("subnetSelectorTerms", "use subnetSelector, a map of tags")),
    (ALPHA, ("securityGroupSelectorTerms", "use securityGroupSelector, a map of tags")),
    (ALPHA, ("amiSelectorTerms", "use amiFamily, or amiSelector, a map of tags")),
    (ALPHA, ("role", "use instanceProfile")),
    (ALPHA, ("kubelet", "move it to the pool: node_pools[].spec.kubeletConfiguration")),
    (NODE_POOLS, ("subnetSelector", "use subnetSelectorTerms, a list of {tags: …} or {id: …}")),
    (
        NODE_POOLS,
        ("securityGroupSelector", "use securityGroupSelectorTerms, a list of {tags: …}, {id: …} or {name: …}"),
    ),
    (NODE_POOLS, ("amiSelector", "use amiSelectorTerms, a list of {tags: …}, {id: …} or {name: …}")),
    (NODE_POOLS, ("launchTemplate", "use userData, blockDeviceMappings, metadataOptions and amiSelectorTerms")),
    (ROLE_FIELD_ONLY, ("instanceProfile", "use role; or set karpenter.version to 0.32.10")),
    (BETA, ("kubelet", "move it to the pool: node_pools[].spec.template.spec.kubelet")),
    (BETA, ("amiSelectorTerms[].alias", "use amiFamily, and amiSelectorTerms to pin an AMI")),
)

# A field is required only if its parent exists, so that one missing parent is one finding.
POOL_REQUIRED: tuple[tuple[Window, tuple[str, str]], ...] = (
    (NODE_POOLS, ("template", "add it, with spec.nodeClassRef and spec.requirements below it")),
    (NODE_POOLS, ("template.spec", "add it, with nodeClassRef and requirements below it")),
    (NODE_POOLS, ("template.spec.requirements", "add it; an empty list, [], lets every instance fit")),
    (
        BETA,
        ("template.spec.nodeClassRef", "add nodeClassRef: {name: default}, or name another class"),
    ),
    (
        V1,
        (
            "template.spec.nodeClassRef",
            f"add nodeClassRef: {{group: {GROUP}, kind: EC2NodeClass, name: default}}, or name another class",
        ),
    ),
    (V1, ("template.spec.nodeClassRef.group", f"add group: {GROUP}")),
    (V1, ("template.spec.nodeClassRef.kind", "add kind: EC2NodeClass")),
    (NODE_POOLS, ("template.spec.nodeClassRef.name", "add name: default, or the name of another class")),
    (ALPHA, ("providerRef.name", "add name: default, or the name of another class")),
    (DISRUPTION_REQUIRED, ("disruption", "add disruption: {consolidateAfter: 1m}")),
    (V1, ("disruption.consolidateAfter", "add consolidateAfter, such as 1m, or Never")),
    (BUDGETS, ("disruption.budgets[].nodes", 'add nodes, such as "10%"')),
    *((window, (f"{at}[].key", "add the label it is about")) for window, at in REQUIREMENTS),
    *((window, (f"{at}[].operator", "add the operator, such as In")) for window, at in REQUIREMENTS),
    *((window, (f"{at}[].key", "add its key")) for window, at in TAINTS),
    *((window, (f"{at}[].effect", "add its effect, such as NoSchedule")) for window, at in TAINTS),
)

CLASS_REQUIRED: tuple[tuple[Window, tuple[str, str]], ...] = (
    (BETA, ("amiFamily", "add it, such as AL2")),
    (V1, ("amiSelectorTerms", "add it, such as [{alias: al2023@latest}]")),
    (NODE_POOLS, ("subnetSelectorTerms", "add it, such as [{tags: {karpenter.sh/discovery: <cluster>}}]")),
    (NODE_POOLS, ("securityGroupSelectorTerms", "add it, such as [{tags: {karpenter.sh/discovery: <cluster>}}]")),
)

BUDGET_REASONS = ("Underutilized", "Empty", "Drifted")

# What a field may say. A value of another window is refused with the releases that know it.
POOL_VALUES: tuple[tuple[Window, tuple[str, str]], ...] = (
    *(
        (window, (f"{at}[].operator", operator))
        for window, at in REQUIREMENTS
        for operator in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    ),
    *((since(1, 9), ("template.spec.requirements[].operator", operator)) for operator in ("Gte", "Lte")),
    *(
        (window, (f"{at}[].effect", effect))
        for window, at in TAINTS
        for effect in ("NoSchedule", "PreferNoSchedule", "NoExecute")
    ),
    (NODE_POOLS, ("disruption.consolidationPolicy", "WhenEmpty")),
    (BETA, ("disruption.consolidationPolicy", "WhenUnderutilized")),
    (V1, ("disruption.consolidationPolicy", "WhenEmptyOrUnderutilized")),
    (since(1, 14), ("disruption.consolidationPolicy", "Balanced")),
    *((V1, ("disruption.budgets[].reasons[]", reason)) for reason in BUDGET_REASONS),
    (BETA, ("template.spec.nodeClassRef.apiVersion", f"{GROUP}/v1beta1")),
    (V1, ("template.spec.nodeClassRef.group", GROUP)),
    (NODE_POOLS, ("template.spec.nodeClassRef.kind", "EC2NodeClass")),
    (ALPHA, ("providerRef.apiVersion", f"{GROUP}/v1alpha1")),
    (ALPHA, ("providerRef.kind", "AWSNodeTemplate")),
)

CLASS_VALUES: tuple[tuple[Window, tuple[str, str]], ...] = (
    *((ALWAYS, ("amiFamily", family)) for family in ("AL2", "Bottlerocket", "Custom")),
    (BEFORE_V1, ("amiFamily", "Ubuntu")),
    *((since(0, 29), ("amiFamily", family)) for family in ("Windows2019", "Windows2022")),
    (since(0, 35), ("amiFamily", "AL2023")),
    (since(1, 9), ("amiFamily", "Windows2025")),
    (since(0, 34), ("instanceStorePolicy", "RAID0")),
)

CAPACITY_TYPES: tuple[tuple[Window, str], ...] = (
    (ALWAYS, "spot"),
    (ALWAYS, "on-demand"),
    (RESERVED_CAPACITY, "reserved"),
)

# Family of an alias -> the amiFamily that may be set together with it.
ALIASES: tuple[tuple[Window, tuple[str, str]], ...] = (
    (V1, ("al2", "AL2")),
    (V1, ("al2023", "AL2023")),
    (V1, ("bottlerocket", "Bottlerocket")),
    (V1, ("windows2019", "Windows2019")),
    (V1, ("windows2022", "Windows2022")),
    (since(1, 9), ("windows2025", "Windows2025")),
)

DURATION = r"(([0-9]+(s|m|h))+)|(Never)"
QUANTITY = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?"
SCHEDULE = r"@(annually|yearly|monthly|weekly|daily|midnight|hourly)|\S+(\s+\S+){4}"

# Numbers with a lowest value and, some of them, a highest.
POOL_NUMBERS: tuple[tuple[Window, tuple[str, int, int | None]], ...] = (
    (ALWAYS, ("weight", 1, 100)),
    (MIN_VALUES, ("template.spec.requirements[].minValues", 1, 50)),
    (REPLICAS, ("replicas", 0, None)),
)
CLASS_NUMBERS: tuple[tuple[Window, tuple[str, int, int | None]], ...] = ((since(1, 8), ("ipPrefixCount", 0, None)),)
BUDGETS_LIMIT = 50

# How a text is written: the pattern, what a message says about it, and an example.
LABEL_KEY, LABEL_VALUE = (
    f"must be the key of a label: {label_text.KEY_RULE}",
    f"must be the value of a label: {label_text.VALUE_RULE}",
)
TAINT_KEY, TAINT_VALUE = (
    f"must be the key of a taint: {label_text.KEY_RULE}",
    f"must be the value of a taint: {label_text.VALUE_RULE}",
)
ANNOTATION_KEY = f"must be the key of an annotation: {label_text.KEY_RULE}"

POOL_TEXTS: tuple[tuple[Window, tuple[str, str, str, str]], ...] = (
    (NODE_POOLS, ("disruption.consolidateAfter", DURATION, "must be a duration in s, m and h, or Never", "1m")),
    (BETA, ("disruption.expireAfter", DURATION, "must be a duration in s, m and h, or Never", "720h")),
    (V1, ("template.spec.expireAfter", DURATION, "must be a duration in s, m and h, or Never", "720h")),
    (V1, ("template.spec.terminationGracePeriod", r"([0-9]+(s|m|h))+", "must be a duration in s, m and h", "30m")),
    (
        BUDGETS,
        (
            "disruption.budgets[].nodes",
            r"(100|[0-9]{1,2})%|[0-9]+",
            "must be a number or a percentage, in quotes",
            '"10%"',
        ),
    ),
    (
        BUDGETS,
        ("disruption.budgets[].duration", r"([0-9]+h([0-9]+m)?|[0-9]+m)(0s)?", "must be hours and minutes", "8h"),
    ),
    (
        BUDGETS,
        (
            "disruption.budgets[].schedule",
            SCHEDULE,
            "must be five fields of cron in UTC, or a word such as @daily",
            '"0 9 * * 1-5"',
        ),
    ),
    *((window, (f"{at}[].key", label_text.KEY, TAINT_KEY, label_text.KEY_EXAMPLE)) for window, at in TAINTS),
    *((window, (f"{at}[].value", label_text.VALUE, TAINT_VALUE, label_text.VALUE_EXAMPLE)) for window, at in TAINTS),
    *((window, (f"{at}[].key", label_text.KEY, LABEL_KEY, label_text.KEY_EXAMPLE)) for window, at in REQUIREMENTS),
    *(
        (window, (f"{at}[].values[]", label_text.VALUE, LABEL_VALUE, label_text.VALUE_EXAMPLE))
        for window, at in REQUIREMENTS
    ),
)

CLASS_TEXTS: tuple[tuple[Window, tuple[str, str, str, str]], ...] = (
    (NODE_POOLS, ("subnetSelectorTerms[].id", r"subnet-[0-9a-z]+", "must be a subnet id", "subnet-0123456789abcdef0")),
    (
        NODE_POOLS,
        ("securityGroupSelectorTerms[].id", r"sg-[0-9a-z]+", "must be a security group id", "sg-0123456789abcdef0"),
    ),
    (NODE_POOLS, ("amiSelectorTerms[].id", r"ami-[0-9a-z]+", "must be an AMI id", "ami-0123456789abcdef0")),
)

# Fields that do nothing until a feature gate of the chart is on: which of the two has it, the field, the gate.
GATED: tuple[tuple[Window, tuple[str, str, str]], ...] = (
    (REPLICAS, ("node_pools", "replicas", "staticCapacity")),
    # On by default from 1.6.
    (between((1, 3), (1, 6)), ("node_classes", "capacityReservationSelectorTerms", "reservedCapacity")),
)

# Tag keys that upstream's CRDs refuse in a class, before 0.32 its webhook; `*` is any ending. Karpenter sets
# these itself. Other keys below karpenter.sh/ are free: the blog tags its instances with karpenter.sh/discovery.
RESERVED_TAGS: tuple[tuple[Window, str], ...] = (
    (since(0, 28), "kubernetes.io/cluster*"),
    (between((0, 28), (0, 35)), "karpenter.sh/provisioner-name"),
    (between((0, 28), (1, 0)), "karpenter.sh/managed-by"),
    (NODE_POOLS, "karpenter.sh/nodepool"),
    (since(0, 35), "karpenter.sh/nodeclaim"),
    (since(0, 35), "karpenter.k8s.aws/ec2nodeclass"),
    (V1, "eks:eks-cluster-name"),
)

# The tags of the newest release's instances that come from Karpenter, Name included. EC2 takes 50 in all.
TAGS_SET_BY_KARPENTER = 6
INSTANCE_TAGS_LIMIT = 50


def is_reserved_tag(release: Release, key: str) -> bool:
    """Tell whether a class must not set a tag, because Karpenter does."""
    return any(fnmatchcase(key, pattern) for pattern in in_effect(release, RESERVED_TAGS))


# Labels that Karpenter or the kubelet sets.
RESERVED_LABELS: tuple[tuple[Window, str], ...] = (
    (ALPHA, "karpenter.sh/provisioner-name"),
    (NODE_POOLS, "karpenter.sh/nodepool"),
    (ALWAYS, "kubernetes.io/hostname"),
)
