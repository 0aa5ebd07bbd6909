"""From a file to Installations: defaults merged, every key checked, everything wrong reported at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from copy import deepcopy as copy_tree
from pathlib import Path as FilePath
from typing import Any

from pydantic import BaseModel, ValidationError

from nodeless.finding import Finding, Path, SpecError
from nodeless.karpenter import releases
from nodeless.karpenter.chart import merged
from nodeless.karpenter.policy import statement_from
from nodeless.resolved.installation import FargateProfile, Installation, NodeRoleSettings, Queue
from nodeless.resolved.names import Names
from nodeless.resolved.partitions import defaults_in, partition_of
from nodeless.spec import model
from nodeless.spec.guards.cluster import (
    CLUSTER_GUARDS,
    INSTALLATION_GUARDS,
    not_yet,
    unique_clusters,
    unique_names,
    unique_state,
)
from nodeless.spec.guards.resources import one_spot_role
from nodeless.spec.model import CloudBackend, Cluster, LocalBackend, S3Backend
from nodeless.spec.reading import LineOf, read
from nodeless.spec.text_types import REFERENCES

CONTROLLER_LABEL = {"app.kubernetes.io/name": "karpenter"}
COREDNS_SELECTOR = ("kube-system", {"k8s-app": "kube-dns"})

TOP_LEVEL = ("defaults", "clusters")
VOCABULARY = sorted(
    {
        field
        for section in vars(model).values()
        if isinstance(section, type) and issubclass(section, BaseModel)
        for field in section.model_fields
    }
)


# Pydantic's error types in the operator's words; the fields in braces are the error's own context.
EXPLAINED = {
    "rule": ("{rule}", "{fix}"),
    "missing": ("this key is required", "add it"),
    "literal_error": ("one of {expected}", "write one of these"),
    "union_tag_invalid": ("one of {expected_tags}", "write one of these"),
    "union_tag_not_found": ("a backend has a type", "add `type: local`, `s3` or `cloud`"),
    "bool_type": ("true or false", "write true or false, without quotes"),
    "int_type": ("a whole number", "write a number, without quotes"),
    "string_type": ("text", "write text, in quotes where YAML would read something else"),
    "list_type": ("a list", "write one item per line, each after a dash"),
    "dict_type": ("a map", "write `key: value` lines below it"),
    "model_type": ("a map", "write `key: value` lines below it"),
    "greater_than_equal": ("{ge} or more", "write a larger number"),
    "less_than_equal": ("{le} or less", "write a smaller number"),
    "too_long": ("at most {max_length} of these", "take some out"),
    "too_short": ("at least {min_length} of these", "add one"),
    "string_pattern_mismatch": ("text that fits {pattern}", "take other characters out"),
}


def load(file: FilePath) -> tuple[Installation, ...]:
    """Read a file and resolve all its clusters, or raise SpecError with everything that is wrong."""
    return tuple(resolved for _, resolved in load_clusters(file))


def load_clusters(file: FilePath) -> tuple[tuple[Cluster, Installation], ...]:
    """Read a file and return each cluster as written, with its defaults, and as resolved."""
    tree, line_of = read(file)
    return resolve(tree, source=str(file), line_of=line_of)


def resolve(
    tree: Any,  # noqa: ANN401 - any YAML
    *,
    source: str,
    line_of: LineOf = lambda _: None,
) -> tuple[tuple[Cluster, Installation], ...]:
    """Resolve what a file holds."""
    desk = _Desk(tree, source, line_of)
    defaults, rows = desk.check_shape()
    clusters = [desk.check_cluster(index, row, defaults) for index, row in enumerate(rows)]
    known = {index: cluster for index, cluster in enumerate(clusters) if cluster is not None}
    if len(known) == len(clusters):
        in_order = list(known.values())
        desk.take(unique_clusters(in_order))
        desk.take(unique_state(in_order))
    desk.raise_if_any()
    installations = [installation_of(cluster) for cluster in known.values()]
    for index, resolved in enumerate(installations):
        desk.take((index, finding) for guard in INSTALLATION_GUARDS for finding in guard(resolved))
    desk.take(unique_names(installations))
    desk.take(one_spot_role(installations))
    desk.raise_if_any()
    return tuple(zip(known.values(), installations, strict=True))


def installation(**keys: Any) -> Installation:  # noqa: ANN401 - the keys of a cluster, as in the file
    """Resolve one cluster given in Python; here values may be tokens or other Terraform references."""
    desk = _Desk({"clusters": [keys]}, "installation()", lambda _: None)
    cluster = desk.check_cluster(0, keys, {}, references=True)
    desk.raise_if_any()
    assert cluster is not None  # noqa: S101 - without a problem there is a cluster
    resolved = installation_of(cluster)
    desk.take((0, finding) for guard in INSTALLATION_GUARDS for finding in guard(resolved))
    desk.raise_if_any()
    return resolved


def installation_of(cluster: Cluster) -> Installation:
    """Freeze a checked cluster: names, partition, release and defaults decided."""
    partition = partition_of(cluster.region)
    assert partition is not None  # noqa: S101 - known_region has checked it
    overrides = {key: value for key, value in cluster.names.model_dump(exclude={"style"}).items() if value}
    if cluster.interruption and cluster.interruption.queue_name:
        overrides["queue"] = cluster.interruption.queue_name
    if cluster.fargate and cluster.fargate.profile_name:
        overrides["fargate_profile"] = cluster.fargate.profile_name
    return Installation(
        name=cluster.name,
        region=cluster.region,
        partition=partition,
        account=cluster.account,
        endpoint=cluster.endpoint,
        oidc_issuer=cluster.oidc_issuer,
        certificate_authority=cluster.certificate_authority,
        subnets=tuple(cluster.subnets or cluster.discovery.subnets) or None,
        release=releases.find(cluster.karpenter.version),
        names=Names(cluster=cluster.name, style=cluster.names.style, overrides=overrides),
        namespace=cluster.karpenter.namespace,
        service_account=cluster.karpenter.service_account,
        replicas=cluster.karpenter.replicas,
        policy=cluster.karpenter.policy,
        repository=cluster.karpenter.repository,
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
            NodeRoleSettings(key=key, os=role.os, arn=role.arn, policies=tuple(role.policies))
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
        backend=_backend(cluster),
    )


def _fargate(cluster: Cluster) -> FargateProfile | None:
    if cluster.fargate is None:
        return None
    # In kube-system a bare namespace would also catch CoreDNS and every other pod there.
    labels = CONTROLLER_LABEL if cluster.karpenter.namespace == "kube-system" else {}
    given = tuple((selector.namespace, selector.labels) for selector in cluster.fargate.selectors)
    selectors = given or ((cluster.karpenter.namespace, labels),)
    return FargateProfile(
        selectors=(*selectors, COREDNS_SELECTOR) if cluster.fargate.coredns else selectors,
        cni_policy=cluster.fargate.cni_policy,
        coredns=cluster.fargate.coredns,
        logging=cluster.fargate.logging,
    )


def _backend(cluster: Cluster) -> dict[str, Any]:
    backend = cluster.backend
    keys = backend.model_dump(exclude_none=True)
    if isinstance(backend, LocalBackend):
        # Where CDKTF itself keeps local state: beside the output folder, three levels above the stack's own.
        return {"path": f"../../../terraform.{cluster.name}.tfstate"} | keys
    if isinstance(backend, S3Backend):
        return {"key": f"karpenter/{cluster.name}/terraform.tfstate"} | keys
    if isinstance(backend, CloudBackend) and not backend.workspaces.tags:
        keys["workspaces"] = {"name": f"karpenter-{cluster.name}"} | keys["workspaces"]
    return keys


class _Desk:
    """Where problems are collected, each with its place in the file."""

    def __init__(self, tree: Any, source: str, line_of: LineOf) -> None:  # noqa: ANN401 - any YAML
        self.tree = tree
        self.source = source
        self.line_of = line_of
        self.findings: list[Finding] = []

    def raise_if_any(self) -> None:
        """Stop here if anything is wrong, in the order of the file."""
        if self.findings:
            unique = dict.fromkeys(self.findings)
            raise SpecError(self.source, sorted(unique, key=lambda problem: problem.line or 0))

    def add(self, path: Path, value: object, rule: str, fix: str) -> None:
        """Note a problem, at its line."""
        shown = value if isinstance(value, str | int | float | bool) or value is None else str(value)
        self.findings.append(Finding(path=path, value=shown, expected=rule, fix=fix, line=self.line_of(path)))

    def take(self, findings: Iterable[tuple[int, Finding]]) -> None:
        """Note what guards found, each at its cluster."""
        for index, finding in findings:
            self.add(self._placed(index, finding.path), finding.value, finding.expected, finding.fix)

    def check_shape(self) -> tuple[Mapping[str, Any], list[Any]]:
        """Check the outermost level and return defaults and clusters."""
        tree = self.tree
        if not isinstance(tree, Mapping):
            self.add((), tree, "a map with the key clusters", "start the file with `clusters:`")
            self.raise_if_any()
        for key in tree:
            if key not in TOP_LEVEL:
                self.add((key,), tree[key], "one of the keys defaults and clusters", _did_you_mean(key, TOP_LEVEL))
        defaults, clusters = tree.get("defaults") or {}, tree.get("clusters")
        if not isinstance(defaults, Mapping):
            self.add(("defaults",), defaults, "a map of cluster keys", "write keys such as region: under it")
            defaults = {}
        if not isinstance(clusters, list) or not clusters:
            self.add(("clusters",), clusters, "a list of at least one cluster", "write `- name: …` under it")
            self.raise_if_any()
        return defaults, list(clusters or [])

    def check_cluster(
        self,
        index: int,
        row: Any,  # noqa: ANN401 - any YAML
        defaults: Mapping[str, Any],
        *,
        references: bool = False,
    ) -> Cluster | None:
        """Check one cluster with the defaults under it."""
        if not isinstance(row, Mapping):
            self.add(("clusters", index), row, "a map of cluster keys", "write `- name: …`")
            return None
        whole = merged(dict(defaults), dict(row))
        whole = merged(defaults_in(whole.get("region")), whole)
        cluster, wrong = self._validated(index, whole, references=references)
        if cluster is None:
            # The checks across keys run on what is left without the wrong ones, so that all is said at once.
            remaining, _ = self._validated(index, _without(whole, wrong), references=references, quiet=True)
        else:
            remaining = cluster
        if remaining is not None:
            found = (finding for guard in (*CLUSTER_GUARDS, not_yet) for finding in guard(remaining))
            self.take((index, finding) for finding in found if not any(_meets(finding.path, path) for path in wrong))
        return cluster

    def _validated(
        self, index: int, whole: Mapping[str, Any], *, references: bool, quiet: bool = False
    ) -> tuple[Cluster | None, list[Path]]:
        """Validate one cluster; return it, or the paths that are wrong."""
        try:
            return Cluster.model_validate(whole, context={REFERENCES: references}), []
        except ValidationError as error:
            details = error.errors(include_url=False)
            for detail in details:
                if not quiet:
                    self._add_detail(index, whole, detail)
            return None, [_in_file(whole, detail["loc"]) for detail in details]

    def _add_detail(self, index: int, whole: Mapping[str, Any], detail: Any) -> None:  # noqa: ANN401 - pydantic's own
        path = _in_file(whole, detail["loc"])
        rule, fix = _explained(detail, path)
        value = "(missing)" if detail["type"] == "missing" else _value_at(whole, path)
        self.add(self._placed(index, path), value, rule, fix)

    def _placed(self, index: int, path: Path) -> Path:
        """Point at the cluster's own key, or at the defaults where the value comes from there."""
        own, shared = ("clusters", index, *path), ("defaults", *path)
        if _has(self.tree, own) or not _has(self.tree, shared):
            return own
        return shared


