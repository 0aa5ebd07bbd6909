"""One check: what it looks at, what it finds, and how bad that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from nodeless.live.subject import Subject
from nodeless.resolved.installation import Installation


class Severity(StrEnum):
    """How bad a finding is; only an error makes the exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    NOT_CHECKED = "not checked"
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Result:
    """What a check found, and the command or key that mends it."""

    severity: Severity
    text: str
    fix: str = ""


Results = Iterator[Result]


@dataclass(frozen=True, slots=True)
class Check:
    """A row of the table: `fine` is what is true if nothing is found."""

    id: str
    fine: str
    run: Callable[[Subject], Results]
    applies: Callable[[Installation], bool] = lambda _: True


def error(text: str, fix: str) -> Result:
    """Something because of which an apply fails, or pods stay pending."""
    return Result(Severity.ERROR, text, fix)


def warning(text: str, fix: str) -> Result:
    """Something that may be meant, or that matters later."""
    return Result(Severity.WARNING, text, fix)


def ok(text: str) -> Result:
    """Something that needs a word although it is right."""
    return Result(Severity.OK, text)


APPLY = "run `nodeless synth`, then `terraform apply` in the folder of the stack"


def absent(subject: Subject, what: str, *, verb: str = "does") -> Result:
    """Something that the stack creates does not exist: before the first apply, that is as it should be."""
    text = f"{what} {verb} not exist"
    return error(text, APPLY) if subject.is_applied else ok(f"not applied yet: {text}")


def different(what: str, how: str, key: str) -> Result:
    """Something that the stack creates exists, and is not as the stack writes it."""
    return error(f"{what}: {how}", f"{APPLY}; if another tool made it, choose another name with {key}")
