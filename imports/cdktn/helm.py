"""As ../helm.py, from CDK Terrain."""

from cdktn_provider_helm.provider import (
    HelmProvider as HelmProvider,
    HelmProviderKubernetes as HelmProviderKubernetes,
    HelmProviderKubernetesExec as HelmProviderKubernetesExec,
)
from cdktn_provider_helm.release import Release as Release

from nodeless.imports.type_hints import remember_type_hints

remember_type_hints("cdktn_provider_helm")
