"""The mutation tester, on a project of two functions."""

from __future__ import annotations

import io
import shutil
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from tools.mutants import SAME, Same, likely_tests, main, source_files
from tools.mutations import Mutant, mutants, sample

RULE = '''\
"""A rule."""

LIMIT = 5


def fits(count: int) -> bool:
    """Tell whether it fits."""
    return count <= LIMIT


def greeting(name):
    return "Hello, " + name
'''
LOOP = """\
def emptied(rows):
    while rows:
        rows.pop()
    return rows
"""
RULE_TESTS = """\
import pytest
from nodeless.loop import emptied
from nodeless.rule import fits, greeting

def test_the_limit_on_both_sides():
    assert fits(5) and not fits(6)

def test_nothing_is_left():
    assert emptied([1, 2]) == []

@pytest.mark.slow
def test_the_greeting():
    assert greeting("Ada") == "Hello, Ada"
"""


class Run(NamedTuple):
    """What the program returned and printed."""

    code: int
    output: str

    def outcomes(self) -> set[tuple[str, str, str]]:
        """Return outcome, line and operator of each mutant, as the progress says them."""
        rows = [line.partition("] ")[2].split() for line in self.output.splitlines() if line.startswith("[")]
        return {(row[0], row[1].partition(":")[2], row[2]) for row in rows}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for file, text in {
        "nodeless/__init__.py": "",
        "nodeless/rule.py": RULE,
        "nodeless/loop.py": LOOP,
        "tests/test_rule.py": RULE_TESTS,
        "pytest.ini": "[pytest]\npythonpath = .\nmarkers =\n    slow: slow\n    terraform: terraform\n",
    }.items():
        (root / file).parent.mkdir(exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
    return root


def run(
    project: Path, *arguments: str, same: tuple[Same, ...] = (), only: str = "nodeless/rule.py", limit: int = 60
) -> Run:
    output = io.StringIO()
    with redirect_stdout(output):
        code = main([*arguments, "--only", only, "--limit", str(limit)], project, same)
    return Run(code, output.getvalue())


@pytest.fixture(scope="module")
def everything(project: Path) -> Run:
    """Test every mutant of a file."""
    return run(project)


def changed(line: str) -> set[tuple[str, str]]:
    """Return the operators and the mutants of one line."""
    return {(mutant.operator, mutant.apply(line)) for mutant in mutants("a.py", line)}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = a < b", {("comparison", "x = a <= b")}),
        ("x = a not in b", {("comparison", "x = a in b")}),
        ("x = a is None", {("comparison", "x = a is not None")}),
        ("x = a < b == c", {("comparison", "x = a <= b == c"), ("comparison", "x = a < b != c")}),
        ("x = 7", {("number", "x = 6"), ("number", "x = 8")}),
        ("x = True", {("boolean", "x = False")}),
        ("x = a and b", {("boolean", "x = a or b")}),
        ("x = a or b and c", {("boolean", "x = a and b and c"), ("boolean", "x = a or b or c")}),
        ("x = a if b else c", {("condition", "x = a if (not (b)) else c")}),
        ("x = [a for a in b if a]", {("condition", "x = [a for a in b if (not (a))]")}),
        ("x = 'ä'", {("text", "x = 'Xä'")}),
        ('x = f"{a} b"', {("text", 'x = f"X{a} b"')}),
        ("if a:\n    b()", {("condition", "if (not (a)):\n    b()"), ("statement", "if a:\n    pass")}),
        ("raise a", {("statement", "pass")}),
        ("a.b = c", {("statement", "pass")}),
        ("x = (a, b)", {("row", "x = (b,)"), ("row", "x = (a,)")}),
        ("x = [a, b, c]", {("row", "x = [b, c]"), ("row", "x = [a, c]"), ("row", "x = [a, b]")}),
        ("x = {a: b, c: d}", {("row", "x = {c: d,}"), ("row", "x = {a: b,}")}),
        ("x = ((a, b), (c, d))", {("row", "x = ((c, d),)"), ("row", "x = ((a, b),)")}),
        ("x = since(1, 3)", {("window", "x = since(1, 2)"), ("window", "x = since(1, 4)")}),
        ("x = since(1, 0)", {("window", "x = since(1, 1)")}),
        ("x = before((0, 3))", {("window", "x = before((0, 2))"), ("window", "x = before((0, 4))")}),
        ('"""A docstring."""', set()),
        ("from a import b", set()),
        ("x: Literal['a']", set()),
        ("@cache(1)\ndef f(a: 'b') -> 'c':\n    pass", set()),
        ("x, y = a, b", set()),
        ("def f():\n    return a, b", set()),
        ("if TYPE_CHECKING:\n    x = 1", set()),
    ],
)
def test_the_mistakes_that_are_made(line: str, expected: set[tuple[str, str]]) -> None:
    assert changed(line) == expected


