"""The Helm values that the charts of each release read: the rows, with the defaults that matter."""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.karpenter.custom_resources import BETA_AND_V1_SERVED
from nodeless.karpenter.versions import ALWAYS, Window, before, between, since
from nodeless.trees import KeyPath


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


# Settings and logging keys got other names at 0.32, which still reads the old names; 0.33 does not.
OLD_NAMES = before(0, 33)
# These reached settings.aws late and moved with the rest.
LATE_AWS_SETTINGS = between((0, 30), (0, 33))
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
    (OLD_NAMES, Key("settings.aws.clusterName", successor="settings.clusterName")),
    (OLD_NAMES, Key("settings.aws.clusterEndpoint", successor="settings.clusterEndpoint")),
    (OLD_NAMES, Key("settings.aws.interruptionQueueName", successor="settings.interruptionQueue")),
    (OLD_NAMES, Key("settings.aws.isolatedVPC", "false", "settings.isolatedVPC")),
    (OLD_NAMES, Key("settings.aws.vmMemoryOverheadPercent", "0.075", "settings.vmMemoryOverheadPercent")),
    (
        OLD_NAMES,
        Key("settings.aws.defaultInstanceProfile", gone="use EC2NodeClass spec.role or spec.instanceProfile"),
    ),
    (OLD_NAMES, Key("settings.aws.enablePodENI", gone=NO_SUCCESSOR)),
    (OLD_NAMES, Key("settings.aws.enableENILimitedPodDensity", gone="use kubelet.maxPods of the pool or class")),
    (OLD_NAMES, Key("settings.aws.tags", gone="use EC2NodeClass spec.tags")),
    (before(0, 28), Key("settings.aws.nodeNameConvention", gone=NO_SUCCESSOR)),
    (LATE_AWS_SETTINGS, Key("settings.aws.assumeRoleARN", successor="settings.assumeRoleARN")),
    (LATE_AWS_SETTINGS, Key("settings.aws.assumeRoleDuration", successor="settings.assumeRoleDuration")),
    (LATE_AWS_SETTINGS, Key("settings.aws.clusterCABundle", successor="settings.clusterCABundle")),
    (between((0, 28), (0, 33)), Key("settings.aws.reservedENIs", successor="settings.reservedENIs")),
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
        between((0, 27), (0, 33)),
        Key("settings.featureGates.driftEnabled", "false", "settings.featureGates.drift"),
    ),
    (between((0, 32), (0, 33)), Key("settings.featureGates.drift", "false")),
    (between((0, 33), (1, 0)), Key("settings.featureGates.drift", "true", gone="drift is always on from 1.0")),
    (since(0, 34), Key("settings.featureGates.spotToSpotConsolidation", "false")),
    (since(1, 1), Key("settings.featureGates.nodeRepair", "false")),
    (between((1, 3), (1, 6)), Key("settings.featureGates.reservedCapacity", "false")),
    (since(1, 6), Key("settings.featureGates.reservedCapacity", "true")),
    (since(1, 7), Key("settings.featureGates.nodeOverlay", "false")),
    # The values.yaml of 1.8.0 spells it with a capital, but its template reads this name.
    (since(1, 8), Key("settings.featureGates.staticCapacity", "false")),
    (since(1, 14), Key("settings.featureGates.capacityBuffer", "false")),
)

LOGGING: tuple[tuple[Window, Key], ...] = (
    (before(0, 33), Key("logLevel", "debug")),
    (since(0, 33), Key("logLevel", "info")),
    (OLD_NAMES, Key("logEncoding", "console", "logConfig.logEncoding")),
    (OLD_NAMES, Key("controller.logLevel", successor="logConfig.logLevel.controller")),
    (OLD_NAMES, Key("webhook.logLevel", "error", "logConfig.logLevel.webhook")),
    (OLD_NAMES, Key("controller.outputPaths", successor="logConfig.outputPaths")),
    (OLD_NAMES, Key("controller.errorOutputPaths", successor="logConfig.errorOutputPaths")),
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
    (between((0, 32), (1, 1)), Key("webhook.metrics.port", gone="the webhook is gone")),
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
    (since(0, 26), Key("controller.envFrom")),
    # In between, the chart's own security context could not be changed.
    (
        before(0, 30) | since(1, 5),
        Key("controller.securityContext", gone="remove it: from 0.30 to 1.4 the chart sets its own"),
    ),
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
    (before(0, 30), Key("podSecurityContext", "fsGroup: 1000", gone="remove it: the chart reads it again from 0.34")),
    (between((0, 34), (0, 36)), Key("podSecurityContext", "fsGroup: 65536")),
    (since(0, 36), Key("podSecurityContext", "fsGroup: 65532")),
    (since(1, 1, 1), Key("schedulerName", "default-scheduler")),
    (since(1, 4), Key("initContainers")),
)

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
    (ALWAYS, Key("podDisruptionBudget.name")),
    (ALWAYS, Key("podDisruptionBudget.maxUnavailable")),
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
    (since(1, 5), Key("serviceMonitor.metricRelabelings")),
    (since(1, 5), Key("serviceMonitor.relabelings")),
    (since(1, 9), Key("serviceMonitor.sampleLimit")),
)

CONTROLLER_CHART_KEYS = (*SETTINGS, *GATES, *LOGGING, *WEBHOOK, *CONTROLLER, *SCHEDULING, *METADATA)

# What the controller's chart hands to Helm's `tpl`: `{{ … }}` in these values is evaluated when the chart is rendered.
TEMPLATES: tuple[tuple[Window, str], ...] = (
    (before(0, 28), "extraObjects"),
    (between((0, 27), (0, 27, 1)), "affinity"),
    (since(1, 5), "settings.batchMaxDuration"),
    (since(1, 5), "settings.batchIdleDuration"),
    (since(1, 5), "settings.clusterCABundle"),
    (since(1, 5), "settings.clusterName"),
    (since(1, 5), "settings.clusterEndpoint"),
    (since(1, 5), "settings.isolatedVPC"),
    (since(1, 5), "settings.eksControlPlane"),
    (since(1, 5), "settings.vmMemoryOverheadPercent"),
    (since(1, 5), "settings.interruptionQueue"),
    (since(1, 5), "settings.reservedENIs"),
    (since(1, 6, 2), "settings.disableDryRun"),
    (since(1, 8), "settings.ignoreDRARequests"),
    (since(1, 8), "settings.disableClusterStateObservability"),
    (since(1, 12), "settings.enableZonalShift"),
    (since(1, 13), "settings.amiRefreshInterval"),
    (since(1, 13), "settings.subnetRefreshInterval"),
)

CRD_CHART_KEYS: tuple[tuple[Window, Key], ...] = (
    (BETA_AND_V1_SERVED, Key("webhook.enabled", gone="the conversion webhook is gone")),
    (BETA_AND_V1_SERVED, Key("webhook.serviceName", gone="the conversion webhook is gone")),
    (BETA_AND_V1_SERVED, Key("webhook.serviceNamespace", gone="the conversion webhook is gone")),
    (BETA_AND_V1_SERVED, Key("webhook.port", gone="the conversion webhook is gone")),
    (since(1, 2), Key("additionalAnnotations")),
)

KeyTable = tuple[tuple[Window, Key], ...]
