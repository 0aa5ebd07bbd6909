"""Terraform and its providers are found where users keep them, and for a missing one the message says how to get it."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import pytest

from tests.terraform import tools
from tests.terraform.tools import MIRROR_VARIABLE, TERRAFORM_VARIABLE, Unavailable, find_mirror

if TYPE_CHECKING:
    from pathlib import Path

MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine().lower())
HERE = f"{platform.system().lower()}_{MACHINE}"


def mirror(folder: Path, version: str = "5.100.0", place: str = HERE) -> Path:
    package = folder / "registry.terraform.io/hashicorp/aws" / version / place
    package.mkdir(parents=True)
    (package / f"terraform-provider-aws_v{version}_x5").touch()
    return folder


def packed_mirror(folder: Path, version: str) -> Path:
    packages = folder / "registry.terraform.io/hashicorp/aws"
    packages.mkdir(parents=True)
    (packages / f"terraform-provider-aws_{version}_{HERE}.zip").touch()
    return folder


def test_the_mirror_that_is_asked_for_comes_first(tmp_path: Path) -> None:
    asked = mirror(tmp_path / "asked")
    mirror(tmp_path / "home/.terraform.d/plugins")

    assert find_mirror({MIRROR_VARIABLE: str(asked)}, tmp_path / "home", ()) == asked


def test_a_mirror_asked_for_that_has_no_provider_is_said_to_have_none(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=f"{MIRROR_VARIABLE} names .*empty, which holds no usable"):
        find_mirror({MIRROR_VARIABLE: str(tmp_path / "empty")}, tmp_path, ())


@pytest.mark.parametrize("variable", [True, False], ids=["TF_CLI_CONFIG_FILE", "terraformrc"])
def test_the_mirror_of_the_users_own_configuration_is_taken(tmp_path: Path, variable: bool) -> None:  # noqa: FBT001 - pytest passes it by name
    own = mirror(tmp_path / "own")
    config = tmp_path / ("somewhere.tfrc" if variable else ".terraformrc")
    config.write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{own}"\n  }}\n}}\n', "utf-8")

    assert find_mirror({"TF_CLI_CONFIG_FILE": str(config)} if variable else {}, tmp_path, ()) == own


def test_a_configuration_file_that_does_not_exist_is_passed_over(tmp_path: Path) -> None:
    missing = {"TF_CLI_CONFIG_FILE": str(tmp_path / "missing"), "XDG_DATA_DIRS": str(tmp_path)}

    assert find_mirror(missing, tmp_path, ()) is None


@pytest.mark.parametrize("folder", ["mirror", "tools/mirror", "."])
def test_usual_places_are_searched_two_levels_deep(tmp_path: Path, folder: str) -> None:
    usual = mirror(tmp_path / "usual" / folder)

    assert find_mirror({"XDG_DATA_DIRS": str(tmp_path)}, tmp_path, [str(tmp_path / "usual")]) == usual


@pytest.mark.parametrize(
    ("version", "usable"), [("5.99.1", False), ("5.100.0", True), ("6.25.0", True), ("7.0.0", False)]
)
def test_a_provider_is_usable_in_the_range_the_stacks_allow(tmp_path: Path, version: str, usable: bool) -> None:  # noqa: FBT001 - pytest passes it by name
    assert tools.holds_aws_provider(mirror(tmp_path / "unpacked", version)) is usable
    assert tools.holds_aws_provider(packed_mirror(tmp_path / "packed", version)) is usable


def test_a_provider_for_another_machine_is_not_usable(tmp_path: Path) -> None:
    assert not tools.holds_aws_provider(mirror(tmp_path, place="plan9_mips"))


def test_no_terraform_is_a_reason_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=f"no terraform on the PATH; install it or name it in {TERRAFORM_VARIABLE}"):
        tools.find({"PATH": str(tmp_path)}, tmp_path, ())
    with pytest.raises(Unavailable, match=f"{TERRAFORM_VARIABLE} names .*nowhere, which cannot be run"):
        tools.find({"PATH": str(tmp_path), TERRAFORM_VARIABLE: str(tmp_path / "nowhere")}, tmp_path, ())
