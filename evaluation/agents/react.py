"""The built-in agent: a model that reasons and acts by function calling, until it answers in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from evaluation.agents.base import AgentSetup
from evaluation.agents.briefing import briefing
from evaluation.llm import BudgetExceededError, Completion, ContextTooLongError, RequestedToolCall
from evaluation.protocol.participants import AgentError, AgentReply, Tokens, ToolRecord
from evaluation.tools import Workspace, toolbox_for

MAX_REPLY = 100_000
"""Characters of a reply that the user, and so the judges, get to read."""
KEEP_RESULTS = 4
"""Tool results that stay whole when a conversation has grown too long."""
CUT_RESULT = "[this result was left out to save room; call the tool again if you need it]"
NOT_CALLED = "Error: not called, the limit on tool calls is reached. Answer the user now."


class ReactAgent:
    """Keeps the conversation of one session; its state between turns is in each reply."""

    def __init__(self, setup: AgentSetup) -> None:
        self._client = setup.client
        self._limits = setup.limits
        self._timing = setup.timing
        self._workspace = Workspace(setup.workspace)
        self._tools = toolbox_for(self._workspace, setup.tools)
        self._messages: list[dict[str, Any]] = [dict(message) for message in setup.state.get("messages", ())]
        self._tokens = Tokens(*setup.state.get("tokens", (0, 0)))
        self._cost = Decimal(str(setup.state.get("cost", "0")))

    def reply(self, message: str) -> AgentReply:
        """Take one turn. Raises AgentError if the conversation is longer than the model can read, and
        InfrastructureError."""
        if not self._messages:
            self._messages.append({"role": "system", "content": briefing(self._workspace)})
        self._messages.append({"role": "user", "content": message})
        turn = _Turn(began=self._timing.now())
        try:
            self._act(turn)
        except BudgetExceededError as spent:
            turn.note = str(spent)
        if self._messages[-1]["role"] != "assistant":  # whatever ended the turn, the next one follows an answer
            self._messages.append({"role": "assistant", "content": turn.text or "[no answer]"})
        if len(turn.text) > MAX_REPLY:
            turn.text = turn.text[:MAX_REPLY]
            turn.note = f"The reply was cut after {MAX_REPLY} characters."
        return AgentReply(turn.text, tuple(turn.records), turn.tokens, self._state(), turn.note)

    def _act(self, turn: _Turn) -> None:
        """Ask, act, and ask again, until there is an answer or a limit is reached."""
        while not (note := self._reached(turn)):
            completion = self._ask(turn)
            if not completion.tool_calls:
                turn.note = "" if completion.text.strip() else "The model said nothing."
                return
            for call in completion.tool_calls:
                self._messages.append(self._result(turn, call))
            if self._limits.tool_calls and len(turn.records) >= self._limits.tool_calls:
                turn.note = f"The limit of {self._limits.tool_calls} tool calls in a turn was reached."
                if not self._reached(turn):
                    self._last_word(turn)
                return
        turn.note = note

    def _ask(self, turn: _Turn, **params: Any) -> Completion:
        try:
            completion = self._client.complete(self._messages, tools=self._tools.schemas, **params)
        except ContextTooLongError:
            if not self._save_room():
                raise AgentError("The conversation grew longer than the model can read.") from None
            return self._ask(turn, **params)
        turn.calls += 1
        turn.tokens += completion.tokens
        turn.cost += completion.cost
        turn.text = completion.text
        self._tokens += completion.tokens
        self._cost += completion.cost
        self._messages.append(completion.message)
        return completion

    def _last_word(self, turn: _Turn) -> None:
        """One more call in which no tool may be called, so that the user is answered at all."""
        completion = self._ask(turn, tool_choice="none")
        self._messages += [_result_of(call, NOT_CALLED) for call in completion.tool_calls]

    def _result(self, turn: _Turn, call: RequestedToolCall) -> dict[str, Any]:
        if self._limits.tool_calls and len(turn.records) >= self._limits.tool_calls:
            return _result_of(call, NOT_CALLED)
        record = self._tools.call(call.name, call.arguments)
        turn.records.append(record)
        return _result_of(call, record.result)

    def _reached(self, turn: _Turn) -> str:
        """Which limit ends the turn now; "" for none."""
        limits = self._limits
        if limits.model_calls and turn.calls >= limits.model_calls:
            return f"The limit of {limits.model_calls} model calls in a turn was reached."
        if limits.turn_seconds and self._timing.now() - turn.began >= limits.turn_seconds:
            return f"The limit of {limits.turn_seconds:g} seconds for a turn was reached."
        if limits.turn_tokens and turn.tokens.total >= limits.turn_tokens:
            return f"The limit of {limits.turn_tokens} tokens in a turn was reached."
        if limits.turn_cost and turn.cost >= limits.turn_cost:
            return f"The cost limit of {limits.turn_cost} in a turn was reached."
        if limits.tokens and self._tokens.total >= limits.tokens:
            return f"The limit of {limits.tokens} tokens in a session was reached."
        if limits.cost and self._cost >= limits.cost:
            return f"The cost limit of {limits.cost} in a session was reached."
        return ""

    def _save_room(self) -> bool:
        """Leave out all but the last tool results; False: there was nothing left to leave out."""
        results = [message for message in self._messages if message["role"] == "tool"]
        old = [message for message in results[:-KEEP_RESULTS] if message["content"] != CUT_RESULT] or [
            message for message in results if message["content"] != CUT_RESULT
        ]
        for message in old:
            message["content"] = CUT_RESULT
        return bool(old)

    def _state(self) -> dict[str, Any]:
        return {
            "messages": [dict(message) for message in self._messages],
            "tokens": [self._tokens.prompt, self._tokens.completion],
            "cost": str(self._cost),
        }


class _Turn:
    """What one turn has come to."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.calls = 0
        self.tokens = Tokens()
        self.cost = Decimal(0)
        self.records: list[ToolRecord] = []
        self.text = ""
        """Of the model's last message."""
        self.note = ""


def _result_of(call: RequestedToolCall, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.id, "content": text}