def _without(whole: Mapping[str, Any], wrong: Iterable[Path]) -> dict[str, Any]:
    """Copy a cluster without its wrong keys; what is required and wrong gets a value that is right."""
    copy = copy_tree(dict(whole))
    for path in wrong:
        parent = _value_at(copy, path[:-1])
        if path and isinstance(parent, dict):
            parent.pop(path[-1], None)
        elif len(path) > 1:
            copy.pop(str(path[0]), None)
    if any(path[:1] == ("backend",) for path in wrong):
        # A backend short of a required key cannot be looked at further.
        copy.pop("backend", None)
    return {"name": "placeholder", "region": "eu-north-1", **copy}


def _meets(one: Path, other: Path) -> bool:
    """Tell whether one path leads through the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _explained(detail: Any, path: Path) -> tuple[str, str]:  # noqa: ANN401 - pydantic's own
    context = detail.get("ctx", {})
    if detail["type"] == "extra_forbidden":
        return "a key of the contract", _did_you_mean(str(path[-1]), VOCABULARY)
    rule, fix = EXPLAINED.get(detail["type"], ("{msg}", "docs/configuration.md says what this key takes"))
    return rule.format(msg=detail["msg"], **context), fix.format(**context)


def _did_you_mean(key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key, list(known), n=1)
    return f"did you mean {close[0]}?" if close else "remove it; docs/configuration.md lists every key"


def _in_file(tree: Any, location: Iterable[str | int]) -> Path:  # noqa: ANN401 - any YAML
    """Keep of pydantic's location what is a path in the file, without the names of union members."""
    path: list[str | int] = []
    parts = list(location)
    for number, part in enumerate(parts):
        if _holds(tree, part):
            tree = tree[part]
        elif not isinstance(tree, Mapping) or number < len(parts) - 1:
            continue
        path.append(part)
    return tuple(path)


def _holds(tree: Any, part: str | int) -> bool:  # noqa: ANN401 - any YAML
    """Tell whether a map has this key, or a list this place."""
    if isinstance(tree, list):
        return isinstance(part, int) and part < len(tree)
    return isinstance(tree, Mapping) and part in tree


def _has(tree: Any, path: Path) -> bool:  # noqa: ANN401 - any YAML
    for part in path:
        if _holds(tree, part):
            tree = tree[part]
        else:
            return False
    return True


def _value_at(tree: Any, path: Path) -> Any:  # noqa: ANN401 - any YAML
    for part in path:
        if isinstance(tree, Mapping):
            tree = tree.get(part)
        elif isinstance(tree, list) and isinstance(part, int):
            tree = tree[part]
    return tree
