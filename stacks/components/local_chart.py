"""The small chart that travels beside the JSON, and its path as Terraform sees it."""

from __future__ import annotations

from pathlib import Path

from nodeless.imports.cdk import AssetType, Construct, TerraformAsset, TerraformStack

CHART = Path(__file__).parents[1] / "charts" / "node-pools"
# Directly below the stack, where CDKTF writes no hash into the path: assets/karpenter-charts/node-pools.
ID = "karpenter-charts"


def local_chart(scope: Construct) -> str:
    """Copy the chart into the stack's folder, once per stack; return where it lies there.

    `path.module` leads there also from a configuration that uses the stack's folder as a module. The folder is named
    like the chart instead of by a hash: a changed chart has a changed version, which is what Helm's provider looks at.
    """
    stack = TerraformStack.of(scope)
    found = stack.node.try_find_child(ID)
    asset = (
        found
        if isinstance(found, TerraformAsset)
        else TerraformAsset(stack, ID, path=str(CHART), type=AssetType.DIRECTORY, asset_hash=CHART.name)
    )
    return "${path.module}/" + asset.path
