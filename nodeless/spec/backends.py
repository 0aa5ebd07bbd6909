"""Every backend that can keep the state, with the keys that Terraform documents for it.

A key that decides where the state is has a default with the stack's name in it: `nodeless/resolved/backends.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from nodeless.spec import secrets, text_types as text
from nodeless.spec.secrets import Secret
from nodeless.spec.section import Section


class LocalBackend(Section):
    """State in a file."""

    type: Literal["local"] = "local"
    """local"""
    path: text.Line | None = None
    """path of the state, relative to the stack's folder; default: beside the output folder"""


class S3Backend(Section):
    """State in S3, locked by a file beside it."""

    type: Literal["s3"]
    """s3"""
    bucket: text.Line
    """the bucket"""
    key: text.Line | None = None
    """the object; default: karpenter/<stack>/terraform.tfstate"""
    region: text.Region
    """region of the bucket"""
    use_lockfile: bool = True
    """lock with an object beside the state (Terraform 1.10 and newer)"""
    encrypt: bool = True
    """encrypt the object"""
    kms_key_id: text.Line | None = None
    """encrypt with this key"""
    dynamodb_table: text.Line | None = None
    """lock in this table as well, while you move from the old way of locking"""
    profile: text.Line | None = None
    """profile of the AWS configuration to use"""
    role_arn: text.RoleArn | None = None
    """role to assume for the bucket"""
    workspace_key_prefix: text.Line | None = None
    """prefix of the keys of other workspaces"""
    access_key: Annotated[None, Secret("AWS_ACCESS_KEY_ID")] = None
    """refused: AWS_ACCESS_KEY_ID takes its place"""
    secret_key: Annotated[None, Secret("AWS_SECRET_ACCESS_KEY")] = None
    """refused: AWS_SECRET_ACCESS_KEY takes its place"""
    token: Annotated[None, Secret("AWS_SESSION_TOKEN")] = None
    """refused: AWS_SESSION_TOKEN takes its place"""


# One of the two by the shape of the value, so that a mistake is a mistake in that one.
WorkspaceTags = Annotated[
    Annotated[list[text.WorkspaceTag], Tag("[list]")]
    | Annotated[dict[text.WorkspaceTag, text.WorkspaceTag], Tag("[map]")],
    Discriminator(lambda tags: "[map]" if isinstance(tags, Mapping) else "[list]"),
]


class Workspaces(Section):
    """Which workspace of HCP Terraform runs the stack."""

    name: text.Line | None = None
    """name of the workspace; default: karpenter-<stack>"""
    tags: WorkspaceTags = []
    """tags of the workspaces, instead of a name; a map of keys and values needs Terraform 1.10"""
    project: text.Line | None = None
    """project of the workspace"""


class CloudBackend(Section):
    """State and runs in HCP Terraform (Terraform Cloud)."""

    type: Literal["cloud"]
    """cloud"""
    organization: text.Line
    """the organization"""
    hostname: text.Line | None = None
    """host of a Terraform Enterprise"""
    workspaces: Workspaces = Workspaces()
    """which workspace"""
    token: Annotated[None, Secret("TF_TOKEN_app_terraform_io")] = None
    """refused: `terraform login` or TF_TOKEN_<host> takes its place"""


class RemoteWorkspaces(Section):
    """Which workspace of the remote backend keeps the state."""

    name: text.Line | None = None
    """name of the workspace; default: karpenter-<stack>"""
    prefix: text.Line | None = None
    """prefix of the workspaces' names, instead of a name"""


class RemoteBackend(Section):
    """State and runs in HCP Terraform, by the older backend; `cloud` has replaced it."""

    type: Literal["remote"]
    """remote"""
    organization: text.Line
    """the organization"""
    hostname: text.Line | None = None
    """host of a Terraform Enterprise"""
    workspaces: RemoteWorkspaces = RemoteWorkspaces()
    """which workspace"""
    token: Annotated[None, Secret("TF_TOKEN_app_terraform_io")] = None
    """refused: `terraform login` or TF_TOKEN_<host> takes its place"""


