"""The tool servers of a persona. Saving one makes a version of the persona and binds its tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.conf import settings

from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.tool_catalog import ToolCard
from studio.domain.tool_servers import (
    FOLDER,
    MAX_SERVERS,
    ToolServer,
    ToolServerError,
    ToolServerPolicy,
    list_tools,
    path_of,
    read_tool_server,
    server_name,
    validate,
)
from studio.drafts.load import load_episodes
from studio.drafts.validate import DraftError
from studio.models import Blob, Persona, User
from studio.personas.save import save_persona


@dataclass(frozen=True)
class PersonaServer:
    name: str
    server: ToolServer | None
    flaw: str = ""
    """Why no agent gets its tools here."""
    files: tuple[FileRef, ...] = ()
    """For its command."""


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
    named = [(name, file) for file in persona.files if (name := server_name(file.path)) is not None]
    contents = Blob.objects.read([file.sha256 for _, file in named]) if named else {}
    allowed = policy()
    found = []
    for number, (name, file) in enumerate(named):
        try:
            server = read_tool_server(name, contents.get(file.sha256, b""))
        except ToolServerError as error:
            found.append(PersonaServer(name, None, str(error)))
            continue
        flaw = allowed.problem(server) or ("" if server.tools else "It has not been asked for its tools yet.")
        if number >= MAX_SERVERS:
            flaw = f"Only the first {MAX_SERVERS} servers are used."
        found.append(PersonaServer(name, server, flaw, _files_of(persona, name)))
    return found


def server_cards(persona: PersonaSpec) -> list[ToolCard]:
    """The tools that the persona binds of its servers."""
    return [
        ToolCard(name, tool.description, known=True, lacking=row.flaw, plain=tool.description)
        for row in servers_of(persona)
        if row.server
        for name, tool in zip(row.server.tool_names, row.server.tools, strict=True)
        if name in persona.tools
    ]


def save_server(
    persona: Persona, server: ToolServer, *, by: User, old_name: str = "", base_version: int | None = None
) -> ToolServer:
    """Ask the server for its tools, store it with them and bind them. Raises DraftError and StaleDraftError."""
    spec = load_episodes([persona], with_tasks=False)[persona.pk].persona
    known = {name for file in spec.files if (name := server_name(file.path))}
    try:
        validate(server)
        if problem := policy().problem(server):
            raise ToolServerError(problem, "command" if server.command else "address")
        if server.name != old_name and server.name in known:
            raise ToolServerError("Another server has this name.", "name")
        if len(known | {server.name}) > MAX_SERVERS:
            raise ToolServerError(f"A persona can have {MAX_SERVERS} servers.", "name")
        server = replace(server, tools=list_tools(server, files_for(spec, server.name), policy()))
    except ToolServerError as error:
        raise DraftError(error.field or "name", str(error)) from None
    content = server.to_json()
    [sha] = Blob.objects.store([content])
    gone = _bound(spec, old_name or server.name)
    files = [file for file in spec.files if file.path not in (path_of(old_name), path_of(server.name))]
    files.append(FileRef(path=path_of(server.name), sha256=sha, size=len(content)))
    others = [name for name in spec.tools if name not in gone]
    first = min((spec.tools.index(name) for name in gone), default=len(others))
    tools = [*others[:first], *(name for name in server.tool_names if name not in others), *others[first:]]
    _save(persona, spec, files, tools, f"Tools of {server.name} asked for.", by, base_version)
    return server


def remove_server(persona: Persona, name: str, *, by: User, base_version: int | None = None) -> None:
    """With its tools. Raises StaleDraftError."""
    spec = load_episodes([persona], with_tasks=False)[persona.pk].persona
    if not any(file.path == path_of(name) for file in spec.files):
        return
    gone = _bound(spec, name)
    files = [file for file in spec.files if file.path != path_of(name)]
    tools = [tool for tool in spec.tools if tool not in gone]
    _save(persona, spec, files, tools, f"Tool server {name} removed.", by, base_version)


def files_for(persona: PersonaSpec, name: str) -> Mapping[str, bytes]:
    """What a server's command finds in ``/run/program``: ``mcp/<name>/<file>``."""
    files = _files_of(persona, name)
    contents = Blob.objects.read([file.sha256 for file in files]) if files else {}
    return {file.path.rpartition("/")[2]: contents.get(file.sha256, b"") for file in files}


def _files_of(persona: PersonaSpec, name: str) -> tuple[FileRef, ...]:
    return tuple(file for file in persona.files if file.path.rpartition("/")[0] == f"{FOLDER}/{name}")


def _bound(spec: PersonaSpec, name: str) -> set[str]:
    file = next((file for file in spec.files if file.path == path_of(name)), None)
    if file is None:
        return set()
    try:
        return set(read_tool_server(name, Blob.objects.read([file.sha256])[file.sha256]).tool_names)
    except ToolServerError:
        return set()


def _save(
    persona: Persona,
    spec: PersonaSpec,
    files: list[FileRef],
    tools: list[str],
    note: str,
    by: User,
    base_version: int | None,
) -> None:
    changed = {"files": tuple(sorted(files, key=lambda file: file.path)), "tools": tuple(tools)}
    save_persona(persona.pk, spec.model_copy(update=changed), by=by, note=note, base_version=base_version)
