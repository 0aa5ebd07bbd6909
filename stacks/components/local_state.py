"""Tells at plan time where the default local state of a copied stack would go."""

from __future__ import annotations

from nodeless.imports.cdk import Construct, TerraformStack


class LocalState(Construct):
    """A check that the stack is where its state is beside the output folder: in a folder named `stacks`."""

    def __init__(self, scope: TerraformStack, id_: str, *, path: str) -> None:
        """Warn if it is not; a warning, because an override file may have given the copy another backend."""
        super().__init__(scope, id_)
        # CDKTF 0.21 has no check blocks. A child module has no state, so the check is about the root module only.
        scope.add_override(
            "check.local_state",
            {
                "assert": [
                    {
                        "condition": '${path.module != path.root || basename(dirname(abspath(path.root))) == "stacks"}',
                        "error_message": f'This stack was copied: its state would be in ${{abspath("{path}")}}. '
                        "Give it a backend of its own, with `backend` in clusters.yaml.",
                    }
                ]
            },
        )
