"""An agent that is a program: it runs in the sandbox, one JSON line in and one out for each step of a turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from evaluation.agents.base import AgentSetup
from evaluation.agents.kinds import AgentKind
from evaluation.agents.relayed import Relayed
from evaluation.llm import BudgetExceededError, Completion, ContentFilteredError, ContextTooLongError
from evaluation.protocol.participants import AgentError, AgentReply, InfrastructureError, Thought, Tokens, ToolRecord
from evaluation.tools import Outbox, Shell, Surroundings, Workspace, World, general_names, toolbox_for
from evaluation.tools.general import GENERAL
from evaluation.tools.journal import told_to
from evaluation.tools.mcp.program_sockets import RefusedError
from evaluation.tools.programs import Line, NoSandboxError, ProgramError, run_connected, run_program
from evaluation.tools.schedule import ring
from evaluation.tools.tool import truncate
from studio.domain.opening_message import EnvironmentEvent, Incoming, text_of

SOCKETS = "sockets"
FILE_TOOLS = frozenset(GENERAL) - {"web_search", "web_fetch"}
"""Those that a program with sockets has not: while it runs, its files are a copy."""
MAX_OWN_CALLS = 500
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
        self._clock = (setup.world or World()).clock
        used = float(setup.state.get("shell_seconds", 0))
        self._shell = Shell(workspace, used=used, clock=self._clock, tell=told_to(setup.journal))
        self._toolbox = toolbox_for(
            Surroundings(workspace, self._outbox, asks=False, shell=self._shell, corpus=setup.corpus),
            setup.tools,
            setup.world,
            setup.journal,
            more=setup.servers,
        )
        self._records: list[ToolRecord] = []
        self._tokens, self._asked = Tokens(), 0
        self._thoughts: list[Thought] = []
        self._relayed = Relayed(setup.state.get("answers", ()))
        self._memory: Any = setup.state.get("memory")
        self._turn = int(setup.state.get("turn", 0))

    def reply(self, message: Incoming) -> AgentReply:
        """Raises AgentError for the program's failure, and InfrastructureError where nothing can be run."""
        if not self._program.strip():
            raise AgentError("The agent has no program: give its parameter “program” a Python program.")
        self._turn += 1
        started = self._setup.timing.now()
        self._records = records = []
        self._thoughts = []
        self._tokens, self._asked = Tokens(), 0
        received: dict[str, Any] = {}
        told = {
            "message": text_of(message),
            "event": message.to_json() if isinstance(message, EnvironmentEvent) else None,
            "scheduled": self._scheduled(),
            **({"now": self._clock.now.isoformat()} if self._clock.moves else {}),
        }
        note = f"The limit of {MAX_STEPS} steps in a turn was reached."
        text = ""
        for _ in range(MAX_STEPS):
            left = (self._setup.limits.turn_seconds or 2400) - (self._setup.timing.now() - started)
            if left <= 0:
                note = f"The limit of {self._setup.limits.turn_seconds:g} seconds for a turn was reached."
                break
            try:
                answer = self._step({"turn": self._turn, **told, **received}, left)
            except BudgetExceededError as error:
                note = str(error)
                break
            if "reply" in answer:
                text, note = str(answer["reply"]), ""
                break
            if "calls" in answer:
                made = [self._call(call) for call in _list(answer["calls"])[:MAX_CALLS]]
                records += made
                received = {"results": [{"name": call.name, "result": call.result, "ok": call.ok} for call in made]}
                if self._setup.limits.tool_calls and len(records) >= self._setup.limits.tool_calls:
                    note = f"The limit of {self._setup.limits.tool_calls} tool calls in a turn was reached."
                    break
            elif "ask" in answer:
                try:
                    completion = self._setup.client.complete(_messages(answer["ask"]))
                except (BudgetExceededError, ContentFilteredError) as error:
                    note = str(error)
                    break
                self._count(completion)
                received = {"answer": completion.text}
            else:
                raise AgentError("The program's line has none of reply, calls and ask.")
        return AgentReply(
            self._outbox.deliver(text),
            tuple(records),
            self._tokens,
            self._state(),
            note,
            thoughts=tuple(self._thoughts),
        )

    def _count(self, completion: Completion) -> None:
        self._tokens += completion.tokens
        if completion.thoughts:
            self._thoughts.append(Thought(completion.thoughts, completion.tokens.reasoning))

    def _scheduled(self) -> list[dict[str, str]]:
        """What is due of what it scheduled in earlier sessions."""
        if self._turn > 1 or "cron" not in general_names(self._setup.tools):
            return []
        event = ring(self._workspace, self._clock.now)
        return list(event.payload["due"]) if event else []

    def _step(self, line: dict[str, Any], seconds: float) -> dict[str, Any]:
        given = {**line, "state": self._memory, "tools": self._offered()}
        before = len(self._records)
        try:
            answer = self._run(given, seconds)
        except ProgramError as error:
            raise AgentError(f"The program failed. {error}") from None
        except NoSandboxError as error:
            raise InfrastructureError(f"The agent's program cannot be run. {error}") from None
        self._memory = answer.get("state", self._memory)
        self._records[before:] = in_order(self._records[before:], _list(answer.get("did"))[:MAX_OWN_CALLS])
        return answer

    def _offered(self) -> list[dict[str, Any]]:
        return self._toolbox.schemas

    def _run(self, given: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Raises ProgramError and NoSandboxError."""
        if self._setup.params.get("connection") != SOCKETS:
            return run_program(self._shell, self._program, given, seconds)
        return run_connected(self._shell, self._program, given, seconds, self._reach)

    @cached_property
    def _reach(self) -> Line:
        """What the program reaches over its sockets: its files it has itself."""
        own = [schema for schema in self._toolbox.schemas if schema["function"]["name"] not in FILE_TOOLS]
        return Line(own, self._call_over_socket, self._ask_over_socket)

    def _call_over_socket(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        most = self._setup.limits.tool_calls
        if most and len(self._records) >= most:
            return f"Error: the limit of {most} tool calls in a turn was reached.", True
        record = self._toolbox.call(name, json.dumps(arguments))
        self._records.append(record)
        return record.result, not record.ok

    def _ask_over_socket(self, request: dict[str, Any]) -> dict[str, Any]:
        """Raises RefusedError for what the program can correct, BudgetExceededError and InfrastructureError."""
        self._asked += 1
        most = self._setup.limits.model_calls
        if most and self._asked > most:
            raise RefusedError(f"The limit of {most} model calls in a turn was reached.")
        chosen = {name: request[name] for name in ("tool_choice", "temperature") if request.get(name) is not None}
        messages = self._relayed.restore(request["messages"])
        try:
            completion = self._setup.client.complete(messages, tools=request.get("tools") or (), **chosen)
        except ContextTooLongError:
            raise RefusedError("context_length_exceeded: the conversation is longer than the model can read.") from None
        except ContentFilteredError:
            raise RefusedError("content_filter: the service’s filter held the answer back.") from None
        self._count(completion)
        tokens = completion.spent
        message = self._relayed.show(completion)
        choice = {"index": 0, "message": message, "finish_reason": completion.finish_reason or "stop"}
        used = {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.completion, "total_tokens": tokens.total}
        common = {"id": completion.request_hash, "object": "chat.completion", "created": 0, "model": "studio"}
        return {**common, "choices": [choice], "usage": used}

    def _call(self, call: Any) -> ToolRecord:
        named = call if isinstance(call, dict) else {}
        return self._toolbox.call(str(named.get("name", "")), json.dumps(named.get("arguments") or {}))

    def _state(self) -> dict[str, Any]:
        return {
            "memory": self._memory,
            "turn": self._turn,
            "shell_seconds": round(self._shell.used, 3),
            "answers": self._relayed.answers,
        }


def in_order(recorded: list[ToolRecord], did: list[Any]) -> list[ToolRecord]:
    """The calls of a step: those made over the socket, and the program's own as it tells them. Where it says
    ``recorded``, the next of the first kind was made; those of which it says nothing come before all others."""
    told = [call if isinstance(call, dict) else {} for call in did]
    placed = sum(bool(call.get("recorded")) for call in told)
    first = max(0, len(recorded) - placed)
    calls, waiting = recorded[:first], iter(recorded[first:])
    for call in told:
        if not call.get("recorded"):
            calls.append(_own_call(call))
        elif (record := next(waiting, None)) is not None:
            calls.append(record)
    return calls


def _own_call(told: Mapping[str, Any]) -> ToolRecord:
    arguments = told.get("arguments")
    name, result = str(told.get("name", ""))[:200], str(told.get("result", ""))
    ok = told.get("ok") is not False
    return ToolRecord(name, arguments if isinstance(arguments, dict) else {}, truncate(result), ok)


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
    {
        "program": "Its source.",
        "connection": "lines: tools and the model by the lines it prints. sockets: also over two sockets, tools by MCP "
        "and the model by the OpenAI API.",
    },
    choices={"connection": ("lines", SOCKETS)},
)
