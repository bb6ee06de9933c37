"""Tool servers: MCP servers that a persona binds, ``mcp/<name>.json`` among its files.

The file holds how the server is reached and the tools it listed, so these are versioned, piloted and released with the
persona. Of secrets it has the names of environment variables alone; what may be reached and sent is for settings to
say, wherever the file came from.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from studio.domain.base import FileRef, Spec
from studio.domain.persona import PersonaSpec
from studio.domain.storable import read_json, storable

FOLDER = "mcp"
PREFIX = "mcp_"
MAX_SERVERS = 10
MAX_TOOLS = 100
MAX_NAME = 64
"""Of a tool as models call it, server included."""
MAX_DESCRIPTION = 2_000
MAX_PARAMETERS = 20_000
"""Characters of a tool's parameters as JSON."""
MAX_SECONDS = 300
MAX_CHARACTERS = 19_000
"""So that no result is cut twice."""
OWN_NAME = "appworld"
"""Taken: published benchmarks name tools of the simulated apps so."""
SERVER_NAME = re.compile(r"[a-z][a-z0-9_]{0,19}")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
_KNOWN = ("address", "command", "headers", "environment", "seconds", "characters", "tools", "hash")


class ToolServerError(ValueError):
    """The message is for the author."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class ServerTool:
    name: str
    """As the server calls it."""
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """JSON schema."""
    repeatable: bool = False
    """Whether the server says that a second call with the same arguments changes nothing more."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
            "repeatable": self.repeatable,
        }


@dataclass(frozen=True)
class ToolServer:
    name: str
    address: str = ""
    command: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of requests to ``address``; values name variables as ``${NAME}``."""
    environment: tuple[str, ...] = ()
    """Variables that ``command`` gets."""
    seconds: float = 60
    """Of one call."""
    characters: int = MAX_CHARACTERS
    """Of a result."""
    tools: tuple[ServerTool, ...] = ()
    """As listed when the persona's owner last asked."""

    @property
    def hash(self) -> str:
        return hash_of(self.tools)

    @property
    def variables(self) -> tuple[str, ...]:
        named = (name for value in self.headers.values() for name in VARIABLE.findall(value))
        return tuple(dict.fromkeys((*named, *self.environment)))

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(self.name_of(tool) for tool in self.tools)

    def name_of(self, tool: ServerTool) -> str:
        """As personas bind it and models call it; the same as in the paper's scaffold."""
        return f"{PREFIX}{self.name}_{tool.name}"

    def to_json(self) -> bytes:
        given: dict[str, Any] = {"address": self.address} if self.address else {"command": list(self.command)}
        if self.headers:
            given["headers"] = dict(self.headers)
        if self.environment:
            given["environment"] = list(self.environment)
        given |= {"seconds": self.seconds, "characters": self.characters, "hash": self.hash}
        given["tools"] = [tool.to_json() for tool in self.tools]
        return json.dumps(given, ensure_ascii=False, indent=2).encode() + b"\n"


class ServerText(Spec):
    """A ``ToolServer`` in its form, without its tools."""

    name: str = ""
    address: str = ""
    command: tuple[str, ...] = ()
    headers: dict[str, str] = {}
    environment: tuple[str, ...] = ()
    seconds: float = 60
    characters: int = MAX_CHARACTERS

    def server(self) -> ToolServer:
        return ToolServer(**self.model_dump())


