"""Every key that clusters.yaml may hold, with its type, its default and, below it, what it means."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from nodeless.finding import Path
from nodeless.karpenter.chart import REPOSITORY
from nodeless.karpenter.releases import NEWEST
from nodeless.spec import text_types as text
from nodeless.spec.backends import Backend, LocalBackend
from nodeless.spec.secrets import Secret
from nodeless.spec.section import Section
from nodeless.spec.text_type import carried_tree, one_or_many, switch

Tree = Annotated[dict[str, Any], AfterValidator(carried_tree)]
Texts = Annotated[list[text.StatementText], Field(min_length=1), one_or_many(text.StatementText)]
# Keys at the top of the file that begin with this are the user's own: a place for anchors.
OWN_KEYS = "x-"
# EKS: selectors of one Fargate profile.
SELECTORS_LIMIT = 5


class Selector(Section):
    """Which pods run on Fargate."""

    namespace: text.DnsLabel
    """the namespace of the pods"""
    labels: dict[text.LabelKey, text.LabelValue] = {}
    """labels the pods must have as well"""


class Fargate(Section):
    """The Fargate profile that runs the controller."""

    profile_name: text.FargateProfileName | None = None
    """name of the profile; the default is in `names`"""
    selectors: Annotated[list[Selector], Field(max_length=SELECTORS_LIMIT)] = []
    """which pods run on Fargate; empty: only the controller's"""
    cni_policy: bool = False
    """attach AmazonEKS_CNI_Policy to the pod execution role, as the blog does; nothing on Fargate needs it"""
    coredns: bool = False
    """run CoreDNS on Fargate too, as an EKS add-on with its own selector; otherwise it waits for the first node"""
    logging: bool = False
    """send the logs of pods on Fargate to CloudWatch Logs, group /aws/eks/<cluster>/fargate"""


class Interruption(Section):
    """The queue that tells Karpenter which instances are about to be interrupted."""

    queue_name: text.QueueName | None = None
    """name of the queue; the default is in `names`"""
    kms_key_arn: text.KmsKeyArn | None = None
    """encrypt with this key instead of the one SQS manages"""


class ExtraNodeRole(Section):
    """A node role beside the first one: an existing role, or one created here."""

    arn: text.RoleArn | None = None
    """an existing role; without it, a role is created"""
    policies: list[text.PolicyArn] = []
    """managed policies for a role created here, beside the release's own"""
    os: Literal["linux", "windows"] = "linux"
    """operating system of its nodes, for their access entry"""
    access_entry: bool = True
    """false: the access entry of an existing role exists already, as EKS makes it for a managed node group"""


class Nodes(Section):
    """The roles of the nodes, and how nodes join the cluster."""

    access: Literal["access-entry", "aws-auth", "none"] = "access-entry"
    """access-entry: an EKS access entry; aws-auth: the mapRoles entry as an output; none: nothing"""
    instance_profile: bool = True
    """create an instance profile for the node role"""
    roles: dict[text.RoleKey, ExtraNodeRole] = {}
    """more node roles by name; Karpenter may pass all of them to instances"""
    policies: list[text.PolicyArn] = []
    """more managed policies for the node role"""
    ipv6: bool = False
    """grant the CNI what an IPv6 cluster needs"""


class Discovery(Section):
    """The tag by which Karpenter finds subnets and security groups."""

    tag_key: text.TagKey = "karpenter.sh/discovery"
    """key of the tag; its value is the cluster's name"""
    subnets: list[text.Subnet] = []
    """existing subnets to tag"""
    security_groups: list[text.SecurityGroup] = []
    """existing security groups to tag"""


class Image(Section):
    """The controller's image, where it is not the one the chart names."""

    repository: text.ImageRepository | None = None
    """where the image is; default: with `isolated_vpc`, `controller` beside the charts of `repository`"""
    tag: text.ImageTag | None = None
    """its tag; default: the chart's own"""
    digest: text.ImageDigest | None = None
    """its digest; default: the chart's own, which a copy keeps if all its platforms are copied; none: no digest"""


class Karpenter(Section):
    """The release of Karpenter and how it is installed."""

    tables: text.KnownVersion | None = None
    """for a newer `version` that this nodeless does not know: the known release whose tables to use"""
    version: text.Version = str(NEWEST)
    """a release, or a minor for its newest patch"""
    namespace: text.DnsLabel = "karpenter"
    """namespace of the controller"""
    service_account: text.DnsLabel = "karpenter"
    """service account of the controller"""
    replicas: Annotated[int, Field(ge=1, le=5)] = 2
    """replicas of the controller; one leads, the others stand by"""
    policy: Literal["official", "blog", "repost", "palette"] = "official"
    """official: exactly what the release needs; the others: the flat policy of that guide"""
    repository: text.Repository = REPOSITORY
    """registry of the charts"""
    image: Image = Image()
    """the controller's image"""
    isolated_vpc: bool = False
    """the VPC has no internet access: no price lookups, and node classes name an instance profile"""
    zonal_shift: bool = False
    """follow zonal shifts of the cluster (from 1.12)"""
    values: Tree = {}
    """Helm values, merged last over the generated ones"""


