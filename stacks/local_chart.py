"""The small chart that is copied beside the JSON, and its path in Terraform."""

from __future__ import annotations

from pathlib import Path

from nodeless.imports.cdk import AssetType, Construct, TerraformAsset, TerraformStack

CHART = Path(__file__).parent / "charts" / "node-pools"
# Directly below the stack, where CDKTF writes no hash into the path: assets/karpenter-charts/node-pools.
ID = "karpenter-charts"


def local_chart(scope: Construct) -> str:
    """Copy the chart into the stack's folder, once per stack; return its path there.

    `path.module` also works in a configuration that uses the stack's folder as a module. The folder has the chart's
    name instead of a hash: a changed chart has a changed version, and the Helm provider compares versions.
    """
    stack = TerraformStack.of(scope)
    found = stack.node.try_find_child(ID)
    if found is None:
        TerraformAsset(stack, ID, path=str(CHART), type=AssetType.DIRECTORY, asset_hash=CHART.name)
    # As the asset's own `path` says, which is a call to Node.
    return f"${{path.module}}/assets/{ID}/{CHART.name}"
