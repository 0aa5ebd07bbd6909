"""Lets the type checks of the generated bindings work out the hints of a function once, not at every call.

Bindings from newer generators ask jsii for remembered hints; these are older and ask `typing` each time, which is a
third of what a construct costs.
"""

import functools
import sys
import typing
from types import ModuleType

REMEMBERING = ModuleType("typing")
vars(REMEMBERING).update(vars(typing), get_type_hints=functools.cache(typing.get_type_hints))


def remember_type_hints(*packages: str) -> None:
    """Give the loaded modules of these packages a copy of `typing` that remembers; the real one is not touched."""
    for name, module in tuple(sys.modules.items()):
        # Under this name the bindings keep the globals of their functions (the publication package moves them there).
        if name.startswith(tuple(f"{package}." for package in packages)) and name.endswith("._private"):
            vars(module)["typing"] = REMEMBERING
