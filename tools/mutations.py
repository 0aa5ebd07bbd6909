"""Small mistakes that could be made in a source file: where each one is, and the text that makes it."""

from __future__ import annotations

import ast
import difflib
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ROW, COMPARISON, NUMBER, WINDOW = "row", "comparison", "number", "window"
BOOLEAN, CONDITION, TEXT, STATEMENT = "boolean", "condition", "text", "statement"

SWAPPED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
# Functions whose arguments are the versions of a window.
WINDOWS = {"since", "before", "between"}
QUOTE = re.compile(r"""[a-zA-Z]*(?:\"{3}|'{3}|"|')""")
DROPPED = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file with one mistake: the bytes from `start` to `end` are replaced."""

    file: str
    line: int
    operator: str
    start: int
    end: int
    new: str

    def apply(self, source: str) -> str:
        """Return the source with the mistake in it."""
        raw = source.encode()
        return (raw[: self.start] + self.new.encode() + raw[self.end :]).decode()

    def diff(self, source: str) -> str:
        """Show the lines that change."""
        lines = difflib.unified_diff(source.splitlines(), self.apply(source).splitlines(), n=0, lineterm="")
        return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def mutants(file: str, source: str) -> list[Mutant]:
    """Find every mutant of a source file, in the order of the text."""
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return sorted(set(finder.found), key=lambda mutant: (mutant.start, mutant.end, mutant.operator, mutant.new))


def sample(found: Iterable[Mutant], sources: dict[str, str], *, count: int, seed: int) -> list[Mutant]:
    """Choose mutants by chance: large files more often, and every kind of mistake in a file alike."""
    chance = random.Random(seed)  # noqa: S311 - the same sample for the same seed, nothing secret
    files: dict[str, dict[str, list[Mutant]]] = {}
    for mutant in found:
        files.setdefault(mutant.file, {}).setdefault(mutant.operator, []).append(mutant)
    sizes = {file: sum(map(len, kinds.values())) for file, kinds in files.items()}
    chosen: list[Mutant] = []
    while files and len(chosen) < count:
        (file,) = chance.choices(list(files), [sizes[file] for file in files])
        kinds = files[file]
        kind = chance.choice(list(kinds))
        mutant = kinds[kind].pop(chance.randrange(len(kinds[kind])))
        if not kinds[kind]:
            del kinds[kind]
        if not kinds:
            del files[file]
        if _compiles(mutant, sources[file]):
            chosen.append(mutant)
    return chosen


def _compiles(mutant: Mutant, source: str) -> bool:
    """Tell whether the mutant is a Python program, and another one than the original."""
    try:
        tree = ast.parse(mutant.apply(source))
    except SyntaxError:
        return False
    return ast.dump(tree) != ast.dump(ast.parse(source))


class _Finder(ast.NodeVisitor):
    """Collects mutants, but none of types, imports, decorators and docstrings, which tests cannot notice."""

    def __init__(self, file: str, source: str) -> None:
        self.found: list[Mutant] = []
        self._file = file
        self._raw = source.encode()
        self._starts = [0]
        for line in self._raw.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def visit_Import(self, node: ast.Import) -> None:
        """Leave imports alone."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Leave imports alone."""

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Look at the body only."""
        self._visit_all(node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Look at the defaults and the body."""
        self._visit_all([*node.args.defaults, *(value for value in node.args.kw_defaults if value), *node.body])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Look at the value."""
        if node.value:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Look at the value; its parts where several names are assigned, since their number must stay."""
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            self._visit_all(node.value.elts)
            return
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            self._replace(STATEMENT, node, "pass")
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Look at the parts of a subscript, whose number must stay."""
        self.visit(node.value)
        self._visit_all(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])

    def visit_Expr(self, node: ast.Expr) -> None:
        """Drop a call; leave docstrings alone."""
        if not isinstance(node.value, ast.Constant):
            self._replace(STATEMENT, node, "pass")
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """Negate the condition, except those that ask how the module is loaded."""
        if ast.unparse(node.test) not in {"TYPE_CHECKING", "__name__ == '__main__'"}:
            self._condition(node.test)
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Negate the condition."""
        self._condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Negate the filters."""
        for test in node.ifs:
            self._condition(test)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Swap `and` and `or`."""
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(BOOLEAN, left, right, rf"\b{old}\b", new)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Swap a comparison for its neighbour or its opposite."""
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            old, new = SWAPPED[type(operator)]
            self._between(COMPARISON, left, right, re.escape(old).replace(r"\ ", r"\s+"), new)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        """Look at what is returned; the number of its parts must stay."""
        if node.value:
            self._visit_all(node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])

    def visit_Yield(self, node: ast.Yield) -> None:
        """Look at what is yielded; the number of its parts must stay."""
        if node.value:
            self._visit_all(node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])

    def visit_Call(self, node: ast.Call) -> None:
        """Move the minor or the patch of a window by one."""
        if not (isinstance(node.func, ast.Name) and node.func.id in WINDOWS):
            self.generic_visit(node)
            return
        for version in [node.args, *(arg.elts for arg in node.args if isinstance(arg, ast.Tuple))]:
            for part in version[1:]:
                if isinstance(part, ast.Constant) and isinstance(part.value, int):
                    for number in {abs(part.value - 1), part.value + 1}:
                        self._replace(WINDOW, part, str(number))

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """Drop a row."""
        self._rows(node, [(item, item) for item in node.elts])

    def visit_List(self, node: ast.List) -> None:
        """Drop a row."""
        self._rows(node, [(item, item) for item in node.elts])

    def visit_Set(self, node: ast.Set) -> None:
        """Drop a row."""
        self._rows(node, [(item, item) for item in node.elts])

    def visit_Dict(self, node: ast.Dict) -> None:
        """Drop a key."""
        self._rows(node, [(key or value, value) for key, value in zip(node.keys, node.values, strict=True)])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Change the text; Python 3.11 does not say where the parts of an f-string are."""
        self._text(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Change a constant."""
        if isinstance(node.value, bool):
            self._replace(BOOLEAN, node, str(not node.value))
        elif isinstance(node.value, int):
            for number in (node.value - 1, node.value + 1):
                self._replace(NUMBER, node, str(number))
        elif isinstance(node.value, str | bytes):
            self._text(node)

    def generic_visit(self, node: ast.AST) -> None:
        """Drop the statements that can be missing."""
        if isinstance(node, DROPPED):
            self._replace(STATEMENT, node, "pass")
        super().generic_visit(node)

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _condition(self, test: ast.expr) -> None:
        start, end = self._span(test)
        self._add(CONDITION, test.lineno, start, end, f"(not ({self._raw[start:end].decode()}))")

    def _text(self, node: ast.expr) -> None:
        start, end = self._span(node)
        quote = QUOTE.match(self._raw[start:end].decode())
        if quote:
            self._add(TEXT, node.lineno, start + quote.end(), start + quote.end(), "X")

    def _rows(self, node: ast.Tuple | ast.List | ast.Set | ast.Dict, rows: Sequence[tuple[ast.expr, ast.expr]]) -> None:
        spans = [(self._span(first)[0], self._span(last)[1]) for first, last in rows]
        if _is_table(node, [last for _, last in rows]):
            for number, (row, _) in enumerate(rows):
                self._add(ROW, row.lineno, *self._without(spans, number))
        for first, last in rows:
            # A tuple inside is a row, and a row keeps the number of its cells.
            cells = last.elts if isinstance(last, ast.Tuple) else [last]
            self._visit_all([*([] if first is last else [first]), *cells])

    def _without(self, spans: Sequence[tuple[int, int]], number: int) -> tuple[int, int, str]:
        """Return what to replace so that one row is gone; the comma after a single row keeps a tuple a tuple."""
        if len(spans) == 2:  # noqa: PLR2004 - one row is left
            start, end = spans[1 - number]
            return spans[0][0], spans[1][1], f"{self._raw[start:end].decode()},"
        if number + 1 < len(spans):
            return spans[number][0], spans[number + 1][0], ""
        return spans[number - 1][1], spans[number][1], ""

    def _between(self, operator: str, left: ast.expr, right: ast.expr, pattern: str, new: str) -> None:
        start, end = self._span(left)[1], self._span(right)[0]
        changed, count = re.subn(pattern, new, self._raw[start:end].decode(), count=1)
        if count:
            self._add(operator, right.lineno, start, end, changed)

    def _replace(self, operator: str, node: ast.stmt | ast.expr, new: str) -> None:
        self._add(operator, node.lineno, *self._span(node), new)

    def _add(self, operator: str, line: int, start: int, end: int, new: str) -> None:
        self.found.append(Mutant(self._file, line, operator, start, end, new))

    def _span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        last_line, last_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[last_line - 1] + last_column


def _is_table(node: ast.expr, rows: Sequence[ast.expr]) -> bool:
    """Tell a table from a version or a record: its rows are of one kind, and no plain numbers."""
    if len(rows) <= 1 or any(isinstance(row, ast.Constant) and isinstance(row.value, int) for row in rows):
        return False
    return isinstance(node, ast.Dict) or len({type(row) for row in rows}) == 1
