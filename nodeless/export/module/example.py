"""The example beside a module: a root that calls it for two clusters in two regions."""

from __future__ import annotations

from typing import Any

from nodeless.export import hcl
from nodeless.resolved.module import Module

Tree = dict[str, Any]

FOLDER = "examples/two-clusters"
# The name of each call, which is also its cluster's, and the region.
CLUSTERS = {"blue": "eu-north-1", "green": "eu-west-1"}
COMMENTS = {f"module.{name}": f"Karpenter on the cluster {name}." for name in CLUSTERS}


def files(module: Module, required: Tree) -> dict[str, str]:
    """Write the files of the example; `required` are the module's own requirements."""
    helm = module.with_helm
    # The token of the Helm provider is ephemeral.
    terraform = {**required, "required_version": ">= 1.10"} if helm else required
    providers: Tree = {"aws": [{"alias": name, "region": region} for name, region in CLUSTERS.items()]}
    if helm:
        providers["helm"] = [_helm(name) for name in CLUSTERS]
    tokens = {name: {"provider": f"aws.{name}", "name": name} for name in CLUSTERS}
    main = {
        "data": _data(module),
        **({"ephemeral": {"aws_eks_cluster_auth": tokens}} if helm else {}),
        "module": {name: _call(module, name) for name in CLUSTERS},
    }
    return {
        f"{FOLDER}/versions.tf": hcl.text({"terraform": terraform}),
        f"{FOLDER}/providers.tf": hcl.text({"provider": providers}),
        f"{FOLDER}/main.tf": hcl.text(main, COMMENTS),
    }


def _helm(name: str) -> Tree:
    cluster = f"data.aws_eks_cluster.{name}"
    return {
        "alias": name,
        "kubernetes": {
            "host": f"${{{cluster}.endpoint}}",
            "cluster_ca_certificate": f"${{base64decode({cluster}.certificate_authority[0].data)}}",
            "token": f"${{ephemeral.aws_eks_cluster_auth.{name}.token}}",
        },
    }


def _data(module: Module) -> Tree:
    """Look up what the module wants to know of clusters that exist already."""
    clusters: Tree = {}
    issuers: Tree = {}
    subnets: Tree = {}
    for name in CLUSTERS:
        cluster = f"data.aws_eks_cluster.{name}"
        at = {"provider": f"aws.{name}"}
        clusters[name] = {**at, "name": name}
        issuers[name] = {**at, "url": f"${{{cluster}.identity[0].oidc[0].issuer}}"}
        subnets[name] = {
            **at,
            "filter": [
                {"name": "vpc-id", "values": [f"${{{cluster}.vpc_config[0].vpc_id}}"]},
                {"name": f"tag:{module.installation.tag_key}", "values": [name]},
            ],
        }
    looks_for_provider = module.template.identity == "irsa" and not module.template.creates_oidc_provider
    return {
        "aws_eks_cluster": clusters,
        **({"aws_iam_openid_connect_provider": issuers} if looks_for_provider else {}),
        **({"aws_subnets": subnets} if module.template.fargate else {}),
    }


def _call(module: Module, name: str) -> Tree:
    template, cluster = module.template, f"data.aws_eks_cluster.{name}"
    call: Tree = {
        "source": "../..",
        "providers": {
            provider: f"{provider}.{name}" for provider in (("aws", "helm") if module.with_helm else ("aws",))
        },
        "cluster_name": f"${{{cluster}.name}}",
        "cluster_version": f"${{{cluster}.version}}",
        "cluster_endpoint": f"${{{cluster}.endpoint}}",
    }
    if template.identity == "irsa":
        call["cluster_oidc_url"] = f"${{{cluster}.identity[0].oidc[0].issuer}}"
        if not template.creates_oidc_provider:
            call["cluster_oidc_arn"] = f"${{data.aws_iam_openid_connect_provider.{name}.arn}}"
    if template.fargate:
        call["cluster_subnet_ids"] = f"${{data.aws_subnets.{name}.ids}}"
    return {**call, "tags": {"cluster": name}}
