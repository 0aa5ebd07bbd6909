"""How the Helm provider reaches the cluster."""

from __future__ import annotations

from collections.abc import Sequence

from nodeless.imports.aws import DataAwsEksClusterAuth
from nodeless.imports.cdk import Construct, Fn, TerraformStack
from nodeless.imports.helm import HelmProvider, HelmProviderKubernetes, HelmProviderKubernetesExec
from nodeless.resolved.references import inside_expression, is_lookup

AUTH_API = "client.authentication.k8s.io/v1beta1"


class HelmAccess(Construct):
    """The provider, with a token that is fetched when it is needed."""

    def __init__(
        self,
        scope: TerraformStack,
        id_: str,
        *,
        auth: str,
        cluster: str,
        region: str,
        endpoint: str,
        certificate_authority: str,
        cli_options: Sequence[str] = (),
    ) -> None:
        """Configure the provider for one cluster: an ephemeral token, one from a data source, or the aws CLI.

        `cli_options` make the aws CLI log in as the AWS provider does.
        """
        super().__init__(scope, id_)
        self._stack = scope
        HelmProvider(
            self,
            "Resource",
            kubernetes=HelmProviderKubernetes(
                host=endpoint,
                cluster_ca_certificate=_decoded(certificate_authority),
                token=self._token(auth, cluster),
                exec=HelmProviderKubernetesExec(
                    api_version=AUTH_API,
                    command="aws",
                    args=["eks", "get-token", "--cluster-name", cluster, "--region", region, *cli_options],
                )
                if auth == "exec"
                else None,
            ),
        )

    def _token(self, auth: str, cluster: str) -> str | None:
        if auth == "ephemeral":
            # CDKTF 0.21 has no ephemeral resources; Terraform has them from 1.10 on.
            self._stack.add_override("ephemeral.aws_eks_cluster_auth.cluster", {"name": cluster})
            return "${ephemeral.aws_eks_cluster_auth.cluster.token}"
        if auth == "token":
            data = DataAwsEksClusterAuth(self, "token", name=cluster)
            data.override_logical_id("cluster")
            return data.token
        return None


def _decoded(text: str) -> str:
    if is_lookup(text):
        return f"${{base64decode({inside_expression(text)})}}"
    return Fn.base64decode(text)
