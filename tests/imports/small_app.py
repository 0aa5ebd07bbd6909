"""A small CDKTF app over aws and helm; its only argument is the output folder."""

import sys

from nodeless.imports.aws import (
    AwsProvider,
    AwsProviderDefaultTags,
    CloudwatchEventRule,
    CloudwatchEventTarget,
    DataAwsIamPolicyDocument,
    DataAwsIamPolicyDocumentStatement,
    DataAwsIamPolicyDocumentStatementPrincipals,
    EksFargateProfile,
    EksFargateProfileSelector,
    IamRole,
    SqsQueue,
)
from nodeless.imports.cdk import App, LocalBackend, TerraformOutput, TerraformStack
from nodeless.imports.helm import HelmProvider, HelmProviderKubernetes, Release

app = App(outdir=sys.argv[1])
stack = TerraformStack(app, "small")
LocalBackend(stack, path="terraform.tfstate")
AwsProvider(stack, "aws", region="eu-north-1", default_tags=[AwsProviderDefaultTags(tags={"made": "here"})])
HelmProvider(stack, "helm", kubernetes=HelmProviderKubernetes(host="https://cluster.example"))
trust = DataAwsIamPolicyDocument(
    stack,
    "trust",
    statement=[
        DataAwsIamPolicyDocumentStatement(
            actions=["sts:AssumeRole"],
            principals=[
                DataAwsIamPolicyDocumentStatementPrincipals(
                    type="Service", identifiers=["eks-fargate-pods.amazonaws.com"]
                )
            ],
        )
    ],
)
role = IamRole(stack, "role", name="small", assume_role_policy=trust.json)
profile = EksFargateProfile(
    stack,
    "profile",
    cluster_name="small",
    fargate_profile_name="karpenter",
    pod_execution_role_arn=role.arn,
    subnet_ids=["subnet-0"],
    selector=[EksFargateProfileSelector(namespace="karpenter")],
)
queue = SqsQueue(stack, "queue", name="small")
rule = CloudwatchEventRule(stack, "rule", event_pattern='{"source":["aws.health"]}')
CloudwatchEventTarget(stack, "target", rule=rule.name, arn=queue.arn)
Release(stack, "karpenter", name="karpenter", chart="karpenter", values=["replicas: 2"], depends_on=[profile])
TerraformOutput(stack, "role_arn", value=role.arn)
app.synth()
