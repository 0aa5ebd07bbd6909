"""From a checked cluster to its Installation: names, partition, release and defaults decided."""

from __future__ import annotations

from nodeless.karpenter import releases
from nodeless.karpenter.chart import IMAGE, REPOSITORY
from nodeless.karpenter.policy import statement_from
from nodeless.karpenter.versions import Release
from nodeless.resolved.backends import with_defaults
from nodeless.resolved.installation import (
    Adoption,
    FargateProfile,
    Image,
    Installation,
    Login,
    NodeRoleSettings,
    Queue,
    controller_labels,
)
from nodeless.resolved.names import NAME_RULES, POLICIES, RULES, Names
from nodeless.resolved.partitions import is_known_region, partition_of
from nodeless.spec.model import Cluster

COREDNS_SELECTOR = ("kube-system", {"k8s-app": "kube-dns"})


def installation_of(cluster: Cluster, *, is_literal: bool) -> Installation:
    """Resolve a valid cluster; `is_literal` says that it comes from a file, where no text is a reference."""
    partition = partition_of(cluster.region)
    assert partition is not None  # noqa: S101 - text_types.Region has checked it
    return Installation(
        name=cluster.name,
        stack=stack_of(cluster),
        region=cluster.region,
        is_new_region=cluster.new_region and not is_known_region(cluster.region),
        partition=partition,
        account=cluster.account,
        login=Login(
            profile=cluster.provider.profile,
            roles=tuple(role.model_dump(exclude_defaults=True) for role in cluster.provider.assume_role),
        ),
        endpoint=cluster.endpoint,
        oidc_issuer=cluster.oidc_issuer,
        certificate_authority=cluster.certificate_authority,
        subnets=tuple(cluster.subnets or cluster.discovery.subnets) or None,
        release=tables_of(cluster),
        version=releases.find_or_parse(cluster.karpenter.version),
        names=_names(cluster),
        namespace=cluster.karpenter.namespace,
        service_account=cluster.karpenter.service_account,
        replicas=cluster.karpenter.replicas,
        policy=cluster.karpenter.policy,
        repository=cluster.karpenter.repository,
        image=_image(cluster),
        isolated_vpc=cluster.karpenter.isolated_vpc,
        zonal_shift=cluster.karpenter.zonal_shift,
        values=cluster.karpenter.values,
        identity=cluster.identity,
        creates_oidc_provider=cluster.oidc_provider == "create",
        fargate=_fargate(cluster),
        queue=Queue(kms_key_arn=cluster.interruption.kms_key_arn) if cluster.interruption else None,
        access=cluster.nodes.access,
        instance_profile=cluster.nodes.instance_profile,
        node_roles=tuple(
            NodeRoleSettings(
                key=key,
                os=role.os,
                arn=role.arn,
                policies=tuple(role.policies),
                has_access_entry=not role.access_entry,
            )
            for key, role in cluster.nodes.roles.items()
        ),
        node_policies=tuple(cluster.nodes.policies),
        ipv6=cluster.nodes.ipv6,
        tag_key=cluster.discovery.tag_key,
        tagged_subnets=tuple(cluster.discovery.subnets),
        tagged_security_groups=tuple(cluster.discovery.security_groups),
        path=cluster.path,
        permissions_boundary=cluster.permissions_boundary,
        extra_statements=tuple(statement_from(row.model_dump()) for row in cluster.extra_statements),
        tags=cluster.tags,
        node_classes=tuple((row.name, row.spec) for row in cluster.node_classes),
        node_pools=tuple((row.name, row.spec) for row in cluster.node_pools),
        smoke_test=cluster.smoke_test,
        spot_service_linked_role=cluster.spot_service_linked_role,
        delivery=cluster.delivery,
        auth=cluster.auth,
        backend=with_defaults(cluster.backend.model_dump(exclude_none=True), stack_of(cluster)),
        adoption=_adoption(cluster),
        exclusive_policies=_adopts(cluster) if cluster.exclusive_policies is None else cluster.exclusive_policies,
        is_literal=is_literal,
    )


def stack_of(cluster: Cluster) -> str:
    """Return the name of the stack."""
    return cluster.stack or (f"{cluster.name}-{cluster.region}" if cluster.names.with_region else cluster.name)


def _names(cluster: Cluster) -> Names:
    given = cluster.names
    overrides = {rule.key: name for rule in NAME_RULES if (name := getattr(given, rule.key))}
    overrides |= {f"{POLICIES}.{key}": name for key, name in given.policies.items()}
    overrides |= {f"{RULES}.{key}": name for key, name in given.rules.items()}
    if cluster.interruption and cluster.interruption.queue_name:
        overrides["queue"] = cluster.interruption.queue_name
    if cluster.fargate and cluster.fargate.profile_name:
        overrides["fargate_profile"] = cluster.fargate.profile_name
    region = cluster.region if given.with_region else None
    return Names(cluster=cluster.name, style=given.style, overrides=overrides, path=cluster.path, region=region)


def tables_of(cluster: Cluster) -> Release:
    """Return the release whose tables are used."""
    return releases.tables_for(releases.find(cluster.karpenter.tables or cluster.karpenter.version))


def _fargate(cluster: Cluster) -> FargateProfile | None:
    if cluster.fargate is None:
        return None
    given = tuple((selector.namespace, selector.labels) for selector in cluster.fargate.selectors)
    namespace = cluster.karpenter.namespace
    selectors = given or ((namespace, controller_labels(namespace)),)
    return FargateProfile(
        selectors=(*selectors, COREDNS_SELECTOR) if cluster.fargate.coredns else selectors,
        cni_policy=cluster.fargate.cni_policy,
        coredns=cluster.fargate.coredns,
        logging=cluster.fargate.logging,
    )


def _adopts(cluster: Cluster) -> bool:
    return cluster.adopt.setup != "none"


def _adoption(cluster: Cluster) -> Adoption | None:
    given = cluster.adopt
    if not _adopts(cluster):
        return None
    return Adoption(setup=given.setup, module=given.module, without=tuple(given.without), ids=given.ids)


def _image(cluster: Cluster) -> Image:
    settings, given = cluster.karpenter, cluster.karpenter.image
    # An isolated VPC cannot reach upstream's registry; a mirror of the charts holds the image beside them, as upstream.
    mirrored = settings.isolated_vpc and settings.repository != REPOSITORY
    beside = f"{settings.repository.removeprefix('oci://')}/{IMAGE}" if mirrored else None
    return Image(
        repository=given.repository or beside,
        tag=given.tag,
        digest="" if given.digest == "none" else given.digest,
    )
