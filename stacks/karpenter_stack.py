"""The stack of one cluster: the Karpenter construct, the providers it needs and the backend of its state."""

from __future__ import annotations

from nodeless.imports.aws import AwsProvider, AwsProviderAssumeRole, AwsProviderDefaultTags
from nodeless.imports.cdk import Construct, TerraformStack
from nodeless.origin import COMMENT, MARK
from nodeless.resolved.backends import is_default_local
from nodeless.resolved.fingerprint import origin_of
from nodeless.resolved.installation import Installation
from nodeless.resolved.references import is_reference
from nodeless.resolved.terraform_text import in_terraform
from nodeless.stacks.backends import declare_backend
from nodeless.stacks.components.helm_access import HelmAccess
from nodeless.stacks.components.local_state import LocalState
from nodeless.stacks.karpenter import Karpenter

# Only arguments that exist at both ends of these ranges are used.
PROVIDER_VERSIONS = {"aws": ">= 5.100.0, < 7.0.0", "helm": ">= 3.1.0, < 4.0.0"}


class KarpenterStack(TerraformStack):
    """A stack with the name of its cluster."""

    def __init__(self, scope: Construct, id_: str, *, installation: Installation) -> None:
        """Build the whole stack from a resolved installation."""
        super().__init__(scope, id_)
        self.add_override(f"{COMMENT}.{MARK}", origin_of(installation).to_tree())
        installation = in_terraform(installation)
        login, account = installation.login, installation.account
        AwsProvider(
            self,
            "aws",
            region=installation.region,
            # With credentials of another account the plan stops before it reads or changes anything.
            allowed_account_ids=[account] if account and not is_reference(account) else None,
            # The provider has a list of regions too, and would refuse a newer one.
            skip_region_validation=installation.is_new_region or None,
            profile=login.profile,
            assume_role=[AwsProviderAssumeRole(**role) for role in login.roles] or None,
            default_tags=[AwsProviderDefaultTags(tags=dict(installation.tags))] if installation.tags else None,
        )
        karpenter = Karpenter(self, "karpenter", installation=installation, prefix="")
        with_helm, cluster = installation.delivery == "helm", karpenter.cluster
        if with_helm and cluster.endpoint and cluster.certificate_authority:
            HelmAccess(
                self,
                "helm",
                auth=installation.auth,
                cluster=installation.name,
                region=installation.region,
                cli_options=login.cli_options,
                endpoint=cluster.endpoint,
                certificate_authority=cluster.certificate_authority,
            )
        declare_backend(self, installation.backend)
        if is_default_local(installation.backend, installation.stack):
            LocalState(self, "local_state", path=installation.backend["path"])
        for provider in ("aws", "helm") if with_helm else ("aws",):
            # CDKTF pins the versions its bindings were made from; the JSON works with a wider range.
            self.add_override(
                f"terraform.required_providers.{provider}",
                {"source": f"hashicorp/{provider}", "version": PROVIDER_VERSIONS[provider]},
            )
