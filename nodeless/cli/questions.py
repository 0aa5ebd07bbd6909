"""Questions on a terminal, each with a default; they go to stderr, so that stdout has results only."""

from __future__ import annotations

import sys
from collections.abc import Callable

from nodeless.sinks.terminal import printable

YES_OR_NO = {"y": True, "yes": True, "n": False, "no": False}
Problem = Callable[[str], str | None]


class EndOfInputError(Exception):
    """The user ended the input instead of answering."""


def ask(question: str, default: str, problem: Problem) -> str:
    """Ask until the answer has no problem; an empty answer is the default."""
    hint = f" [{default}]" if default else ""
    while True:
        print(printable(f"{question}{hint}: "), end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise EndOfInputError
        answer = line.strip() or default
        wrong = problem(answer)
        if wrong is None:
            return answer
        print(printable(f"  {wrong}"), file=sys.stderr)


def ask_yes_or_no(question: str, *, default: bool) -> bool:
    """Ask for a yes or a no."""
    answer = ask(question, "yes" if default else "no", lambda text: None if text.lower() in YES_OR_NO else "yes or no?")
    return YES_OR_NO[answer.lower()]
