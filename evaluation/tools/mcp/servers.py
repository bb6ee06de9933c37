"""The servers that a persona binds, as tools of one session.

A server is reached when one of its tools is first called. What it does is outside of the session's files and apps, so
the journal of calls guards it, and what it says is data: text, cut, in a tool's result and nowhere else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict

from evaluation.protocol.clock import Clock
from evaluation.protocol.participants import InfrastructureError
from evaluation.sandbox.told_time import environment
from evaluation.tools.mcp.connection import CallError, Connection, ConnectionLostError
from evaluation.tools.tool import Arguments, Tool, ToolError, ToolOutcome, truncate
from studio.domain.tool_servers import (
    VARIABLE,
    PersonaServer,
    Read,
    ServerTool,
    ToolServer,
    ToolServerError,
    ToolServerPolicy,
    program_files,
)

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

KEY = "pi-bench.studio/idempotency-key"
"""In a call's ``_meta``: the same for the same call of a turn that is taken up again."""
CONNECT_SECONDS = 30.0
SHORTEST_SECRET = 4
"""Characters; shorter ones stand in many a word."""


class ToolServerLostError(InfrastructureError):
    """A bound server cannot be reached, or went away in the middle of a call."""

    retryable = True

    def __init__(self, message: str, *, untouched: bool = False) -> None:
        super().__init__(message)
        self.untouched = untouched


class ToolServerChangedError(InfrastructureError):
    """A tool that was frozen with the persona is gone or another one at its server."""

    untouched = True


class AnyArguments(Arguments):
    """The server checks them."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True)
class BoundServer:
    server: ToolServer
    files: Mapping[str, bytes] = field(default_factory=dict)
    """For its command."""


def bound_servers(servers: Iterable[PersonaServer], read: Read) -> tuple[BoundServer, ...]:
    """Of a persona's, those that may be used."""
    usable = [(row.server, row.files) for row in servers if row.server and not row.flaw]
    return tuple(BoundServer(server, program_files(files, read) if server.command else {}) for server, files in usable)


class ServerTools:
    """Of one session, whose calls come one at a time. Close it at the end."""

    def __init__(self, bound: Sequence[BoundServer], policy: ToolServerPolicy) -> None:
        self._bound = bound
        self._policy = policy
        self._opened = ExitStack()
        self._portal: BlockingPortal | None = None
        self._connections: dict[str, Connection] = {}
        self.clock = Clock()
        """What time commands are told as they start."""

    def tools(self, names: Iterable[str]) -> list[Tool]:
        """Those among ``names``, as frozen."""
        known = {bound.server.name_of(tool): (bound, tool) for bound in self._bound for tool in bound.server.tools}
        return [self._tool(name, *known[name]) for name in names if name in known]

    def close(self) -> None:
        self._connections.clear()
        self._opened.close()

    def _tool(self, name: str, bound: BoundServer, tool: ServerTool) -> Tool:
        return Tool(
            name,
            tool.description,
            AnyArguments,
            _never,
            act=lambda arguments, key: self._call(bound, tool, arguments.model_dump(), key),
            parameters=tool.parameters or {"type": "object", "properties": {}},
            repeatable=tool.repeatable,
        )

    def _call(self, bound: BoundServer, tool: ServerTool, arguments: dict[str, Any], key: str) -> ToolOutcome:
        """Raises ToolError, ToolServerLostError and ToolServerChangedError."""
        server = bound.server
        connection = self._ready(bound)
        try:
            text, failed = connection.call(tool.name, arguments, {KEY: key}, server.seconds)
        except ConnectionLostError as error:
            self._connections.pop(server.name, None)
            raise ToolServerLostError(f"The tool server “{server.name}” {error}") from None
        except CallError as error:
            if error.ends:
                self._connections.pop(server.name, None)
            raise ToolError(str(error)) from None
        text = truncate(text, server.characters)
        if failed:
            raise ToolError(text, result=text or "Error: the server says no more.")
        return ToolOutcome(text)

    def _ready(self, bound: BoundServer) -> Connection:
        server = bound.server
        try:
            connection = self._connections.get(server.name) or self._connect(bound)
            if connection.stale:
                self._compare(server, connection)
        except ConnectionLostError as error:
            self._connections.pop(server.name, None)
            raise ToolServerLostError(f"The tool server “{server.name}” {error}", untouched=True) from None
        return connection

    def _connect(self, bound: BoundServer) -> Connection:
        server = bound.server
        if self._portal is None:
            self._portal = self._opened.enter_context(_portal())
        told = environment(self.clock.now) if self.clock.moves else {}
        connection = self._opened.enter_context(open_connection(self._portal, bound, self._policy, told))
        self._compare(server, connection)
        self._connections[server.name] = connection
        return connection

    def _compare(self, server: ToolServer, connection: Connection) -> None:
        """New tools do not matter: no agent of this pilot is offered them."""
        try:
            listed = connection.tools(server, {tool.name for tool in server.tools})
        except ToolServerError as error:
            raise ToolServerChangedError(f"The tool server “{server.name}” cannot be used any more: {error}") from None
        now = {tool.name: tool for tool in listed}
        changed = sorted(tool.name for tool in server.tools if now.get(tool.name) != tool)
        if not changed:
            return
        raise ToolServerChangedError(
            f"The tool server “{server.name}” has other tools than those this pilot began with "
            f"({', '.join(changed[:5])}{' and more' if len(changed) > 5 else ''}). Ask it for its tools again on the "
            "persona’s page and start a new pilot, or bring the server back to what it was and resume."
        )


