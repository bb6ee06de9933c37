"""What strict services demand of a chat request, in the words of OpenAI's own refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class Refused(Exception):
    """A service refuses a request. ``extra`` are further members of its error."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        kind: str = "invalid_request_error",
        param: str | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.kind = kind
        self.param = param
        self.extra = extra


def check_roles(messages: Sequence[Mapping[str, Any]], roles: Sequence[str]) -> None:
    if not messages:
        raise Refused(400, "Invalid 'messages': empty array.", code="empty_array", param="messages")
    for at, message in enumerate(messages):
        if message.get("role") not in roles:
            known = ", ".join(f"'{role}'" for role in roles)
            raise Refused(
                400,
                f"Invalid value: '{message.get('role')}'. Supported values are: {known}.",
                code="invalid_value",
                param=f"messages[{at}].role",
            )
        if message["role"] != "assistant" and not isinstance(message.get("content"), (str, list)):
            raise Refused(
                400,
                f"Invalid value for 'content': expected a string, got {message.get('content')!r}.",
                param=f"messages[{at}].content",
            )


def check_tool_results(messages: Sequence[Mapping[str, Any]]) -> None:
    """Each call is answered at once, by its id, in order, and nothing else is."""
    waiting: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if not waiting or message.get("tool_call_id") != waiting[0]:
                raise Refused(
                    400,
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    param=f"messages.[{at}].role",
                )
            waiting.pop(0)
            continue
        if waiting:
            raise unanswered(waiting, at)
        for call in message.get("tool_calls") or ():
            check_call(call, at)
            waiting.append(call["id"])
    if waiting:
        raise unanswered(waiting, len(messages))


def check_call(call: Mapping[str, Any], at: int) -> None:
    function = call.get("function")
    named = isinstance(function, Mapping) and isinstance(function.get("name"), str)
    if not call.get("id") or call.get("type") != "function" or not named:
        raise Refused(400, f"Missing required parameter: 'messages[{at}].tool_calls[0].id'.")
    if not isinstance(function["arguments"], str):
        raise Refused(
            400,
            f"Invalid type for 'messages[{at}].tool_calls[0].function.arguments': expected a string.",
            code="invalid_type",
        )


def unanswered(waiting: Sequence[str], at: int) -> Refused:
    return Refused(
        400,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(waiting)}",
        param=f"messages.[{at}].role",
    )


def check_functions(functions: Sequence[Mapping[str, Any]], most: int) -> None:
    if len(functions) > most:
        raise Refused(
            400,
            f"Invalid 'tools': array too long. Expected an array with maximum length {most}, but got an array with "
            f"length {len(functions)} instead.",
            code="array_above_max_length",
            param="tools",
        )
    for at, function in enumerate(functions):
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", str(function.get("name", ""))):
            raise Refused(
                400,
                f"Invalid 'tools[{at}].function.name': string does not match pattern. Expected a string that matches "
                "the pattern '^[a-zA-Z0-9_-]+$'.",
                code="invalid_value",
                param=f"tools[{at}].function.name",
            )
        parameters = function.get("parameters")
        if parameters is not None and parameters.get("type") != "object":
            raise Refused(
                400,
                f"Invalid schema for function '{function['name']}': schema must be of 'type: \"object\"'.",
                code="invalid_function_parameters",
                param=f"tools[{at}].function.parameters",
            )
        if function.get("strict"):
            check_strict(parameters or {}, f"function '{function['name']}'", "invalid_function_parameters")


def check_strict(schema: Mapping[str, Any], what: str, code: str, path: tuple[str, ...] = ()) -> None:
    """Structured outputs want every property required and no others."""
    if schema.get("type") == "object" or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            raise Refused(
                400,
                f"Invalid schema for {what}: In context={path!r}, 'additionalProperties' is required to be supplied "
                "and to be false.",
                code=code,
            )
        properties = schema.get("properties", {})
        if missing := properties.keys() - set(schema.get("required", ())):
            raise Refused(
                400,
                f"Invalid schema for {what}: In context={path!r}, 'required' is required to be supplied and to be an "
                f"array including every key in properties. Missing '{min(missing)}'.",
                code=code,
            )
        for name, part in properties.items():
            check_strict(part, what, code, (*path, "properties", name))
    if isinstance(schema.get("items"), Mapping):
        check_strict(schema["items"], what, code, (*path, "items"))


def check_json_named(messages: Sequence[Mapping[str, Any]]) -> None:
    """For ``json_object``."""
    if "json" not in json.dumps(list(messages)).lower():
        raise Refused(
            400,
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            param="messages",
        )


def turns(messages: Sequence[Mapping[str, Any]]) -> Iterator[list[tuple[int, Mapping[str, Any]]]]:
    """What follows each message of the user, with its places."""
    turn: list[tuple[int, Mapping[str, Any]]] = []
    for at, message in enumerate(messages):
        if message["role"] == "user":
            yield turn
            turn = []
        turn.append((at, message))
    yield turn
