"""An MCP server of given tools, on the official SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.tools.tool import Tool

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        EmptyResult,
        ListToolsResult,
        PaginatedRequestParams,
        RequestParams,
    )
    from mcp_types import Tool as McpTool

Call = Callable[[Any, str, dict[str, Any]], Awaitable[tuple[str, bool]]]
"""The request's context, a tool's name and arguments → its result, and whether it failed."""
NEEDS_HANDSHAKE = "This server keeps state: connect with the initialize handshake."


def listed_tool(tool: Tool, name: str = "") -> McpTool:
    import mcp_types as types

    schema = tool.schema["function"]
    return types.Tool(name=name or tool.name, description=tool.description, input_schema=schema["parameters"])


def build_tool_server(name: str, tools: Sequence[McpTool], call: Call) -> Server[dict[str, Any]]:
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def list_tools(
        context: ServerRequestContext[dict[str, Any]], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return types.ListToolsResult(tools=list(tools))

    async def call_tool(context: ServerRequestContext[dict[str, Any]], params: CallToolRequestParams) -> CallToolResult:
        text, failed = await call(context, params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)


def require_handshake(server: Server[dict[str, Any]]) -> None:
    """Over HTTP the protocol without a handshake has no sessions, so it would have no state between calls; clients
    that are told so go on with the handshake. On one connection, that would rule the handshake out."""
    import mcp_types as types
    from mcp.shared.exceptions import MCPError

    async def discover(context: ServerRequestContext[dict[str, Any]], params: RequestParams) -> EmptyResult:
        raise MCPError(types.METHOD_NOT_FOUND, NEEDS_HANDSHAKE)

    server.add_request_handler("server/discover", types.RequestParams, discover)
