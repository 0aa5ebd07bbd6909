"""What an AWS account holds, read back through boto3.

A stack is destroyed at the end of its story, whichever test looks at it first. So what the tests compare is recorded
while the stack stands.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.terraform.expected import canonical
from tests.terraform.world import DISCOVERY, World

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Recorded:
    """What an account held at one moment, in the shapes the tests compare; by name, or by ARN where there is none."""

    holdings: set[str]
    tags: dict[str, dict[str, str]]
    trusts: dict[str, Any]
    attached: dict[str, set[str]]
    policies: dict[str, Any]
    instance_profiles: dict[str, list[str]]
    oidc_providers: dict[str, dict[str, Any]]
    queues: dict[str, dict[str, Any]]
    rules: dict[str, Any]
    targets: dict[str, list[tuple[str, str]]]
    fargate_profiles: dict[str, dict[str, Any]]
    access_entries: dict[str, dict[str, Any]]
    addons: dict[str, dict[str, Any]]
    pod_identity_associations: list[dict[str, Any]]
    discovery_tags: dict[str, str]


@dataclass(frozen=True)
class Account:
    """The account of a world."""

    world: World

    def record(self) -> Recorded:
        """Read everything that a test may want to see."""
        iam, eks, cluster = self.client("iam"), self.client("eks"), self.world.cluster
        roles = [role["RoleName"] for role in iam.list_roles()["Roles"]]
        profiles = iam.list_instance_profiles()["InstanceProfiles"]
        issuers = [each["Arn"] for each in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]]
        queues = [url.rsplit("/", 1)[-1] for url in self.client("sqs").list_queues().get("QueueUrls", ())]
        rules = self.rules()
        associations = eks.list_pod_identity_associations(clusterName=cluster)["associations"]
        return Recorded(
            holdings=self.holdings(),
            tags=self.tags(),
            trusts={role: self.trust(role) for role in roles},
            attached={role: self.attached(role) for role in roles},
            policies=self.policies(),
            instance_profiles={
                each["InstanceProfileName"]: [role["RoleName"] for role in each["Roles"]] for each in profiles
            },
            oidc_providers={arn: iam.get_open_id_connect_provider(OpenIDConnectProviderArn=arn) for arn in issuers},
            queues={name: self.queue(name) for name in queues},
            rules=rules,
            targets={rule: self.targets(rule) for rule in rules},
            fargate_profiles={
                name: self.fargate_profile(name)
                for name in eks.list_fargate_profiles(clusterName=cluster)["fargateProfileNames"]
            },
            access_entries=self.access_entries(),
            addons={
                name: eks.describe_addon(clusterName=cluster, addonName=name)["addon"]
                for name in eks.list_addons(clusterName=cluster)["addons"]
            },
            pod_identity_associations=[
                eks.describe_pod_identity_association(clusterName=cluster, associationId=each["associationId"])[
                    "association"
                ]
                for each in associations
            ],
            discovery_tags=self.discovery_tags(DISCOVERY),
        )

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3 makes its clients at run time
        """Return a boto3 client in the cluster's region."""
        return self.world.aws.client(service, self.world.region)

    def trust(self, role: str) -> Any:  # noqa: ANN401 - any JSON
        """Return who may assume a role."""
        return canonical(self.client("iam").get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"])

    def attached(self, role: str) -> set[str]:
        """Return the ARNs of the policies attached to a role."""
        listed = self.client("iam").list_attached_role_policies(RoleName=role)["AttachedPolicies"]
        return {policy["PolicyArn"] for policy in listed}

    def inline(self) -> dict[str, list[str]]:
        """Return the names of the inline policies of every role that has some."""
        iam = self.client("iam")
        roles = [role["RoleName"] for role in iam.list_roles()["Roles"]]
        found = {role: iam.list_role_policies(RoleName=role)["PolicyNames"] for role in roles}
        return {role: names for role, names in found.items() if names}

    def policies(self) -> dict[str, Any]:
        """Return the account's own managed policies, by name."""
        iam = self.client("iam")
        return {
            policy["PolicyName"]: canonical(
                iam.get_policy_version(PolicyArn=policy["Arn"], VersionId=policy["DefaultVersionId"])["PolicyVersion"][
                    "Document"
                ]
            )
            for policy in iam.list_policies(Scope="Local")["Policies"]
        }

    def queue(self, name: str) -> dict[str, Any]:
        """Return the attributes of a queue, its policy unfolded."""
        sqs = self.client("sqs")
        url = sqs.get_queue_url(QueueName=name)["QueueUrl"]
        attributes = dict(sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"])
        return attributes | {"Policy": canonical(json.loads(attributes["Policy"]))}

    def rules(self) -> dict[str, Any]:
        """Return the event patterns of all rules, by name."""
        listed = self.client("events").list_rules()["Rules"]
        return {rule["Name"]: json.loads(rule["EventPattern"]) for rule in listed}

    def targets(self, rule: str) -> list[tuple[str, str]]:
        """Return the id and the ARN of a rule's targets."""
        listed = self.client("events").list_targets_by_rule(Rule=rule)["Targets"]
        return [(target["Id"], target["Arn"]) for target in listed]

    def fargate_profile(self, name: str) -> dict[str, Any]:
        """Return a Fargate profile of the cluster."""
        described = self.client("eks").describe_fargate_profile(clusterName=self.world.cluster, fargateProfileName=name)
        return dict(described["fargateProfile"])

    def access_entries(self) -> dict[str, dict[str, Any]]:
        """Return the cluster's access entries, by the role they let in."""
        eks, cluster = self.client("eks"), self.world.cluster
        return {
            principal: eks.describe_access_entry(clusterName=cluster, principalArn=principal)["accessEntry"]
            for principal in eks.list_access_entries(clusterName=cluster)["accessEntries"]
        }

    def discovery_tags(self, key: str) -> dict[str, str]:
        """Return the value of a tag on each EC2 resource that carries it."""
        listed = self.client("ec2").describe_tags(Filters=[{"Name": "key", "Values": [key]}])["Tags"]
        return {tag["ResourceId"]: tag["Value"] for tag in listed}

    def tags(self) -> dict[str, dict[str, str]]:
        """Return the tags of everything a stack makes that can carry tags, by what it is."""
        listed = {**dict(self._tags_in_iam()), **dict(self._tags_of_rules())}
        pairs = {what: {tag["Key"]: tag["Value"] for tag in tags} for what, tags in listed.items()}
        return {**pairs, **dict(self._tags_of_queues()), **dict(self._tags_in_eks())}

    def _tags_in_iam(self) -> Iterator[tuple[str, list[dict[str, str]]]]:
        iam = self.client("iam")
        for role in iam.list_roles()["Roles"]:
            yield f"role {role['RoleName']}", iam.list_role_tags(RoleName=role["RoleName"])["Tags"]
        for policy in iam.list_policies(Scope="Local")["Policies"]:
            yield f"policy {policy['PolicyName']}", iam.list_policy_tags(PolicyArn=policy["Arn"])["Tags"]
        for listed in iam.list_instance_profiles()["InstanceProfiles"]:
            name = listed["InstanceProfileName"]
            profile = iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
            yield f"instance profile {name}", profile["Tags"]
        for listed in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
            provider = iam.get_open_id_connect_provider(OpenIDConnectProviderArn=listed["Arn"])
            yield f"OIDC provider {listed['Arn']}", provider["Tags"]

    def _tags_of_rules(self) -> Iterator[tuple[str, list[dict[str, str]]]]:
        events = self.client("events")
        for rule in events.list_rules()["Rules"]:
            yield f"rule {rule['Name']}", events.list_tags_for_resource(ResourceARN=rule["Arn"])["Tags"]

    def _tags_of_queues(self) -> Iterator[tuple[str, dict[str, str]]]:
        sqs = self.client("sqs")
        for url in sqs.list_queues().get("QueueUrls", ()):
            yield f"queue {url.rsplit('/', 1)[-1]}", sqs.list_queue_tags(QueueUrl=url).get("Tags", {})

    def _tags_in_eks(self) -> Iterator[tuple[str, dict[str, str]]]:
        eks, cluster = self.client("eks"), self.world.cluster
        for name in eks.list_fargate_profiles(clusterName=cluster)["fargateProfileNames"]:
            yield f"Fargate profile {name}", self.fargate_profile(name)["tags"]
        for principal, entry in self.access_entries().items():
            yield f"access entry {principal}", entry["tags"]
        for association in eks.list_pod_identity_associations(clusterName=cluster)["associations"]:
            arn = association["associationArn"]
            yield f"pod identity association {arn}", eks.list_tags_for_resource(resourceArn=arn)["tags"]
        for name in eks.list_addons(clusterName=cluster)["addons"]:
            yield f"add-on {name}", eks.describe_addon(clusterName=cluster, addonName=name)["addon"]["tags"]

    def holdings(self) -> set[str]:
        """Name everything in the account that a stack could have left behind."""
        return set(self._holdings())

    def _holdings(self) -> Iterator[str]:
        yield from self.tags()
        for tag in self.client("ec2").describe_tags()["Tags"]:
            yield f"tag {tag['Key']} of {tag['ResourceId']}"
