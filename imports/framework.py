"""Which framework builds the stacks: CDKTF, or CDK Terrain (cdktn), which continues it.

`NODELESS_FRAMEWORK` names one of them. docs/decisions/0019-two-frameworks.md has the reasons.
"""

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from nodeless.imports.setup_error import SetupError

VARIABLE = "NODELESS_FRAMEWORK"


@dataclass(frozen=True)
class Framework:
    """A framework's packages, the folders whose files come before those of this one, and how to install it."""

    name: str
    core: str
    providers: tuple[str, ...]
    folders: tuple[str, ...]
    install: str


FRAMEWORKS = (
    Framework(
        name="cdktf",
        core="cdktf",
        providers=("cdktf_cdktf_provider_aws", "cdktf_cdktf_provider_helm"),
        folders=(),
        install="pip install nodeless",
    ),
    Framework(
        name="cdktn",
        core="cdktn",
        providers=("cdktn_provider_aws", "cdktn_provider_helm"),
        folders=(str(Path(__file__).with_name("cdktn")),),
        install='pip install "nodeless[cdktn]"',
    ),
)
DEFAULT = FRAMEWORKS[0]


def chosen() -> Framework:
    """Return the framework that the environment names; CDKTF if it names none."""
    name = os.environ.get(VARIABLE) or DEFAULT.name
    found = next((each for each in FRAMEWORKS if each.name == name), None)
    if found is None:
        names = " or ".join(each.name for each in FRAMEWORKS)
        raise SetupError(VARIABLE, name, names, f"set it to one of them, or unset it to use {DEFAULT.name}")
    missing = [package for package in (found.core, *found.providers) if importlib.util.find_spec(package) is None]
    if missing:
        others = " or ".join(each.name for each in FRAMEWORKS if each is not found)
        expected = f"a framework that is installed ({', '.join(missing)} not found)"
        raise SetupError(VARIABLE, name, expected, f"{found.install}, or set {VARIABLE}={others}")
    return found
