"""The stand-in for a provider package, on a package small enough to see through."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from nodeless.imports.lazy_package import LazyPackage, put_lazy_package

NAME = "toy_provider"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Return the stand-in of a package with two modules and one name of its own."""
    folder = tmp_path / NAME
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import queue, role\nOWN = 'name'\n__all__ = ['queue', 'role', 'OWN']\n")
    (folder / "queue.py").write_text("")
    (folder / "role.py").write_text("from . import queue\n")
    monkeypatch.syspath_prepend(tmp_path)
    put_lazy_package(NAME)
    yield sys.modules[NAME]
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


def loaded() -> set[str]:
    return {name.partition(".")[2] for name in sys.modules if name.startswith(f"{NAME}.")}


def test_nothing_is_loaded_before_it_is_asked_for(package: ModuleType) -> None:
    assert isinstance(package, LazyPackage)
    assert loaded() == set()


def test_a_module_is_loaded_when_it_is_asked_for(package: ModuleType) -> None:
    assert package.queue is importlib.import_module(f"{NAME}.queue")
    assert loaded() == {"queue"}


def test_a_module_may_import_its_sisters(package: ModuleType) -> None:
    assert package.role.queue is package.queue


def test_every_module_is_listed(package: ModuleType) -> None:
    assert {"queue", "role"} <= set(dir(package))
    assert loaded() == set()


def test_a_tool_that_probes_for_a_special_name_loads_nothing(package: ModuleType) -> None:
    assert not hasattr(package, "__warningregistry__")
    assert loaded() == set()


@pytest.mark.parametrize("name", ["OWN", "__all__"])
def test_any_other_name_comes_from_the_real_package(package: ModuleType, name: str) -> None:
    assert getattr(package, name)
    assert loaded() == {"queue", "role"}
    assert not isinstance(sys.modules[NAME], LazyPackage)


def test_a_name_that_does_not_exist_is_missing_as_ever(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'topic'"):
        _ = package.topic


def test_a_package_that_is_loaded_already_stays(package: ModuleType) -> None:
    put_lazy_package(NAME)

    assert sys.modules[NAME] is package


def test_a_package_that_is_not_installed_stays_missing() -> None:
    put_lazy_package("no_such_provider")

    assert "no_such_provider" not in sys.modules
