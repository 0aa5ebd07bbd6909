"""What to write instead of what is often written: keys of other tools, and values in another shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from nodeless.finding import CLUSTERS, MISSING, Finding, Path
from nodeless.sinks.excerpts import is_secret
from nodeless.spec.backends import Backend
from nodeless.spec.model import Cluster, File
from nodeless.spec.text_type import truth_in
from nodeless.suggestions import closest
from nodeless.trees import holds, value_at

SHORTEST_FILE = "start the file with `clusters:`, and below it `  - name: demo` and `    region: eu-north-1`"
LOOKED_UP = "remove it: it is looked up by the cluster's issuer"
# A key of another tool, in lower case and without - and _ -> the key of a cluster here.
KEYS_OF_CLUSTERS = {
    "accountid": "account",
    "awsaccount": "account",
    "awsaccountid": "account",
    "awsprofile": "provider.profile",
    "awsregion": "region",
    "ca": "certificate_authority",
    "certificateauthoritydata": "certificate_authority",
    "chartversion": "karpenter.version",
    "cluster": "name",
    "clusterca": "certificate_authority",
    "clustercertificateauthoritydata": "certificate_authority",
    "clusterendpoint": "endpoint",
    "clustername": "name",
    "clusteroidcissuerurl": "oidc_issuer",
    "clusterversion": "kubernetes",
    "controllerrole": "names.controller_role",
    "defaulttags": "tags",
    "ec2nodeclasses": "node_classes",
    "eksclustername": "name",
    "eksversion": "kubernetes",
    "extrapolicies": "nodes.policies",
    "fargateprofile": "fargate",
    "fargateprofiles": "fargate",
    "helmvalues": "karpenter.values",
    "iamroleadditionalpolicies": "nodes.policies",
    "iamrolepath": "path",
    "iamrolepermissionsboundaryarn": "permissions_boundary",
    "interruptionhandling": "interruption",
    "interruptionqueue": "interruption.queue_name",
    "interruptionqueuename": "interruption.queue_name",
    "irsa": "identity: irsa",
    "issuer": "oidc_issuer",
    "issuerurl": "oidc_issuer",
    "k8s": "kubernetes",
    "k8sversion": "kubernetes",
    "karpenterversion": "karpenter.version",
    "kubernetesversion": "kubernetes",
    "namespace": "karpenter.namespace",
    "nodeiamrolename": "names.node_role",
    "noderole": "names.node_role",
    "noderolename": "names.node_role",
    "oidcissuerurl": "oidc_issuer",
    "permissionsboundaryarn": "permissions_boundary",
    "permissionboundary": "permissions_boundary",
    "podidentity": "identity: pod-identity",
    "privatesubnets": "subnets",
    "privatesubnetids": "subnets",
    "provisioners": "node_pools",
    "queue": "interruption.queue_name",
    "role": "provider.assume_role",
    "rolearn": "provider.assume_role",
    "securitygroup": "discovery.security_groups",
    "securitygroupids": "discovery.security_groups",
    "serviceaccountname": "karpenter.service_account",
    "spot": "spot_service_linked_role",
    "state": "backend",
    "subnetids": "subnets",
    "terraform": "backend",
    "url": "endpoint",
}
# Keys that have no key of their own here, and what to do instead.
NOT_NEEDED = {
    "clusterarn": "remove it: name, region and account say the same",
    "createiamrole": "remove it: the roles are always created",
    "enableirsa": "remove it, or write `identity: irsa`, the default",
    "enablepodidentity": "remove it, or write `identity: pod-identity` with `fargate: false`",
    "oidcproviderarn": LOOKED_UP,
    "irsaoidcproviderarn": LOOKED_UP,
    "vpcid": "remove it: subnets are found by their tag, or listed in subnets",
    "vpc": "remove it: subnets are found by their tag, or listed in subnets",
    "create": "remove it: a cluster in the file is always written",
    "enabled": "remove it: a cluster in the file is always written",
}
# A required key -> how it is added.
REQUIRED: Mapping[Path, str] = {
    ("name",): "add the name of the EKS cluster, such as `name: demo`",
    ("region",): "add the cluster's AWS region, such as `region: eu-north-1`",
}
# A hyphen without a space, and what a word processor makes of it.
DASHES = ("-", "\u2013", "\u2014")
MEANS_CLUSTERS = {"cluster", "eks", "eksclusters", "ekscluster", "clusterlist", "clustername", "clusternames"}
NAMED_LISTS: frozenset[Path] = frozenset({("node_pools",), ("node_classes",)})
MANIFEST_KEYS = {"apiVersion", "kind", "metadata", "spec", "status"}
MANIFESTS = {"NodePool": "node_pools", "EC2NodeClass": "node_classes"}

Advise = Callable[[Path, Any], str | None]


def right_key(key: str, section: Path, known: Container[str]) -> str | None:
    """Say what to write instead of a key that other tools have, or that is written in another case."""
    plain = re.sub(r"[-_]", "", key).lower()
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", key).lower()
    if snake != key and snake in known:
        return f"write {snake}"
    if not section:
        if plain in KEYS_OF_CLUSTERS:
            return f"write {KEYS_OF_CLUSTERS[plain]}"
        return NOT_NEEDED.get(plain)
    return None


def not_a_file(tree: object) -> Finding:
    """Say how a file begins, where this one is no map."""
    expected = f"a map with the key {CLUSTERS}"
    if tree is None:
        return Finding((), tree, expected, SHORTEST_FILE, problem="the file is empty")
    if isinstance(tree, list):
        return Finding((), tree, expected, "write `clusters:` above the list", problem="the file is a list")
    fix = f"{SHORTEST_FILE}: a file is YAML, with a colon and a space after each key"
    return Finding((), tree, expected, fix, problem="the file is one text")


def is_manifest(tree: Mapping[str, Any]) -> bool:
    """Tell whether a map is a whole manifest of Kubernetes, or the beginning of one."""
    return "kind" in tree and ("apiVersion" in tree or "metadata" in tree)


def manifest_as_file(tree: Mapping[str, Any]) -> Finding:
    """Say where a manifest belongs that is given as the file."""
    kind = str(tree["kind"])
    where = MANIFESTS.get(kind, "node_pools or node_classes")
    fix = f"write a file with {CLUSTERS}; the name and spec of this manifest may go to {where} of a cluster"
    if kind == "ClusterConfig":
        fix = f"write a file with {CLUSTERS}: nodeless does not read files of eksctl"
    problem = f"a manifest of Kubernetes: {kind}"
    return Finding(("kind",), kind, f"a map with the key {CLUSTERS}", fix, problem=problem)


def a_cluster_at_the_top(tree: Mapping[str, Any]) -> Finding:
    """Say that a cluster is an item of a list, where its keys are the file's."""
    first = next(key for key in tree if key in Cluster.model_fields)
    fix = f"write `clusters:` above them, then `  - {first}: …`, and indent the others as far as {first}"
    problem = "the keys of a cluster, without clusters above them"
    return Finding((first,), tree[first], f"a map with the key {CLUSTERS}", fix, problem=problem, at_key=True)


