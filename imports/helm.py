"""The provider of hashicorp/helm and its release resource."""

from cdktf_cdktf_provider_helm.provider import (
    HelmProvider as HelmProvider,
    HelmProviderKubernetes as HelmProviderKubernetes,
    HelmProviderKubernetesExec as HelmProviderKubernetesExec,
    HelmProviderRegistries as HelmProviderRegistries,
)
from cdktf_cdktf_provider_helm.release import (
    Release as Release,
    ReleaseSet as ReleaseSet,
    ReleaseSetListStruct as ReleaseSetListStruct,
    ReleaseSetSensitive as ReleaseSetSensitive,
    ReleaseSetWo as ReleaseSetWo,
)
