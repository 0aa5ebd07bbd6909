"""Terraform: the constructs that create what `nodeless.karpenter` decides, and the stack that wires them."""

from pathlib import Path

import imports

# A CDKTF app keeps generated bindings in a folder of this name; loaded in place of ours, it would fail far from here.
if Path(imports.__path__[0]).parent != Path(__file__).parents[1]:
    message = (
        f"the package `imports` at {imports.__path__[0]} hides the one that comes with nodeless: "
        "set another codeMakerOutput in cdktf.json and run `cdktf get` again"
    )
    raise ImportError(message)
