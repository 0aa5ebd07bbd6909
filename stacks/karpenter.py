"""Karpenter on an EKS cluster, as a construct for any CDKTF stack."""

from __future__ import annotations

from collections.abc import Callable

from nodeless.imports.aws import DataAwsEksCluster
from nodeless.imports.cdk import Construct
from nodeless.karpenter.place import Place
from nodeless.resolved.addresses import address_part
from nodeless.resolved.adoption import plan_adoption
from nodeless.resolved.charts import RELEASE_ADDRESSES, chart_releases, chart_values
from nodeless.resolved.installation import Installation
from nodeless.resolved.interruption import plan_queue
from nodeless.resolved.permissions import place_of
from nodeless.resolved.references import is_lookup
from nodeless.resolved.resources import all_manifests, fargate_logging_manifests
from nodeless.resolved.roles import plan_controller, plan_extra_node_roles, plan_fargate, plan_node_role
from nodeless.resolved.terraform_text import in_terraform
from nodeless.stacks.addresses import Addresses
from nodeless.stacks.cluster_facts import ClusterFacts, look_up
from nodeless.stacks.components.adoption import TakeOver
from nodeless.stacks.components.charts import Charts
from nodeless.stacks.components.controller import Controller
from nodeless.stacks.components.coredns import CoreDns
from nodeless.stacks.components.discovery import Discovery
from nodeless.stacks.components.fargate import Fargate
from nodeless.stacks.components.handover import HandOver
from nodeless.stacks.components.interruption import InterruptionQueue
from nodeless.stacks.components.lookups import OidcProviderLookup
from nodeless.stacks.components.node_roles import ExtraNodeRoles, NodeRole
from nodeless.stacks.components.oidc_provider import OidcProvider
from nodeless.stacks.components.pod_identity import PodIdentity
from nodeless.stacks.components.spot_role import SpotRole
from nodeless.stacks.locals import yaml_of
from nodeless.stacks.outputs import Parts, write_outputs


