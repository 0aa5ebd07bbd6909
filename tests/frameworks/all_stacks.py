"""Builds every example, the app of the checkout and a user's small app with the framework of the environment.

Its only argument is the output folder.
"""

import runpy
import sys
from pathlib import Path

from nodeless.spec.resolution import load
from nodeless.stacks.app import build
from tests.conftest import ROOT
from tests.frameworks.environment import EXAMPLES

out = Path(sys.argv[1])
for name, file in EXAMPLES.items():
    build(load(file), out / name)
sys.argv = ["small_app.py", str(out / "small-app")]
runpy.run_path(str(ROOT / "tests/imports/small_app.py"), run_name="__main__")
