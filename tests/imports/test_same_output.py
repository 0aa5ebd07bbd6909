"""Fast or plain, the bindings give the same Terraform."""

from pathlib import Path

import pytest

from tests.imports.processes import ROOT, run

APP = str(Path(__file__).with_name("small_app.py"))


def output(folder: Path) -> dict[str, str]:
    found = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert any(name.endswith("/cdk.tf.json") for name in found)
    return found


@pytest.mark.slow
def test_fast_and_plain_bindings_give_the_same_output(tmp_path: Path) -> None:
    fast = run(APP, str(tmp_path / "fast"))
    plain = run(APP, str(tmp_path / "plain"), NODELESS_BINDINGS="plain")

    assert (fast.returncode, plain.returncode) == (0, 0), fast.stderr + plain.stderr
    assert output(tmp_path / "fast") == output(tmp_path / "plain")


OTHER_INSIDES = """
import runpy, sys
# As when jsii has other insides: importing what relies on them fails.
for module in ("background_loading", "requests_ahead", "node_process"):
    sys.modules[f"nodeless.imports.{module}"] = None
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize("app", [(APP,), (str(ROOT / "main.py"), "--out")], ids=["a user's app", "the command"])
def test_with_another_jsii_everything_works_the_same(tmp_path: Path, app: tuple[str, ...]) -> None:
    fast = run(*app, str(tmp_path / "fast"))
    waiting = run("-c", OTHER_INSIDES, *app, str(tmp_path / "waiting"))

    assert (fast.returncode, waiting.returncode) == (0, 0), fast.stderr + waiting.stderr
    assert output(tmp_path / "fast") == output(tmp_path / "waiting")