class Karpenter(Construct):
    """The roles, the queue, the Fargate profile and the charts of one installation.

    The stack must have the provider `aws`, and `helm` if the delivery is helm. Every address starts with the
    construct's id, so that several installations can share a stack.
    """

    cluster: ClusterFacts
    """what is known of the cluster, for use in the same stack"""

    def __init__(self, scope: Construct, id_: str, *, installation: Installation, prefix: str | None = None) -> None:
        """Create everything; `prefix` replaces the id at the start of every address."""
        super().__init__(scope, id_)
        installation = in_terraform(installation)
        at = Addresses(f"{address_part(id_)}_" if prefix is None else prefix)
        self.cluster = cluster = look_up(self, at=at, installation=installation)
        place = place_of(installation, account=cluster.account)

        nodes = NodeRole(self, "nodes", at=at, plan=plan_node_role(installation, place))
        extra_nodes = ExtraNodeRoles(self, "node_roles", at=at, plans=plan_extra_node_roles(installation, place))
        queue_plan = plan_queue(installation, place)
        queue = InterruptionQueue(self, "interruption", at=at, plan=queue_plan) if queue_plan else None
        provider = (
            OidcProvider(self, "oidc_provider", at=at, issuer=cluster.oidc_issuer).provider
            if cluster.oidc_issuer and installation.creates_oidc_provider
            else None
        )
        controller_plan = plan_controller(installation, place, issuer_host=cluster.issuer_host)
        if cluster.checks_oidc_provider and controller_plan.oidc_provider_arn:
            OidcProviderLookup(self, "oidc_provider_lookup", at=at, arn=controller_plan.oidc_provider_arn)
        controller = Controller(self, "controller", at=at, plan=controller_plan)
        association = (
            PodIdentity(
                self,
                "pod_identity",
                at=at,
                cluster=installation.name,
                namespace=installation.namespace,
                service_account=installation.service_account,
                role_arn=controller.role_arn,
                after=controller.ready,
            ).association
            if installation.identity == "pod-identity"
            else None
        )
        fargate = self._fargate(at, installation, place, cluster)
        discovery = Discovery(
            self,
            "discovery",
            at=at,
            tag_key=installation.tag_key,
            cluster=installation.name,
            resource_ids=(*installation.tagged_subnets, *installation.tagged_security_groups),
        )
        spot = (SpotRole(self, "spot", at=at).role,) if installation.spot_service_linked_role else ()
        values = chart_values(installation, place, endpoint=cluster.endpoint)
        values_yaml = yaml_of(self, "karpenter_values", at=at, value=values)
        if installation.delivery == "helm":
            crds, controller_chart = chart_releases(installation, controller=values)
            Charts(
                self,
                "charts",
                at=at,
                crds=crds,
                controller=controller_chart,
                controller_values_yaml=values_yaml,
                logging=fargate_logging_manifests(installation, place),
                pools=all_manifests(installation),
                before_crds=[fargate.profile] if fargate else [],
                before_controller=[
                    *controller.ready,
                    *nodes.ready,
                    *extra_nodes.ready,
                    *(queue.ready if queue else ()),
                    *(row for row in (provider, association) if row),
                ],
                before_pools=[*discovery.tags, *spot],
            )
        else:
            HandOver(self, "handover", at=at, releases=RELEASE_ADDRESSES)

        adoption = plan_adoption(installation, place, issuer_host=cluster.issuer_host)
        if adoption:
            TakeOver(self, "adoption", at=at, plan=adoption)

        self._controller, self._nodes, self._queue = controller, nodes, queue
        write_outputs(
            self,
            at=at,
            parts=Parts(
                installation=installation,
                place=place,
                controller_plan=controller_plan,
                controller=controller,
                nodes=nodes,
                extra_nodes=extra_nodes,
                queue_plan=queue_plan,
                queue=queue,
                fargate=fargate,
                values_yaml=values_yaml,
            ),
        )

    # These are tokens, so that CDKTF lets another stack of the app use them.

    @property
    def controller_role_arn(self) -> str:
        """The role of the controller's service account."""
        return self._controller.role.arn

    @property
    def node_role_arn(self) -> str:
        """The role of the nodes."""
        return self._nodes.role.arn

    @property
    def node_role_name(self) -> str:
        """The role of the nodes, as an EC2NodeClass names it."""
        return self._nodes.role.name

    @property
    def instance_profile_name(self) -> str | None:
        """The instance profile of the nodes, if there is one."""
        return self._nodes.instance_profile.name if self._nodes.instance_profile else None

    @property
    def queue_name(self) -> str | None:
        """The interruption queue, if there is one."""
        return self._queue.queue.name if self._queue else None

    @property
    def endpoint(self) -> str | None:
        """The cluster's API, if the installation needs it."""
        return self._looked_up(self.cluster.endpoint, lambda found: found.endpoint)

    @property
    def certificate_authority(self) -> str | None:
        """The certificate authority of the cluster's API, in base64, if the installation needs it."""
        return self._looked_up(
            self.cluster.certificate_authority, lambda found: found.certificate_authority.get(0).data
        )

    def _looked_up(self, known: str | None, token: Callable[[DataAwsEksCluster], str]) -> str | None:
        """Return the token of what was looked up, and what was given as it is."""
        found = self.cluster.found
        return token(found) if found and known and is_lookup(known) else known

    def _fargate(
        self, at: Addresses, installation: Installation, place: Place, cluster: ClusterFacts
    ) -> Fargate | None:
        """Create the Fargate profile, and CoreDNS on it if the settings say so."""
        plan = plan_fargate(installation, place)
        if plan is None or cluster.subnets is None:
            return None
        fargate = Fargate(
            self,
            "fargate",
            at=at,
            plan=plan,
            subnets=cluster.subnets,
            # A subnet that gets the tag later must not replace the profile.
            keeps_subnets=installation.subnets is None,
        )
        if installation.fargate and installation.fargate.coredns:
            CoreDns(self, "coredns", at=at, cluster=installation.name, after=[fargate.profile])
        return fargate