class HttpBackend(Section):
    """State behind a REST address."""

    type: Literal["http"]
    """http"""
    address: secrets.HttpAddress
    """address of the state; each cluster needs one of its own"""
    update_method: text.Line | None = None
    """method that updates the state"""
    lock_address: secrets.HttpAddress | None = None
    """address of the lock"""
    lock_method: text.Line | None = None
    """method that locks"""
    unlock_address: secrets.HttpAddress | None = None
    """address that unlocks"""
    unlock_method: text.Line | None = None
    """method that unlocks"""
    username: text.Line | None = None
    """user of HTTP basic authentication"""
    password: Annotated[None, Secret("TF_HTTP_PASSWORD")] = None
    """refused: TF_HTTP_PASSWORD takes its place"""
    skip_cert_verification: bool | None = None
    """do not verify the server's certificate"""
    retry_max: int | None = None
    """how often a request is tried again"""
    retry_wait_min: int | None = None
    """seconds to wait before the first retry"""
    retry_wait_max: int | None = None
    """seconds to wait at most"""
    client_ca_certificate_pem: secrets.Pem | None = None
    """certificate authority of the server"""
    client_certificate_pem: secrets.Pem | None = None
    """certificate of the client"""
    client_private_key_pem: Annotated[None, Secret("TF_HTTP_CLIENT_PRIVATE_KEY_PEM")] = None
    """refused: TF_HTTP_CLIENT_PRIVATE_KEY_PEM takes its place"""


class GcsBackend(Section):
    """State in Google Cloud Storage."""

    type: Literal["gcs"]
    """gcs"""
    bucket: text.Line
    """the bucket"""
    prefix: text.Line | None = None
    """prefix of the objects; default: karpenter/<stack>"""
    credentials: secrets.KeyFile | None = None
    """path of a key file"""
    impersonate_service_account: text.Line | None = None
    """service account to impersonate"""
    impersonate_service_account_delegates: list[text.Line] = []
    """chain of service accounts to the impersonated one"""
    kms_encryption_key: text.Line | None = None
    """encrypt with this key of Cloud KMS"""
    storage_custom_endpoint: text.Line | None = None
    """another endpoint of the storage API"""
    access_token: Annotated[None, Secret("GOOGLE_OAUTH_ACCESS_TOKEN")] = None
    """refused: GOOGLE_OAUTH_ACCESS_TOKEN takes its place"""
    encryption_key: Annotated[None, Secret("GOOGLE_ENCRYPTION_KEY")] = None
    """refused: GOOGLE_ENCRYPTION_KEY takes its place"""


class AzurermBackend(Section):
    """State in Azure Blob Storage."""

    type: Literal["azurerm"]
    """azurerm"""
    storage_account_name: text.Line
    """the storage account"""
    container_name: text.Line
    """the container"""
    key: text.Line | None = None
    """the blob; default: karpenter/<stack>/terraform.tfstate"""
    resource_group_name: text.Line | None = None
    """resource group of the storage account"""
    subscription_id: text.Line | None = None
    """subscription of the storage account"""
    tenant_id: text.Line | None = None
    """tenant to log in to"""
    environment: text.Line | None = None
    """the Azure cloud, such as public or usgovernment"""
    metadata_host: text.Line | None = None
    """host of the metadata service of another Azure cloud"""
    lookup_blob_endpoint: bool | None = None
    """look up the address of the blob"""
    snapshot: bool | None = None
    """take a snapshot of the blob before it is used"""
    use_azuread_auth: bool | None = None
    """log in to the storage account with Microsoft Entra ID"""
    use_cli: bool | None = None
    """log in as the az command"""
    use_msi: bool | None = None
    """log in with a managed identity"""
    msi_endpoint: text.Line | None = None
    """address of the managed identity's endpoint"""
    use_oidc: bool | None = None
    """log in with OpenID Connect"""
    use_aks_workload_identity: bool | None = None
    """log in with a workload identity of AKS"""
    ado_pipeline_service_connection_id: text.Line | None = None
    """service connection of Azure DevOps"""
    oidc_request_url: text.Line | None = None
    """where to ask for an OpenID Connect token"""
    oidc_token_file_path: text.Line | None = None
    """file with an OpenID Connect token"""
    client_id: text.Line | None = None
    """client to log in as"""
    client_id_file_path: text.Line | None = None
    """file with the client's id"""
    client_certificate_path: text.Line | None = None
    """file with the client's certificate"""
    client_secret_file_path: text.Line | None = None
    """file with the client's secret"""
    access_key: Annotated[None, Secret("ARM_ACCESS_KEY")] = None
    """refused: ARM_ACCESS_KEY takes its place"""
    sas_token: Annotated[None, Secret("ARM_SAS_TOKEN")] = None
    """refused: ARM_SAS_TOKEN takes its place"""
    client_secret: Annotated[None, Secret("ARM_CLIENT_SECRET")] = None
    """refused: ARM_CLIENT_SECRET takes its place"""
    client_certificate: Annotated[None, Secret("ARM_CLIENT_CERTIFICATE")] = None
    """refused: ARM_CLIENT_CERTIFICATE takes its place"""
    client_certificate_password: Annotated[None, Secret("ARM_CLIENT_CERTIFICATE_PASSWORD")] = None
    """refused: ARM_CLIENT_CERTIFICATE_PASSWORD takes its place"""
    oidc_token: Annotated[None, Secret("ARM_OIDC_TOKEN")] = None
    """refused: ARM_OIDC_TOKEN takes its place"""
    oidc_request_token: Annotated[None, Secret("ARM_OIDC_REQUEST_TOKEN")] = None
    """refused: ARM_OIDC_REQUEST_TOKEN takes its place"""


