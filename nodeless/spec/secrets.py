"""Secrets, which do not belong in the file: their keys are known only to be refused, and their values never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from nodeless.spec.text_type import REFUSED, TextType
from nodeless.spec.text_types import ONE_LINE

MANY_LINES = r"(?!(?:.|[\r\n])*[$%]\{)(?:.|[\r\n])+"
# In the context of an error, this keeps the value out of the message.
HIDDEN = "hidden"


def refused_secret(expected: str, fix: str) -> PydanticCustomError:
    """Make the error for a value that must not be shown."""
    return PydanticCustomError(REFUSED, "{expected}", {"expected": expected, "fix": fix, HIDDEN: True})


def _in_environment(variable: str) -> str:
    return f"set the environment variable {variable} where Terraform runs"


def elsewhere(variable: str) -> str:
    """Say where a secret of a backend belongs."""
    return f"{_in_environment(variable)}, or pass it to `terraform init` with -backend-config"


@dataclass(frozen=True, slots=True)
class Secret:
    """A key that holds a secret: nothing may be written there, and this environment variable takes its place."""

    variable: str
    of_backend: bool = True

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:  # noqa: ANN401 - pydantic's protocol
        return core_schema.no_info_before_validator_function(self._refuse, handler(source))

    def _refuse(self, value: object) -> None:
        if value is not None:
            fix = elsewhere(self.variable) if self.of_backend else _in_environment(self.variable)
            raise refused_secret("no secret in the file", fix)


def _without_password(variable: str) -> TextType:
    def check(text: str, _: Mapping[str, Any]) -> None:
        if re.search(r"//[^/@\s]*:[^/@\s]*@|\bpassword\s*=", text):
            raise refused_secret("an address without a password", elsewhere(variable))

    return TextType(
        pattern=rf"{ONE_LINE}+",
        expected="an address on one line, without a password",
        fix="write it on one line",
        also=check,
    )


HttpAddress = Annotated[str, _without_password("TF_HTTP_PASSWORD")]
ConnectionString = Annotated[str, _without_password("PG_CONN_STR")]


def _is_a_path(text: str, _: Mapping[str, Any]) -> None:
    if re.search(r"[\n{}]", text):
        raise refused_secret("the path of a key file", "write the path of the file, and not its content")


# This key takes a file's path or its content, which is a secret.
KeyFile = Annotated[
    str,
    TextType(pattern=MANY_LINES, expected="the path of a key file", fix="write the path of the file", also=_is_a_path),
]
Pem = Annotated[str, TextType(pattern=MANY_LINES, expected="a certificate in PEM", fix="write all of its lines")]
