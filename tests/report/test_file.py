"""The file that is written: whole or not at all, and never in place of something that is not a report."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nodeless.finding import SpecError
from nodeless.report.file import check_writable, write_page
from nodeless.report.page import MARKER

REPORT = f"{MARKER}<html></html>\n"


def test_a_new_file_is_written_with_the_permissions_of_new_files(tmp_path: Path) -> None:
    write_page(tmp_path / "report.html", REPORT, force=False)
    (tmp_path / "other").touch()

    assert (tmp_path / "report.html").read_text("utf-8") == REPORT
    assert (tmp_path / "report.html").stat().st_mode == (tmp_path / "other").stat().st_mode
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "report.html"]


def test_a_report_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    out.write_text(f"{MARKER}old", encoding="utf-8")
    out.chmod(0o640)

    write_page(out, REPORT, force=False)

    assert out.read_text("utf-8") == REPORT
    assert out.stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_no_report_stays_unless_forced(tmp_path: Path) -> None:
    out = tmp_path / "index.html"
    out.write_text("<!doctype html>\n<p>mine", encoding="utf-8")

    with pytest.raises(SpecError, match=r"a new file, or a report that nodeless wrote"):
        write_page(out, REPORT, force=False)
    assert out.read_text("utf-8") == "<!doctype html>\n<p>mine"

    write_page(out, REPORT, force=True)
    assert out.read_text("utf-8") == REPORT


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_text(REPORT, encoding="utf-8")
    (tmp_path / "link.html").symlink_to("real.html")

    write_page(tmp_path / "link.html", f"{REPORT}new", force=False)

    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text("utf-8") == f"{REPORT}new"


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_file_is_refused(tmp_path: Path, force: bool) -> None:  # noqa: FBT001 - a parameter of the test
    os.mkfifo(tmp_path / "pipe")

    for out in (tmp_path, tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(SpecError, match=r"name a file, or write --out -"):
            check_writable(out, force=force)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"create the folder, or name another file"):
        check_writable(tmp_path / "none" / "report.html", force=False)


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"a file that can be written"):
        check_writable(tmp_path / ("x" * 300), force=False)


def test_a_write_that_fails_leaves_the_old_report_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report.html"
    out.write_text(f"{MARKER}old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SpecError, match=r"No space left on device"):
        write_page(out, REPORT, force=False)

    assert out.read_text("utf-8") == f"{MARKER}old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
