"""The tool servers of a session: those that its persona binds, as frozen with it, as far as settings allow them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evaluation.agents.servers import BoundServer, ServerTools
from studio.domain.persona import PersonaSpec
from studio.personas.tool_servers import files_for, policy, servers_of


@contextmanager
def open_servers(persona: PersonaSpec) -> Iterator[ServerTools | None]:
    """None if it has none. Nothing is reached before a tool is called."""
    usable = [row.server for row in servers_of(persona) if row.server and not row.flaw]
    if not usable:
        yield None
        return
    bound = [BoundServer(server, files_for(persona, server.name) if server.command else {}) for server in usable]
    tools = ServerTools(bound, policy())
    try:
        yield tools
    finally:
        tools.close()
