"""Reads a live cluster and decides the keys of its file, with a word on where each value comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from nodeless.karpenter import releases
from nodeless.karpenter.place import Place
from nodeless.karpenter.trust import AUDIENCE
from nodeless.karpenter.versions import Release
from nodeless.live import existing, network
from nodeless.live.account import Account, NotReadError
from nodeless.live.checks.nodes import SPOT_ROLE
from nodeless.live.cluster import ACTIVE, CONFIG_MAP, LiveCluster
from nodeless.live.draft import Draft, Noted, plain
from nodeless.live.subject import NO_ROLE
from nodeless.resolved.partitions import FARGATE, Partition, is_known_region, partition_of
from nodeless.spec.model import Discovery

TAG_KEY = Discovery().tag_key
LITERALS = (
    "from EKS; it never changes, so the literal is written here: a plan then looks nothing up and shows every value",
    "the same",
    "the same",
)
Value = TypeVar("Value")


class Survey:
    """One look at a cluster: `missing` grows with every question whose answer is not what a stack needs."""

    def __init__(self, account: Account, live: LiveCluster, *, release: Release | None = None) -> None:
        self._account, self._live = account, live
        self._release = release or newest_release(live.kubernetes_minor)
        self._missing: list[str] = []
        self._existing: list[str] = []

    def draft(self) -> Draft:
        """Ask everything, and return the keys in the order of the model."""
        live, region = self._live, self._account.region
        partition = partition_of(region)
        if live.status != ACTIVE:
            self._missing.append(f"the cluster is {live.status}: wait until it is {ACTIVE}")
        if live.is_auto_mode:
            self._missing.append(
                "EKS Auto Mode is on, which runs a Karpenter of its own: turn it off, or do without this one"
            )
        subnets = self._readable(lambda: network.subnets(self._account, vpc_id=live.vpc_id)) or ()
        groups = self._readable(lambda: network.security_groups(self._account, live.vpc_id)) or ()
        keys: dict[str, Any] = {
            "name": live.name,
            "region": region,
            **self._new_region(),
            "account": Noted(live.account, "Terraform stops with credentials of another one"),
            **self._kubernetes(),
            **self._literals(),
            **(self._fargate(partition, subnets)),
            "karpenter": {"version": Noted(str(self._release), self._why_release())},
            **self._oidc_provider(partition),
            "nodes": self._nodes(),
            **self._discovery(subnets, groups),
            **self._spot(),
        }
        self._readable(lambda: self._look_for_karpenter(partition))
        found = {"cluster": plain(keys), "vpc": live.vpc_id, "authentication_mode": live.authentication_mode}
        return Draft(
            keys=keys, missing=tuple(dict.fromkeys(self._missing)), existing=tuple(self._existing), found=found
        )

    def _readable(self, question: Callable[[], Value]) -> Value | None:
        """Ask; what cannot be read is said, and the file is written without it."""
        try:
            return question()
        except NotReadError as reason:
            self._missing.append(f"not looked up: {reason}")
            return None

    def _new_region(self) -> dict[str, Any]:
        known = is_known_region(self._account.region)
        return {} if known else {"new_region": Noted(True, "this nodeless does not know the region")}  # noqa: FBT003 - a value

    def _kubernetes(self) -> dict[str, Any]:
        live = self._live
        if releases.supports(self._release, live.kubernetes_minor):
            return {"kubernetes": Noted(live.kubernetes, "from EKS; checked against the Karpenter release")}
        if live.kubernetes_minor > releases.NEWEST_KUBERNETES:
            text = f"Kubernetes {live.kubernetes} is newer than this nodeless: look at Karpenter's compatibility matrix"
            self._missing.append(text)
            return {"kubernetes": Noted(live.kubernetes, "from EKS; newer than this nodeless knows")}
        first, last = releases.kubernetes_range(self._release)
        runs = f"Karpenter {self._release} runs on 1.{first} to 1.{last}"
        self._missing.append(f"the cluster has Kubernetes {live.kubernetes}, and {runs}: upgrade the cluster")
        return {}

    def _why_release(self) -> str:
        if releases.supports(self._release, self._live.kubernetes_minor):
            newest = newest_release(self._live.kubernetes_minor)
            return f"the newest known release for Kubernetes {self._live.kubernetes} is {newest}"
        return "the newest known release"

    def _literals(self) -> dict[str, Any]:
        live = self._live
        found = (live.endpoint, live.issuer, live.certificate_authority)
        keys = ("endpoint", "oidc_issuer", "certificate_authority")
        # A cluster that is being created has none of them yet: then Terraform looks them up.
        rows = zip(keys, found, LITERALS, strict=True)
        return {key: Noted(value, why) for key, value, why in rows} if all(found) else {}

    def _fargate(self, partition: Partition | None, subnets: Sequence[network.Subnet]) -> dict[str, Any]:
        """Choose the subnets for Fargate; without any, Terraform looks for the tag and says so if it finds none."""
        if partition and FARGATE in partition.not_offered:
            self._missing.append(
                f"{FARGATE} does not exist in {partition.name}: the controller needs a node group to run on"
            )
            return {"fargate": Noted(False, f"AWS does not offer {FARGATE} in {partition.name}")}  # noqa: FBT003 - a value
        chosen, why = fargate_subnets(subnets, self._live)
        if subnets and not chosen:
            self._missing.append(f"the VPC {self._live.vpc_id} has no private subnet, which Fargate needs: add some")
        for subnet in chosen:
            if subnet.way_out is None:
                text = (
                    f"{subnet.id} has no way out: add a NAT gateway, or the VPC endpoints with karpenter.isolated_vpc"
                )
                self._missing.append(text)
        return {"subnets": Noted([Noted(subnet.id, _about(subnet)) for subnet in chosen], why)} if chosen else {}

    def _oidc_provider(self, partition: Partition | None) -> dict[str, Any]:
        live = self._live
        if not live.issuer or partition is None:
            return {}
        arn = self._place(partition).iam(f"oidc-provider/{live.issuer_host}")

        def question() -> dict[str, Any]:
            return self._account.ask(
                "iam", "get_open_id_connect_provider", OpenIDConnectProviderArn=arn, absent=NO_ROLE
            )

        found = self._readable(question)
        if found is None:
            return {}
        if not found:
            self._missing.append(
                "IAM has no OIDC provider for the cluster: with oidc_provider: create, the stack creates it"
            )
            return {"oidc_provider": Noted("create", "IAM has none for the issuer")}
        if AUDIENCE not in found.get("ClientIDList", ()):
            self._missing.append(f"the OIDC provider does not have the audience {AUDIENCE}: add it")
        return {"oidc_provider": Noted("existing", "IAM has one for the issuer")}

    def _nodes(self) -> dict[str, Any]:
        mode, access = self._live.authentication_mode, "access-entry"
        if mode == CONFIG_MAP:
            access = "aws-auth"
            self._missing.append(
                f"the authentication mode is {CONFIG_MAP}: after an apply, add the output aws_auth_map_roles to the "
                "ConfigMap; or change the mode to API_AND_CONFIG_MAP, and set nodes.access: access-entry"
            )
        keys: dict[str, Any] = {"access": Noted(access, f"the authentication mode is {mode}")}
        return {**keys, "ipv6": Noted(True, "the cluster's pods have IPv6 addresses")} if self._live.is_ipv6 else keys  # noqa: FBT003 - a value

    def _discovery(self, subnets: Sequence[network.Subnet], groups: Sequence[network.SecurityGroup]) -> dict[str, Any]:
        """Let the stack tag what nodes get, if nothing has the tag yet."""
        live, keys = self._live, dict[str, Any]()
        chosen, _ = fargate_subnets(subnets, live)
        if chosen and not network.tagged(subnets, TAG_KEY, live.name):
            keys["subnets"] = Noted([subnet.id for subnet in chosen], f"none has the tag {TAG_KEY}: the stack adds it")
        tagged = network.tagged(groups, TAG_KEY, live.name)
        if groups and not tagged and live.security_group:
            why = f"the group that EKS made; none has the tag {TAG_KEY}: the stack adds it"
            keys["security_groups"] = Noted([live.security_group], why)
        elif groups and not tagged:
            self._missing.append(f"no security group has the tag {TAG_KEY}: list one under discovery.security_groups")
        owned = [group.id for group in tagged if f"kubernetes.io/cluster/{live.name}" in group.tags]
        if len(owned) > 1:
            text = f"{', '.join(owned)} all have the tags {TAG_KEY} and kubernetes.io/cluster/{live.name}"
            self._missing.append(f"{text}: take {TAG_KEY} off all but one, because load balancers need exactly one")
        return {"discovery": keys} if keys else {}

    def _spot(self) -> dict[str, Any]:
        def question() -> dict[str, Any]:
            return self._account.ask("iam", "get_role", RoleName=SPOT_ROLE, absent=NO_ROLE)

        if self._readable(question) != {}:
            return {}
        why = f"the account has no {SPOT_ROLE}, without which no spot instance starts"
        return {"spot_service_linked_role": Noted(True, why)}  # noqa: FBT003 - a value

    def _look_for_karpenter(self, partition: Partition | None) -> None:
        if partition is None:
            return
        name = self._live.name
        for found in existing.resources(self._account, self._place(partition)):
            if found.style == "blog":
                self._missing.append(
                    f"the {found} exists already, and the stack would create it: choose another name with {found.key}"
                )
            else:
                self._existing.append(f"{found}, as Karpenter's own template names it")
        self._existing += [f"Fargate profile {profile}" for profile in existing.fargate_profiles(self._account, name)]
        self._existing += [f"access entry of {principal}" for principal in existing.access_entries(self._account, name)]
        for versions, count in existing.running_nodes(self._account, name).items():
            self._existing.append(f"instances that Karpenter {versions} launched: {count}")
            self._missing.append("a Karpenter runs already: two of them would compete, so remove it first")

    def _place(self, partition: Partition) -> Place:
        live = self._live
        return Place(
            partition=live.partition,
            dns_suffix=partition.dns_suffix,
            region=self._account.region,
            account=live.account,
            cluster=live.name,
        )


def newest_release(kubernetes_minor: int) -> Release:
    """Return the newest known release that runs on a Kubernetes minor; where none does, the newest of all."""
    fitting = [release for release in releases.RELEASES if releases.supports(release, kubernetes_minor)]
    return fitting[-1] if fitting else releases.NEWEST


def fargate_subnets(subnets: Sequence[network.Subnet], live: LiveCluster) -> tuple[list[network.Subnet], str]:
    """Choose private subnets, those with a way out first: the tagged ones, the cluster's own, or any of the VPC."""
    private = [subnet for subnet in subnets if not subnet.is_public]
    for usable in ([subnet for subnet in private if subnet.way_out], private):
        rows = (
            (network.tagged(usable, TAG_KEY, live.name), f"private ones with the tag {TAG_KEY}"),
            (
                [subnet for subnet in usable if subnet.id in live.subnets],
                "private ones of those the cluster was created with",
            ),
            (usable, "private ones of the cluster's VPC"),
        )
        for chosen, why in rows:
            if chosen:
                return chosen, f"for Fargate: {why}"
    return [], ""


def _about(subnet: network.Subnet) -> str:
    return ", ".join(_words(subnet))


def _words(subnet: network.Subnet) -> Iterator[str]:
    yield subnet.zone
    if subnet.name:
        yield subnet.name
    yield f"{subnet.free_addresses} free addresses"
    yield f"way out {subnet.way_out}" if subnet.way_out else "no way out"
