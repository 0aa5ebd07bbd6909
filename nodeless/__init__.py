"""The Terraform that runs Karpenter on EKS: `from nodeless import Karpenter, installation`.

The three names are loaded when they are first used: `Karpenter` starts Node, `installation` and `SpecError` do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodeless.finding import SpecError as SpecError
    from nodeless.spec.resolution import installation as installation
    from nodeless.stacks.karpenter import Karpenter as Karpenter

__all__ = ["Karpenter", "SpecError", "installation"]

HOMES = {
    "Karpenter": "nodeless.stacks.karpenter",
    "SpecError": "nodeless.finding",
    "installation": "nodeless.spec.resolution",
}


def __getattr__(name: str) -> object:
    if name not in HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from nodeless.linked_folders import import_linked  # noqa: PLC0415 - `import nodeless` alone loads nothing else

    return getattr(import_linked(HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
