"""A set of tools as a model sees it, and the one way to call them: whatever the model wrote, it gets an answer."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from evaluation.protocol.participants import ToolRecord
from evaluation.tools.apps import bound
from evaluation.tools.files import workspace_tools
from evaluation.tools.tool import Tool, ToolError
from evaluation.tools.workspace import Workspace

MAX_RESULT = 20_000
"""Characters of a result that the agent reads."""
MAX_ARGUMENTS = 4_000_000
"""Characters of a call's arguments."""


class Toolbox:
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.schemas = [tool.schema for tool in self._tools.values()]

    def call(self, name: str, arguments: str) -> ToolRecord:
        """Do what the model wrote. A call that makes no sense is told back, never raised."""
        began = time.monotonic()
        given: Mapping[str, Any] = {}
        ok = False
        try:
            given = _parsed(arguments)
            result, ok = self._run(name, given), True
        except ToolError as problem:
            result = f"Error: {problem}"
        return ToolRecord(name, given, cut(result), ok, time.monotonic() - began)

    def _run(self, name: str, given: Mapping[str, Any]) -> str:
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(f"There is no tool {name[:100]!r}. There are: {', '.join(self._tools)}.")
        try:
            arguments = tool.takes.model_validate(given)
        except ValidationError as error:
            raise ToolError(_told(name, error)) from None
        return tool.run(arguments)


def toolbox_for(workspace: Workspace, names: Iterable[str]) -> Toolbox:
    """The workspace tools, which every agent has, and those a persona binds by name as far as they are built."""
    return Toolbox([*workspace_tools(workspace), *bound(names)])


def cut(text: str, limit: int = MAX_RESULT) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut here: {len(text) - limit} more characters]"


def _parsed(arguments: str) -> Mapping[str, Any]:
    """Arguments as written by a model; none at all is an empty object."""
    if len(arguments) > MAX_ARGUMENTS:
        raise ToolError(f"The arguments are longer than {MAX_ARGUMENTS} characters.")
    if not arguments.strip():
        return {}
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise ToolError(f"The arguments are not JSON ({error}). Write one JSON object.") from None
    if not isinstance(given, dict):
        raise ToolError("The arguments are not a JSON object.")
    return given


def _told(name: str, error: ValidationError) -> str:
    problems = "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}" for problem in error.errors()[:5]
    )
    return f"{name} cannot be called like this: {problems}."
