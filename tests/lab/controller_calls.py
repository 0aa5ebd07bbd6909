"""The calls of Karpenter's controller, made with boto3: what upstream's code sends in 1.0.8 and in 1.14.1.

They are those of pkg/operator, pkg/providers and pkg/controllers of the releases' sources. What they are answered does
not matter, because IAM is asked before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from tests.terraform.aws_server import ACCOUNT, KEYS
from tests.terraform.world import World

NEWER, OLDER = "1.14.1", "1.0.8"

# Prices and IAM are served from few regions: NewAPI in pkg/providers/pricing/pricing.go.
PRICES, GLOBAL = "eu-central-1", "us-east-1"

STATES = {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped", "shutting-down"]}
STRATEGIES = {
    "on-demand": {"OnDemandOptions": {"AllocationStrategy": "lowest-price"}},
    "spot": {"SpotOptions": {"AllocationStrategy": "price-capacity-optimized"}},
}
ID = "0a1b2c3d4e5f60718"
IMAGE = "ami-03cf127a"  # one of those that moto has


@contextmanager
def whatever_is_answered() -> Iterator[None]:
    """Ignore an error: it is a dry run, nothing is there yet, or moto does not know the call and answers in HTML."""
    with suppress(ClientError, ResponseParserError):
        yield


def tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def specified(tags: Mapping[str, str], *kinds: str) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": tag_list(tags)} for kind in kinds]


def matching(**values: str) -> list[dict[str, Any]]:
    return [{"Name": key.replace("__", ":").replace("_", "-"), "Values": [value]} for key, value in values.items()]


@dataclass(frozen=True)
class Controller:
    """The controller of one release and one cluster; the role is that of its nodes."""

    made: World
    release: str
    cluster: str
    role: str

    @property
    def newer(self) -> bool:
        """Tell the two releases apart."""
        return self.release == NEWER

    @property
    def region(self) -> str:
        """Return the region of the cluster."""
        return self.made.region

    @property
    def profile(self) -> str:
        """Name the instance profile of the node class."""
        return f"{self.cluster}_1234567890"

    @property
    def owner_tags(self) -> dict[str, str]:
        """Return the tags on everything that the controller makes."""
        return {
            f"kubernetes.io/cluster/{self.cluster}": "owned",
            "eks:eks-cluster-name": self.cluster,
            "karpenter.k8s.aws/ec2nodeclass": "default",
        }

    def tags(self, pool: str = "default") -> dict[str, str]:
        """Return the tags on everything that is launched for a pool."""
        return {**self.owner_tags, "karpenter.sh/nodepool": pool}

    @cached_property
    def session(self) -> boto3.Session:
        """Return one session for all clients: it keeps what it has read about a service."""
        return boto3.Session(KEYS["access_key"], KEYS["secret_key"])

    def client(self, service: str, region: str | None = None) -> Any:  # noqa: ANN401  # boto3 makes its clients at run time
        """Return a client that names the controller, as each of its own does."""
        config = Config(
            region_name=region or self.region,
            retries={"total_max_attempts": 1},
            user_agent_extra=f"karpenter.sh-{self.release}",
        )
        # The stubs know the services as literals only.
        return self.session.client(service, endpoint_url=self.made.aws.url, config=config)  # type: ignore[call-overload]

    def live(self) -> None:
        """Do all that the controller does: start, launch, read the queue, terminate, and clean up."""
        self.start()
        self.prepare_class()
        if self.newer:
            self.validate_class()
        instances = [*self.launch("on-demand"), *self.launch("spot")]
        if self.newer:
            self.look_around()
            instances += self.launch("on-demand", **self.reserved())
        self.name_instance(instances[0])
        self.read_queue()
        self.client("ec2").terminate_instances(InstanceIds=instances)
        self.clean_up()

    def start(self) -> None:
        """Look up the cluster, what can be launched, and what it costs."""
        # The controller asks for all types, about which moto would have much to say.
        ec2, one = self.client("ec2"), ["m5.large"]
        ec2.describe_instance_types(DryRun=True, InstanceTypes=one)
        with whatever_is_answered():
            self.client("eks").describe_cluster(name=self.cluster)
        ec2.describe_instance_type_offerings(
            LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": one}]
        )
        ec2.describe_spot_price_history(
            ProductDescriptions=["Linux/UNIX"], StartTime=datetime.now(UTC), InstanceTypes=one
        )
        with whatever_is_answered():
            region = {"Field": "regionCode", "Type": "TERM_MATCH", "Value": self.region}
            self.client("pricing", PRICES).get_products(ServiceCode="AmazonEC2", Filters=[region], MaxResults=100)
        ec2.describe_launch_templates(Filters=matching(tag__eks__eks_cluster_name=self.cluster))

    def look_around(self) -> None:
        """Look up what older releases do not know."""
        ec2 = self.client("ec2")
        ec2.describe_instance_status(Filters=[{"Name": "event.code", "Values": ["instance-stop"]}])
        with whatever_is_answered():
            ec2.describe_capacity_reservations(Filters=matching(state="active"))
        with whatever_is_answered():
            ec2.describe_placement_groups(GroupNames=["group"])
        with whatever_is_answered():
            arn = f"arn:aws:eks:{self.region}:{ACCOUNT}:cluster/{self.cluster}"
            self.client("arc-zonal-shift").get_managed_resource(resourceIdentifier=arn)
        self.client("iam", GLOBAL).list_instance_profiles(PathPrefix=f"/karpenter/{self.region}/{self.cluster}/")

    def prepare_class(self) -> None:
        """Find what a node class selects, and make its instance profile."""
        ec2, ssm, iam = self.client("ec2"), self.client("ssm"), self.client("iam", GLOBAL)
        ec2.describe_subnets(Filters=[{"Name": "tag:karpenter.sh/discovery", "Values": [self.cluster]}])
        ec2.describe_security_groups(Filters=[{"Name": "group-id", "Values": list(self.made.security_groups)}])
        for architecture in ("x86_64", "arm64"):
            variant = f"amazon-linux-2023/{architecture}/standard/recommended"
            with whatever_is_answered():
                ssm.get_parameter(Name=f"/aws/service/eks/optimized-ami/1.35/{variant}/image_id")
        ec2.describe_images(Filters=matching(image_id=IMAGE, state="available"), IncludeDeprecated=True)
        tags = tag_list({**self.owner_tags, "topology.kubernetes.io/region": self.region})
        with whatever_is_answered():
            iam.get_instance_profile(InstanceProfileName=self.profile)
        path = {"Path": f"/karpenter/{self.region}/{self.cluster}/{ID}/"} if self.newer else {}
        iam.create_instance_profile(InstanceProfileName=self.profile, Tags=tags, **path)
        iam.add_role_to_instance_profile(InstanceProfileName=self.profile, RoleName=self.role)
        if not self.newer:
            # Only for a profile of an earlier release, which has not all tags.
            iam.tag_instance_profile(InstanceProfileName=self.profile, Tags=tags)

    def launch(self, capacity: str, **more: object) -> list[str]:
        """Make a launch template and a fleet, and return the instances."""
        ec2, template = self.client("ec2"), f"karpenter.k8s.aws/{self.cluster}-{capacity}-{len(more)}"
        with whatever_is_answered():
            ec2.describe_launch_templates(LaunchTemplateNames=[template])
        ec2.create_launch_template(**self.template(template, capacity, self.tags(), **more))
        launched = ec2.create_fleet(**self.fleet(template, capacity, self.tags()))
        return [id_ for each in launched["Instances"] for id_ in each["InstanceIds"]]

    def template(self, template: str, capacity: str, tags: Mapping[str, str], **more: object) -> dict[str, Any]:
        """Return the parameters of a launch template."""
        kinds = ("network-interface", *(("spot-instances-request",) if capacity == "spot" else ()))
        groups = list(self.made.security_groups)
        newer = {
            "NetworkInterfaces": [{"DeviceIndex": 0, "Groups": groups}],
            "Placement": {"Tenancy": "default"},
            "EnclaveOptions": {"Enabled": False},
            "CapacityReservationSpecification": {"CapacityReservationPreference": "none"},
        }
        data = {
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 20, "VolumeType": "gp3"}}],
            "IamInstanceProfile": {"Name": self.profile},
            "Monitoring": {"Enabled": False},
            "UserData": "IyE=",
            "ImageId": IMAGE,
            "MetadataOptions": {"HttpEndpoint": "enabled", "HttpTokens": "required"},
            "TagSpecifications": specified(tags, *kinds),
            **(newer if self.newer else {"SecurityGroupIds": groups}),
            **more,
        }
        own_tags = tags if self.newer else {**tags, "karpenter.k8s.aws/cluster": self.cluster}
        return {
            "LaunchTemplateName": template,
            "LaunchTemplateData": data,
            "TagSpecifications": specified(own_tags, "launch-template"),
        }

    @staticmethod
    def reserved() -> dict[str, Any]:
        """Return what a template says for reserved capacity in a placement group, with a volume from a snapshot."""
        return {
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"SnapshotId": f"snap-{ID}"}}],
            "CapacityReservationSpecification": {
                "CapacityReservationPreference": "capacity-reservations-only",
                "CapacityReservationTarget": {"CapacityReservationId": f"cr-{ID}"},
            },
            "Placement": {"Tenancy": "default", "GroupId": f"pg-{ID}"},
        }

    def fleet(self, template: str, capacity: str, tags: Mapping[str, str]) -> dict[str, Any]:
        """Return the parameters of a fleet."""
        overrides = [
            {"InstanceType": kind, "SubnetId": subnet, "ImageId": IMAGE}
            for kind in ("m5.large", "c5.large")
            for subnet in self.made.subnets
        ]
        specification = {"LaunchTemplateName": template, "Version": "$Latest"}
        return {
            "Type": "instant",
            "LaunchTemplateConfigs": [{"LaunchTemplateSpecification": specification, "Overrides": overrides}],
            "TargetCapacitySpecification": {"DefaultTargetCapacityType": capacity, "TotalTargetCapacity": 1},
            "TagSpecifications": specified(tags, "instance", "volume", "fleet"),
            **STRATEGIES[capacity],
        }

    def validate_class(self) -> None:
        """Ask whether it may launch: a launch template and two dry runs, all with an empty name of a pool.

        That is pkg/controllers/nodeclass/validation.go, which older releases do not have.
        """
        ec2, tags = self.client("ec2"), self.tags(pool="")
        template = f"karpenter.k8s.aws/{self.cluster}-validation"
        ec2.create_launch_template(**self.template(template, "on-demand", tags))
        with whatever_is_answered():
            ec2.create_fleet(**self.fleet(template, "on-demand", tags), DryRun=True)
        with whatever_is_answered():
            ec2.run_instances(
                DryRun=True,
                MinCount=1,
                MaxCount=1,
                LaunchTemplate={"LaunchTemplateName": template, "Version": "$Latest"},
                InstanceType="m5.large",
                NetworkInterfaces=[{"DeviceIndex": 0, "SubnetId": self.made.subnets[0]}],
                TagSpecifications=specified(tags, "instance", "volume", "network-interface"),
            )

    def name_instance(self, instance: str) -> None:
        """Tag an instance once its node is known."""
        ec2 = self.client("ec2")
        ec2.describe_instances(InstanceIds=[instance], Filters=[STATES])
        tags = {"Name": "ip-10-0-0-4.eu-north-1.compute.internal", "karpenter.sh/nodeclaim": "default-x"}
        ec2.create_tags(Resources=[instance], Tags=tag_list(tags))

    def read_queue(self) -> None:
        """Take messages off the queue, which somebody else has made."""
        sqs, url = self.client("sqs"), f"{self.made.aws.url}/{ACCOUNT}/{self.cluster}"
        with whatever_is_answered():
            sqs.get_queue_url(QueueName=self.cluster)
        with whatever_is_answered():
            sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=20)
        with whatever_is_answered():
            sqs.delete_message(QueueUrl=url, ReceiptHandle="handle")

    def clean_up(self) -> None:
        """Delete a template that is out of use, by its id, then all of the class, by their names, and the profile."""
        ec2, iam = self.client("ec2"), self.client("iam", GLOBAL)
        filters = matching(tag__eks__eks_cluster_name=self.cluster)
        unused, *others = ec2.describe_launch_templates(Filters=filters)["LaunchTemplates"]
        ec2.delete_launch_template(LaunchTemplateId=unused["LaunchTemplateId"])
        for template in others:
            ec2.delete_launch_template(LaunchTemplateName=template["LaunchTemplateName"])
        iam.get_instance_profile(InstanceProfileName=self.profile)
        iam.remove_role_from_instance_profile(InstanceProfileName=self.profile, RoleName=self.role)
        iam.delete_instance_profile(InstanceProfileName=self.profile)