def means_clusters(key: str) -> bool:
    """Tell whether a key at the top was meant to be `clusters`."""
    return re.sub(r"[-_]", "", key).lower() in MEANS_CLUSTERS or closest(key, File.model_fields) == CLUSTERS


def unknown_at_the_top(key: str, tree: Mapping[str, Any]) -> Finding:
    """Say where a key belongs that is not one of the outermost level."""
    top = [name for name in File.model_fields if name not in tree]
    close = CLUSTERS if means_clusters(key) and CLUSTERS in top else closest(key, top)
    if close:
        fix = f"did you mean {close}?"
    elif key in Cluster.model_fields:
        fix = f"move it into a cluster below {CLUSTERS}, or below defaults if all clusters have it"
    elif key.startswith(("x_", ".", "_")):
        fix = f"remove it, or call it x-{key.lstrip('x._-') or 'base'}: keys that begin with x- are your own"
    else:
        fix = "remove it, or move it into a cluster; a key of your own, for anchors, begins with x-"
    expected = f"{', '.join(File.model_fields)}, or a key that begins with x-"
    return Finding((key,), tree[key], expected, fix, problem=f"unknown key: {key}", at_key=True)


def no_clusters(tree: Mapping[str, Any]) -> Finding:
    """Say how the list of clusters is written."""
    expected = "a list of at least one cluster"
    if CLUSTERS not in tree:
        return Finding((CLUSTERS,), MISSING, expected, SHORTEST_FILE, problem=f"missing key: {CLUSTERS}")
    given = tree[CLUSTERS]
    fix = "write `- name: …` below it"
    if isinstance(given, Mapping) and given:
        first = str(next(iter(given)))
        is_one = bool(given.keys() & Cluster.model_fields.keys())
        if first.startswith(DASHES):
            fix = f"write a hyphen and a space: `- {first.lstrip(''.join(DASHES)).strip()}: …`"
        elif is_one:
            fix = f"write a dash before the first key, and indent the others as far: `- {first}: …`"
        else:
            fix = f"write a list: `- name: {first}` with its other keys below it"
    elif isinstance(given, str):
        fix = f"write a list: `- name: {given}` below it, with its region"
    return Finding((CLUSTERS,), given, expected, fix)


def cluster_fix(row: object) -> str:
    """Say how one cluster is written."""
    if isinstance(row, str):
        key, colon, value = row.partition(":")
        if colon and value and key in Cluster.model_fields:
            return f"write a space after the colon: `- {key}: {value.strip()}`"
        return f"write `- name: {row}`, with its region below it"
    if isinstance(row, list):
        return "remove one of the two dashes: a cluster is a map, not a list"
    return "write `- name: …`, with its region below it; or remove the dash"


def in_place_of_a_switch(_: Path, value: Any) -> str | None:  # noqa: ANN401 - any YAML
    """Say which of true and false a word is."""
    truth = truth_in(value)
    return f"write {truth}, without quotes" if truth else None


