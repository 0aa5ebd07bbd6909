"""Fast or plain, the bindings give the same Terraform."""

from pathlib import Path

import pytest

from tests.imports.processes import run

APP = str(Path(__file__).with_name("small_app.py"))


def output(folder: Path) -> dict[str, str]:
    found = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert "stacks/small/cdk.tf.json" in found
    return found


@pytest.mark.slow
def test_fast_and_plain_bindings_give_the_same_output(tmp_path: Path) -> None:
    fast = run(APP, str(tmp_path / "fast"))
    plain = run(APP, str(tmp_path / "plain"), NODELESS_BINDINGS="plain")

    assert (fast.returncode, plain.returncode) == (0, 0), fast.stderr + plain.stderr
    assert output(tmp_path / "fast") == output(tmp_path / "plain")


@pytest.mark.slow
def test_without_background_loading_the_app_works_the_same(tmp_path: Path) -> None:
    program = """
import runpy, sys
sys.modules["nodeless.imports.background_loading"] = None  # As when jsii has other insides: importing it fails.
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""
    fast = run(APP, str(tmp_path / "fast"))
    waiting = run("-c", program, APP, str(tmp_path / "waiting"))

    assert (fast.returncode, waiting.returncode) == (0, 0), fast.stderr + waiting.stderr
    assert output(tmp_path / "fast") == output(tmp_path / "waiting")