class ExtraStatement(Section):
    """A statement of your own for the controller, in the shape IAM uses."""

    Sid: Annotated[str, Field(pattern=r"^[A-Za-z0-9]+$")] | None = None
    """statement id: letters and digits"""
    Effect: Literal["Allow", "Deny"] = "Allow"
    """Allow or Deny"""
    Action: Texts
    """one action or several"""
    Resource: Texts
    """one ARN or several"""
    Condition: dict[text.StatementText, dict[text.StatementText, Texts]] = {}
    """operator -> key -> value or values"""


def _style(value: Any) -> Any:  # noqa: ANN401 - whatever the file holds
    return {"style": value} if isinstance(value, str) else value


Style = Literal["blog", "official", "eksctl", "terraform-aws-eks"]


class NameOverrides(Section):
    """The style of the physical names, and single names that differ from it."""

    style: Style = "blog"
    """blog: <cluster>-karpenter-…; official: upstream's; the others: as that tool names what it makes"""
    controller_role: text.ControllerRoleName | None = None
    """name of the controller's role"""
    fargate_role: text.FargateRoleName | None = None
    """name of the Fargate pod execution role"""
    node_role: text.NodeRoleName | None = None
    """name of the node role"""
    instance_profile: text.InstanceProfileName | None = None
    """name of the instance profile"""
    queue: text.QueueName | None = None
    """name of the interruption queue"""
    fargate_profile: text.FargateProfileName | None = None
    """name of the Fargate profile"""
    policies: dict[text.PartKey, text.PolicyName] = {}
    """names of the controller's policies, by their keys, such as `node_lifecycle`"""
    rules: dict[text.PartKey, text.RuleName] = {}
    """names of the EventBridge rules, by their keys, such as `spot`"""
    with_region: bool = False
    """put the region after the cluster's name: for a cluster of the same name in another region of the account"""


SetUp = Literal["none", "blog", "cloudformation", "eksctl", "terraform-aws-eks"]


def _setup(value: Any) -> Any:  # noqa: ANN401 - whatever the file holds
    return {"setup": value} if isinstance(value, str) else value


class Adopt(Section):
    """What another tool created and the stack takes over; `nodeless adopt` finds out what to write here."""

    setup: SetUp = "none"
    """who created it; none: nothing is taken over"""
    module: text.ModuleAddress | None = None
    """blog and terraform-aws-eks: the module's address in the old state, if this stack continues that state"""
    without: list[text.ResourceAddress] = []
    """what such a set-up usually has and this one has not, by its address in the stack"""
    ids: dict[text.ResourceAddress, text.ImportId] = {}
    """import ids by address: of what such a set-up does not usually have, or has under another id"""


class AssumedRole(Section):
    """A role that the AWS provider assumes."""

    role_arn: text.RoleArn
    """the role"""
    external_id: text.ExternalId | None = None
    """the external id that the role's trust policy asks for"""
    session_name: text.SessionName | None = None
    """name of the session, as CloudTrail shows it"""
    duration: text.SessionDuration | None = None
    """how long the session is valid"""
    source_identity: text.SessionName | None = None
    """source identity of the session"""
    policy_arns: list[text.PolicyArn] = []
    """managed policies that limit the session further"""
    tags: dict[text.TagName, text.TagValue] = {}
    """session tags"""
    transitive_tag_keys: list[text.TagName] = []
    """session tags that are passed on to the next role"""


def _chain(value: Any) -> Any:  # noqa: ANN401 - whatever the file holds
    return [value] if isinstance(value, dict) else value


class Provider(Section):
    """How the AWS provider logs in; without these keys, in its usual way. Keys and tokens never belong in the file."""

    profile: text.Line | None = None
    """profile of the AWS configuration to use"""
    assume_role: Annotated[
        list[AssumedRole], BeforeValidator(_chain, json_schema_input_type=AssumedRole | list[AssumedRole])
    ] = []
    """the role to assume; a list is a chain, and each role assumes the next"""
    access_key: Annotated[None, Secret("AWS_ACCESS_KEY_ID", of_backend=False)] = None
    """refused: AWS_ACCESS_KEY_ID takes its place"""
    secret_key: Annotated[None, Secret("AWS_SECRET_ACCESS_KEY", of_backend=False)] = None
    """refused: AWS_SECRET_ACCESS_KEY takes its place"""
    token: Annotated[None, Secret("AWS_SESSION_TOKEN", of_backend=False)] = None
    """refused: AWS_SESSION_TOKEN takes its place"""

    def path_of(self, number: int) -> Path:
        """Return where a role of the chain stands; a single one is usually not written as a list."""
        return ("provider", "assume_role", *((number,) if len(self.assume_role) > 1 else ()))


