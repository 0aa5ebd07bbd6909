"""The classes of hashicorp/helm that this project uses. Node reads the import lines of this file too: see aws.py."""

from cdktf_cdktf_provider_helm.provider import (
    HelmProvider as HelmProvider,
    HelmProviderKubernetes as HelmProviderKubernetes,
    HelmProviderKubernetesExec as HelmProviderKubernetesExec,
)
from cdktf_cdktf_provider_helm.release import Release as Release

from nodeless.imports.type_hints import remember_type_hints

remember_type_hints("cdktf_cdktf_provider_helm")
