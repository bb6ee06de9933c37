"""An endpoint's answer, validated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from evaluation.llm.endpoint import Prices
from evaluation.llm.errors import UnreadableAnswerError
from evaluation.llm.responses import finish_reason_of, message_of, usage_of
from evaluation.llm.thoughts import read_message
from evaluation.protocol.participants import Tokens

MAX_ARGUMENTS_SHOWN = 2_000
"""Characters of invalid arguments that go back to the model."""

Ending = Literal["answered", "cut", "filtered", "refused", "empty"]
"""``cut``: at its limit of tokens. ``filtered``: by the service. ``empty``: neither words nor tool calls."""
_ENDINGS: Mapping[str, Ending] = {
    "length": "cut",
    "max_tokens": "cut",
    "model_length": "cut",
    "content_filter": "filtered",
    "sensitive": "filtered",
    "refusal": "refused",
}


@dataclass(frozen=True)
class AnsweredBy:
    """As the service says; empty where it does not."""

    model: str = ""
    fingerprint: str = ""
    provider: str = ""
    """Behind a router."""
    quantisation: str = ""


@dataclass(frozen=True)
class RequestedToolCall:
    """A tool call as the model wrote it; ``arguments`` may be any text."""

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What else the service sent with this call, and requires back (``extra_content``)."""

    @property
    def is_valid(self) -> bool:
        """Whether the arguments are a JSON object."""
        try:
            return isinstance(json.loads(self.arguments or "{}"), dict)
        except (ValueError, RecursionError):
            return False

    @property
    def entry(self) -> dict[str, Any]:
        """For the conversation. Arguments that are not a JSON object are wrapped, since some endpoints reject them."""
        arguments = self.arguments or "{}"
        if not self.is_valid:
            arguments = json.dumps({"not_json": self.arguments[:MAX_ARGUMENTS_SHOWN]})
        function = {"name": self.name, "arguments": arguments}
        return {"id": self.id, "type": "function", "function": function, **self.extra}


@dataclass(frozen=True)
class Completion:
    text: str
    """What was said, without thoughts; a refusal too."""
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
    estimate: Tokens = field(default_factory=Tokens)
    """Of what was used, by the length of request and answer."""

    @property
    def message(self) -> dict[str, Any]:
        """For the conversation: with exactly the fields that the service sent and wants back."""
        built = {"role": "assistant", "content": self.text}
        message: dict[str, Any] = dict(built if self.as_came is None else self.as_came)
        if self.tool_calls:
            message["tool_calls"] = [call.entry for call in self.tool_calls]
        return message

    @property
    def spent(self) -> Tokens:
        """What limits count: as the service told it, and what it did not tell, as estimated."""
        told, guess = self.tokens, self.estimate
        prompt = guess.prompt if told.prompt is None else told.prompt
        completion = guess.completion if told.completion is None else told.completion
        return replace(told, prompt=prompt, completion=completion, untold=0)

    def charge(self, prices: Prices) -> Decimal | None:
        """What limits count: the cost, or where it is not known, that of ``spent``; None: no price."""
        return prices.of(self.spent) if self.cost is None else self.cost


@dataclass(frozen=True)
class Answer:
    """What a response says."""

    text: str
    thoughts: str
    tool_calls: tuple[RequestedToolCall, ...]
    finish_reason: str
    ending: Ending
    tokens: Tokens
    cost: Decimal | None
    answered_by: AnsweredBy
    message: Mapping[str, Any]


def read_answer(body: Any) -> Answer:
    """Of a chat completion or the Responses API. Raises UnreadableAnswerError."""
    if not isinstance(body, Mapping):
        raise UnreadableAnswerError("The answer is not a JSON object.")
    message: Mapping[str, Any]
    usage: Any
    if isinstance(body.get("output"), list):
        message, finish, usage = message_of(body), finish_reason_of(body), usage_of(body)
    else:
        message, finish = _choice(body)
        usage = body.get("usage")
    given = message.get("tool_calls") or ()
    if not isinstance(given, (list, tuple)):
        raise UnreadableAnswerError("The answer's tool calls are not a list.")
    calls = _with_ids_of_their_own(tuple(_requested(call, position) for position, call in enumerate(given)))
    thoughts, text = read_message(message)
    refusal = _text(message.get("refusal"))
    if not text.strip() and refusal:
        text = refusal
    ending = _ENDINGS.get(finish, "answered")
    if refusal and ending == "answered":
        ending = "refused"
    if ending == "answered" and not calls and not text.strip():
        ending = "empty"
    return Answer(text, thoughts, calls, finish, ending, _tokens(usage), _told_cost(usage), _answered_by(body), message)


def _choice(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnreadableAnswerError("The answer has no choices.")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise UnreadableAnswerError("The answer's first choice has no message.")
    nothing = None if message.get("tool_calls") else ""
    return {"role": "assistant", "content": nothing, **message}, _text(choice.get("finish_reason"))


def _requested(call: Any, position: int) -> RequestedToolCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise UnreadableAnswerError(f"Tool call {position + 1} of the answer names no function.")
    arguments = function.get("arguments")
    return RequestedToolCall(
        _text(call.get("id")) or f"call_{position}",
        _text(function.get("name")),
        json.dumps(arguments) if isinstance(arguments, Mapping) else _text(arguments),
        {name: value for name, value in call.items() if name not in ("id", "type", "function")},
    )


def _with_ids_of_their_own(calls: tuple[RequestedToolCall, ...]) -> tuple[RequestedToolCall, ...]:
    """Some servers give two calls one id, by which their results could not be told apart."""
    if len({call.id for call in calls}) == len(calls):
        return calls
    return tuple(replace(call, id=f"{call.id}_{position}") for position, call in enumerate(calls))


def _answered_by(body: Mapping[str, Any]) -> AnsweredBy:
    names = ("model", "system_fingerprint", "provider", "quantization")
    return AnsweredBy(*(_text(body.get(name)) for name in names))


def _told_cost(usage: Any) -> Decimal | None:
    """In US dollars, as OpenRouter tells it."""
    cost = usage.get("cost") if isinstance(usage, Mapping) else None
    if isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 <= cost < 1e6:
        return Decimal(str(cost)).quantize(Decimal("0.000001"))
    return None


def _tokens(usage: Any) -> Tokens:
    """Cached input stands in three places, by service. Gemini counts thoughts, which it bills, in the total alone."""
    told = _mapping(usage)
    prompt, completion = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    details, more = _mapping(told.get("prompt_tokens_details")), _mapping(told.get("completion_tokens_details"))
    reasoning = _first((more.get("reasoning_tokens"), told.get("reasoning_tokens")))
    total = _count(told.get("total_tokens"))
    if prompt is not None and completion is not None and total is not None:
        uncounted = total - prompt - completion
        if uncounted > 0 and reasoning in (None, uncounted):
            completion, reasoning = completion + uncounted, uncounted
    cached = (details.get("cached_tokens"), told.get("cached_tokens"), told.get("prompt_cache_hit_tokens"))
    written = (
        details.get("cache_write_tokens"),
        details.get("cache_creation_input_tokens"),
        told.get("cache_creation_input_tokens"),
    )
    return Tokens(
        prompt,
        completion,
        _first(cached),
        _first(written),
        reasoning,
        untold=int(prompt is None or completion is None),
    )


def _first(values: tuple[Any, ...]) -> int | None:
    return next((count for count in map(_count, values) if count is not None), None)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
