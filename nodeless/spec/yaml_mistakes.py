"""Which mistake of a writer is behind an error of the YAML reader, where it is, and its fix.

A reader stops where it cannot go on, often some lines after the mistake, and says which token it expected there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ruamel.yaml.error import MarkedYAMLError

from nodeless.finding import Finding
from nodeless.sinks.excerpts import LINE_END, Mark, without_secrets

# The start of a line: its indentation, and the dashes of lists.
START = r"(?P<start>[ ]*(?:-[ ]+)*)"
KEY = r"(?P<key>[\w./-]*\w)"
NO_SPACE_AFTER_COLON = re.compile(rf"{START}{KEY}(?P<wrong>:)(?P<value>(?!//)[^\s:].*)")
NO_COLON = re.compile(rf"{START}(?P<wrong>(?P<key>[A-Za-z_][\w.-]*))")
EQUALS = re.compile(rf"{START}{KEY}\s*(?P<wrong>=)\s*(?P<value>\S.*)")
NO_SPACE_AFTER_DASH = re.compile(r"[ ]*(?P<wrong>-)(?P<key>\w[\w.-]*):.*")
TWO_COLONS = re.compile(rf"{START}{KEY}:[ ]+(?P<wrong>[^\s\"'\[{{&*!|>][^\"']*?:[ ].*)")
OPEN_QUOTE = re.compile(rf"{START}(?:{KEY}:[ ]+)?(?P<wrong>(?P<quote>[\"'])(?:(?!(?P=quote)).)*)")
CONFLICT = re.compile(r"(?P<wrong><{7}|={7}|>{7})(?: .*)?")
TAB_INDENT = re.compile(r"[ ]*(?P<wrong>\t+).*")

# More of a line is not looked at.
LONGEST_LINE = 2000

NO_COLON_FOUND = "could not find expected ':'"
NOT_ALLOWED = "mapping values are not allowed here"
FLOW = {"while parsing a flow sequence": ("[", "]"), "while parsing a flow mapping": ("{", "}")}


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the reader stopped, with what was open there; lines are counted from 0."""

    error: MarkedYAMLError
    lines: Sequence[str]

    @property
    def problem(self) -> str:
        """Return what the reader says."""
        return str(self.error.problem)

    @property
    def at(self) -> int:
        """Return the line on which the reader stopped."""
        return min(self.error.problem_mark.line, len(self.lines) - 1) if self.error.problem_mark else 0

    @property
    def begun(self) -> int:
        """Return the line on which began what the reader was reading."""
        return self.error.context_mark.line if self.error.context_mark else self.at

    def suspects(self) -> list[int]:
        """Return the lines that may have the mistake: this one, where the reader began, and the one above."""
        above = [number for number in range(self.at - 1, -1, -1) if self.lines[number].strip()][:1]
        begun = [self.begun] if self.problem == NO_COLON_FOUND else []
        return [number for number in (*begun, *above, self.at) if number < len(self.lines)]


def mistake(text: str, error: MarkedYAMLError) -> Finding:
    """Say what is wrong in the words of somebody who writes a file."""
    stop = Stop(error, [line[:LONGEST_LINE].rstrip(" ") for line in LINE_END.split(text)])
    found = next((finding for rule in RULES if (finding := rule(stop))), None)
    return found or _finding(
        stop, _problem_mark(stop), f"not YAML: {stop.problem}", "YAML 1.2", "check indentation, colons and quotes here"
    )


def _finding(stop: Stop, mark: Mark, problem: str, expected: str, fix: str) -> Finding:
    return Finding((), stop.problem, expected, fix, problem=problem, mark=mark)


def _problem_mark(stop: Stop) -> Mark:
    where = stop.error.problem_mark or stop.error.context_mark
    return Mark(where.line + 1, where.column + 1, 1) if where else Mark(1, 1, 0)


def _group(number: int, found: re.Match[str], name: str = "wrong") -> Mark:
    return Mark(number + 1, found.start(name) + 1, found.end(name) - found.start(name))


def _conflict(stop: Stop) -> Finding | None:
    for number, line in enumerate(stop.lines):
        if found := CONFLICT.fullmatch(line):
            fix = "choose one of the two sides, and remove the lines with <<<<<<<, ======= and >>>>>>>"
            return _finding(stop, _group(number, found), "an open merge conflict", "a file without one", fix)
    return None


def _tab(stop: Stop) -> Finding | None:
    for number in (stop.at, *stop.suspects()):
        if found := TAB_INDENT.fullmatch(stop.lines[number]):
            mark = _group(number, found)
            return _finding(stop, mark, "a tab in the indentation", "spaces: YAML takes no tabs there", "use spaces")
    return None