class PgBackend(Section):
    """State in a PostgreSQL database."""

    type: Literal["pg"]
    """pg"""
    conn_str: secrets.ConnectionString | None = None
    """connection string without a password; without it, PG_CONN_STR"""
    schema_name: text.Line | None = None
    """the schema; default: karpenter_<stack>"""
    skip_schema_creation: bool | None = None
    """the schema exists already"""
    skip_table_creation: bool | None = None
    """the table exists already"""
    skip_index_creation: bool | None = None
    """the index exists already"""


class ConsulBackend(Section):
    """State in Consul's key-value store."""

    type: Literal["consul"]
    """consul"""
    path: text.Line | None = None
    """path in the store; default: karpenter/<stack>"""
    address: text.Line | None = None
    """host and port of Consul"""
    scheme: text.Line | None = None
    """http or https"""
    datacenter: text.Line | None = None
    """the datacenter"""
    gzip: bool | None = None
    """compress the state"""
    lock: bool | None = None
    """false: no lock"""
    ca_file: text.Line | None = None
    """file with the certificate authority of the server"""
    cert_file: text.Line | None = None
    """file with the certificate of the client"""
    key_file: text.Line | None = None
    """file with the key of the client"""
    access_token: Annotated[None, Secret("CONSUL_HTTP_TOKEN")] = None
    """refused: CONSUL_HTTP_TOKEN takes its place"""
    http_auth: Annotated[None, Secret("CONSUL_HTTP_AUTH")] = None
    """refused: CONSUL_HTTP_AUTH takes its place"""


class KubernetesExec(Section):
    """A command that logs in to Kubernetes."""

    api_version: text.Line
    """version of the command's API"""
    command: text.Line
    """the command"""
    args: list[text.Line] = []
    """its arguments"""
    env: dict[text.Line, text.Line] = {}
    """its environment"""


class KubernetesBackend(Section):
    """State in a Kubernetes secret. Not in the cluster that the stack is for: a lost cluster would take it along."""

    type: Literal["kubernetes"]
    """kubernetes"""
    secret_suffix: text.SecretSuffix | None = None
    """end of the secret's name; default: <stack>-karpenter, in lower case"""
    namespace: text.DnsLabel | None = None
    """namespace of the secret"""
    labels: dict[text.LabelKey, text.LabelValue] = {}
    """more labels of the secret"""
    in_cluster_config: bool | None = None
    """log in as the pod in which Terraform runs"""
    load_config_file: bool | None = None
    """read kubeconfig"""
    config_path: text.Line | None = None
    """path of kubeconfig"""
    config_paths: list[text.Line] = []
    """paths of several kubeconfigs"""
    config_context: text.Line | None = None
    """context of kubeconfig"""
    config_context_auth_info: text.Line | None = None
    """user of kubeconfig"""
    config_context_cluster: text.Line | None = None
    """cluster of kubeconfig"""
    host: text.Line | None = None
    """address of the API server"""
    insecure: bool | None = None
    """do not verify the server's certificate"""
    cluster_ca_certificate: secrets.Pem | None = None
    """certificate authority of the API server"""
    client_certificate: secrets.Pem | None = None
    """certificate of the client"""
    username: text.Line | None = None
    """user of HTTP basic authentication"""
    proxy_url: secrets.HttpAddress | None = None
    """proxy for all requests"""
    exec: KubernetesExec | None = None
    """a command that logs in"""
    password: Annotated[None, Secret("KUBE_PASSWORD")] = None
    """refused: KUBE_PASSWORD takes its place"""
    client_key: Annotated[None, Secret("KUBE_CLIENT_KEY_DATA")] = None
    """refused: KUBE_CLIENT_KEY_DATA takes its place"""
    token: Annotated[None, Secret("KUBE_TOKEN")] = None
    """refused: KUBE_TOKEN takes its place"""


