"""Karpenter on an EKS cluster, as a construct that goes into any CDKTF stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nodeless.imports.cdk import Construct, ITerraformDependable, TerraformLocal, TerraformOutput
from nodeless.karpenter.chart import CONTROLLER_CHART, CRD_CHART, chart_version, crd_values
from nodeless.karpenter.interruption import event_rules, key_policy, queue_policy
from nodeless.karpenter.nodes import ACCESS_ENTRY_TYPES, FARGATE_CNI_POLICIES, FARGATE_POLICIES, cni_ipv6, node_policies
from nodeless.karpenter.policy import Statement, document
from nodeless.karpenter.trust import fargate_trust, irsa_trust, node_trust, pod_identity_trust
from nodeless.resolved import fargate_logging
from nodeless.resolved.delivery import chart_values, metadata
from nodeless.resolved.installation import FargateProfile, Installation, Queue
from nodeless.resolved.node_access import (
    MappedRole,
    identity_mapping_commands,
    map_roles,
    palette_irsa_roles,
    palette_map_roles,
    without_path,
)
from nodeless.resolved.permissions import controller_policies, node_role_arns, place_of
from nodeless.resolved.resources import all_manifests, vpc_endpoints
from nodeless.stacks.addresses import Addresses, part
from nodeless.stacks.components.charts import Chart, Charts, values_of
from nodeless.stacks.components.controller import Controller
from nodeless.stacks.components.coredns import CoreDns
from nodeless.stacks.components.discovery import Discovery
from nodeless.stacks.components.fargate import Fargate
from nodeless.stacks.components.interruption import InterruptionQueue
from nodeless.stacks.components.local_chart import local_chart
from nodeless.stacks.components.lookups import AccountLookup, ClusterLookup, SubnetLookup, issuer_host
from nodeless.stacks.components.nodes import BroughtNodes, Nodes
from nodeless.stacks.components.oidc_provider import OidcProvider
from nodeless.stacks.components.pod_identity import PodIdentity
from nodeless.stacks.components.role import Boundaries
from nodeless.stacks.components.spot_role import SpotRole
from nodeless.stacks.files.yaml_text import yaml_text

Output = tuple[str, object, str]


class Karpenter(Construct):
    """The roles, the queue, the profile and the charts of one installation.

    The stack brings the providers: `aws`, and `helm` where the delivery is helm. Addresses begin with the construct's
    own id, so that several installations can share a stack.
    """

    controller_role_arn: str
    node_role_arn: str
    node_role_name: str
    instance_profile_name: str | None
    queue_name: str | None
    endpoint: str | None
    certificate_authority: str | None
    _provider_arn: str | None

    def __init__(self, scope: Construct, id_: str, *, installation: Installation, prefix: str | None = None) -> None:
        """Wire the components; `prefix` replaces the id at the head of every address."""
        super().__init__(scope, id_)
        self._installation = installation
        self._at = Addresses(f"{part(id_)}_" if prefix is None else prefix)
        self._boundaries = Boundaries(path=installation.path, permissions_boundary=installation.permissions_boundary)
        self._look_up()
        nodes = self._nodes()
        further = self._further_nodes()
        queue = self._interruption(installation.queue) if installation.queue else None
        controller, trusted = self._controller()
        fargate = self._fargate(installation.fargate) if installation.fargate else None
        discovery = Discovery(
            self,
            "discovery",
            at=self._at,
            tag_key=installation.tag_key,
            cluster=installation.name,
            resource_ids=(*installation.tagged_subnets, *installation.tagged_security_groups),
        )
        self.controller_role_arn = controller.role_arn
        self.node_role_arn, self.node_role_name = nodes.role_arn, nodes.role_name
        self.instance_profile_name = nodes.instance_profile_name
        self.queue_name = queue.queue_name if queue else None
        self._values()
        spot = self._spot_role()
        if fargate and installation.fargate and installation.fargate.coredns:
            CoreDns(self, "coredns", at=self._at, cluster=installation.name, after=[fargate.profile])
        if installation.delivery == "helm":
            self._charts(
                first=[fargate.profile] if fargate else [],
                before_controller=[
                    *controller.ready,
                    *nodes.ready,
                    *(row for role in further.values() for row in role.ready),
                    *(queue.ready if queue else ()),
                    *trusted,
                ],
                before_pools=[*discovery.tags, *spot],
            )
        self._outputs(controller, nodes, further, queue, fargate)

    def _look_up(self) -> None:
        """Ask AWS for what the file does not say, and for nothing else."""
        installation = self._installation
        with_helm = installation.delivery == "helm"
        self.endpoint, self.certificate_authority = installation.endpoint, installation.certificate_authority
        account, issuer = installation.account, installation.oidc_issuer
        needs_issuer = installation.identity == "irsa" and issuer is None
        if account is None:
            account = AccountLookup(self, "account", at=self._at).account
        if needs_issuer or (with_helm and not (self.endpoint and self.certificate_authority)):
            found = ClusterLookup(self, "cluster", at=self._at, name=installation.name)
            issuer = found.oidc_issuer if needs_issuer else issuer
            self.endpoint = self.endpoint or found.endpoint
            self.certificate_authority = self.certificate_authority or found.certificate_authority
        self._place = place_of(installation, account=account)
        self._issuer = issuer

    def _controller(self) -> tuple[Controller, tuple[ITerraformDependable, ...]]:
        """Create the controller's role; return it with what has to be there before a pod can have it."""
        installation = self._installation
        if installation.identity == "irsa" and self._issuer:
            return self._controller_by_issuer(self._issuer)
        controller = self._controller_role(pod_identity_trust(self._place))
        self._provider_arn = None
        identity = PodIdentity(
            self,
            "pod_identity",
            at=self._at,
            cluster=installation.name,
            namespace=installation.namespace,
            service_account=installation.service_account,
            role_arn=controller.role_arn,
        )
        return controller, (identity.association,)

    def _controller_by_issuer(self, issuer: str) -> tuple[Controller, tuple[ITerraformDependable, ...]]:
        installation = self._installation
        host = issuer_host(issuer)
        self._provider_arn = self._place.iam(f"oidc-provider/{host}")
        trusted: tuple[ITerraformDependable, ...] = ()
        if installation.creates_oidc_provider:
            trusted = (OidcProvider(self, "oidc_provider", at=self._at, issuer=issuer).provider,)
        controller = self._controller_role(
            irsa_trust(
                provider_arn=self._provider_arn,
                issuer=host,
                namespace=installation.namespace,
                service_account=installation.service_account,
            )
        )
        return controller, trusted

    def _controller_role(self, trust: Sequence[Statement]) -> Controller:
        return Controller(
            self,
            "controller",
            at=self._at,
            role_name=self._installation.names.controller_role,
            trust=trust,
            policies=controller_policies(self._installation, self._place),
            boundaries=self._boundaries,
        )

    def _nodes(self) -> Nodes:
        installation = self._installation
        return self._node_role(
            self,
            "nodes",
            address="node",
            name=installation.names.node_role,
            profile=installation.names.instance_profile,
            extra=installation.node_policies,
            entry_type=self._entry_type("linux"),
        )

    def _further_nodes(self) -> dict[str, Nodes | BroughtNodes]:
        """Create the further node roles; of one that is brought along, only the way into the cluster."""
        installation, names = self._installation, self._installation.names
        scope = Construct(self, "node_roles")
        made: dict[str, Nodes | BroughtNodes] = {}
        for role in installation.node_roles:
            address = f"node_{part(role.key)}"
            entry_type = self._entry_type(role.os)
            if role.arn is None:
                made[role.key] = self._node_role(
                    scope,
                    role.key,
                    address=address,
                    name=names.further("node_role", role.key),
                    profile=names.further("instance_profile", role.key),
                    extra=role.policies,
                    entry_type=entry_type,
                )
            elif entry_type:
                made[role.key] = BroughtNodes(
                    scope,
                    role.key,
                    at=self._at,
                    address=address,
                    cluster=installation.name,
                    role_arn=role.arn,
                    entry_type=entry_type,
                )
        return made

    def _node_role(
        self,
        scope: Construct,
        id_: str,
        *,
        address: str,
        name: str,
        profile: str,
        extra: Sequence[str],
        entry_type: str | None,
    ) -> Nodes:
        installation, place = self._installation, self._place
        release_policies = node_policies(installation.release, ipv6=installation.ipv6)
        return Nodes(
            scope,
            id_,
            at=self._at,
            address=address,
            cluster=installation.name,
            role_name=name,
            trust=node_trust(place),
            policies=[
                *((key, place.managed_policy(policy)) for key, policy in release_policies),
                *((f"extra_{part(arn.rpartition('/')[2])}", arn) for arn in extra),
            ],
            inline=[("cni_ipv6", cni_ipv6(place))] if installation.ipv6 else [],
            boundaries=self._boundaries,
            instance_profile=profile if installation.instance_profile else None,
            access_entry_type=entry_type,
        )

    def _entry_type(self, os: str) -> str | None:
        return ACCESS_ENTRY_TYPES[os] if self._installation.access == "access-entry" else None

    def _interruption(self, queue: Queue) -> InterruptionQueue:
        names, place = self._installation.names, self._place
        rules = [(names.rule(event.key), event) for event in event_rules(self._installation.release)]
        self._rule_arns = tuple(place.regional("events", f"rule/{name}") for name, _ in rules)
        return InterruptionQueue(
            self,
            "interruption",
            at=self._at,
            name=names.queue,
            kms_key_arn=queue.kms_key_arn,
            policy=queue_policy(place.regional("sqs", names.queue), self._rule_arns),
            rules=rules,
        )

    def _fargate(self, profile: FargateProfile) -> Fargate:
        installation, place = self._installation, self._place
        subnets: Sequence[str] | None = installation.subnets
        if subnets is None:
            subnets = SubnetLookup(
                self, "subnets", at=self._at, tag_key=installation.tag_key, cluster=installation.name
            ).subnet_ids
        policies = (*FARGATE_POLICIES, *(FARGATE_CNI_POLICIES if profile.cni_policy else ()))
        return Fargate(
            self,
            "fargate",
            at=self._at,
            cluster=installation.name,
            profile_name=installation.names.fargate_profile,
            role_name=installation.names.fargate_role,
            trust=fargate_trust(place),
            policies=[(key, place.managed_policy(name)) for key, name in policies],
            inline=[("logging", fargate_logging.permission(place))] if profile.logging else [],
            boundaries=self._boundaries,
            subnets=subnets,
            selectors=profile.selectors,
        )

    def _values(self) -> None:
        """Keep the chart's values in the stack, for its releases and its outputs."""
        values = chart_values(self._installation, self._place, endpoint=self.endpoint)
        self._values_yaml = values_of(self, "karpenter_values", at=self._at, values=values)

    def _spot_role(self) -> tuple[ITerraformDependable, ...]:
        """Make the account's role for spot instances, where asked for."""
        return (SpotRole(self, "spot", at=self._at).role,) if self._installation.spot_service_linked_role else ()

    def _charts(
        self,
        *,
        first: list[ITerraformDependable],
        before_controller: list[ITerraformDependable],
        before_pools: list[ITerraformDependable],
    ) -> None:
        installation = self._installation
        version = chart_version(installation.release)
        crds = crd_values(installation.release, namespace=installation.namespace)
        Charts(
            self,
            "charts",
            at=self._at,
            namespace=installation.namespace,
            crds=Chart(
                name=CRD_CHART,
                chart=CRD_CHART,
                repository=installation.repository,
                version=version,
                values_yaml=values_of(self, "karpenter_crd_values", at=self._at, values=crds) if crds else None,
            ),
            logging=self._local_chart("fargate_logging", fargate_logging.manifests(self._place))
            if installation.fargate and installation.fargate.logging
            else None,
            controller=Chart(
                name=CONTROLLER_CHART,
                chart=CONTROLLER_CHART,
                repository=installation.repository,
                version=version,
                values_yaml=self._values_yaml,
            ),
            pools=self._local_chart("node_pools", all_manifests(installation)),
            first=first,
            before_controller=before_controller,
            before_pools=before_pools,
        )

    def _local_chart(self, address: str, manifests: Sequence[Mapping[str, Any]]) -> Chart:
        """Install whole objects as they are, with the chart that travels beside the JSON."""
        return Chart(
            name=address.replace("_", "-"),
            chart=local_chart(self),
            repository=None,
            version=None,
            values_yaml=values_of(self, f"{address}_values", at=self._at, values={"manifests": list(manifests)}),
        )

    def _outputs(
        self,
        controller: Controller,
        nodes: Nodes,
        further: Mapping[str, Nodes | BroughtNodes],
        queue: InterruptionQueue | None,
        fargate: Fargate | None,
    ) -> None:
        rows: list[Output] = [
            ("controller_role_arn", controller.role_arn, "Role of the controller's service account"),
            ("node_role_arn", nodes.role_arn, "Role of the nodes"),
            ("node_role_name", nodes.role_name, "Role of the nodes, as an EC2NodeClass names it"),
            ("karpenter_values", self._values_yaml, "Helm values of the karpenter chart"),
            ("karpenter_version", str(self._installation.release), "Karpenter release"),
        ]
        if self._provider_arn:
            rows.append(("oidc_provider_arn", self._provider_arn, "OIDC provider the controller's role trusts"))
        made = {key: role for key, role in further.items() if isinstance(role, Nodes)}
        if made:
            names = {key: role.role_name for key, role in made.items()}
            rows.append(("node_role_names", names, "Further node roles, as an EC2NodeClass names them"))
        rows += self._joining_outputs()
        if self._installation.delivery == "gitops":
            rows.append(
                ("gitops_metadata", metadata(self._installation), "What a GitOps bridge tells the cluster's tool")
            )
        if nodes.instance_profile_name:
            rows.append(("instance_profile_name", nodes.instance_profile_name, "Instance profile of the nodes"))
        if self._installation.isolated_vpc:
            services = list(vpc_endpoints(self._installation))
            rows.append(("vpc_endpoints", services, "Services the VPC needs an endpoint for, by their short names"))
        if fargate:
            rows += [
                ("fargate_role_arn", fargate.role_arn, "Pod execution role of the Fargate profile"),
                ("fargate_profile_name", fargate.profile_name, "Fargate profile of the controller"),
            ]
        if queue:
            rows += [
                ("queue_arn", queue.queue_arn, "Interruption queue"),
                ("queue_name", queue.queue_name, "Interruption queue, as the chart names it"),
                ("queue_url", queue.queue_url, "Interruption queue, as SQS is called"),
            ]
            if self._installation.queue and self._installation.queue.kms_key_arn:
                queue_arn = self._place.regional("sqs", self._installation.names.queue)
                (statement,) = document(key_policy(queue_arn))["Statement"]
                rows.append(("kms_key_policy_statement", statement, "What the queue key's policy must hold"))
        # A scope of their own, in which an output's id can be its name.
        scope = Construct(self, "outputs")
        for name, value, description in rows:
            self._output(scope, name, value, description)

    def _output(self, scope: Construct, name: str, value: object, description: str) -> None:
        if not isinstance(value, str):
            # CDKTF walks a structure given to an output with a Node function whose use prints a warning.
            self._at(name, TerraformLocal(self, f"local_{name}", expression=value))
            value = "${local." + self._at.full(name) + "}"
        TerraformOutput(scope, self._at.full(name), value=value, description=description, static_id=True)

    def _joining_outputs(self) -> list[Output]:
        """Return what lets the nodes in where no access entry does, and what Palette is told."""
        installation, place = self._installation, self._place
        arns = node_role_arns(installation, place)
        systems = ("linux", *(role.os for role in installation.node_roles))
        roles = [MappedRole(arn=without_path(arn), os=os) for arn, os in zip(arns, systems, strict=True)]
        rows: list[Output] = []
        if installation.access == "aws-auth":
            commands = identity_mapping_commands(roles, cluster=installation.name, region=installation.region)
            rows += [
                ("aws_auth_map_roles", yaml_text(map_roles(roles)), "Entries for mapRoles in the aws-auth ConfigMap"),
                ("aws_auth_commands", "\n".join(commands), "Commands that add these entries, one per line"),
            ]
        if installation.policy == "palette":
            policies = [
                place.iam(f"policy{installation.path}{policy.name}")
                for policy in controller_policies(installation, place)
            ]
            irsa = palette_irsa_roles(
                policies, namespace=installation.namespace, service_account=installation.service_account
            )
            mapped = palette_map_roles(roles, node_role=installation.names.node_role)
            rows += [
                ("palette_irsa_roles", yaml_text(irsa), "For Palette's Kubernetes layer: the controller's role"),
                ("palette_map_roles", yaml_text(mapped), "For Palette's Kubernetes layer: the role of the nodes"),
            ]
        return rows
