"""An agent that is a program: it runs in the sandbox, one JSON line in and one out for each step of a turn."""

from __future__ import annotations

import json
from typing import Any

from evaluation.agents.base import AgentSetup
from evaluation.agents.kinds import AgentKind
from evaluation.llm import BudgetExceededError
from evaluation.protocol.participants import AgentError, AgentReply, InfrastructureError, Tokens, ToolRecord
from evaluation.tools import Outbox, Shell, Surroundings, Workspace, World, general_names, toolbox_for
from evaluation.tools.journal import told_to
from evaluation.tools.programs import NoSandboxError, ProgramError, run_program
from evaluation.tools.ringing import ring
from studio.domain.opening_message import Event, Incoming, text_of

MAX_STEPS = 200
MAX_CALLS = 50
"""Tool calls of one step."""


class CommandAgent:
    """The program starts anew for each step; what it wants to remember is its ``state``, or in files."""

    def __init__(self, setup: AgentSetup) -> None:
        self._setup = setup
        self._program = setup.params.get("program", "")
        self._workspace = workspace = Workspace(setup.workspace)
        self._outbox = Outbox()
        self._shell = Shell(workspace, used=float(setup.state.get("shell_seconds", 0)), tell=told_to(setup.journal))
        self._tools = toolbox_for(
            Surroundings(workspace, self._outbox, asks=False, shell=self._shell, corpus=setup.corpus),
            setup.tools,
            setup.world,
            setup.journal,
        )
        self._memory: Any = setup.state.get("memory")
        self._turn = int(setup.state.get("turn", 0))

    def reply(self, message: Incoming) -> AgentReply:
        """Raises AgentError for the program's failure, and InfrastructureError where nothing can be run."""
        if not self._program.strip():
            raise AgentError("The agent has no program: give its parameter “program” a Python program.")
        self._turn += 1
        started, tokens = self._setup.timing.now(), Tokens()
        records: list[ToolRecord] = []
        news: dict[str, Any] = {}
        told = {
            "message": text_of(message),
            "event": message.to_json() if isinstance(message, Event) else None,
            "scheduled": self._scheduled(),
        }
        note = f"The limit of {MAX_STEPS} steps in a turn was reached."
        text = ""
        for _ in range(MAX_STEPS):
            left = (self._setup.limits.turn_seconds or 2400) - (self._setup.timing.now() - started)
            if left <= 0:
                note = f"The limit of {self._setup.limits.turn_seconds:g} seconds for a turn was reached."
                break
            answer = self._step({"turn": self._turn, **told, **news}, left)
            if "reply" in answer:
                text, note = str(answer["reply"]), ""
                break
            if "calls" in answer:
                made = [self._call(call) for call in _list(answer["calls"])[:MAX_CALLS]]
                records += made
                news = {"results": [{"name": call.name, "result": call.result, "ok": call.ok} for call in made]}
                if self._setup.limits.tool_calls and len(records) >= self._setup.limits.tool_calls:
                    note = f"The limit of {self._setup.limits.tool_calls} tool calls in a turn was reached."
                    break
            elif "ask" in answer:
                try:
                    completion = self._setup.client.complete(_messages(answer["ask"]))
                except BudgetExceededError as error:
                    note = str(error)
                    break
                tokens += completion.tokens
                news = {"answer": completion.text}
            else:
                raise AgentError("The program's line has none of reply, calls and ask.")
        return AgentReply(self._outbox.deliver(text), tuple(records), tokens, self._state(), note)

    def _scheduled(self) -> list[dict[str, str]]:
        """What is due of what it scheduled in earlier sessions."""
        if self._turn > 1 or "cron" not in general_names(self._setup.tools):
            return []
        event = ring(self._workspace, (self._setup.world or World()).now)
        return list(event.payload["due"]) if event else []

    def _step(self, line: dict[str, Any], seconds: float) -> dict[str, Any]:
        given = {**line, "state": self._memory, "tools": self._tools.schemas}
        try:
            answer = run_program(self._shell, self._program, given, seconds)
        except ProgramError as error:
            raise AgentError(f"The program failed. {error}") from None
        except NoSandboxError as error:
            raise InfrastructureError(f"The agent's program cannot be run. {error}") from None
        self._memory = answer.get("state", self._memory)
        return answer

    def _call(self, call: Any) -> ToolRecord:
        named = call if isinstance(call, dict) else {}
        return self._tools.call(str(named.get("name", "")), json.dumps(named.get("arguments") or {}))

    def _state(self) -> dict[str, Any]:
        return {"memory": self._memory, "turn": self._turn, "shell_seconds": round(self._shell.used, 3)}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _messages(value: Any) -> list[dict[str, str]]:
    messages = [
        {"role": str(message.get("role", "user")), "content": str(message.get("content", ""))}
        for message in _list(value)
        if isinstance(message, dict)
    ]
    if not messages:
        raise AgentError("The program asked the model without a message.")
    return messages


KIND = AgentKind(
    "command",
    "A Python program of yours, run in the sandbox: one JSON line in and one out for each step.",
    CommandAgent,
    {"program": "Its source."},
)