class NamedSpec(Section):
    """A node class or node pool, in the shape of the release's own API."""

    name: text.DnsLabel
    """its name"""
    spec: Tree
    """its spec"""


class Cluster(Section):
    """One EKS cluster and the Karpenter that runs on it."""

    name: text.ClusterName
    """the EKS cluster"""
    stack: text.StackName | None = None
    """name of the stack and of its folder; default: the cluster's name, with its region if `names.with_region`"""
    region: text.Region
    """its region, which also decides the partition"""
    new_region: bool = False
    """the region is newer than this nodeless and than the AWS provider: take its name as it is"""
    account: text.Account | None = None
    """its account: Terraform stops with credentials of another one; without it, the account of the credentials"""
    provider: Provider = Provider()
    """how the AWS provider logs in"""
    kubernetes: text.Kubernetes | None = None
    """its version, checked against the Karpenter release"""
    endpoint: text.Endpoint | None = None
    """address of the API server; without it, looked up"""
    oidc_issuer: text.Issuer | None = None
    """issuer of the service account tokens; without it, looked up"""
    certificate_authority: text.Base64 | None = None
    """certificate authority of the API server; without it, looked up"""
    subnets: list[text.Subnet] | None = None
    """private subnets for Fargate; without it, looked up by the discovery tag"""
    karpenter: Karpenter = Karpenter()
    """the release and how it is installed"""
    identity: Literal["irsa", "pod-identity"] = "irsa"
    """how the controller gets its role"""
    oidc_provider: Literal["existing", "create"] = "existing"
    """use the account's OIDC provider for the issuer, or create it"""
    fargate: Annotated[Fargate | None, switch(Fargate)] = Fargate()
    """run the controller on Fargate; false (the default in GovCloud, where EKS has no Fargate): it runs elsewhere"""
    interruption: Annotated[Interruption | None, switch(Interruption)] = Interruption()
    """the interruption queue; false: no queue, no rules, no permission"""
    nodes: Nodes = Nodes()
    """node roles and access"""
    discovery: Discovery = Discovery()
    """the discovery tag"""
    names: Annotated[NameOverrides, BeforeValidator(_style, json_schema_input_type=Style | NameOverrides)] = (
        NameOverrides()
    )
    """blog, official, eksctl, terraform-aws-eks, or a map that overrides single names"""
    path: text.IamPath = "/"
    """IAM path of every role, instance profile and policy created here"""
    permissions_boundary: text.PolicyArn | None = None
    """permissions boundary of every role created here"""
    extra_statements: list[ExtraStatement] = []
    """more statements for the controller"""
    tags: Annotated[dict[text.TagName, text.TagValue], Field(max_length=50)] = {}
    """tags of everything that can be tagged; the default node class puts them on instances and volumes too"""
    node_classes: list[NamedSpec] = []
    """node classes"""
    node_pools: list[NamedSpec] = []
    """node pools"""
    smoke_test: bool = False
    """add the `inflate` Deployment, with zero replicas"""
    spot_service_linked_role: bool = False
    """create the account's role for spot, AWSServiceRoleForEC2Spot: without it no spot instance starts"""
    delivery: Literal["helm", "gitops", "none"] = "helm"
    """helm: Terraform installs the charts; gitops: files for a GitOps tool; none: only the AWS resources"""
    auth: Literal["ephemeral", "token", "exec"] = "ephemeral"
    """how the Helm provider authenticates to the cluster"""
    backend: Backend = LocalBackend()
    """where the state is kept"""
    adopt: Annotated[Adopt, BeforeValidator(_setup, json_schema_input_type=SetUp | Adopt)] = Adopt()
    """take over what another tool created: none, blog, cloudformation, eksctl, terraform-aws-eks, or a map"""
    exclusive_policies: bool | None = None
    """remove all other policies from the roles of the stack, at every apply; default: only together with `adopt`"""


class File(Section):
    """The whole of clusters.yaml."""

    defaults: dict[str, Any] = {}
    """any key of a cluster; merged under every cluster, also of the files under `include`"""
    include: list[str] = []
    """more files of this kind, as paths or globs relative to this file: `teams/*.yaml`"""
    clusters: Annotated[list[Cluster], Field(min_length=1)] = []
    """the clusters, one stack each; they may be left out beside `include`"""
