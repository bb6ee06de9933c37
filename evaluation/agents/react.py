"""The built-in agent: a model that reasons and acts by function calling until it answers in text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from evaluation.agents.base import AgentSetup
from evaluation.agents.briefing import HELPER, NO_WEB, build_briefing
from evaluation.agents.consolidation import consolidate
from evaluation.agents.context import ContextBudget
from evaluation.agents.kinds import AgentKind
from evaluation.agents.messages import as_chat, put, without_system_events
from evaluation.agents.turn import Turn
from evaluation.llm import (
    BudgetExceededError,
    Completion,
    ContentFilteredError,
    ContextTooLongError,
    RequestedToolCall,
    RequestRejectedError,
)
from evaluation.protocol.clock import spoken
from evaluation.protocol.participants import AgentError, AgentReply, Aside, Thought, ToolRecord
from evaluation.tools import Outbox, Shell, Surroundings, ToolError, Workspace, World, general_names, toolbox_for
from evaluation.tools.journal import told_to
from evaluation.tools.schedule import ring
from evaluation.tools.subagents import Helpers
from evaluation.tools.workspace import WorkspaceError
from studio.domain.opening_message import EnvironmentEvent, Incoming, text_of

CONSOLIDATED = "consolidated"
MAX_REPLY = 100_000
"""Characters of a reply that the user, and so the judges, see."""
RETAINED_RESULTS = 4
"""Latest tool results that stay complete when a conversation has grown too long."""
OMITTED_RESULT = "[this result was left out to save room; call the tool again if you need it]"
OMITTED_PICTURE = "[pictures were left out: the model takes none, or the conversation grew too long]"
TALKING = ("ask_user", "message", "cron", "spawn")
"""Tools that a helper does not have."""
BY_SEARCH = "search"
MOST_AT_ONCE = 128
"""Tools that a model is shown, unless it is told to look for them."""
MAX_HELPER_CALLS = 30
"""Model calls that a helper gets for its task."""
NOT_CALLED = "Error: not called, the limit on tool calls is reached. Answer the user now."
CUT_CALL = (
    "Error: not called. Your answer was cut off at its limit of length within these arguments. Write less at once."
)
NOTES = {
    "cut": "The reply was cut off at the model’s limit of length.",
    "filtered": "The service’s filter held the reply back.",
    "empty": "The model said nothing.",
}
"""By how the last answer ended."""


class ReactAgent:
    """Holds the conversation of one session; each reply carries the state for the next turn."""

    sends_all = True
    """Whether the model is sent the whole conversation each time, and so can be asked about something else."""

    def __init__(self, setup: AgentSetup) -> None:
        self._setup = setup
        self._loop = setup.loop
        self._client = setup.client
        self._limits = setup.limits
        self._timing = setup.timing
        self._instructions = setup.params.get("instructions", "")
        self._workspace = Workspace(setup.workspace)
        self._outbox = Outbox()
        self._clock = (setup.world or World()).clock
        self._shell = Shell(
            self._workspace,
            used=float(setup.state.get("shell_seconds", 0)),
            clock=self._clock,
            tell=told_to(setup.journal),
        )
        self._helpers: list[tuple[AgentReply, int]] = []
        """What helpers did and no turn counts yet, with the tokens that they spent."""
        self._delegated = Helpers(self._spawn)
        self._tools = toolbox_for(
            Surroundings(
                self._workspace,
                self._outbox,
                asks=self.sends_all,
                spawn=self._delegated.spawn if self.sends_all else None,
                shell=self._shell,
                corpus=setup.corpus,
            ),
            setup.tools,
            setup.world,
            setup.journal,
            by_search=setup.params.get("tools") == BY_SEARCH,
            found=setup.state.get("found_tools", ()),
            more=setup.servers,
        )
        self._consolidates = setup.params.get("memory") == CONSOLIDATED
        self._context = ContextBudget(int(setup.params.get("context_tokens") or 0), setup.state.get("context", {}))
        self._is_new = not setup.state.get("messages")
        self._messages: list[dict[str, Any]] = [dict(message) for message in setup.state.get("messages", ())]
        self._asked: str = setup.state.get("asked", "")
        """The call of ``ask_user`` whose result the user's next message is."""
        self._held: list[dict[str, Any]] = [dict(message) for message in setup.state.get("held", ())]
        """What comes after that result."""
        self._tokens = int(setup.state.get("tokens", 0))
        """Of the session, also those that are only estimated: for the limit."""
        self._cost = Decimal(str(setup.state.get("cost", "0")))

    def reply(self, message: Incoming) -> AgentReply:
        """Take one turn. Raises InfrastructureError, and AgentError if the conversation is too long for the model."""
        if not self._messages and (briefing := self._briefing()):
            self._messages.append({"role": "system", "content": briefing})
        turn = Turn(started=self._timing.now())
        if self._is_new and (event := self._ring()):
            self._put(as_chat(event, self._loop))
            turn.aside.append(Aside("What it had scheduled came due", event.text))
        self._is_new = False
        self._delegated.begin()
        self._hear(message)
        try:
            self._act(turn)
            if not turn.note:
                self._finish_helpers(turn)
        except BudgetExceededError as error:
            turn.note = str(error)
        except ContentFilteredError:
            turn.note = NOTES["filtered"]
        if self._messages[-1]["role"] != "assistant" and not self._asked:  # the next turn must follow an answer
            self._messages.append({"role": "assistant", "content": turn.text or "[no answer]"})
        remarks = turn.beside
        turn.text = self._outbox.deliver(turn.text)
        if len(turn.text) > MAX_REPLY:
            turn.text = turn.text[:MAX_REPLY]
            turn.note = f"The reply was cut after {MAX_REPLY} characters."
        return AgentReply(
            turn.text,
            tuple(turn.records),
            turn.tokens,
            self._state(),
            turn.note,
            tuple(turn.aside),
            tuple(turn.thoughts),
            remarks,
        )

    def close(self) -> tuple[Aside, ...]:
        """Consolidate the session into the memory, if that is wanted."""
        if not self._consolidates or not self._messages:
            return ()
        try:
            stamp = f"[{self._clock.now:%Y-%m-%d %H:%M}] " if self._clock.moves else ""
            return consolidate(self._client.complete, self._workspace, self._messages, stamp)
        except (WorkspaceError, ContextTooLongError, ContentFilteredError) as error:
            return (Aside("The memory was not brought up to date", str(error)),)

    def _ring(self) -> EnvironmentEvent | None:
        """What it scheduled in earlier sessions and is due by the clock of this one."""
        if "cron" not in general_names(self._setup.tools):
            return None
        return ring(self._workspace, self._clock.now)

    def _hear(self, message: Incoming) -> None:
        if not self._asked:
            self._put(as_chat(message, self._loop))
            return
        self._messages.append({"role": "tool", "tool_call_id": self._asked, "content": text_of(message)})
        self._asked, held, self._held = "", self._held, []
        for each in held:
            self._put(each)

    def _put(self, message: dict[str, Any]) -> None:
        if self._loop == 1:
            self._messages.append(message)
        else:
            put(self._held if self._asked else self._messages, message)

    def _briefing(self) -> str:
        """The system message; empty for none."""
        briefing = build_briefing(self._workspace, self._loop, consolidated=self._consolidates)
        clock = f"This session begins on {spoken(self._clock.start)}." if self._clock.moves else ""
        web = NO_WEB if self._loop > 1 and self._setup.corpus is None else ""
        helper = HELPER if self._loop > 1 and self._setup.helps else ""
        return "\n\n".join(part for part in (briefing, clock, web, helper, self._instructions) if part)

    def _complete(self, **params: Any) -> Completion:
        return self._client.complete(self._messages, tools=self._tools.schemas, **params)

    def _act(self, turn: Turn) -> None:
        while not (note := self._limit_reached(turn)):
            completion = self._ask(turn)
            if not completion.tool_calls:
                if self._finish_helpers(turn) or self._ask_again(turn, completion):
                    continue
                turn.note = NOTES.get(completion.ending, "")
                return
            for call in completion.tool_calls:
                cut = completion.ending == "cut" and not call.is_valid
                result = self._run_tool(turn, call, cut=cut)
                if self._loop > 1 and self._outbox.question and not self._asked:
                    self._asked = call.id
                else:
                    self._messages.append(result)
            self._show_pictures()
            if question := self._outbox.take_question():
                turn.text = "\n\n".join(part for part in (completion.text.strip(), question) if part)
                return
            if self._limits.tool_calls and len(turn.records) >= self._limits.tool_calls:
                turn.note = f"The limit of {self._limits.tool_calls} tool calls in a turn was reached."
                if not self._limit_reached(turn):
                    self._force_answer(turn)
                return
        turn.note = note

    def _ask_again(self, turn: Turn, completion: Completion) -> bool:
        """Tell the model what its answer lacks. False if it stands."""
        notice = turn.ask_again(completion, sent=bool(self._outbox.messages)) if self._loop > 1 else ""
        if notice:
            self._messages.append({"role": "user", "content": notice})
        return bool(notice)

    def _ask(self, turn: Turn, **params: Any) -> Completion:
        self._shorten(turn)
        try:
            completion = self._complete(**params)
        except ContextTooLongError:
            if not self._omit_results():
                raise AgentError("The conversation grew longer than the model can read.") from None
            return self._ask(turn, **params)
        except RequestRejectedError:
            if not (without_system_events(self._messages) or self._omit_pictures()):
                raise
            return self._ask(turn, **params)
        self._spend(turn, completion)
        turn.hear(completion, keeps_words=self._loop > 1)
        self._messages.append(completion.message)
        self._context.count(completion.spent, len(self._messages))
        return completion

    def _shorten(self, turn: Turn) -> None:
        try:
            shortened = self._context.shorten(self._messages, lambda messages: self._summarise(turn, messages))
        except ContextTooLongError:  # results will be left out
            return
        if shortened is not None:
            turn.aside.append(shortened)

    def _summarise(self, turn: Turn, messages: list[dict[str, Any]]) -> Completion:
        completion = self._client.complete(messages)
        self._spend(turn, completion)
        return completion

    def _spend(self, turn: Turn, completion: Completion) -> None:
        cost = completion.charge(self._client.endpoint.prices) or 0
        turn.calls += 1
        turn.tokens += completion.tokens
        turn.spent += completion.spent.total
        turn.cost += cost
        if completion.thoughts:
            turn.thoughts.append(Thought(completion.thoughts, completion.tokens.reasoning))
        self._tokens += completion.spent.total
        self._cost += cost

    def _force_answer(self, turn: Turn) -> None:
        completion = self._ask(turn, tool_choice="none")
        self._messages += [_tool_message(call, NOT_CALLED) for call in completion.tool_calls]

    def _run_tool(self, turn: Turn, call: RequestedToolCall, *, cut: bool) -> dict[str, Any]:
        if self._limits.tool_calls and len(turn.records) >= self._limits.tool_calls:
            return _tool_message(call, NOT_CALLED)
        record = ToolRecord(call.name, {}, CUT_CALL, ok=False) if cut else self._tools.call(call.name, call.arguments)
        turn.records.append(record)
        self._count_helpers(turn)
        return _tool_message(call, record.result)

    def _finish_helpers(self, turn: Turn) -> bool:
        """Let those in the background work whose answers nobody waited for. False if there are none."""
        event = self._delegated.finish()
        if event is None:
            return False
        self._count_helpers(turn)
        self._put(as_chat(event, self._loop))
        return True

    def _count_helpers(self, turn: Turn) -> None:
        for helped, spent in self._helpers:
            turn.records += helped.tool_calls
            turn.tokens += helped.tokens
            turn.thoughts += helped.thoughts
            turn.spent += spent
            self._tokens += spent
        self._helpers.clear()

    def _spawn(self, task: str) -> str:
        """A helper with the same files and apps works on ``task`` by itself."""
        limits = self._limits
        tools = tuple(name for name in self._setup.tools if name not in TALKING)
        general = tuple(name for name in general_names(self._setup.tools) if name not in TALKING)
        if not general:  # without any named, a toolbox has all
            raise ToolError("A helper would have no tools here: do it yourself.")
        helper = ReactAgent(
            replace(
                self._setup,
                tools=tuple(dict.fromkeys((*general, *tools))),
                limits=replace(limits, model_calls=min(limits.model_calls or MAX_HELPER_CALLS, MAX_HELPER_CALLS)),
                state={
                    "tokens": self._tokens,
                    "cost": str(self._cost),
                    "shell_seconds": self._shell.used,
                },
                helps=True,
            )
        )
        try:
            reply = helper.reply(task)
        except AgentError as error:
            raise ToolError(f"The helper failed: {error}") from None
        self._helpers.append((reply, int(reply.state["tokens"]) - self._tokens))
        self._cost = Decimal(str(reply.state["cost"]))
        self._shell.used = float(reply.state["shell_seconds"])
        return "\n".join(part for part in (reply.text or "[the helper said nothing]", reply.note) if part)

    def _show_pictures(self) -> None:
        """As the user's, since a tool's message holds only text."""
        if not (pictures := self._outbox.take_pictures()):
            return
        named = ", ".join(picture.path for picture in pictures)
        shown = [
            {
                "type": "image_url",
                "image_url": {"url": f"data:{picture.media_type};base64,{b64encode(picture.content).decode()}"},
            }
            for picture in pictures
        ]
        self._put({"role": "user", "content": [{"type": "text", "text": f"[{named}]"}, *shown]})

    def _omit_pictures(self) -> bool:
        """False if there were none."""
        shown = [
            message for message in self._messages if message["role"] == "user" and isinstance(message["content"], list)
        ]
        for message in shown:
            message["content"] = OMITTED_PICTURE
        return bool(shown)

    def _limit_reached(self, turn: Turn) -> str:
        limits = self._limits
        if limits.model_calls and turn.calls >= limits.model_calls:
            return f"The limit of {limits.model_calls} model calls in a turn was reached."
        if limits.turn_seconds and self._timing.now() - turn.started >= limits.turn_seconds:
            return f"The limit of {limits.turn_seconds:g} seconds for a turn was reached."
        if limits.turn_tokens and turn.spent >= limits.turn_tokens:
            return f"The limit of {limits.turn_tokens} tokens in a turn was reached."
        if limits.turn_cost and turn.cost >= limits.turn_cost:
            return f"The cost limit of {limits.turn_cost} in a turn was reached."
        if limits.tokens and self._tokens >= limits.tokens:
            return f"The limit of {limits.tokens} tokens in a session was reached."
        if limits.cost and self._cost >= limits.cost:
            return f"The cost limit of {limits.cost} in a session was reached."
        return ""

    def _omit_results(self) -> bool:
        """Omit pictures, or all but the last tool results. False if there was nothing left to omit."""
        if self._omit_pictures():
            return True
        results = [message for message in self._messages if message["role"] == "tool"]
        old = [message for message in results[:-RETAINED_RESULTS] if message["content"] != OMITTED_RESULT] or [
            message for message in results if message["content"] != OMITTED_RESULT
        ]
        for message in old:
            message["content"] = OMITTED_RESULT
        return bool(old)

    def _state(self) -> dict[str, Any]:
        return {
            "messages": [dict(message) for message in self._messages],
            "tokens": self._tokens,
            "cost": str(self._cost),
            "shell_seconds": round(self._shell.used, 3),
            "found_tools": list(self._tools.found),
            **({"context": self._context.state()} if self._context.tokens else {}),
            **({"asked": self._asked, "held": self._held} if self._asked else {}),
        }


def _tool_message(call: RequestedToolCall, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.id, "content": text}


KIND = AgentKind(
    "react",
    "A model that reasons and calls tools until it answers.",
    ReactAgent,
    {
        "instructions": "Added to its system message.",
        "memory": "With “own” it writes its memory itself. With “consolidated” a model call after each session also "
        "brings MEMORY.md up to date and adds to HISTORY.md, as the paper’s scaffold does.",
        "context_tokens": "The longest conversation, in tokens. Beyond it, a model call summarises what came before.",
        "tools": "With “all” it has every tool from the start. With “search” it has an app’s tools once it has looked "
        "for them, so that their descriptions take less room; chosen by itself for more than 128.",
    },
    choices={"memory": ("own", CONSOLIDATED), "tools": ("all", BY_SEARCH)},
    numbers=frozenset({"context_tokens"}),
)


def with_tools_in_reach(params: Mapping[str, str], tools: int) -> Mapping[str, str]:
    """The agent's parameters where a task has so many tools at most: it looks for them if there are too many to
    show."""
    return params if params.get("tools") or tools <= MOST_AT_ONCE else {**params, "tools": BY_SEARCH}