def hash_of(tools: Iterable[ServerTool]) -> str:
    """Of names, descriptions and parameters, whatever their order."""
    listed = sorted((tool.to_json() for tool in tools), key=lambda tool: str(tool["name"]))
    return hashlib.sha256(json.dumps(listed, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def path_of(name: str) -> str:
    return f"{FOLDER}/{name}.json"


def server_name(path: str) -> str | None:
    """None for a file that describes no server."""
    folder, _, name = path.rpartition("/")
    return name.removesuffix(".json") if folder == FOLDER and name.endswith(".json") else None


def read_tool_server(name: str, content: bytes) -> ToolServer:
    """Raises ToolServerError."""
    try:
        data = read_json(content)
    except ValueError:
        raise ToolServerError("This is not JSON.") from None
    if not isinstance(data, dict):
        raise ToolServerError("This must be a JSON object.")
    if storable(data) != data:
        raise ToolServerError("This holds a character that no text has.")
    if unknown := [str(key) for key in data if key not in _KNOWN]:
        raise ToolServerError(f"{unknown[0]} means nothing here; there are {', '.join(_KNOWN)}.")
    server = ToolServer(
        name,
        address=_text(data.get("address", ""), "address"),
        command=tuple(_texts(data.get("command", []), "command")),
        headers=_headers(data.get("headers", {})),
        environment=tuple(_texts(data.get("environment", []), "environment")),
        seconds=_number(data.get("seconds", 60), "seconds", MAX_SECONDS),
        characters=int(_number(data.get("characters", MAX_CHARACTERS), "characters", MAX_CHARACTERS)),
    )
    server = replace(server, tools=read_tools(server, data.get("tools", [])))
    if data.get("hash", server.hash) != server.hash:
        raise ToolServerError("Its tools were changed by hand: they do not have the hash that stands in the file.")
    validate(server)
    return server


def validate(server: ToolServer) -> None:
    """Raises ToolServerError, with the field."""
    if not SERVER_NAME.fullmatch(server.name) or server.name == OWN_NAME:
        raise ToolServerError(
            f"Write up to 20 small letters, digits and underscores, a letter first; not {OWN_NAME}.", "name"
        )
    if bool(server.address) == bool(server.command):
        raise ToolServerError("Give either an address or a command.", "address")
    if server.address:
        parts = _parts(server.address)
        if parts is None:
            raise ToolServerError("Write an address like https://tools.example.org/mcp, without a password.", "address")
        if server.environment:
            raise ToolServerError("Only a command has an environment; for an address, use headers.", "environment")
    elif server.headers:
        raise ToolServerError("Only an address has headers; for a command, name variables.", "headers")
    for header, value in server.headers.items():
        if not _HEADER.fullmatch(header) or not value.isprintable():
            raise ToolServerError(f"“{header[:60]}” is not a valid header name.", "headers")
        if not VARIABLE.search(value):
            raise ToolServerError(
                f"“{header}” must name a variable, as in Bearer ${{NAME}}: a secret never stands in the persona.",
                "headers",
            )
    if bad := next((name for name in server.environment if not _VARIABLE_NAME.fullmatch(name)), None):
        raise ToolServerError(f"“{bad[:60]}” is not a valid variable name.", "environment")
    if any("\0" in part or len(part) > 2_000 for part in server.command):
        raise ToolServerError("This is no command.", "command")


def read_tools(server: ToolServer, listed: Any) -> tuple[ServerTool, ...]:
    """From JSON, hostile or not. Raises ToolServerError for more than there may be."""
    if not isinstance(listed, list):
        raise ToolServerError("tools must be a list.")
    if len(listed) > MAX_TOOLS:
        raise ToolServerError(f"The server lists {len(listed)} tools; there can be {MAX_TOOLS}.")
    tools: dict[str, ServerTool] = {}
    for entry in listed:
        name = entry.get("name") if isinstance(entry, dict) else None
        parameters = entry.get("parameters") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not isinstance(parameters, dict):
            raise ToolServerError("The server lists a tool without a name or parameters.")
        long_name = len(f"{PREFIX}{server.name}_{name}") > MAX_NAME
        if not _TOOL_NAME.fullmatch(name) or long_name:
            raise ToolServerError(
                f"The server has a tool with the name “{_clean(name)[:60]}”, which models cannot call."
            )
        if name in tools:
            raise ToolServerError(f"The server lists “{name}” twice.")
        if len(json.dumps(parameters)) > MAX_PARAMETERS:
            raise ToolServerError(f"The parameters of “{name}” are longer than {MAX_PARAMETERS:,} characters.")
        description = _clean(str(entry.get("description") or ""))[:MAX_DESCRIPTION]
        tools[name] = ServerTool(name, description, parameters, entry.get("repeatable") is True)
    return tuple(tools.values())


@dataclass(frozen=True)
class ToolServerPolicy:
    """What settings allow. Nothing, unless they say so."""

    commands: bool = False
    """Whether commands are run, in the sandbox."""
    addresses: tuple[str, ...] = ()
    """Hosts that may be reached, with a port or without; ``*`` stands for any part."""
    keys: tuple[tuple[str, str], ...] = ()
    """Variables, each with the one host it may go to; ``command`` for commands."""
    folder: str = ""
    """Programs of the administrators' for commands, seen there as ``/opt/mcp``."""

    def problem(self, server: ToolServer) -> str:
        """Why it is not used here, as a sentence; empty if it is."""
        if server.command:
            if not self.commands:
                return "Commands are not run here. An administrator can allow them with STUDIO_MCP_COMMANDS."
            place = "command"
        else:
            parts = urlsplit(server.address)
            host = (parts.hostname or "").casefold()
            place = host
            if not any(_covers(pattern, host, parts.port) for pattern in self.addresses):
                return f"“{host}” is not reached from here. An administrator can allow it with STUDIO_MCP_ADDRESSES."
        for name in server.variables:
            if (name, place) not in self.keys:
                return f"“{place}” does not get {name} here. An administrator can allow it with STUDIO_MCP_KEYS."
        return ""


def _covers(pattern: str, host: str, port: int | None) -> bool:
    wanted, colon, wanted_port = pattern.casefold().rpartition(":")
    if not colon:
        return fnmatchcase(host, wanted_port)
    return fnmatchcase(host, wanted) and wanted_port == str(port or "")


Read = Callable[[Sequence[str]], Mapping[str, bytes]]
"""Contents by sha256, as far as they are stored."""


@dataclass(frozen=True)
class PersonaServer:
    name: str
    server: ToolServer | None
    flaw: str = ""
    """Why no agent gets its tools here."""
    files: tuple[FileRef, ...] = ()
    """For its command."""


def servers_in(persona: PersonaSpec, read: Read, allowed: ToolServerPolicy) -> list[PersonaServer]:
    """Those that the persona binds. Reads once, or not at all if it has none."""
    named = [(name, file) for file in persona.files if (name := server_name(file.path)) is not None]
    contents = read([file.sha256 for _, file in named]) if named else {}
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
        found.append(PersonaServer(name, server, flaw, server_files(persona, name)))
    return found


def server_files(persona: PersonaSpec, name: str) -> tuple[FileRef, ...]:
    return tuple(file for file in persona.files if file.path.rpartition("/")[0] == f"{FOLDER}/{name}")


def program_files(files: Sequence[FileRef], read: Read) -> Mapping[str, bytes]:
    """What a server's command finds in ``/run/program``."""
    contents = read([file.sha256 for file in files]) if files else {}
    return {file.path.rpartition("/")[2]: contents.get(file.sha256, b"") for file in files}


Lister = Callable[[ToolServer, Mapping[str, bytes], ToolServerPolicy], tuple[ServerTool, ...]]
_lister: Lister | None = None


def register_lister(lister: Lister) -> None:
    """Set the function that asks a server for its tools; it also gets the files of a command. It raises
    ToolServerError."""
    global _lister
    _lister = lister


def list_tools(server: ToolServer, files: Mapping[str, bytes], policy: ToolServerPolicy) -> tuple[ServerTool, ...]:
    """Raises ToolServerError."""
    if _lister is None:
        raise ToolServerError("No server can be asked here.")
    return _lister(server, files, policy)


def _parts(address: str) -> str | None:
    if not address.isprintable() or any(character in address for character in " \\"):
        return None
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    usable = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return parts.hostname if usable else None


def _clean(text: str) -> str:
    """Without what the database or a terminal would choke on."""
    text = text.encode("utf-8", "replace").decode()
    return "".join(character for character in text if character.isprintable() or character == "\n")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ToolServerError(f"{name} must be text.", name)
    return value.strip()


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ToolServerError(f"{name} must be a list of texts.", name)
    return list(value)


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ToolServerError("headers must have a text for each name.", "headers")
    return dict(value)


def _number(value: Any, name: str, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= value <= most:
        raise ToolServerError(f"{name} is a number from 1 to {most:g}.", name)
    return value
