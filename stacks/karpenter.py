"""Karpenter on an EKS cluster, as a construct that goes into any CDKTF stack."""

from __future__ import annotations

from collections.abc import Sequence

from imports.cdktf import Construct, ITerraformDependable, TerraformOutput
from nodeless.karpenter.chart import CONTROLLER_CHART, CRD_CHART, ChartInputs, chart_version, crd_values, merged, values
from nodeless.karpenter.interruption import event_rules, key_policy, queue_policy
from nodeless.karpenter.nodes import ACCESS_ENTRY_TYPES, FARGATE_CNI_POLICIES, FARGATE_POLICIES, cni_ipv6, node_policies
from nodeless.karpenter.policy import document
from nodeless.karpenter.trust import fargate_trust, irsa_trust, node_trust
from nodeless.spec.installation import FargateProfile, Installation, Queue
from nodeless.spec.permissions import controller_policies, place_of
from stacks.components.addresses import Addresses, part
from stacks.components.charts import Chart, Charts, values_of
from stacks.components.cluster import AccountLookup, ClusterLookup, SubnetLookup, issuer_host
from stacks.components.controller import Controller
from stacks.components.discovery import Discovery
from stacks.components.fargate import Fargate
from stacks.components.interruption import InterruptionQueue
from stacks.components.nodes import Nodes
from stacks.components.oidc_provider import OidcProvider
from stacks.components.role import Boundaries


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

    def __init__(self, scope: Construct, id_: str, *, installation: Installation, prefix: str | None = None) -> None:
        """Wire the components; `prefix` replaces the id at the head of every address."""
        super().__init__(scope, id_)
        self._installation = installation
        self._at = Addresses(f"{part(id_)}_" if prefix is None else prefix)
        self._boundaries = Boundaries(path=installation.path, permissions_boundary=installation.permissions_boundary)
        self._look_up()
        nodes = self._nodes()
        queue = self._interruption(installation.queue) if installation.queue else None
        controller, trusted = self._controller()
        fargate = self._fargate(installation.fargate) if installation.fargate else None
        Discovery(
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
        self._values(nodes)
        if installation.delivery == "helm":
            self._charts(
                first=[fargate.profile] if fargate else [],
                before_controller=[
                    *controller.attachments,
                    *nodes.ready,
                    *(queue.ready if queue else ()),
                    *trusted,
                ],
            )
        self._outputs(controller, nodes, queue, fargate)

    def _look_up(self) -> None:
        """Ask AWS for what the file does not say, and for nothing else."""
        installation = self._installation
        with_helm = installation.delivery == "helm"
        self.endpoint, self.certificate_authority = installation.endpoint, installation.certificate_authority
        account, issuer = installation.account, installation.oidc_issuer
        if account is None:
            account = AccountLookup(self, "account", at=self._at).account
        if issuer is None or (with_helm and not (self.endpoint and self.certificate_authority)):
            found = ClusterLookup(self, "cluster", at=self._at, name=installation.name)
            issuer = issuer or found.oidc_issuer
            self.endpoint = self.endpoint or found.endpoint
            self.certificate_authority = self.certificate_authority or found.certificate_authority
        self._place = place_of(installation, account=account)
        self._issuer = issuer

    def _controller(self) -> tuple[Controller, tuple[ITerraformDependable, ...]]:
        """Create the controller's role; return it with what its trust rests on."""
        installation, place = self._installation, self._place
        host = issuer_host(self._issuer)
        self._provider_arn = place.iam(f"oidc-provider/{host}")
        trusted: tuple[ITerraformDependable, ...] = ()
        if installation.creates_oidc_provider:
            trusted = (OidcProvider(self, "oidc_provider", at=self._at, issuer=self._issuer).provider,)
        controller = Controller(
            self,
            "controller",
            at=self._at,
            role_name=installation.names.controller_role,
            trust=irsa_trust(
                provider_arn=self._provider_arn,
                issuer=host,
                namespace=installation.namespace,
                service_account=installation.service_account,
            ),
            policies=controller_policies(installation, place),
            boundaries=self._boundaries,
        )
        return controller, trusted

    def _nodes(self) -> Nodes:
        installation, place = self._installation, self._place
        release_policies = node_policies(installation.release, ipv6=installation.ipv6)
        return Nodes(
            self,
            "nodes",
            at=self._at,
            cluster=installation.name,
            role_name=installation.names.node_role,
            trust=node_trust(place),
            policies=[
                *((key, place.managed_policy(name)) for key, name in release_policies),
                *((f"extra_{part(arn.rpartition('/')[2])}", arn) for arn in installation.node_policies),
            ],
            inline=[("cni_ipv6", cni_ipv6(place))] if installation.ipv6 else [],
            boundaries=self._boundaries,
            instance_profile=installation.names.instance_profile if installation.instance_profile else None,
            access_entry_type=ACCESS_ENTRY_TYPES["linux"] if installation.access_entry else None,
        )

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
            boundaries=self._boundaries,
            subnets=subnets,
            selectors=profile.selectors,
        )

    def _values(self, nodes: Nodes) -> None:
        """Write the chart's values with names and ARNs spelled out, so that the first plan shows them."""
        installation = self._installation
        generated = values(
            installation.release,
            ChartInputs(
                cluster=installation.name,
                endpoint=self.endpoint,
                region=installation.region,
                queue=installation.names.queue if installation.queue else None,
                service_account=installation.service_account,
                role_arn=self._place.iam(f"role{installation.path}{installation.names.controller_role}"),
                replicas=installation.replicas,
                fargate=installation.fargate is not None,
                isolated_vpc=installation.isolated_vpc,
                zonal_shift=installation.zonal_shift,
                instance_profile=installation.names.instance_profile if nodes.instance_profile_name else None,
            ),
        )
        self._values_yaml = values_of(
            self, "karpenter_values", at=self._at, values=merged(generated, dict(installation.values))
        )

    def _charts(self, *, first: list[ITerraformDependable], before_controller: list[ITerraformDependable]) -> None:
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
                repository=installation.repository,
                version=version,
                values_yaml=values_of(self, "karpenter_crd_values", at=self._at, values=crds) if crds else None,
            ),
            controller=Chart(
                name=CONTROLLER_CHART,
                repository=installation.repository,
                version=version,
                values_yaml=self._values_yaml,
            ),
            first=first,
            before_controller=before_controller,
        )

    def _outputs(
        self, controller: Controller, nodes: Nodes, queue: InterruptionQueue | None, fargate: Fargate | None
    ) -> None:
        rows: list[tuple[str, object, str]] = [
            ("controller_role_arn", controller.role_arn, "Role of the controller's service account"),
            ("oidc_provider_arn", self._provider_arn, "OIDC provider the controller's role trusts"),
            ("node_role_arn", nodes.role_arn, "Role of the nodes"),
            ("node_role_name", nodes.role_name, "Role of the nodes, as an EC2NodeClass names it"),
            ("karpenter_values", self._values_yaml, "Helm values of the karpenter chart"),
            ("karpenter_version", str(self._installation.release), "Karpenter release"),
        ]
        if nodes.instance_profile_name:
            rows.append(("instance_profile_name", nodes.instance_profile_name, "Instance profile of the nodes"))
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
                statement = document(key_policy(self._rule_arns))["Statement"][0]
                rows.append(("kms_key_policy_statement", statement, "What the queue key's policy must hold"))
        for name, value, description in rows:
            self._at(name, TerraformOutput(self, f"output_{name}", value=value, description=description))