def list_server_tools(
    server: ToolServer, files: Mapping[str, bytes], policy: ToolServerPolicy
) -> tuple[ServerTool, ...]:
    """What the server has now. Raises ToolServerError."""
    place = "command" if server.command else "address"
    try:
        with _portal() as portal, open_connection(portal, BoundServer(server, files), policy) as connection:
            return connection.tools(server)
    except ConnectionLostError as error:
        raise ToolServerError(f"The server {error}", place) from None
    except InfrastructureError as error:
        raise ToolServerError(str(error), place) from None


@contextmanager
def open_connection(
    portal: BlockingPortal, bound: BoundServer, policy: ToolServerPolicy, told: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Connection]:
    """``told``: variables of a command besides those it names. Raises ConnectionLostError and ToolServerLostError."""
    from evaluation.tools.mcp.transports import AddressTransport, CommandTransport

    server = bound.server
    if problem := policy.problem(server):
        raise ToolServerLostError(f"The tool server “{server.name}” is not used here. {problem}", untouched=True)
    if absent := next((name for name in server.variables if name not in os.environ), ""):
        needed = f"The tool server “{server.name}” needs {absent}, which is not set on this machine."
        raise ToolServerLostError(needed, untouched=True)
    if server.command:
        env = {**told, **{name: os.environ[name] for name in server.environment}}
        transport: CommandTransport | AddressTransport = CommandTransport(
            server.command, bound.files, env, policy.folder
        )
    else:
        headers = {
            name: VARIABLE.sub(lambda match: os.environ[match[1]], value) for name, value in server.headers.items()
        }
        transport = AddressTransport(server.address, headers)
    with Connection.open(portal, transport, CONNECT_SECONDS, _hider(server)) as connection:
        yield connection


def _hider(server: ToolServer) -> Callable[[str], str]:
    """A server that tells its own secrets does not bring them into transcripts."""
    secrets = {
        form: name
        for name in server.variables
        if len(value := os.environ[name].strip()) >= SHORTEST_SECRET
        for form in (value, json.dumps(value)[1:-1])
    }

    def hide(text: str) -> str:
        for secret in sorted(secrets, key=len, reverse=True):
            text = text.replace(secret, f"[{secrets[secret]}]")
        return text

    return hide


def _portal() -> AbstractContextManager[BlockingPortal]:
    from anyio.from_thread import start_blocking_portal

    return start_blocking_portal()


def _never(arguments: Any) -> str:
    raise NotImplementedError


@contextmanager
def opened(bound: Sequence[BoundServer], policy: ToolServerPolicy) -> Iterator[ServerTools | None]:
    """None if there are none. Nothing is reached before a tool is called."""
    if not bound:
        yield None
        return
    tools = ServerTools(bound, policy)
    try:
        yield tools
    finally:
        tools.close()
