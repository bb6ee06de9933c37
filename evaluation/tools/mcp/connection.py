"""One server, as its caller's thread meets it. The protocol runs in a thread of its own."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from studio.domain.tool_servers import ServerTool, ToolServer, read_tools

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import Client
    from mcp.client import Transport
    from mcp_types import ContentBlock

LIST_SECONDS = 30.0
SAID = 300
"""Characters of what a server said last; a program's error stands at the end of it."""
MAX_LISTINGS = 20
"""Pages of a list of tools."""


class ConnectionLostError(Exception):
    """The rest of a sentence that begins with the server."""


class CallError(Exception):
    """What the agent is told of a call that gave nothing. Whether it did anything is unknown."""

    def __init__(self, message: str, *, ends: bool = False) -> None:
        super().__init__(message)
        self.ends = ends
        """Whether the connection cannot be used any more."""


class Connection:
    def __init__(
        self, portal: BlockingPortal, client: Client, transport: Transport, hide: Callable[[str], str] = str
    ) -> None:
        """``hide`` takes secrets out of what the server says."""
        self._hide = hide
        self._portal = portal
        self._client = client
        self._transport = transport
        self.stale = False
        """Whether the server has said that its tools are others now."""

    @classmethod
    @contextmanager
    def open(
        cls, portal: BlockingPortal, transport: Transport, seconds: float, hide: Callable[[str], str] = str
    ) -> Iterator[Connection]:
        """Raises ConnectionLostError."""
        from mcp import Client
        from mcp_types import ToolListChangedNotification

        opened: list[Connection] = []

        async def hear(message: Any) -> None:
            if isinstance(message, ToolListChangedNotification) and opened:
                opened[0].stale = True

        client = Client(transport, message_handler=hear, read_timeout_seconds=seconds, cache=None)
        manager = portal.wrap_async_context_manager(client)
        try:
            manager.__enter__()
        except BaseException as error:
            raise ConnectionLostError(hide(_why_lost(transport, error))) from None
        opened.append(cls(portal, client, transport, hide))
        try:
            yield opened[0]
        finally:
            with suppress(Exception):  # it is being given up, however it fails
                manager.__exit__(None, None, None)

    def tools(self, server: ToolServer, among: Collection[str] | None = None) -> tuple[ServerTool, ...]:
        """All, or those whose name is ``among`` these. Raises ConnectionLostError and ToolServerError."""

        async def listed() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            cursor: str | None = None
            for _ in range(MAX_LISTINGS):
                page = await self._client.list_tools(cursor=cursor)
                for tool in page.tools:
                    if among is not None and tool.name not in among:
                        continue
                    hints = tool.annotations
                    harmless = hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)
                    found.append(
                        {
                            "name": tool.name,
                            "description": tool.description or tool.title or "",
                            "parameters": tool.input_schema,
                            "repeatable": harmless,
                        }
                    )
                cursor = page.next_cursor
                if not cursor:
                    break
            return found

        self.stale = False
        try:
            found = self._run(listed, LIST_SECONDS)
        except CallError as error:
            raise ConnectionLostError(f"did not list its tools. {error}") from None
        return read_tools(server, json.loads(self._hide(json.dumps(found, ensure_ascii=False))))

    def call(self, tool: str, arguments: dict[str, Any], meta: Mapping[str, Any], seconds: float) -> tuple[str, bool]:
        """What it says, and whether it calls that an error. Raises CallError and ConnectionLostError."""

        async def asked() -> tuple[str, bool]:
            result = await self._client.call_tool(
                tool,
                arguments,
                read_timeout_seconds=seconds + 5,
                meta=dict(meta),  # type: ignore[arg-type]  # keys of our own are allowed
            )
            text = "\n".join(filter(None, map(_text_of, result.content)))
            if not text and result.structured_content is not None:
                text = json.dumps(result.structured_content, ensure_ascii=False)
            return self._hide(_clean(text)), result.is_error

        text, failed = self._run(asked, seconds)
        return text, failed

    def _run(self, work: Callable[[], Awaitable[Any]], seconds: float) -> Any:
        import anyio

        async def limited() -> Any:
            with anyio.fail_after(seconds):
                return await work()

        try:
            return self._portal.call(limited)
        except Exception as error:
            raise self._meant(error, seconds) from None

    def _meant(self, error: Exception, seconds: float) -> CallError | ConnectionLostError:
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        unknown = "Whether it did anything is unknown."
        late = CallError(f"The server did not answer within {seconds:g} seconds. {unknown}")
        code = error.code if isinstance(error, MCPError) else None
        if isinstance(error, TimeoutError):
            return late
        if excess := _excess(self._transport):
            return CallError(f"The server was stopped: {excess}. {unknown}", ends=True)
        if code == REQUEST_TIMEOUT:
            return late
        if code == CONNECTION_CLOSED or _is_connection(error):
            return ConnectionLostError("went away in the middle of a call.")
        if isinstance(error, MCPError):
            return CallError(f"The server refuses: {self._hide(_clean(error.error.message))[:500]}")
        return CallError(f"The server’s answer cannot be read ({type(error).__name__}).")


def _is_connection(error: BaseException) -> bool:
    import anyio
    import httpx2

    lost = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, httpx2.TransportError, OSError)
    return isinstance(error, lost)


def _why_lost(transport: Transport, error: BaseException) -> str:
    if excess := _excess(transport):
        return f"was stopped: {excess}."
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        raise error
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    said = _clean(str(getattr(transport, "last_words", "")) or str(error) or type(error).__name__)
    return f"cannot be reached ({said if len(said) <= SAID else f'…{said[-SAID:]}'})."


def _excess(transport: Transport) -> str:
    return str(getattr(transport, "excess", ""))


def _text_of(block: ContentBlock) -> str:
    text = getattr(block, "text", None)
    if isinstance(text, str):
        return text
    resource = getattr(block, "resource", block)
    inside = getattr(resource, "text", None)
    if isinstance(inside, str):
        return inside
    data = getattr(block, "data", None) or getattr(resource, "blob", None) or ""
    kind = getattr(resource, "mime_type", None) or getattr(block, "type", "content")
    address = getattr(resource, "uri", "")
    return (
        f"[{kind}{f', {address}' if address else ''}{f', {len(data)} characters as base64' if data else ''}: not shown]"
    )


def _clean(text: str) -> str:
    """Without what cannot be stored."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")
