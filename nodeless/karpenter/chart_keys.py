"""Which Helm values the charts of a release read, with the defaults that matter and what a key is called elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodeless.karpenter.chart import CRD_WEBHOOK
from nodeless.karpenter.versions import ALWAYS, Release, Window, before, between, in_effect, since

KeyPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """One value the chart reads, with everything below it.

    `default` is the chart's own, where it differs between releases or decides something; `successor` is what the key
    is called in later releases; `gone` says what to do without it, `note` what to know when it comes or changes.
    """

    name: str
    default: str | None = None
    successor: str | None = None
    gone: str | None = None
    note: str | None = None

    @property
    def path(self) -> KeyPath:
        """Split the name; no key of the chart itself has a dot in it."""
        return tuple(self.name.split("."))


# The settings moved from settings.aws.* to settings.* at 0.32, which still honours the old names; 0.33 does not.
AWS_SETTINGS = before(0, 33)
# These reached settings.aws late and moved with the rest.
LATE_AWS_SETTINGS = between((0, 30), (0, 32))
LOG_CONFIG = between((0, 32), (1, 0))
# The webhook came back on by default with the patches that convert between v1beta1 and v1.
WEBHOOK_OFF = (
    between((0, 33), (0, 33, 8))
    | between((0, 34), (0, 34, 9))
    | between((0, 35), (0, 35, 8))
    | between((0, 36), (0, 36, 5))
    | between((0, 37), (0, 37, 3))
)
WEBHOOK_ON = (
    between((0, 32), (0, 33))
    | between((0, 33, 8), (0, 34))
    | between((0, 34, 9), (0, 35))
    | between((0, 35, 8), (0, 36))
    | between((0, 36, 5), (0, 37))
    | between((0, 37, 3), (1, 1))
)
# A hook that patched the CRDs after installation; each of these patches has it, none of their successors.
POST_INSTALL_HOOK = (
    between((0, 33, 6), (0, 33, 7))
    | between((0, 34, 7), (0, 34, 8))
    | between((0, 35, 6), (0, 35, 7))
    | between((0, 36, 3), (0, 36, 4))
    | between((0, 37, 1), (0, 37, 2))
    | between((1, 0, 0), (1, 0, 1))
)

NO_SUCCESSOR = "no successor: remove it"

SETTINGS: tuple[tuple[Window, Key], ...] = (
    (AWS_SETTINGS, Key("settings.aws.clusterName", successor="settings.clusterName")),
    (AWS_SETTINGS, Key("settings.aws.clusterEndpoint", successor="settings.clusterEndpoint")),
    (AWS_SETTINGS, Key("settings.aws.interruptionQueueName", successor="settings.interruptionQueue")),
    (AWS_SETTINGS, Key("settings.aws.isolatedVPC", "false", "settings.isolatedVPC")),
    (AWS_SETTINGS, Key("settings.aws.vmMemoryOverheadPercent", "0.075", "settings.vmMemoryOverheadPercent")),
    (
        AWS_SETTINGS,
        Key("settings.aws.defaultInstanceProfile", gone="use EC2NodeClass spec.role or spec.instanceProfile"),
    ),
    (AWS_SETTINGS, Key("settings.aws.enablePodENI", gone=NO_SUCCESSOR)),
    (AWS_SETTINGS, Key("settings.aws.enableENILimitedPodDensity", gone="use kubelet.maxPods of the pool or class")),
    (AWS_SETTINGS, Key("settings.aws.tags", gone="use EC2NodeClass spec.tags")),
    (before(0, 28), Key("settings.aws.nodeNameConvention", gone=NO_SUCCESSOR)),
    (LATE_AWS_SETTINGS, Key("settings.aws.assumeRoleARN", successor="settings.assumeRoleARN")),
    (LATE_AWS_SETTINGS, Key("settings.aws.assumeRoleDuration", successor="settings.assumeRoleDuration")),
    (LATE_AWS_SETTINGS, Key("settings.aws.clusterCABundle", successor="settings.clusterCABundle")),
    (since(0, 32), Key("settings.clusterName", note="a missing one fails the render from 1.5 on")),
    (since(0, 32), Key("settings.clusterEndpoint")),
    (since(0, 32), Key("settings.clusterCABundle")),
    (since(0, 32), Key("settings.interruptionQueue")),
    (since(0, 32), Key("settings.isolatedVPC", "false")),
    (since(0, 32), Key("settings.vmMemoryOverheadPercent", "0.075")),
    (since(0, 32), Key("settings.reservedENIs", '"0"')),
    (between((0, 32), (1, 0)), Key("settings.assumeRoleARN", gone=NO_SUCCESSOR)),
    (between((0, 32), (1, 0)), Key("settings.assumeRoleDuration", gone=NO_SUCCESSOR)),
    (ALWAYS, Key("settings.batchMaxDuration", "10s")),
    (ALWAYS, Key("settings.batchIdleDuration", "1s")),
    (since(1, 1), Key("settings.eksControlPlane", "false")),
    (since(1, 4), Key("settings.preferencePolicy", "Respect")),
    (since(1, 6), Key("settings.minValuesPolicy", "Strict")),
    (since(1, 6, 2), Key("settings.disableDryRun", "false")),
    (since(1, 8), Key("settings.ignoreDRARequests", "true")),
    (since(1, 8), Key("settings.disableClusterStateObservability", "false")),
    (since(1, 12), Key("settings.enableZonalShift", "false")),
    (since(1, 13), Key("settings.amiRefreshInterval", "1m")),
    (since(1, 13), Key("settings.subnetRefreshInterval", "1m")),
)

GATES: tuple[tuple[Window, Key], ...] = (
    (
        between((0, 27), (0, 32)),
        Key("settings.featureGates.driftEnabled", "false", "settings.featureGates.drift"),
    ),
    (between((0, 32), (0, 33)), Key("settings.featureGates.drift", "false")),
    (between((0, 33), (1, 0)), Key("settings.featureGates.drift", "true", gone="drift is always on from 1.0")),
    (since(0, 34), Key("settings.featureGates.spotToSpotConsolidation", "false")),
    (since(1, 1), Key("settings.featureGates.nodeRepair", "false")),
    (between((1, 3), (1, 6)), Key("settings.featureGates.reservedCapacity", "false")),
    (since(1, 6), Key("settings.featureGates.reservedCapacity", "true")),
    (since(1, 7), Key("settings.featureGates.nodeOverlay", "false")),
    # The values.yaml of 1.8.0 alone spells it with a capital.
    (
        between((1, 8, 0), (1, 8, 1)),
        Key("settings.featureGates.StaticCapacity", "false", "settings.featureGates.staticCapacity"),
    ),
    (since(1, 8, 1), Key("settings.featureGates.staticCapacity", "false")),
    (since(1, 14), Key("settings.featureGates.capacityBuffer", "false")),
)

LOGGING: tuple[tuple[Window, Key], ...] = (
    (before(0, 33), Key("logLevel", "debug")),
    (since(0, 33), Key("logLevel", "info")),
    (before(0, 32), Key("logEncoding", "console", "logConfig.logEncoding")),
    (before(0, 32), Key("controller.logLevel", successor="logConfig.logLevel.controller")),
    (before(0, 32), Key("webhook.logLevel", "error", "logConfig.logLevel.webhook")),
    # Dated with the rest of the logging keys they belong to.
    (before(0, 32), Key("controller.logEncoding", successor="logConfig.logEncoding")),
    (before(0, 32), Key("controller.outputPaths", successor="logConfig.outputPaths")),
    (before(0, 32), Key("controller.errorOutputPaths", successor="logConfig.errorOutputPaths")),
    (LOG_CONFIG, Key("logConfig.enabled", gone=NO_SUCCESSOR)),
    (LOG_CONFIG, Key("logConfig.outputPaths", successor="logOutputPaths")),
    (LOG_CONFIG, Key("logConfig.errorOutputPaths", successor="logErrorOutputPaths")),
    (LOG_CONFIG, Key("logConfig.logEncoding", gone=NO_SUCCESSOR)),
    (LOG_CONFIG, Key("logConfig.logLevel.global", successor="logLevel")),
    (LOG_CONFIG, Key("logConfig.logLevel.controller", successor="logLevel")),
    (LOG_CONFIG, Key("logConfig.logLevel.webhook", gone=NO_SUCCESSOR)),
    (since(1, 0), Key("logOutputPaths")),
    (since(1, 0), Key("logErrorOutputPaths")),
)

WEBHOOK: tuple[tuple[Window, Key], ...] = (
    (WEBHOOK_ON, Key("webhook.enabled", "true", gone="the webhook is gone")),
    (WEBHOOK_OFF, Key("webhook.enabled", "false")),
    (before(1, 1), Key("webhook.port", "8443", gone="the webhook is gone")),
    (before(1, 1), Key("webhook.metrics.port", gone="the webhook is gone")),
    (POST_INSTALL_HOOK, Key("postInstallHook.image", gone="the hook was in that patch only")),
)

CONTROLLER: tuple[tuple[Window, Key], ...] = (
    (before(0, 26), Key("controller.resources", "1 CPU, 1Gi")),
    (since(0, 26), Key("controller.resources", "{}", note="without requests Fargate gives a quarter of a vCPU")),
    (before(0, 26), Key("controller.image", "one string", gone="a map of repository, tag and digest from 0.26")),
    (since(0, 26), Key("controller.image.repository")),
    (since(0, 26), Key("controller.image.tag")),
    (since(0, 26), Key("controller.image.digest")),
    (before(0, 28), Key("controller.metrics.port", "8080")),
    (between((0, 28), (1, 0)), Key("controller.metrics.port", "8000")),
    (since(1, 0), Key("controller.metrics.port", "8080")),
    (ALWAYS, Key("controller.healthProbe.port")),
    (since(1, 1, 1), Key("controller.containerName", "controller")),
    (ALWAYS, Key("controller.env")),
    (ALWAYS, Key("controller.envFrom")),
    (ALWAYS, Key("controller.securityContext")),
    (ALWAYS, Key("controller.extraVolumeMounts")),
    (ALWAYS, Key("controller.sidecarContainer")),
    (ALWAYS, Key("controller.sidecarVolumeMounts")),
)

SCHEDULING: tuple[tuple[Window, Key], ...] = (
    (ALWAYS, Key("replicas", "2")),
    (ALWAYS, Key("priorityClassName", "system-cluster-critical")),
    (ALWAYS, Key("hostNetwork", "false")),
    (ALWAYS, Key("nodeSelector", "kubernetes.io/os: linux")),
    (before(0, 27), Key("affinity", "not on nodes with karpenter.sh/provisioner-name")),
    (
        between((0, 27), (0, 32)),
        Key("affinity", "not on nodes with karpenter.sh/provisioner-name; one replica per host"),
    ),
    (
        between((0, 32), (0, 33)),
        Key(
            "affinity",
            "not on nodes with karpenter.sh/provisioner-name or karpenter.sh/nodepool; one replica per host",
        ),
    ),
    (since(0, 33), Key("affinity", "not on nodes with karpenter.sh/nodepool; one replica per host")),
    (before(1, 0), Key("topologySpreadConstraints", "zones, ScheduleAnyway")),
    (since(1, 0), Key("topologySpreadConstraints", "zones, DoNotSchedule")),
    (ALWAYS, Key("tolerations", "CriticalAddonsOnly")),
    (before(0, 34), Key("dnsPolicy", "Default")),
    (since(0, 34), Key("dnsPolicy", "ClusterFirst", note="on Fargate the cluster's DNS may wait for the first node")),
    (ALWAYS, Key("dnsConfig")),
    (before(0, 30), Key("podSecurityContext", "fsGroup: 1000")),
    (between((0, 30), (0, 34)), Key("podSecurityContext", "none")),
    (between((0, 34), (0, 36)), Key("podSecurityContext", "fsGroup: 65536")),
    (since(0, 36), Key("podSecurityContext", "fsGroup: 65532")),
    (since(1, 1, 1), Key("schedulerName", "default-scheduler")),
    (since(1, 4), Key("initContainers")),
)

# Keys without a window of their own are not dated: they are never refused and never reported as a change.
METADATA: tuple[tuple[Window, Key], ...] = (
    (ALWAYS, Key("nameOverride")),
    (ALWAYS, Key("fullnameOverride")),
    (ALWAYS, Key("additionalLabels")),
    (ALWAYS, Key("additionalAnnotations")),
    (ALWAYS, Key("additionalClusterRoleRules")),
    (ALWAYS, Key("imagePullPolicy")),
    (ALWAYS, Key("imagePullSecrets")),
    (ALWAYS, Key("revisionHistoryLimit")),
    (ALWAYS, Key("strategy")),
    (ALWAYS, Key("podLabels")),
    (ALWAYS, Key("podAnnotations")),
    (ALWAYS, Key("podDisruptionBudget")),
    (ALWAYS, Key("terminationGracePeriodSeconds")),
    (ALWAYS, Key("extraVolumes")),
    (before(0, 28), Key("extraObjects", gone=NO_SUCCESSOR)),
    (since(1, 1), Key("service.annotations")),
    (ALWAYS, Key("serviceAccount.create")),
    (ALWAYS, Key("serviceAccount.name")),
    (ALWAYS, Key("serviceAccount.annotations")),
    (ALWAYS, Key("serviceMonitor.enabled")),
    (ALWAYS, Key("serviceMonitor.additionalLabels")),
    (ALWAYS, Key("serviceMonitor.endpointConfig")),
    (ALWAYS, Key("serviceMonitor.metricRelabelings")),
    (ALWAYS, Key("serviceMonitor.sampleLimit")),
    (since(1, 5), Key("serviceMonitor.relabelings")),
)

CONTROLLER_CHART_KEYS = (*SETTINGS, *GATES, *LOGGING, *WEBHOOK, *CONTROLLER, *SCHEDULING, *METADATA)

CRD_CHART_KEYS: tuple[tuple[Window, Key], ...] = (
    (CRD_WEBHOOK, Key("webhook.enabled", gone="the conversion webhook is gone")),
    (CRD_WEBHOOK, Key("webhook.serviceName", gone="the conversion webhook is gone")),
    (CRD_WEBHOOK, Key("webhook.serviceNamespace", gone="the conversion webhook is gone")),
    (CRD_WEBHOOK, Key("webhook.port", gone="the conversion webhook is gone")),
    (since(1, 2), Key("additionalAnnotations")),
)

KeyTable = tuple[tuple[Window, Key], ...]

# What a change of keys is called.
RENAMED, GONE, NEW, DEFAULT = "renamed", "gone", "new", "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChange:
    """A key that one of two releases reads and the other does not, or whose default differs."""

    change: str
    key: str
    instead: str | None = None
    was_default: str | None = None
    default: str | None = None
    note: str | None = None


def keys_read(release: Release, table: KeyTable = CONTROLLER_CHART_KEYS) -> Mapping[str, Key]:
    """Return what the release's chart reads, by name; the chart ignores every other key without a word."""
    return {key.name: key for key in in_effect(release, table)}


