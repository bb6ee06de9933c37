"""What people choose before something starts, said once: pages, API and commands are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from studio.domain.storable import storable

SENTENCES = {
    "missing": "This is required.",
    "extra_forbidden": "There is no such option.",
    "greater_than_equal": "Choose at least {ge}.",
    "less_than_equal": "Choose at most {le}.",
    "tuple_type": "This should be a list.",
}


class OptionsError(Exception):
    """It cannot be done as chosen. ``field`` names the choice; empty: it is about no single one."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


def _without_null(schema: dict[str, Any]) -> None:
    """It is as if it were left out, and OpenAPI 3.0 has no such type."""
    for field in schema.get("properties", {}).values():
        for choice in field.pop("anyOf", ()):
            if choice != {"type": "null"}:
                field |= choice
        if field.get("default", "") is None:
            del field["default"]


class Options(BaseModel):
    """Names, numbers and dates, as they are written in JSON. Each field has its default, its limits and, as its
    description, its meaning; its title is its label on pages."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        str_strip_whitespace=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        json_schema_extra=_without_null,
    )

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        """What is blank is as if it were left out."""
        if not isinstance(given, Mapping):
            return given
        return {name: storable(value) for name, value in given.items() if value is not None and value != ""}

    @classmethod
    def read(cls, given: Any) -> Self:
        """Raises OptionsError about the first that is invalid."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise _problem(error.errors(include_url=False)[0]) from None

    @classmethod
    def problems(cls, given: Any) -> list[OptionsError]:
        """Of all that is invalid."""
        try:
            cls.model_validate(given)
        except ValidationError as error:
            return [_problem(each) for each in error.errors(include_url=False)]
        return []


def _problem(found: ErrorDetails) -> OptionsError:
    field, *inside = map(str, found["loc"] or ("",))
    sentence = SENTENCES.get(found["type"], _sentence(found["msg"])).format(**found.get("ctx", {}))
    return OptionsError(field, f"{' '.join(inside)}: {sentence}" if inside else sentence)


def _sentence(message: str) -> str:
    words = message.removeprefix("Value error, ").replace("Input", "This", 1).removesuffix(".") + "."
    return words.replace("{", "{{").replace("}", "}}")
