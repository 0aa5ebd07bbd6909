"""What Terraform's AWS provider calls for each type of resource: one row per statement of the deployer's policy.

Tests compare the rows with the calls of a real provider: each recorded call is allowed, and each action is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodeless.karpenter.policy import Condition
from nodeless.resolved import deployer_state as state, deployer_targets as target
from nodeless.resolved.adoption_rows import EXCLUSIVE
from nodeless.resolved.deployer_targets import FARGATE_SERVICES, Arns, Conditions

# The documents that are printed: what a plan needs, what an apply or a destroy needs beside it, what the backend needs,
# and what it needs if it has a role of its own.
PLAN, APPLY, STATE, STATE_ROLE = "plan", "apply", "state", "state-role"


def unconditionally(_: target.Subject) -> tuple[Condition, ...]:
    """Limit a statement by its resources only."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One statement: its Sid, the Terraform types that need it, the actions, and what they are limited to.

    A row without a resource is left out: the stack has nothing of these types.
    """

    part: str
    sid: str
    kinds: tuple[str, ...]
    actions: tuple[str, ...]
    resources: Arns
    conditions: Conditions = unconditionally


ROWS = (
    Row(
        part=PLAN,
        sid="ReadRoles",
        kinds=("aws_iam_role", "aws_iam_role_policy_attachment", *EXCLUSIVE),
        actions=("iam:GetRole", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"),
        resources=target.roles,
    ),
    Row(
        part=PLAN,
        sid="ReadInlinePolicies",
        kinds=("aws_iam_role_policy",),
        actions=("iam:GetRolePolicy",),
        resources=target.inline_roles,
    ),
    Row(
        part=PLAN,
        sid="ReadPolicies",
        kinds=("aws_iam_policy",),
        actions=("iam:GetPolicy", "iam:GetPolicyVersion"),
        resources=target.policies,
    ),
    Row(
        part=PLAN,
        sid="ReadOtherPolicies",
        kinds=EXCLUSIVE,
        # The provider reads every inline policy of a role.
        actions=("iam:GetRolePolicy",),
        resources=target.roles_with_other_policies,
    ),
    Row(
        part=PLAN,
        sid="ReadModulePolicy",
        kinds=("aws_iam_policy",),
        actions=("iam:GetPolicy", "iam:GetPolicyVersion"),
        resources=target.policies_of_the_module,
    ),
    Row(
        part=PLAN,
        sid="ReadInstanceProfiles",
        kinds=("aws_iam_instance_profile",),
        actions=("iam:GetInstanceProfile",),
        resources=target.instance_profiles,
    ),
    Row(
        part=PLAN,
        sid="ReadOidcProvider",
        kinds=("aws_iam_openid_connect_provider",),
        actions=("iam:GetOpenIDConnectProvider",),
        resources=target.oidc_providers,
    ),
    Row(
        part=PLAN,
        sid="ReadSpotRole",
        kinds=("aws_iam_service_linked_role",),
        actions=("iam:GetRole",),
        resources=target.spot_role,
    ),
    Row(
        part=PLAN,
        sid="ReadQueue",
        kinds=("aws_sqs_queue", "aws_sqs_queue_policy"),
        actions=("sqs:GetQueueAttributes", "sqs:ListQueueTags"),
        resources=target.queues,
    ),
    Row(
        part=PLAN,
        sid="ReadRules",
        kinds=("aws_cloudwatch_event_rule", "aws_cloudwatch_event_target"),
        actions=("events:DescribeRule", "events:ListTagsForResource", "events:ListTargetsByRule"),
        resources=target.rules,
    ),
    Row(
        part=PLAN,
        sid="ReadCluster",
        kinds=("data.aws_eks_cluster",),
        actions=("eks:DescribeCluster",),
        resources=target.looked_up_cluster,
    ),
    Row(
        part=PLAN,
        sid="ReadFargateProfile",
        kinds=("aws_eks_fargate_profile",),
        actions=("eks:DescribeFargateProfile",),
        resources=target.fargate_profiles,
    ),
    Row(
        part=PLAN,
        sid="ReadAccessEntries",
        kinds=("aws_eks_access_entry",),
        actions=("eks:DescribeAccessEntry",),
        resources=target.access_entries,
    ),
    Row(
        part=PLAN,
        sid="ReadAddons",
        kinds=("aws_eks_addon",),
        actions=("eks:DescribeAddon",),
        resources=target.addons,
    ),
    Row(
        part=PLAN,
        sid="ReadPodIdentity",
        kinds=("aws_eks_pod_identity_association",),
        actions=("eks:DescribePodIdentityAssociation",),
        resources=target.associations,
    ),
    Row(
        part=PLAN,
        sid="ReadSubnets",
        kinds=("data.aws_subnets",),
        actions=("ec2:DescribeSubnets",),
        resources=target.looked_up_subnets,
    ),
    Row(
        part=PLAN,
        sid="ReadSecurityGroups",
        kinds=("data.aws_security_groups",),
        actions=("ec2:DescribeSecurityGroups",),
        resources=target.looked_up_security_groups,
    ),
    Row(
        part=PLAN,
        sid="ReadExistingOidcProvider",
        kinds=("data.aws_iam_openid_connect_provider",),
        actions=("iam:GetOpenIDConnectProvider",),
        resources=target.looked_up_oidc_provider,
    ),
    Row(
        part=PLAN,
        sid="ReadTags",
        kinds=("aws_ec2_tag",),
        actions=("ec2:DescribeTags",),
        resources=target.tags_of_network,
    ),
    Row(
        part=APPLY,
        sid="CreateRoles",
        kinds=("aws_iam_role",),
        actions=("iam:CreateRole", "iam:PutRolePermissionsBoundary"),
        resources=target.roles,
        conditions=target.boundary,
    ),
    Row(
        part=APPLY,
        sid="ChangeRoles",
        kinds=("aws_iam_role",),
        actions=(
            "iam:DeleteRole",
            "iam:ListInstanceProfilesForRole",
            "iam:TagRole",
            "iam:UntagRole",
            "iam:UpdateAssumeRolePolicy",
            "iam:UpdateRoleDescription",
        ),
        resources=target.roles,
    ),
    Row(
        part=APPLY,
        sid="WriteInlinePolicies",
        kinds=("aws_iam_role_policy",),
        actions=("iam:DeleteRolePolicy", "iam:PutRolePolicy"),
        resources=target.inline_roles,
    ),
    Row(
        part=APPLY,
        sid="WritePolicies",
        kinds=("aws_iam_policy",),
        actions=(
            "iam:CreatePolicy",
            "iam:CreatePolicyVersion",
            "iam:DeletePolicy",
            "iam:DeletePolicyVersion",
            "iam:ListPolicyVersions",
            "iam:TagPolicy",
            "iam:UntagPolicy",
        ),
        resources=target.policies,
    ),
    *(
        Row(
            part=APPLY,
            sid=sid,
            kinds=("aws_iam_role_policy_attachment",),
            actions=("iam:AttachRolePolicy", "iam:DetachRolePolicy"),
            resources=resources,
            conditions=conditions,
        )
        for sid, resources, conditions in (
            ("AttachControllerPolicies", target.controller_role, target.policy_of_the_controller),
            ("AttachFargatePolicies", target.fargate_roles, target.policy_of_fargate),
            ("AttachNodePolicies", target.node_roles, target.policy_of_nodes),
        )
    ),
    Row(
        part=APPLY,
        sid="RemoveOtherPolicies",
        kinds=EXCLUSIVE,
        actions=("iam:DeleteRolePolicy", "iam:DetachRolePolicy"),
        resources=target.exclusive_roles,
    ),
    Row(
        part=APPLY,
        sid="DeleteModulePolicy",
        kinds=("aws_iam_policy",),
        actions=("iam:DeletePolicy", "iam:ListPolicyVersions"),
        resources=target.policies_of_the_module,
    ),
    Row(
        part=APPLY,
        sid="WriteInstanceProfiles",
        kinds=("aws_iam_instance_profile",),
        actions=(
            "iam:AddRoleToInstanceProfile",
            "iam:CreateInstanceProfile",
            "iam:DeleteInstanceProfile",
            "iam:RemoveRoleFromInstanceProfile",
            "iam:TagInstanceProfile",
            "iam:UntagInstanceProfile",
        ),
        resources=target.instance_profiles,
    ),
    Row(
        part=APPLY,
        sid="PassNodeRoles",
        kinds=("aws_iam_instance_profile",),
        actions=("iam:PassRole",),
        resources=target.profiled_roles,
        conditions=target.passed_to_ec2,
    ),
    Row(
        part=APPLY,
        sid="WriteOidcProvider",
        kinds=("aws_iam_openid_connect_provider",),
        actions=(
            "iam:CreateOpenIDConnectProvider",
            "iam:DeleteOpenIDConnectProvider",
            "iam:TagOpenIDConnectProvider",
            "iam:UntagOpenIDConnectProvider",
        ),
        resources=target.oidc_providers,
    ),
    Row(
        part=APPLY,
        sid="CreateSpotRole",
        kinds=("aws_iam_service_linked_role",),
        actions=("iam:CreateServiceLinkedRole",),
        resources=target.spot_role,
        conditions=target.for_service("spot.amazonaws.com"),
    ),
    Row(
        part=APPLY,
        sid="ChangeSpotRole",
        kinds=("aws_iam_service_linked_role",),
        actions=(
            "iam:DeleteServiceLinkedRole",
            "iam:GetServiceLinkedRoleDeletionStatus",
            "iam:TagRole",
            "iam:UntagRole",
        ),
        resources=target.spot_role,
    ),
    Row(
        part=APPLY,
        sid="WriteQueue",
        kinds=("aws_sqs_queue", "aws_sqs_queue_policy"),
        actions=("sqs:CreateQueue", "sqs:DeleteQueue", "sqs:SetQueueAttributes", "sqs:TagQueue", "sqs:UntagQueue"),
        resources=target.queues,
    ),
    Row(
        part=APPLY,
        sid="WriteRules",
        kinds=("aws_cloudwatch_event_rule", "aws_cloudwatch_event_target"),
        actions=(
            "events:DeleteRule",
            "events:PutRule",
            "events:RemoveTargets",
            "events:TagResource",
            "events:UntagResource",
        ),
        resources=target.rules,
    ),
    Row(
        part=APPLY,
        sid="WriteTargets",
        kinds=("aws_cloudwatch_event_target",),
        actions=("events:PutTargets",),
        resources=target.rules,
        conditions=target.to_the_queue,
    ),
    Row(
        part=APPLY,
        sid="CreateFargateProfile",
        kinds=("aws_eks_fargate_profile",),
        actions=("eks:CreateFargateProfile",),
        resources=target.cluster_with(target.fargate_profiles),
    ),
    Row(
        part=APPLY,
        sid="PassFargateRole",
        kinds=("aws_eks_fargate_profile",),
        actions=("iam:PassRole",),
        resources=target.fargate_roles,
        # AWS does not document which of the two EKS names here. The role trusts the second one only.
        conditions=target.passed_to("eks.amazonaws.com", "eks-fargate-pods.amazonaws.com"),
    ),
    Row(
        part=APPLY,
        sid="FindFargateServiceRole",
        kinds=("aws_eks_fargate_profile",),
        actions=("iam:GetRole",),
        resources=target.fargate_service_role,
    ),
    Row(
        part=APPLY,
        sid="CreateFargateServiceRole",
        kinds=("aws_eks_fargate_profile",),
        actions=("iam:CreateServiceLinkedRole",),
        resources=target.fargate_service_role,
        conditions=target.for_service(*FARGATE_SERVICES),
    ),
    Row(
        part=APPLY,
        sid="CreateAccessEntries",
        kinds=("aws_eks_access_entry",),
        actions=("eks:CreateAccessEntry",),
        resources=target.cluster_with(target.access_entries),
        conditions=target.of_nodes,
    ),
    Row(
        part=APPLY,
        sid="CreateAddons",
        kinds=("aws_eks_addon",),
        actions=("eks:CreateAddon", "eks:DescribeUpdate"),
        resources=target.cluster_with(target.addons),
    ),
    Row(
        part=APPLY,
        sid="CreatePodIdentity",
        kinds=("aws_eks_pod_identity_association",),
        actions=("eks:CreatePodIdentityAssociation",),
        resources=target.cluster_with(target.associations),
    ),
    Row(
        part=APPLY,
        sid="PassControllerRole",
        kinds=("aws_eks_pod_identity_association",),
        actions=("iam:PassRole",),
        resources=target.controller_role_of_pods,
        conditions=target.passed_to("eks.amazonaws.com", "pods.eks.amazonaws.com"),
    ),
    Row(
        part=APPLY,
        sid="ChangeFargateProfile",
        kinds=("aws_eks_fargate_profile",),
        actions=("eks:DeleteFargateProfile", "eks:TagResource", "eks:UntagResource"),
        resources=target.fargate_profiles,
    ),
    Row(
        part=APPLY,
        sid="ChangeAccessEntries",
        kinds=("aws_eks_access_entry",),
        actions=("eks:DeleteAccessEntry", "eks:TagResource", "eks:UntagResource"),
        resources=target.access_entries,
    ),
    Row(
        part=APPLY,
        sid="ChangeAddons",
        kinds=("aws_eks_addon",),
        actions=(
            "eks:DeleteAddon",
            "eks:DescribeUpdate",
            "eks:TagResource",
            "eks:UntagResource",
            "eks:UpdateAddon",
        ),
        resources=target.addons,
    ),
    Row(
        part=APPLY,
        sid="ChangePodIdentity",
        kinds=("aws_eks_pod_identity_association",),
        actions=(
            "eks:DeletePodIdentityAssociation",
            "eks:TagResource",
            "eks:UntagResource",
            "eks:UpdatePodIdentityAssociation",
        ),
        resources=target.associations,
    ),
    Row(
        part=APPLY,
        sid="WriteTags",
        kinds=("aws_ec2_tag",),
        actions=("ec2:CreateTags", "ec2:DeleteTags"),
        resources=target.tagged,
        conditions=target.discovery_tag,
    ),
    Row(
        part=STATE,
        sid="AssumeStateRole",
        kinds=("backend.s3",),
        actions=("sts:AssumeRole",),
        resources=state.state_role,
    ),
    *(
        Row(
            part=part,
            sid=sid,
            kinds=("backend.s3",),
            actions=actions,
            resources=only(resources),
            conditions=conditions,
        )
        for part, only in ((STATE, state.with_own_permissions), (STATE_ROLE, state.with_a_role))
        for sid, actions, resources, conditions in (
            ("ListState", ("s3:ListBucket",), state.bucket, state.below_the_key),
            ("WriteState", ("s3:GetObject", "s3:PutObject"), state.state_object, unconditionally),
            ("LockState", ("s3:DeleteObject", "s3:GetObject", "s3:PutObject"), state.lock_object, unconditionally),
            (
                "LockStateInTable",
                ("dynamodb:DeleteItem", "dynamodb:DescribeTable", "dynamodb:GetItem", "dynamodb:PutItem"),
                state.lock_table,
                unconditionally,
            ),
            ("EncryptState", ("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"), state.state_key, unconditionally),
        )
    ),
)
