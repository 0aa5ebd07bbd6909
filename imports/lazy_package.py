"""A provider package that imports each of its submodules on first use, instead of all 2,213 at once."""

import importlib
import importlib.util
import pkgutil
import sys
from types import ModuleType


class LazyPackage(ModuleType):
    """Replaces the package in sys.modules. For any name that is no submodule it loads the real package."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name != "__all__":
            # Tools look for names such as __warningregistry__ in every module; that must not load the whole package.
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name != "__all__" and importlib.util.find_spec(f"{self.__name__}.{name}"):
            return importlib.import_module(f"{self.__name__}.{name}")
        return getattr(self._whole(), name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(found.name for found in pkgutil.iter_modules(self.__path__))})

    def _whole(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return importlib.import_module(self.__name__)


def put_lazy_package(name: str) -> None:
    """Put a lazy package into sys.modules, unless the real one is loaded already or is not installed."""
    if name in sys.modules or (spec := importlib.util.find_spec(name)) is None:
        return
    # The real spec gives it the real __path__, so Python itself finds the submodules.
    package = importlib.util.module_from_spec(spec)
    package.__class__ = LazyPackage
    sys.modules[name] = package
