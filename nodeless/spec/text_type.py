"""How a text or a tree that a user writes is checked, and the errors for what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, ValidationInfo
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from nodeless.resolved.references import is_reference, is_whole_reference
from nodeless.sinks import not_carried

LITERAL = "a literal: ${…} and %{…} are not evaluated in a file"
LITERAL_FIX = "write the value itself, or use the Karpenter construct in Python, which takes references"

# Set in the validation context by the Python front door, whose values may be tokens of the user's own stack.
REFERENCES = "references"
TRUE_WORDS = frozenset({"yes", "y", "on", "true", "enabled", "1"})
FALSE_WORDS = frozenset({"no", "n", "off", "false", "disabled", "none", "0"})
# The type of the errors made here; `expected` and `fix` are in their context.
REFUSED = "refused"


def refused(expected: str, fix: str) -> PydanticCustomError:
    """Make the error for a value that is not what is expected."""
    return PydanticCustomError(REFUSED, "{expected}", {"expected": expected, "fix": fix})


def written(value: object) -> str:
    """Write a value as the file has it: numbers know their text, and `True` is `true`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextType:
    """The one place that says what a type of text is: validation, messages, docs and the JSON schema read it.

    A pattern matches the whole text, and means the same in Python and in JavaScript: editors read it in the schema.
    """

    pattern: str
    expected: str
    fix: str
    takes_references: bool = False
    takes_templates: bool = False
    """whether a reference may have text beside it"""
    instead: Callable[[str], str | None] | None = None
    """what to write instead of this text, where it can be told"""
    also: Callable[[str, Mapping[str, Any]], None] | None = None
    """a further check, with the keys of the same section that are read before this one"""
    also_pattern: str | None = None
    """what the schema can say of the further check; newer values than those known here must match it"""
    suggestions: tuple[str, ...] = ()
    """values that an editor offers; they are not all that there are"""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:  # noqa: ANN401 - pydantic's protocol
        return core_schema.with_info_wrap_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        pattern = {"pattern": f"^(?:{self.also_pattern or self.pattern})$"}
        if self.suggestions:
            return {**handler(schema), "anyOf": [{"enum": list(self.suggestions)}, pattern]}
        return {**handler(schema), **pattern}

    def _check(
        self, value: object, text: core_schema.ValidatorFunctionWrapHandler, info: ValidationInfo[dict[str, bool]]
    ) -> str:
        if isinstance(value, bool | int | float):
            raise refused("must be a quoted string", f'write "{written(value)}", with the quotes')
        read: str = text(value)
        in_python = from_python(info)
        row = not_carried.in_text(read, python=in_python)
        if row:
            raise refused(row.expected, row.fix)
        if in_python and self.takes_references and is_reference(read):
            self._check_reference(read)
            return read
        if re.fullmatch(self.pattern, read) is None:
            if is_reference(read):
                raise refused(LITERAL, LITERAL_FIX)
            right = self.instead(read) if self.instead else None
            raise refused(self.expected, f"write {right}" if right else self.fix)
        if self.also:
            self.also(read, info.data or {})
        return read

    def _check_reference(self, text: str) -> None:
        if not (self.takes_templates or is_whole_reference(text)):
            raise refused("a literal or one reference, with no text beside it", "pass the token itself")


def from_python(info: ValidationInfo[Any]) -> bool:
    """Tell whether the values come through Python's front door, where a text may be a reference."""
    return bool((info.context or {}).get(REFERENCES))


def carried_tree(value: Any, info: ValidationInfo[Any]) -> Any:  # noqa: ANN401 - any YAML
    """Refuse everything in a tree that would not arrive as written, and keep plain values of the rest."""
    wrong = [
        InitErrorDetails(type=refused(row.expected, row.fix), loc=path, input=found)
        for path, found, row in not_carried.in_tree(value, python=from_python(info))
    ]
    if wrong:
        raise ValidationError.from_exception_data("tree", wrong)
    return _plain(value)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any YAML
    """Copy a tree, with numbers that no longer know their text: a writer would take that for the number."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | str) or value is None:
        return value
    return int(value) if isinstance(value, int) else float(value)


def one_or_many(item: Any) -> BeforeValidator:  # noqa: ANN401 - any annotation
    """Read one text as a list of one."""
    several = Annotated[list[item], Field(min_length=1)]
    return BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value, json_schema_input_type=item | several
    )


def truth_in(value: object) -> str | None:
    """Return `true` or `false` for a word that other tools, and YAML before 1.2, take for it."""
    word = str(value).lower() if isinstance(value, str | int) else ""
    return "true" if word in TRUE_WORDS else "false" if word in FALSE_WORDS else None


def switch(section: type) -> BeforeValidator:
    """Read `true` as a section with all its defaults, and `false` as no section."""

    def read(value: Any) -> Any:  # noqa: ANN401 - whatever the file holds
        if not isinstance(value, bool | Mapping | section):
            # A key with nothing after it would turn the section off, and a quoted word is neither true nor false.
            truth = truth_in(value)
            fix = f"write {truth}" if truth else "write true or false, or keys below it"
            raise refused("true, false or a map", fix)
        if value is True:
            return {}
        return None if value is False else value

    return BeforeValidator(read, json_schema_input_type=bool | section)
