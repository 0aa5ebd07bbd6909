"""A provider package that imports its submodules when they are asked for, instead of all 2,213 at once."""

import importlib
import importlib.util
import pkgutil
import sys
from types import ModuleType


class LazyPackage(ModuleType):
    """Stands in for the package under its own name; all but submodules comes from the real one, loaded when needed."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name != "__all__":
            # Tools ask every loaded module for names like __warningregistry__: that must not load the whole package.
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
    """Put the stand-in into sys.modules, unless the package is loaded already or is not installed."""
    if name in sys.modules or (spec := importlib.util.find_spec(name)) is None:
        return
    # With the real spec it has the real __path__, and Python finds the submodules by itself.
    package = importlib.util.module_from_spec(spec)
    package.__class__ = LazyPackage
    sys.modules[name] = package
