"""App APIs as tools for agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from evaluation.tools.apps.catalog import APPS, api_of
from evaluation.tools.apps.framework import Api
from evaluation.tools.apps.world import World, describe
from evaluation.tools.tool import Tool, ToolError, ToolOutcome, parameters_of
from studio.domain.tool_names import tool_domain

_TOOL = re.compile(r"\b[a-z]+(?:_+[a-z]+)+\b")
_SOURCE = re.compile(r"(?P<lead>.*?)(?P<from>\b(?:[Ff]rom|One of) )(?P<tools>.+)", re.DOTALL)


def bound_tools(names: Iterable[str], world: World | None = None) -> list[Tool]:
    """The implemented tools among ``names``, in order, each under the name it is bound by. Their descriptions name no
    other tools of apps."""
    world = world or World()
    apis = {name: api for name in names if (api := api_of(name)) is not None}
    offered = {api.name for api in apis.values()}
    tools = []
    for name, api in apis.items():
        about = _without_others(api.description, api, offered)
        parameters = _described(parameters_of(api.arguments), api, offered)
        tools.append(Tool(name, about, api.arguments, _runner(world, api), parameters=parameters))
    return tools


def usable_names(names: Iterable[str], world: World) -> tuple[str, ...]:
    """Without those that need an account of an app that nobody can sign in to. Raises AppDataError."""
    apis = {name: api_of(name) for name in names}
    bound = {api.name for api in apis.values() if api}
    closed = {
        app
        for app in set(map(tool_domain, bound))
        if f"{app}__signup" not in bound and not any(account.password for account in world.state(app).accounts)
    }
    return tuple(
        name for name, api in apis.items() if not (api and tool_domain(name) in closed and _is_of_account(api))
    )


def _is_of_account(api: Api[Any]) -> bool:
    return api.login or not {"username", APPS[tool_domain(api.name)].signs_in_by}.isdisjoint(api.arguments.model_fields)


def _described(schema: Any, api: Api[Any], offered: Collection[str]) -> Any:
    """The schema itself, which all sessions share, if nothing in it names another tool."""
    if isinstance(schema, list):
        return [_described(part, api, offered) for part in schema]
    if not isinstance(schema, dict):
        return schema
    described = {key: _described(part, api, offered) for key, part in schema.items()}
    if isinstance(about := schema.get("description"), str):
        described["description"] = _without_others(about, api, offered)
    described = {key: part for key, part in described.items() if part != "" or key != "description"}
    return schema if described == schema else described


def _without_others(text: str, api: Api[Any], offered: Collection[str]) -> str:
    """Without what names a tool that is not offered: of “From A or B” the one, else the sentence."""
    if _is_offered(text, api, offered):
        return text
    if source := _SOURCE.fullmatch(text):
        left = [part for part in source["tools"].split(" or ") if _is_offered(part, api, offered)]
        return f"{source['lead']}{source['from']}{' or '.join(left)}" if left else source["lead"].rstrip(", ")
    kept = " ".join(part for part in re.split(r"(?<=[.;]) ", text) if _is_offered(part, api, offered))
    return f"{kept[:-1]}." if kept.endswith(";") else kept


def _is_offered(text: str, api: Api[Any], offered: Collection[str]) -> bool:
    """Whether all tools that it names are."""
    named = (word if "__" in word else f"{tool_domain(api.name)}__{word}" for word in _TOOL.findall(text))
    return all(name in offered or name not in APPS[tool_domain(name)].apis for name in named)


def _runner(world: World, api: Api[Any]) -> Callable[[Any], ToolOutcome]:
    def run(arguments: Any) -> ToolOutcome:
        result = world.run(api, arguments)
        if not result.ok:
            raise ToolError(result.response["message"], result=result.to_json())
        return ToolOutcome(
            result.to_json(), tuple(map(describe, result.changes)), tuple(change._asdict() for change in result.changes)
        )

    return run
