"""App APIs as tools for agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from evaluation.tools.apps.catalog import api_of
from evaluation.tools.apps.framework import Api
from evaluation.tools.apps.world import World, describe
from evaluation.tools.tool import Tool, ToolError, ToolOutcome


def bound_tools(names: Iterable[str], world: World | None = None) -> list[Tool]:
    """The implemented tools among ``names``, in order, each under the name it is bound by."""
    world = world or World()
    apis = {name: api for name in names if (api := api_of(name)) is not None}
    return [Tool(name, api.description, api.arguments, _runner(world, api)) for name, api in apis.items()]


def _runner(world: World, api: Api[Any]) -> Callable[[Any], ToolOutcome]:
    def run(arguments: Any) -> ToolOutcome:
        result = world.run(api, arguments)
        if not result.ok:
            raise ToolError(result.response["message"], result=result.to_json())
        return ToolOutcome(
            result.to_json(), tuple(map(describe, result.changes)), tuple(change._asdict() for change in result.changes)
        )

    return run