def reads(release: Release, path: KeyPath, table: KeyTable = CONTROLLER_CHART_KEYS) -> bool:
    """Tell whether a value at this path reaches anything: a key of the chart, or something below one."""
    return any(path[: len(key.path)] == key.path for key in in_effect(release, table))


def instead(release: Release, path: KeyPath, table: KeyTable = CONTROLLER_CHART_KEYS) -> str | None:
    """Name the key this release reads in place of one that belongs to a later or an earlier release."""
    known = keys_read(release, table)
    names = {key.name for _, key in table if path[: len(key.path)] == key.path}
    for chain in (_later(names, table), _earlier(names, table)):
        for name in chain:
            if name in known:
                return name
    return None


def without(release: Release, path: KeyPath, table: KeyTable = CONTROLLER_CHART_KEYS) -> str | None:
    """Say what to do where a release no longer reads a key and none stands for it."""
    names = {key.name for _, key in table if path[: len(key.path)] == key.path}
    known = names.union(_later(names, table))
    advice = [
        key.gone
        for window, key in table
        if key.name in known and key.gone and any(start <= release for start, _ in window.spans)
    ]
    return advice[-1] if advice else None


def comes_with(path: KeyPath, table: KeyTable = CONTROLLER_CHART_KEYS) -> tuple[int, ...] | None:
    """Return the first release whose chart reads a value at this path; None where no chart does."""
    rows = [window for window, key in table if path[: len(key.path)] == key.path]
    return min((start for window in rows for start, _ in window.spans), default=None)