def test_a_mutant_knows_its_line_and_shows_its_change() -> None:
    (mutant,) = [mutant for mutant in mutants("nodeless/rule.py", RULE) if mutant.operator == "text"]

    assert (mutant.file, mutant.line) == ("nodeless/rule.py", 12)
    assert mutant.diff(RULE) == '-    return "Hello, " + name\n+    return "XHello, " + name'


def test_the_same_seed_gives_the_same_sample() -> None:
    source = (ROOT / "nodeless" / "upgrade" / "path.py").read_text(encoding="utf-8")

    def chosen(seed: int) -> list[Mutant]:
        return sample(mutants("path.py", source), {"path.py": source}, count=20, seed=seed)

    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)
    assert len(set(chosen(1))) == 20


def test_a_sample_has_every_kind_of_mistake_and_only_programs() -> None:
    source = (ROOT / "nodeless" / "upgrade" / "path.py").read_text(encoding="utf-8")
    chosen = sample(mutants("path.py", source), {"path.py": source}, count=100, seed=1)

    assert {mutant.operator for mutant in chosen} >= {"row", "comparison", "number", "window", "text", "condition"}
    for mutant in chosen:
        compile(mutant.apply(source), "path.py", "exec")


@pytest.mark.slow
def test_a_mistake_that_a_test_notices_is_killed(everything: Run) -> None:
    assert {("killed", "3", "number"), ("killed", "8", "comparison")} <= everything.outcomes()


@pytest.mark.slow
def test_a_mistake_that_no_test_notices_survives_and_is_shown(everything: Run) -> None:
    assert [row for row in everything.outcomes() if row[0] == "survived"] == [("survived", "12", "text")]
    assert 'nodeless/rule.py:12  text\n-    return "Hello, " + name\n+    return "XHello, " + name' in everything.output


@pytest.mark.slow
def test_a_mistake_that_never_ends_is_stopped(project: Path) -> None:
    assert run(project, only="nodeless/loop.py", limit=5).outcomes() == {("timeout", "3", "statement")}


@pytest.mark.slow
def test_the_summary_counts_and_the_exit_code_follows_the_goal(project: Path, everything: Run) -> None:
    assert everything.code == 1
    assert everything.output.splitlines()[-1] == (
        "3 killed, 0 timeout, 1 survived, 0 equivalent: score 75.0 %, goal 95 %"
    )
    assert run(project, "--goal", "75").code == 0
    assert (project / "nodeless" / "rule.py").read_text(encoding="utf-8") == RULE


@pytest.mark.slow
def test_slow_tests_are_asked_where_the_fast_ones_notice_nothing(project: Path) -> None:
    seen = run(project, "--slow", "--goal", "100")

    assert seen.code == 0
    assert ("killed", "12", "text") in seen.outcomes()


@pytest.mark.slow
def test_what_behaves_like_the_original_does_not_count(project: Path) -> None:
    seen = run(project, same=(Same("nodeless/rule.py", '"XHello', "nobody reads it"),))

    assert ("equivalent", "12", "text") in seen.outcomes()
    assert (seen.code, "score 100.0 %" in seen.output) == (0, True)


@pytest.mark.slow
def test_tests_that_fail_without_a_mutant_are_refused(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project, tmp_path, dirs_exist_ok=True)
    (tmp_path / "nodeless" / "rule.py").write_text(RULE.replace("LIMIT = 5", "LIMIT = 4"), encoding="utf-8")

    refused, name = run(tmp_path), "tests/test_rule.py::test_the_limit_on_both_sides"

    assert (refused.code, name in refused.output) == (2, True)
    assert run(tmp_path, "--count", "1", "--deselect", name).code in {0, 1}


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    for file in ("tests/upgrade/test_path.py", "tests/stacks/test_app.py", "stacks/app.py", "nodeless/upgrade/path.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "nodeless" / "stacks").symlink_to("../stacks")
    return tmp_path


def test_the_tests_of_the_same_name_come_first(layout: Path) -> None:
    assert likely_tests(layout, "nodeless/upgrade/path.py") == "tests/upgrade/test_path.py"
    assert likely_tests(layout, "nodeless/upgrade/other.py") == "tests/upgrade"
    assert likely_tests(layout, "stacks/app.py") == "tests/stacks/test_app.py"
    assert likely_tests(layout, "nodeless/finding.py") is None


def test_a_linked_file_is_changed_once(layout: Path) -> None:
    assert source_files(layout) == ["nodeless/upgrade/path.py", "stacks/app.py"]


def test_every_exception_is_a_mutant_and_has_a_reason() -> None:
    for row in SAME:
        sources = {file: (ROOT / file).read_text(encoding="utf-8") for file in source_files(ROOT)}
        found = [
            mutant for file, source in sources.items() if file.startswith(row.file) for mutant in mutants(file, source)
        ]
        assert any(row.diff in mutant.diff(sources[mutant.file]) for mutant in found), row
        assert row.reason