def in_place_of_a_map(path: Path, value: Any) -> str | None:  # noqa: ANN401 - any YAML
    """Say how a map is written, where there is a text, a list or nothing."""
    if value is None:
        return "write `key: value` lines below it, or remove the key"
    if isinstance(value, list):
        return _pairs(str(path[-1]), value)
    text = str(value)
    key, colon, rest = text.partition(":")
    if colon and re.fullmatch(r"[a-z_]+", key) and not rest.startswith(("//", "aws")) and not is_secret(key):
        return f"write a space after the colon: `{key}: {rest.strip()}`"
    if path == ("karpenter",) and re.fullmatch(r"v?[0-9][0-9.]*", text):
        return f'write `karpenter: {{version: "{text}"}}`'
    if path[:1] in NAMED_LISTS and len(path) == len(("node_pools", 0)):
        return f"write `- name: {text}` with its `spec:` below it"
    return _backend(text) if path == ("backend",) else None


def _pairs(key: str, value: Sequence[Any]) -> str:
    """Write a list of keys and values, as AWS has them, as a map."""
    items = [{str(name).lower(): part for name, part in item.items()} for item in value if isinstance(item, Mapping)]
    first = next((item for item in items if {"key", "value"} <= item.keys()), None)
    if first:
        return f"write a map: `{key}: {{{first['key']}: {first['value']}}}`"
    return "write `key: value` lines below it, without dashes"


def backends() -> dict[str, type[BaseModel]]:
    """Return the backends by their types."""
    return {str(get_args(row.model_fields["type"].annotation)[0]): row for row in get_args(get_args(Backend)[0])}


def _backend(kind: str) -> str:
    """Write a backend of this type, with the keys that it requires."""
    kinds = backends()
    right = kind if kind in kinds else closest(kind, kinds)
    if right is None:
        return f"write `backend: {{type: …}}` with one of {', '.join(kinds)}"
    needed = [name for name, field in kinds[right].model_fields.items() if field.is_required() and name != "type"]
    return f"write `backend: {{type: {right}{''.join(f', {name}: …' for name in needed)}}}`"


def without_a_type(_: Path, value: Any) -> str | None:  # noqa: ANN401 - any YAML
    """Say how a backend is written that has its type as a key, as in HCL."""
    kind = next((key for key in value if key in backends()), None) if isinstance(value, Mapping) else None
    return f"write `type: {kind}`, and its keys beside it" if kind else None


def in_place_of_a_list(path: Path, value: Any) -> str | None:  # noqa: ANN401 - any YAML
    """Say how a list is written, where there is one item or a map."""
    key = str(path[-1])
    if isinstance(value, str):
        if key == "assume_role":
            return f"write `assume_role: {{role_arn: {value}}}`"
        items = [item for item in re.split(r"[,\s]+", value) if item]
        return f"write `{key}: [{', '.join(items)}]`"
    if isinstance(value, Mapping) and value:
        first = str(next(iter(value)))
        if path in NAMED_LISTS:
            return f"write a list: `- name: {first if first != 'name' else value[first]}` with its `spec:` below it"
        return "write a dash before the first key of each item"
    return None


def in_place_of_a_text(_: Path, value: Any) -> str | None:  # noqa: ANN401 - any YAML
    """Say how a text is written, where there is a list, a map or nothing."""
    if value is None:
        return "write a value after the colon, or remove the key"
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"write {value[0]}, without brackets and dashes"
    return None


def in_place_of_a_number(_: Path, value: Any) -> str | None:  # noqa: ANN401 - any YAML
    """Say how a number is written, where there is a text."""
    return f"write {value}, without quotes" if isinstance(value, str) and value.isdecimal() else None


def added(path: Path) -> str:
    """Say how a required key is added."""
    return REQUIRED.get(path, f"add `{path[-1]}: …`")


def without_consequences(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out that a key is missing, where another one is said to be a wrong spelling of it."""
    meant = {(*found.path[:-1], found.fix.split()[-1].rstrip("?")) for found in findings if found.at_key}
    return [found for found in findings if found.value != MISSING or found.path not in meant]


def manifests(keys: Mapping[str, Any], findings: Iterable[Finding], lists: Iterable[str]) -> list[Finding]:
    """Put one finding in the place of all that are about a whole manifest, pasted where a name and a spec belong."""
    found = list(findings)
    for key in lists:
        rows = keys.get(key)
        for index, row in enumerate(rows if isinstance(rows, list) else ()):
            if isinstance(row, Mapping) and is_manifest(row):
                at: Path = (key, index)
                own = [each for each in found if each.path[:2] == at and each.path[2:3] != ("spec",)]
                found = [*(each for each in found if each not in own), _manifest(at, row)]
    return found


def _manifest(at: Path, row: Mapping[str, Any]) -> Finding:
    name = value_at(row, ("metadata", "name")) if holds(row, ("metadata", "name")) else "…"
    gone = ", ".join(str(key) for key in row if key in MANIFEST_KEYS - {"spec"})
    fix = f"write `- name: {name}` and keep spec below it; remove {gone}"
    problem = f"a whole manifest in {at[0]}"
    return Finding((*at, "kind"), row["kind"], "a name and a spec", fix, problem=problem, at_key=True)
