"""The overlay answers as EKS does, and leaves everything else to moto."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from tests.terraform import world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.terraform.aws_server import AwsServer

CLUSTER, REGION = "overlay", "eu-west-1"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def eks(aws: AwsServer) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
    world.create(aws, cluster=CLUSTER, region=REGION)
    return aws.client("eks", REGION)


@pytest.fixture
def role(aws: AwsServer) -> Iterator[str]:
    iam = aws.client("iam", REGION)
    yield iam.create_role(RoleName="overlay", Path="/team/", AssumeRolePolicyDocument=json.dumps({}))["Role"]["Arn"]
    iam.delete_role(RoleName="overlay")


def refused(error: pytest.ExceptionInfo[ClientError]) -> str:
    return error.value.response["Error"]["Code"]


def test_a_node_role_enters_with_the_groups_of_its_operating_system(eks: Any, role: str) -> None:  # noqa: ANN401 - a boto3 client
    made = eks.create_access_entry(clusterName=CLUSTER, principalArn=role, type="EC2_WINDOWS", tags={"team": "a"})

    read = eks.describe_access_entry(clusterName=CLUSTER, principalArn=role)["accessEntry"]
    assert read == made["accessEntry"]
    assert read["username"] == "system:node:{{EC2PrivateDNSName}}"
    assert read["kubernetesGroups"] == ["eks:kube-proxy-windows", "system:nodes"]
    assert eks.list_access_entries(clusterName=CLUSTER)["accessEntries"] == [role]

    eks.delete_access_entry(clusterName=CLUSTER, principalArn=role)

    assert eks.list_access_entries(clusterName=CLUSTER)["accessEntries"] == []
    with pytest.raises(ClientError) as error:
        eks.describe_access_entry(clusterName=CLUSTER, principalArn=role)
    assert refused(error) == "ResourceNotFoundException"


def test_only_a_standard_entry_takes_a_name_and_groups(eks: Any, role: str) -> None:  # noqa: ANN401 - a boto3 client
    with pytest.raises(ClientError) as error:
        eks.create_access_entry(clusterName=CLUSTER, principalArn=role, type="EC2_LINUX", kubernetesGroups=["admins"])
    assert refused(error) == "InvalidParameterException"

    eks.create_access_entry(clusterName=CLUSTER, principalArn=role)
    changed = eks.update_access_entry(clusterName=CLUSTER, principalArn=role, kubernetesGroups=["admins"])

    assert changed["accessEntry"]["kubernetesGroups"] == ["admins"]
    assert changed["accessEntry"]["username"].endswith(":assumed-role/overlay/{{SessionName}}")
    eks.delete_access_entry(clusterName=CLUSTER, principalArn=role)


def test_an_entry_is_made_once_and_for_a_role_that_exists(eks: Any, role: str) -> None:  # noqa: ANN401 - a boto3 client
    with pytest.raises(ClientError, match="The specified principalArn is invalid: invalid principal"):
        eks.create_access_entry(clusterName=CLUSTER, principalArn=f"{role}-that-is-not-there", type="EC2_LINUX")

    eks.create_access_entry(clusterName=CLUSTER, principalArn=role, type="EC2_LINUX")
    with pytest.raises(ClientError) as error:
        eks.create_access_entry(clusterName=CLUSTER, principalArn=role, type="EC2_LINUX")

    assert refused(error) == "ResourceInUseException"
    eks.delete_access_entry(clusterName=CLUSTER, principalArn=role)


def test_a_service_account_has_one_association(eks: Any, role: str) -> None:  # noqa: ANN401 - a boto3 client
    whose = {"clusterName": CLUSTER, "namespace": "karpenter", "serviceAccount": "karpenter"}
    made = eks.create_pod_identity_association(**whose, roleArn=role)["association"]
    which = {"clusterName": CLUSTER, "associationId": made["associationId"]}
    with pytest.raises(ClientError) as error:
        eks.create_pod_identity_association(**whose, roleArn=role)
    assert refused(error) == "ResourceInUseException"

    eks.update_pod_identity_association(**which, disableSessionTags=True)

    read = eks.describe_pod_identity_association(**which)["association"]
    assert (read["roleArn"], read["disableSessionTags"]) == (role, True)
    listed = eks.list_pod_identity_associations(clusterName=CLUSTER, namespace="karpenter")["associations"]
    assert [one["associationId"] for one in listed] == [made["associationId"]]
    assert eks.list_pod_identity_associations(clusterName=CLUSTER, namespace="default")["associations"] == []

    eks.delete_pod_identity_association(**which)

    assert eks.list_pod_identity_associations(clusterName=CLUSTER)["associations"] == []


def test_an_add_on_is_created_updated_and_deleted_in_the_background(eks: Any) -> None:  # noqa: ANN401 - a boto3 client
    which = {"clusterName": CLUSTER, "addonName": "eks-pod-identity-agent"}

    assert eks.create_addon(**which)["addon"]["status"] == "CREATING"
    assert eks.describe_addon(**which)["addon"]["status"] == "ACTIVE"
    update = eks.update_addon(**which, addonVersion="v1.3.4-eksbuild.1")["update"]
    assert update["status"] == "InProgress"
    assert eks.describe_update(name=CLUSTER, updateId=update["id"])["update"]["status"] == "Successful"
    assert eks.describe_addon(**which)["addon"]["addonVersion"] == "v1.3.4-eksbuild.1"
    assert eks.delete_addon(**which)["addon"]["status"] == "DELETING"
    assert eks.list_addons(clusterName=CLUSTER)["addons"] == []


def test_tags_are_changed_wherever_the_resource_is_kept(eks: Any, role: str) -> None:  # noqa: ANN401 - a boto3 client
    kept = {
        "overlay": eks.create_access_entry(clusterName=CLUSTER, principalArn=role, type="EC2_LINUX")["accessEntry"][
            "accessEntryArn"
        ],
        "a Fargate profile": eks.create_fargate_profile(
            clusterName=CLUSTER,
            fargateProfileName="karpenter",
            podExecutionRoleArn=role,
            selectors=[{"namespace": "karpenter"}],
        )["fargateProfile"]["fargateProfileArn"],
        "moto": eks.describe_cluster(name=CLUSTER)["cluster"]["arn"],
    }

    for arn in kept.values():
        eks.tag_resource(resourceArn=arn, tags={"team": "a", "cost": "b"})
        eks.untag_resource(resourceArn=arn, tagKeys=["team"])

    tags = {place: eks.list_tags_for_resource(resourceArn=arn)["tags"] for place, arn in kept.items()}
    assert tags == {place: {"cost": "b"} for place in kept}
    eks.delete_access_entry(clusterName=CLUSTER, principalArn=role)
    eks.delete_fargate_profile(clusterName=CLUSTER, fargateProfileName="karpenter")


def test_a_cluster_that_is_not_there_has_nothing(eks: Any) -> None:  # noqa: ANN401 - a boto3 client
    with pytest.raises(ClientError) as error:
        eks.list_access_entries(clusterName="elsewhere")

    assert refused(error) == "ResourceNotFoundException"


def test_a_cluster_tells_its_vpc_and_its_authentication_mode(aws: AwsServer) -> None:
    made = world.create(aws, cluster="overlay-modes", region=REGION, authentication="API_AND_CONFIG_MAP")

    read = aws.client("eks", REGION).describe_cluster(name="overlay-modes")["cluster"]

    assert read["resourcesVpcConfig"]["vpcId"] == made.vpc
    assert read["accessConfig"] == {"authenticationMode": "API_AND_CONFIG_MAP"}


def test_without_access_entries_in_its_mode_a_cluster_refuses_them(aws: AwsServer, role: str) -> None:
    world.create(aws, cluster="overlay-config-map", region=REGION, authentication="CONFIG_MAP")

    with pytest.raises(ClientError, match="authentication mode must be set to one of"):
        aws.client("eks", REGION).create_access_entry(clusterName="overlay-config-map", principalArn=role)


def test_a_cluster_that_is_not_there_is_not_described(eks: Any) -> None:  # noqa: ANN401 - a boto3 client
    with pytest.raises(ClientError) as error:
        eks.describe_cluster(name="elsewhere")

    assert refused(error) == "ResourceNotFoundException"