class OssBackend(Section):
    """State in Alibaba Cloud OSS."""

    type: Literal["oss"]
    """oss"""
    bucket: text.Line
    """the bucket"""
    prefix: text.Line | None = None
    """folder of the object; Terraform's default is env:"""
    key: text.Line | None = None
    """the object below the prefix; default: karpenter/<stack>/terraform.tfstate"""
    region: text.Line | None = None
    """region of the bucket"""
    endpoint: text.Line | None = None
    """another endpoint of OSS"""
    encrypt: bool | None = None
    """encrypt the object"""
    acl: Literal["private", "public-read", "public-read-write"] | None = None
    """access control of the object"""
    tablestore_endpoint: text.Line | None = None
    """endpoint of Table Store, for the lock"""
    tablestore_table: text.Line | None = None
    """table of the lock"""
    sts_endpoint: text.Line | None = None
    """another endpoint of STS"""
    profile: text.Line | None = None
    """profile of the configuration to use"""
    shared_credentials_file: text.Line | None = None
    """file with the profiles"""
    ecs_role_name: text.Line | None = None
    """role of the ECS instance to use"""
    assume_role_role_arn: text.Line | None = None
    """role to assume"""
    assume_role_session_name: text.Line | None = None
    """name of the role's session"""
    assume_role_policy: text.Line | None = None
    """policy that limits the session further"""
    assume_role_session_expiration: Annotated[int, Field(ge=900, le=3600)] | None = None
    """seconds until the session ends"""
    access_key: Annotated[None, Secret("ALICLOUD_ACCESS_KEY")] = None
    """refused: ALICLOUD_ACCESS_KEY takes its place"""
    secret_key: Annotated[None, Secret("ALICLOUD_SECRET_KEY")] = None
    """refused: ALICLOUD_SECRET_KEY takes its place"""
    security_token: Annotated[None, Secret("ALICLOUD_SECURITY_TOKEN")] = None
    """refused: ALICLOUD_SECURITY_TOKEN takes its place"""


class CosAssumedRole(Section):
    """A role that the cos backend assumes."""

    role_arn: text.Line
    """the role"""
    session_name: text.Line
    """name of the session"""
    session_duration: int
    """seconds until the session ends"""
    policy: text.Line | None = None
    """policy that limits the session further"""
    external_id: text.Line | None = None
    """the external id that the role asks for"""


class CosBackend(Section):
    """State in Tencent Cloud Object Storage."""

    type: Literal["cos"]
    """cos"""
    bucket: text.Line
    """the bucket"""
    prefix: text.Line | None = None
    """folder of the object"""
    key: text.Line | None = None
    """the object below the prefix; default: karpenter/<stack>/terraform.tfstate"""
    region: text.Line
    """region of the bucket"""
    encrypt: bool | None = None
    """encrypt the object"""
    acl: Literal["private", "public-read"] | None = None
    """access control of the object"""
    accelerate: bool | None = None
    """use global acceleration"""
    endpoint: text.Line | None = None
    """another endpoint"""
    domain: text.Line | None = None
    """root domain of the API"""
    profile: text.Line | None = None
    """profile of the configuration to use"""
    shared_credentials_dir: text.Line | None = None
    """folder with the profiles"""
    cam_role_name: text.Line | None = None
    """role of the instance to use"""
    assume_role: CosAssumedRole | None = None
    """role to assume"""
    secret_id: Annotated[None, Secret("TENCENTCLOUD_SECRET_ID")] = None
    """refused: TENCENTCLOUD_SECRET_ID takes its place"""
    secret_key: Annotated[None, Secret("TENCENTCLOUD_SECRET_KEY")] = None
    """refused: TENCENTCLOUD_SECRET_KEY takes its place"""
    security_token: Annotated[None, Secret("TENCENTCLOUD_SECURITY_TOKEN")] = None
    """refused: TENCENTCLOUD_SECURITY_TOKEN takes its place"""


Backend = Annotated[
    LocalBackend
    | S3Backend
    | CloudBackend
    | RemoteBackend
    | HttpBackend
    | GcsBackend
    | AzurermBackend
    | PgBackend
    | ConsulBackend
    | KubernetesBackend
    | OssBackend
    | CosBackend,
    Field(discriminator="type"),
]
