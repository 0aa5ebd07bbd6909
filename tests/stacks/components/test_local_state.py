"""The check on where the default local state of a copied stack would go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodeless.stacks.components.local_state import LocalState

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.synthesized import Synth


def test_the_check_is_about_the_folder_above_the_root_module(synth: Synth, json_snapshot: SnapshotAssertion) -> None:
    found = synth(lambda stack: LocalState(stack, "local_state", path="../../../terraform.demo.tfstate"))

    (row,) = found.tree["check"]["local_state"]["assert"]
    assert 'basename(dirname(abspath(path.root))) == "stacks"' in row["condition"]
    assert "path.module != path.root" in row["condition"]
    assert found.for_snapshot() == json_snapshot(name="LocalState")
