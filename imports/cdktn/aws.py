"""As ../aws.py, from CDK Terrain."""

from cdktn_provider_aws.cloudwatch_event_rule import CloudwatchEventRule as CloudwatchEventRule
from cdktn_provider_aws.cloudwatch_event_target import CloudwatchEventTarget as CloudwatchEventTarget
from cdktn_provider_aws.data_aws_caller_identity import DataAwsCallerIdentity as DataAwsCallerIdentity
from cdktn_provider_aws.data_aws_eks_cluster import DataAwsEksCluster as DataAwsEksCluster
from cdktn_provider_aws.data_aws_eks_cluster_auth import DataAwsEksClusterAuth as DataAwsEksClusterAuth
from cdktn_provider_aws.data_aws_iam_openid_connect_provider import (
    DataAwsIamOpenidConnectProvider as DataAwsIamOpenidConnectProvider,
)
from cdktn_provider_aws.data_aws_iam_policy_document import (
    DataAwsIamPolicyDocument as DataAwsIamPolicyDocument,
    DataAwsIamPolicyDocumentStatement as DataAwsIamPolicyDocumentStatement,
    DataAwsIamPolicyDocumentStatementCondition as DataAwsIamPolicyDocumentStatementCondition,
    DataAwsIamPolicyDocumentStatementPrincipals as DataAwsIamPolicyDocumentStatementPrincipals,
)
from cdktn_provider_aws.data_aws_security_groups import (
    DataAwsSecurityGroups as DataAwsSecurityGroups,
    DataAwsSecurityGroupsFilter as DataAwsSecurityGroupsFilter,
)
from cdktn_provider_aws.data_aws_subnets import (
    DataAwsSubnets as DataAwsSubnets,
    DataAwsSubnetsFilter as DataAwsSubnetsFilter,
)
from cdktn_provider_aws.ec2_tag import Ec2Tag as Ec2Tag
from cdktn_provider_aws.eks_access_entry import EksAccessEntry as EksAccessEntry
from cdktn_provider_aws.eks_addon import EksAddon as EksAddon
from cdktn_provider_aws.eks_fargate_profile import (
    EksFargateProfile as EksFargateProfile,
    EksFargateProfileSelector as EksFargateProfileSelector,
)
from cdktn_provider_aws.eks_pod_identity_association import EksPodIdentityAssociation as EksPodIdentityAssociation
from cdktn_provider_aws.iam_instance_profile import IamInstanceProfile as IamInstanceProfile
from cdktn_provider_aws.iam_openid_connect_provider import IamOpenidConnectProvider as IamOpenidConnectProvider
from cdktn_provider_aws.iam_policy import IamPolicy as IamPolicy
from cdktn_provider_aws.iam_role import IamRole as IamRole
from cdktn_provider_aws.iam_role_policies_exclusive import IamRolePoliciesExclusive as IamRolePoliciesExclusive
from cdktn_provider_aws.iam_role_policy import IamRolePolicy as IamRolePolicy
from cdktn_provider_aws.iam_role_policy_attachment import IamRolePolicyAttachment as IamRolePolicyAttachment
from cdktn_provider_aws.iam_role_policy_attachments_exclusive import (
    IamRolePolicyAttachmentsExclusive as IamRolePolicyAttachmentsExclusive,
)
from cdktn_provider_aws.iam_service_linked_role import IamServiceLinkedRole as IamServiceLinkedRole
from cdktn_provider_aws.provider import (
    AwsProvider as AwsProvider,
    AwsProviderAssumeRole as AwsProviderAssumeRole,
    AwsProviderDefaultTags as AwsProviderDefaultTags,
)
from cdktn_provider_aws.sqs_queue import SqsQueue as SqsQueue
from cdktn_provider_aws.sqs_queue_policy import SqsQueuePolicy as SqsQueuePolicy

from nodeless.imports.type_hints import remember_type_hints

remember_type_hints("cdktn_provider_aws")
