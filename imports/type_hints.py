"""Makes the checks cheaper that the generated bindings run on the arguments of each call.

They look up type hints each time, which takes a third of the time of making a construct; bindings from newer generators
have a cache of their own. While nodeless builds its own stacks the checks are off: its tests run with them.
"""

import contextlib
import functools
import sys
import typing
from collections.abc import Iterator
from types import ModuleType

REMEMBERING = ModuleType("typing")
vars(REMEMBERING).update(vars(typing), get_type_hints=functools.cache(typing.get_type_hints))

# The modules whose functions check types. The functions of the bindings have their globals in modules of this name.
CHECKING: dict[str, ModuleType] = {}


def remember_type_hints(*packages: str) -> None:
    """Give the loaded modules of these packages a copy of `typing` with the cache; `typing` itself stays unchanged."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith(tuple(f"{package}." for package in packages)) and name.endswith("._private"):
            vars(module)["typing"] = REMEMBERING
            CHECKING[name] = module


@contextlib.contextmanager
def without_type_checks() -> Iterator[None]:
    """Leave the checks out while the block runs, in the modules that are loaded now."""
    checks = {name: vars(module)["check_type"] for name, module in CHECKING.items() if "check_type" in vars(module)}
    for name in checks:
        vars(CHECKING[name])["check_type"] = _not_checked
    try:
        yield
    finally:
        for name, check in checks.items():
            vars(CHECKING[name])["check_type"] = check


def _not_checked(*_: object, **__: object) -> None:
    """Take what a check takes."""
