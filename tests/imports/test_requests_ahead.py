"""Requests are sent ahead only while nodeless builds; what comes of it is the same, and an error is not lost."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from jsii import kernel
from jsii.errors import JavaScriptError

from nodeless.imports.cdk import App, TerraformLocal, TerraformStack
from nodeless.imports.fast_bindings import requests_ahead
from nodeless.imports.requests_ahead import MOST_AWAITED, RequestsAhead, _error
from tests.imports.processes import run

MANY_ERRORS = """
import sys
from nodeless.imports.cdk import App, TerraformLocal, TerraformStack
from nodeless.imports.fast_bindings import requests_ahead

stack = TerraformStack(App(outdir=sys.argv[1]), "stack")
try:
    with requests_ahead():
        for _ in range(400):
            TerraformLocal(stack, 1500 * "n", expression=20_000 * "x")
except RuntimeError as error:
    print(str(error)[9:28])
"""


@pytest.fixture
def stack(tmp_path: Path) -> TerraformStack:
    return TerraformStack(App(outdir=str(tmp_path)), "stack")


@pytest.fixture
def process() -> RequestsAhead:
    found = vars(kernel.provider)["_node"]
    assert isinstance(found, RequestsAhead)
    return found


def test_more_objects_than_are_awaited_have_the_names_that_node_gives_them(
    stack: TerraformStack, process: RequestsAhead
) -> None:
    with requests_ahead():
        made = [TerraformLocal(stack, f"local-{number}", expression=number) for number in range(3 * MOST_AWAITED)]
        for each in made:
            each.override_logical_id(f"own_{made.index(each)}")

    assert not process._awaited  # noqa: SLF001 - what is still to come
    assert [each.friendly_unique_id for each in made] == [f"own_{number}" for number in range(len(made))]


def test_a_value_that_node_must_answer_is_right_in_between(stack: TerraformStack) -> None:
    with requests_ahead():
        first = TerraformLocal(stack, "first", expression="a")
        first.override_logical_id("renamed")
        name = first.friendly_unique_id
        node = stack.node  # an object that Node has made, with a number of its own
        second = TerraformLocal(stack, "second", expression="b")

    assert (name, node.id, second.friendly_unique_id) == ("renamed", "stack", "second")


def test_an_error_comes_later_with_the_text_of_node_and_what_follows_works(stack: TerraformStack) -> None:
    def twice() -> None:
        with requests_ahead():
            for _ in range(3):
                TerraformLocal(stack, "same", expression="a")

    with pytest.raises(RuntimeError, match="already a Construct with name 'same'") as raised:
        twice()

    assert isinstance(raised.value.__cause__, JavaScriptError)
    assert TerraformLocal(stack, "other", expression="b").friendly_unique_id == "other"


def test_long_requests_with_long_errors_keep_nobody_waiting(tmp_path: Path) -> None:
    # Together, the errors are longer than the pipe that they come through, and so are the requests.
    done = run("-c", MANY_ERRORS, str(tmp_path))

    assert (done.returncode, done.stdout) == (0, "already a Construct\n"), done.stderr


def test_after_an_error_of_python_itself_every_request_gets_its_own_answer(stack: TerraformStack) -> None:
    def fails() -> None:
        with requests_ahead():
            for number in range(3):
                TerraformLocal(stack, f"local-{number}", expression="a").override_logical_id(f"own_{number}")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()

    assert TerraformLocal(stack, "other", expression="b").friendly_unique_id == "other"


def test_an_error_of_the_system_is_one_of_python() -> None:
    answer = {"error": "ENOSPC: no space left on device, write", "stack": "…"}

    error = _error(json.dumps(answer).encode(), b"")

    assert isinstance(error, OSError)
    assert error.errno == errno.ENOSPC


def test_outside_an_error_comes_at_once(stack: TerraformStack) -> None:
    TerraformLocal(stack, "same", expression="a")

    with pytest.raises(RuntimeError, match="already a Construct with name 'same'"):
        TerraformLocal(stack, "same", expression="a")