def _quote(stop: Stop) -> Finding | None:
    mark = stop.error.context_mark
    if stop.error.context == "while scanning a quoted scalar" and mark:
        place = Mark(mark.line + 1, mark.column + 1, 1)
    elif stop.problem.endswith("found '<scalar>'"):
        opened = [
            (number, found)
            for number, line in enumerate(stop.lines[: stop.at + 1])
            if (found := OPEN_QUOTE.fullmatch(line))
        ]
        if not opened:
            expected, fix = "nothing after the closing quote", "put all of the value into one pair of quotes"
            return _finding(stop, _problem_mark(stop), "text after a closing quote", expected, fix)
        place = _group(*opened[-1], "quote")
    else:
        return None
    quote = stop.lines[place.line - 1][place.column - 1 : place.column] or '"'
    return _finding(stop, place, "a quote that is not closed", f"a closing {quote}", "close it at the end of the value")


def _in_a_line(pattern: re.Pattern[str], problem: str, expected: str, fix: str) -> Callable[[Stop], Finding | None]:
    """Make the rule that a line near the stop has this form; the fix may use the groups of the pattern."""

    def rule(stop: Stop) -> Finding | None:
        if stop.problem not in {NO_COLON_FOUND, NOT_ALLOWED}:
            return None
        for number in stop.suspects():
            if found := pattern.fullmatch(stop.lines[number]):
                advice = without_secrets(fix.format(**found.groupdict()))
                return _finding(stop, _group(number, found), problem, expected, advice)
        return None

    return rule


def _no_colon(stop: Stop) -> Finding | None:
    """A word alone on its line, with more lines below it, is a key without its colon."""
    for number in stop.suspects()[:1]:
        found = NO_COLON.fullmatch(stop.lines[number])
        if found and stop.problem in {NO_COLON_FOUND, NOT_ALLOWED}:
            fix = f"write `{found['key']}:`"
            return _finding(stop, _group(number, found), "no colon after a key", "a colon after a key", fix)
    return None


def _flow(stop: Stop) -> Finding | None:
    mark = stop.error.context_mark
    if stop.error.context not in FLOW or not mark:
        return None
    opening, closing = FLOW[stop.error.context]
    place = Mark(mark.line + 1, mark.column + 1, 1)
    fix = f"add {closing} at the end, or a comma between two items"
    return _finding(stop, place, f"a {opening} that is not closed", f"a closing {closing}", fix)


def _reserved(stop: Stop) -> Finding | None:
    found = re.fullmatch(r"found character '(.)' that cannot start any token", stop.problem)
    is_alias = stop.error.context in {"while scanning an alias", "while scanning an anchor"}
    if not found and not is_alias:
        return None
    where = stop.error.context_mark if is_alias else stop.error.problem_mark
    character = stop.lines[where.line][where.column : where.column + 1] or "another character"
    expected = f"a value that begins with another character: {character} means something else in YAML"
    mark = Mark(where.line + 1, where.column + 1, 1)
    return _finding(stop, mark, f"a value that begins with {character}", expected, "put the value in quotes")


def _escape(stop: Stop) -> Finding | None:
    if not stop.problem.startswith("found unknown escape character"):
        return None
    where = stop.error.problem_mark
    mark = Mark(where.line + 1, where.column, 2)
    expected = "an escape that YAML has: a backslash means something in double quotes"
    return _finding(stop, mark, "an unknown escape", expected, r"use single quotes, or write \\ for a backslash")


def _indentation(stop: Stop) -> Finding | None:
    if not stop.problem.startswith("expected <block end>") and stop.problem != NOT_ALLOWED:
        return None
    line = stop.lines[stop.at]
    column = len(line) - len(line.lstrip(" "))
    word = re.match(r"[^\s:]+", line[column:])
    is_item = line[column:].startswith("-")
    above = {place for each in stop.lines[: stop.at] for place in _columns(each, items=is_item)} - {column}
    if not above or not word:
        return None
    wanted = min(above, key=lambda place: (abs(place - column), -place))
    mark = Mark(stop.at + 1, column + 1, len(word[0]))
    fix = f"begin the line with {wanted} spaces instead of {column}"
    return _finding(stop, mark, "wrong indentation", "the same indentation as the lines it belongs to", fix)


def _columns(line: str, *, items: bool) -> list[int]:
    """Return where the dashes of a line are, or where its key is."""
    found = re.match(START, line)
    if not found or not line.strip() or line.lstrip().startswith("#"):
        return []
    dashes = [number for number, character in enumerate(found[0]) if character == "-"]
    return dashes if items else [found.end()]


RULES: tuple[Callable[[Stop], Finding | None], ...] = (
    _conflict,
    _tab,
    _in_a_line(
        NO_SPACE_AFTER_COLON, "no space after the colon", "a space after the colon of a key", "write `{key}: {value}`"
    ),
    _in_a_line(EQUALS, "an equals sign after a key", "a colon after a key", "write `{key}: {value}`"),
    _in_a_line(NO_SPACE_AFTER_DASH, "no space after the dash", "a space after the dash of an item", "write `- {key}:`"),
    _no_colon,
    _in_a_line(
        TWO_COLONS,
        "a second colon in a value",
        "a value without a colon and a space, or in quotes",
        "put the value in quotes",
    ),
    _quote,
    _flow,
    _reserved,
    _escape,
    _indentation,
)
