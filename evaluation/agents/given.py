"""An agent whose turn is given: a reference solution, or an answer that takes no work."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evaluation.agents.base import AgentSetup
from evaluation.protocol.given import GivenTurn
from evaluation.protocol.participants import AgentError, AgentReply, ToolRecord
from evaluation.tools import Shell, Surroundings, Workspace, World, toolbox_for
from evaluation.tools.workspace import WorkspaceError
from studio.domain.opening_message import Incoming


class GivenAgent:
    """Makes the calls with the tools that an agent has; no model is asked."""

    def __init__(self, setup: AgentSetup, turn: GivenTurn, contents: Mapping[str, bytes]) -> None:
        """``contents`` of its files, by sha256."""
        self._turn = turn
        self._workspace = Workspace(setup.workspace)
        self._contents = contents
        clock = (setup.world or World()).clock
        around = Surroundings(
            self._workspace, asks=False, corpus=setup.corpus, shell=Shell(self._workspace, clock=clock)
        )
        self._tools = toolbox_for(around, setup.tools, setup.world, setup.journal, more=setup.servers)

    def reply(self, message: Incoming) -> AgentReply:
        """Raises AgentError if a file cannot be written."""
        calls = [self._call(call.name, dict(call.arguments)) for call in self._turn.calls]
        try:
            for path, sha256 in self._turn.files.items():
                calls += self._lay(path, self._contents[sha256])
        except WorkspaceError as error:
            raise AgentError(f"A file could not be written. {error}") from None
        return AgentReply(self._turn.reply, tuple(calls))

    def _lay(self, path: str, content: bytes) -> list[ToolRecord]:
        """As agents write text, since grader scripts look for that; unless the calls left the file so."""
        if self._workspace.is_file(path) and self._workspace.read(path) == content:
            return []
        text = _decoded(content)
        if text is not None and (made := self._call("write_file", {"path": path, "content": text})).ok:
            return [made]
        self._workspace.write(path, content)
        return []

    def _call(self, name: str, arguments: dict[str, Any]) -> ToolRecord:
        return self._tools.call(name, json.dumps(arguments, ensure_ascii=False))


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