def leaves(values: Mapping[str, Any], above: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Walk a tree of values to everything that is not a map; an empty map below the top counts as a value."""
    for key, value in values.items():
        path = (*above, key)
        if isinstance(value, Mapping) and value:
            yield from leaves(value, path)
        else:
            yield path, value


def key_changes(before: Release, after: Release, table: KeyTable = CONTROLLER_CHART_KEYS) -> tuple[KeyChange, ...]:
    """Compare the keys of two releases, in the order of the table."""
    names = dict.fromkeys(key.name for _, key in table)
    old, new = keys_read(before, table), keys_read(after, table)
    return tuple(change for name in names for change in _changes(name, old, new, after, table))


def _changes(
    name: str, old: Mapping[str, Key], new: Mapping[str, Key], after: Release, table: KeyTable
) -> Iterator[KeyChange]:
    """Yield what becomes of one key; a rename is told at the name that goes, or at the new one if the old one stays."""
    was, now = old.get(name), new.get(name)
    if was and now and was.default != now.default:
        yield KeyChange(change=DEFAULT, key=name, was_default=was.default, default=now.default, note=now.note)
    elif was and not now:
        yield _departure(name, after, table)
    elif now and not was and not _parts_of(name, old) and not _whole_of(name, old):
        earlier = [origin for origin in _earlier({name}, table) if origin in old]
        if any(origin in new for origin in earlier):
            yield KeyChange(change=RENAMED, key=earlier[0], instead=name, note=f"{after} still reads the old name")
        elif not earlier and all(later in new for later in _later({name}, table) if later in old):
            yield KeyChange(change=NEW, key=name, default=now.default, note=now.note)


def _departure(name: str, after: Release, table: KeyTable) -> KeyChange:
    path = tuple(name.split("."))
    new = keys_read(after, table)
    successor = _whole_of(name, new) or (f"{name}.*" if _parts_of(name, new) else instead(after, path, table))
    if successor:
        return KeyChange(change=RENAMED, key=name, instead=successor)
    return KeyChange(change=GONE, key=name, note=without(after, path, table))


def _parts_of(name: str, names: Iterable[str]) -> bool:
    """Tell whether a key is split into others."""
    return any(other.startswith(f"{name}.") for other in names)


def _whole_of(name: str, names: Iterable[str]) -> str | None:
    """Find the key this one is a part of."""
    return next((other for other in names if name.startswith(f"{other}.")), None)


def _later(names: Iterable[str], table: KeyTable) -> list[str]:
    """Follow a key through its successors, the next one first."""
    chain = list(names)
    for name in chain:
        chain += sorted({key.successor for _, key in table if key.name == name and key.successor} - {*chain})
    return [name for name in chain if name not in {*names}]


def _earlier(names: Iterable[str], table: KeyTable) -> list[str]:
    """Follow a key back through what it was called before, the last one first."""
    chain = list(names)
    for name in chain:
        chain += sorted({key.name for _, key in table if key.successor == name} - {*chain})
    return [name for name in chain if name not in {*names}]
