"""An endpoint's answer, validated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from evaluation.llm.errors import UnreadableAnswerError
from evaluation.protocol.participants import Tokens

MAX_ARGUMENTS_SHOWN = 2_000
"""Characters of invalid arguments that go back to the model."""


@dataclass(frozen=True)
class RequestedToolCall:
    """A tool call as the model wrote it; ``arguments`` may be any text."""

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields that the endpoint requires back with this call (``extra_content``)."""

    @property
    def entry(self) -> dict[str, Any]:
        """For the conversation. Arguments that are not a JSON object are wrapped, since some endpoints reject them."""
        try:
            is_object = isinstance(json.loads(self.arguments or "{}"), dict)
        except (ValueError, RecursionError):
            is_object = False
        arguments = (
            (self.arguments or "{}") if is_object else json.dumps({"not_json": self.arguments[:MAX_ARGUMENTS_SHOWN]})
        )
        function = {"name": self.name, "arguments": arguments}
        return {"id": self.id, "type": "function", "function": function, **self.extra}


Ending = Literal["answered", "cut", "filtered", "refused", "empty"]
"""``cut``: at its limit of tokens. ``filtered``: by the service. ``empty``: neither words nor tool calls."""


@dataclass(frozen=True)
class AnsweredBy:
    """As the service says; empty where it does not."""

    model: str = ""
    fingerprint: str = ""
    provider: str = ""
    """Behind a router."""
    quantisation: str = ""


@dataclass(frozen=True)
class Completion:
    text: str
    """What was said, without thoughts."""
    tool_calls: tuple[RequestedToolCall, ...]
    finish_reason: str
    """As the service says."""
    tokens: Tokens
    cost: Decimal | None
    """None: a price or what was used is unknown."""
    request_hash: str
    replayed: bool
    """Answered from the record; nothing was sent."""
    thoughts: str = ""
    """Readable reasoning: for nobody but who reads the transcript."""
    ending: Ending = "answered"
    answered_by: AnsweredBy = AnsweredBy()
    as_came: Mapping[str, Any] | None = None
    """The service's message."""

    @property
    def message(self) -> dict[str, Any]:
        """For the conversation: with exactly the fields that the service sent and wants back."""
        if self.as_came is not None:
            return dict(self.as_came)
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = [call.entry for call in self.tool_calls]
        return message


def read_completion(
    body: Any,
) -> tuple[str, tuple[RequestedToolCall, ...], str, Tokens]:
    """Text, tool calls, finish reason and tokens of a chat completion. Raises UnreadableAnswerError."""
    if not isinstance(body, Mapping):
        raise UnreadableAnswerError("The answer is not a JSON object.")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnreadableAnswerError("The answer has no choices.")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise UnreadableAnswerError("The answer's first choice has no message.")
    calls = message.get("tool_calls") or ()
    if not isinstance(calls, (list, tuple)):
        raise UnreadableAnswerError("The answer's tool calls are not a list.")
    requested = tuple(_requested(call, position) for position, call in enumerate(calls))
    return _content(message.get("content")), requested, _text(choice.get("finish_reason")), _tokens(body.get("usage"))


def _requested(call: Any, position: int) -> RequestedToolCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise UnreadableAnswerError(f"Tool call {position + 1} of the answer names no function.")
    return RequestedToolCall(
        _text(call.get("id")) or f"call_{position}",
        _text(function.get("name")),
        _text(function.get("arguments")),
        {"extra_content": call["extra_content"]} if call.get("extra_content") else {},
    )


def _content(content: Any) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return _text(content)


def _tokens(usage: Any) -> Tokens:
    """Cached input stands in three places, by service."""
    told = usage if isinstance(usage, Mapping) else {}
    prompt, completion = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    details, more = _mapping(told.get("prompt_tokens_details")), _mapping(told.get("completion_tokens_details"))
    cached = (details.get("cached_tokens"), told.get("cached_tokens"), told.get("prompt_cache_hit_tokens"))
    return Tokens(
        prompt,
        completion,
        next((count for count in map(_count, cached) if count is not None), None),
        _count(details.get("cache_write_tokens")),
        _count(more.get("reasoning_tokens")),
        untold=int(prompt is None or completion is None),
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
