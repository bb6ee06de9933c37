"""The tool servers of a persona; saving one binds its tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from django.conf import settings

from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.tool_catalog import ToolCard
from studio.domain.tool_servers import (
    MAX_SERVERS,
    PersonaServer,
    ServerText,
    ToolServer,
    ToolServerError,
    ToolServerPolicy,
    list_tools,
    path_of,
    program_files,
    server_files,
    server_name,
    servers_in,
    validate,
)
from studio.drafts.validate import DraftError
from studio.models import Blob
from studio.personas.files import Change, FileKind, stored_file, with_files


def policy() -> ToolServerPolicy:
    """What the settings of this studio allow."""
    keys = (entry.strip().partition("@") for entry in settings.MCP_KEYS)
    return ToolServerPolicy(
        commands=settings.MCP_COMMANDS,
        addresses=tuple(entry.strip() for entry in settings.MCP_ADDRESSES),
        keys=tuple((name, place.casefold()) for name, _, place in keys),
        folder=settings.MCP_FOLDER,
    )


def allowed_here() -> str:
    """For people who set up a server."""
    rules = policy()
    kinds = [f"addresses at {', '.join(rules.addresses)}"] if rules.addresses else []
    kinds += ["commands in the sandbox"] if rules.commands else []
    if not kinds:
        return "Nothing is allowed yet: they set STUDIO_MCP_ADDRESSES for addresses, STUDIO_MCP_COMMANDS for commands."
    return f"Allowed now: {' and '.join(kinds)}."


def servers_of(persona: PersonaSpec) -> list[PersonaServer]:
    """One query, or none if it has no servers."""
    return servers_in(persona, Blob.objects.read, policy())


def server_cards(persona: PersonaSpec) -> list[ToolCard]:
    """The tools that the persona binds of its servers."""
    return [
        ToolCard(name, tool.description, known=True, lacking=row.flaw, plain=tool.description)
        for row in servers_of(persona)
        if row.server
        for name, tool in zip(row.server.tool_names, row.server.tools, strict=True)
        if name in persona.tools
    ]


class ToolServers(FileKind[ServerText]):
    """``asked``: the server that is saved, with the tools it has now; asking takes long, so that nothing is locked
    meanwhile."""

    empty = ServerText()

    def __init__(self, asked: ToolServer | None = None) -> None:
        self.asked = asked

    def find(self, spec: PersonaSpec, name: str) -> ServerText | None:
        row = _row_of(spec, name)
        if row and row.server:
            return ServerText(**{field: getattr(row.server, field) for field in ServerText.model_fields})
        return ServerText(name=name) if row else None

    def put(self, episode: EpisodeSpec, name: str, text: ServerText) -> Change:
        server, spec = self.asked, episode.persona
        if server is None or replace(server, tools=()) != text.server():
            raise DraftError("name", "Somebody else has changed how it is reached. Look at it, then save again.")
        _validate_new(spec, name, server.name)
        gone = _bound(spec, name or server.name)
        files = with_files(spec.files, [stored_file(path_of(server.name), server.to_json())], [path_of(name)])
        others = [tool for tool in spec.tools if tool not in gone]
        first = min((spec.tools.index(tool) for tool in gone), default=len(others))
        tools = (*others[:first], *(tool for tool in server.tool_names if tool not in others), *others[first:])
        return Change(spec.model_copy(update={"files": files, "tools": tools}), f"Tools of {server.name} asked for.")

    def drop(self, episode: EpisodeSpec, name: str) -> Change:
        """With its tools."""
        spec = episode.persona
        tools = tuple(tool for tool in spec.tools if tool not in _bound(spec, name))
        files = with_files(spec.files, (), [path_of(name)])
        return Change(spec.model_copy(update={"files": files, "tools": tools}), f"Tool server {name} removed.")


TOOL_SERVERS = ToolServers()


def ask_server(spec: PersonaSpec, name: str, text: ServerText) -> ToolServers:
    """Ask the server for its tools; ``name``: what it is called now. Raises DraftError."""
    server = text.server()
    try:
        validate(server)
        if problem := policy().problem(server):
            raise ToolServerError(problem, "command" if server.command else "address")
        _validate_new(spec, name, server.name)
        return ToolServers(replace(server, tools=list_tools(server, files_for(spec, server.name), policy())))
    except ToolServerError as error:
        raise DraftError(error.field or "name", str(error)) from None


def files_for(persona: PersonaSpec, name: str) -> Mapping[str, bytes]:
    """What a server's command finds in ``/run/program``: ``mcp/<name>/<file>``."""
    return program_files(server_files(persona, name), Blob.objects.read)


def _bound(spec: PersonaSpec, name: str) -> set[str]:
    row = _row_of(spec, name)
    return set(row.server.tool_names) if row and row.server else set()


def _row_of(spec: PersonaSpec, name: str) -> PersonaServer | None:
    return next((row for row in servers_of(spec) if row.name == name), None)


def _validate_new(spec: PersonaSpec, old: str, new: str) -> None:
    known = {name for file in spec.files if (name := server_name(file.path))}
    if new != old and new in known:
        raise DraftError("name", "Another server has this name.")
    if len(known | {new}) > MAX_SERVERS:
        raise DraftError("name", f"A persona can have {MAX_SERVERS} servers.")
