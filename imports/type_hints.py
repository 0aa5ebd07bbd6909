"""Caches the type hints that the generated bindings look up each time they check the arguments of a call.

Without the cache this takes a third of the time of making a construct. Bindings from newer generators have a cache of
their own.
"""

import functools
import sys
import typing
from types import ModuleType

REMEMBERING = ModuleType("typing")
vars(REMEMBERING).update(vars(typing), get_type_hints=functools.cache(typing.get_type_hints))


def remember_type_hints(*packages: str) -> None:
    """Give the loaded modules of these packages a copy of `typing` with the cache; `typing` itself stays unchanged."""
    for name, module in tuple(sys.modules.items()):
        # The functions of the bindings have their globals in modules of this name.
        if name.startswith(tuple(f"{package}." for package in packages)) and name.endswith("._private"):
            vars(module)["typing"] = REMEMBERING
