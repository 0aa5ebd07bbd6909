"""Globs of `include` name the files that Python's own globs name, but for those that are hidden or linked."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from nodeless.spec.include_paths import IncludeError, Scan, read_file

FILES = ("a.yaml", "ab.yaml", "b/a.yaml", "b/ab.yaml", "b/c/a.yaml", "c/b/a.yml", "[x].yaml")
STEPS = st.sampled_from(["a", "b", "*", "**", "?", "a*", "[ab]", "[!a]", ".", "c", "b*"])
ENDS = st.sampled_from(["a.yaml", "*.yaml", "a*", "?.y*ml", "**", "[[]x].yaml", "*"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with some files below it."""
    made = tmp_path_factory.mktemp("include")
    for name in FILES:
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("x", encoding="utf-8")
    return made


@settings(deadline=None, max_examples=200)
@given(st.lists(STEPS, max_size=3), ENDS)
def test_a_glob_names_what_other_globs_name(folder: Path, steps: list[str], end: str) -> None:
    pattern = "/".join([*steps, end])
    # In Python 3.11, `**` at the end names folders only.
    same = f"{pattern}/*" if end == "**" else pattern
    expected = {path for path in folder.glob(same) if path.is_file()}

    if expected:
        assert Scan(folder.resolve()).matches(folder, pattern) == sorted(expected)
        return
    with pytest.raises(IncludeError, match="no file matches"):
        Scan(folder.resolve()).matches(folder, pattern)


@given(st.text(max_size=20).filter(lambda text: "\0" not in text))
@settings(deadline=None, max_examples=200)
def test_no_pattern_names_a_file_elsewhere(pattern: str) -> None:
    with tempfile.TemporaryDirectory() as made:
        below = Path(made) / "below"
        below.mkdir()
        (Path(made) / "secret").write_text("x", encoding="utf-8")
        scan = Scan(below.resolve())
        try:
            found = scan.matches(below, pattern)
            for path in found:
                scan.check_inside(path)
        except IncludeError:
            return
        assert all(path.resolve().is_relative_to(below.resolve()) for path in found)


def test_what_is_not_a_regular_file_is_not_opened(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero")):
        with pytest.raises(IncludeError, match="not a file"):
            read_file(path)
