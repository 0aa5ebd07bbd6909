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
    """A framework's packages, as Python and as pip name them, and the folders that come before this one."""

    name: str
    core: str
    providers: tuple[str, ...]
    requirements: tuple[str, ...]
    folders: tuple[str, ...]


FRAMEWORKS = (
    Framework(
        name="cdktf",
        core="cdktf",
        providers=("cdktf_cdktf_provider_aws", "cdktf_cdktf_provider_helm"),
        requirements=("cdktf==0.21.0", "cdktf-cdktf-provider-aws==21.22.1", "cdktf-cdktf-provider-helm==12.1.2"),
        folders=(),
    ),
    Framework(
        name="cdktn",
        core="cdktn",
        providers=("cdktn_provider_aws", "cdktn_provider_helm"),
        requirements=("cdktn==0.24.0", "cdktn-provider-aws==25.8.1", "cdktn-provider-helm==15.1.0"),
        folders=(str(Path(__file__).with_name("cdktn")),),
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
        others = " or ".join(f"{VARIABLE}={each.name}" for each in FRAMEWORKS if each is not found)
        expected = f"a framework that is installed ({', '.join(missing)} not found)"
        raise SetupError(VARIABLE, name, expected, f"run pip install {' '.join(found.requirements)}, or set {others}")
    return found
