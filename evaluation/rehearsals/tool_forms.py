"""A tool as a form, from the arguments it declares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from evaluation.tools import Tool
from studio.domain.storable import read_json

Kind = Literal["line", "text", "number", "amount", "flag", "choice", "list", "json"]
LONG = 1_000
"""Characters from which a text gets more than a line."""
LONG_NAMES = frozenset({"body", "content", "added_content", "message", "text", "description", "comment", "question"})


@dataclass(frozen=True)
class ToolField:
    name: str
    kind: Kind
    required: bool
    help: str = ""
    choices: tuple[str, ...] = ()
    default: str = ""
    """As the declaration has it; shown in place of a value."""

    @property
    def label(self) -> str:
        return self.name.replace("_", " ")


def fields_of(tool: Tool) -> list[ToolField]:
    """Those that must be filled in first."""
    schema = tool.schema["function"]["parameters"]
    required = set(schema.get("required", ()))
    fields = [_field(name, part, name in required) for name, part in schema.get("properties", {}).items()]
    return sorted(fields, key=lambda field: (not field.required, field.name == "access_token"))


def read_arguments(tool: Tool, typed: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The call's arguments and what is wrong with them, by field. What is empty is left out."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in fields_of(tool):
        text = typed.get(field.name, "").replace("\r\n", "\n")
        if not text.strip():
            if field.required:
                errors[field.name] = "This field is required."
            continue
        try:
            values[field.name] = _read(field, text)
        except ValueError as error:
            errors[field.name] = str(error)
    if not errors:
        try:
            tool.arguments.model_validate(values)
        except ValidationError as error:
            for problem in error.errors():
                errors.setdefault(str(problem["loc"][0]) if problem["loc"] else "", f"{problem['msg']}.")
    return values, errors


def _field(name: str, part: Mapping[str, Any], required: bool) -> ToolField:
    choices = [each for each in part.get("anyOf", ()) if each.get("type") != "null"]
    shape = {**part, **choices[0]} if choices else dict(part)
    default = part.get("default")
    shown = "" if default in (None, "", []) else str(default).lower() if isinstance(default, bool) else str(default)
    about = str(part.get("description") or shape.get("description") or "")
    kind = _kind(name, shape)
    if kind == "list":
        about = f"{about}. With commas between them" if about else "With commas between them"
    return ToolField(name, kind, required, about, tuple(map(str, shape.get("enum", ()))), shown)


def _kind(name: str, shape: Mapping[str, Any]) -> Kind:
    kinds: dict[str, Kind] = {"integer": "number", "number": "amount", "boolean": "flag", "array": "list"}
    if shape.get("enum"):
        return "choice"
    if (found := kinds.get(str(shape.get("type")))) == "list":
        return "list" if shape.get("items", {}).get("type") in ("string", "integer") else "json"
    if found:
        return found
    if shape.get("type") != "string":
        return "json"
    return "text" if name in LONG_NAMES or shape.get("maxLength", 0) > LONG else "line"


def _read(field: ToolField, text: str) -> Any:
    words = text.strip()
    match field.kind:
        case "number":
            return _number(words, int, "Write a whole number.")
        case "amount":
            return _number(words, float, "Write a number, such as 12.5.")
        case "flag":
            return words == "yes"
        case "list":
            return [part.strip() for part in words.split(",") if part.strip()]
        case "json":
            try:
                return read_json(words)
            except ValueError:
                raise ValueError('Write this as JSON, such as {"name": 1}.') from None
    return text if field.kind == "text" else words


def _number(words: str, kind: type[int] | type[float], message: str) -> int | float:
    try:
        number = kind(words)
    except ValueError:
        raise ValueError(message) from None
    if not math.isfinite(number):
        raise ValueError(message)
    return number
