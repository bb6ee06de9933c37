"""The simulated apps as an MCP server: the tools of a pilot, with the same names, errors, clock and ids.

Each connection has a world of its own, as the persona's data has it at the start, which lasts as long as it does.
"""

from __future__ import annotations

import hmac
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from evaluation.tools.apps import World, bound_tools
from evaluation.tools.apps.catalog import APPS, api_of
from evaluation.tools.mcp.tool_server import NEEDS_HANDSHAKE, build_tool_server, listed_tool, require_handshake
from evaluation.tools.toolbox import Toolbox
from studio.domain.tool_names import APP_PREFIX, bare_tool_name

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp

NAME = "appworld"
"""As scaffolds name it that put ``mcp_<server>_`` before tool names."""
PATH = "/mcp"
MAX_SESSIONS = 1_000
"""Connections over HTTP at once."""

Open = Callable[[], World]


def app_tool_names(bound: Iterable[str]) -> list[str]:
    """Those of apps among ``bound``; all there are, if none is."""
    names = [name for name in dict.fromkeys(bound) if api_of(name) is not None]
    return names or [api for app in APPS.values() for api in app.apis]


def without_prefix(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(bare_tool_name(name) for name in names))


class _Worlds:
    """Toolboxes by connection."""

    def __init__(self, names: Iterable[str], open_world: Open) -> None:
        self.listed = list(names)
        self._open = open_world
        self._toolboxes: OrderedDict[str, Toolbox] = OrderedDict()

    def toolbox(self, key: str) -> Toolbox:
        if key not in self._toolboxes:
            self._toolboxes[key] = Toolbox(bound_tools(self.listed, self._open()))
            while len(self._toolboxes) > 2 * MAX_SESSIONS:  # half of these are of connections that have ended
                self._toolboxes.popitem(last=False)
        self._toolboxes.move_to_end(key)
        return self._toolboxes[key]

    def name(self, given: str) -> str:
        """Published benchmarks write the names with and without the prefix; a client may call either."""
        other = bare_tool_name(given) if given.startswith(APP_PREFIX) else APP_PREFIX + given
        return other if given not in self.listed and other in self.listed else given


def build_server(names: Iterable[str], open_world: Open) -> Server[dict[str, Any]]:
    """``open_world`` is called once for each connection."""
    worlds = _Worlds(names, open_world)

    async def call(context: ServerRequestContext[dict[str, Any]], name: str, given: dict[str, Any]) -> tuple[str, bool]:
        toolbox = worlds.toolbox(_connection_of(context))
        record = toolbox.call(worlds.name(name), json.dumps(given, ensure_ascii=False))
        return record.result, not record.ok

    return build_tool_server(NAME, [listed_tool(tool) for tool in bound_tools(worlds.listed)], call)


def _connection_of(context: ServerRequestContext[dict[str, Any]]) -> str:
    """Empty where the transport is one connection. Raises MCPError for a request that belongs to none."""
    import mcp_types as types
    from mcp.shared.exceptions import MCPError

    if context.request is None:
        return ""
    session = context.request.headers.get("mcp-session-id", "")
    if not session:
        raise MCPError(types.INVALID_REQUEST, NEEDS_HANDSHAKE)
    return str(session)


async def serve_stdio(server: Server[dict[str, Any]]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def http_app(server: Server[dict[str, Any]], host: str, token: str = "") -> ASGIApp:
    """Streamable HTTP at ``PATH``. With a ``token``, requests must carry it as ``Authorization: Bearer``."""
    require_handshake(server)
    app = server.streamable_http_app(streamable_http_path=PATH, host=host, max_sessions=MAX_SESSIONS)
    return _with_token(app, token) if token else app


def _with_token(app: ASGIApp, token: str) -> ASGIApp:
    expected = f"Bearer {token}".encode()

    async def guarded(
        scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        given = next((value for name, value in scope.get("headers", ()) if name == b"authorization"), b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, expected):
            headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b"Send the token as Authorization: Bearer.\n"})
            return
        await app(scope, receive, send)

    return guarded
