"""How services differ in what they want back and how they are told how hard to think.

The services are in ``dialects.toml``; one that is not there gets its own messages back as they came.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, TypeAdapter

from evaluation.llm.thoughts import FIELDS

Json = Mapping[str, Any]
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
NO_WORDS = "[no answer]"
"""In place of an answer without words or calls, which several services refuse in a conversation."""

_ALWAYS_SENT = ("role", "content", "name", "tool_calls", "tool_call_id")
ORIGIN, OUTPUT = "origin", "output"
"""Our own fields of an assistant's message: who sent it, and the items of a Responses answer. Never sent."""
_MARK = {"type": "ephemeral"}


@dataclass(frozen=True)
class Dialect:
    """``returned``: the fields of an assistant's message that go back to the model that sent it."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    hosts: tuple[str, ...] = ()
    """The ends of the names of its hosts."""
    returned: tuple[str, ...] = (*FIELDS, "extra_content")
    across_turns: bool = True
    """Whether they also go back once the user has spoken again."""
    insists: str = ""
    """A field that may not be missing beside tool calls, even if it is empty."""
    effort: Literal["reasoning_effort", "thinking", "enable_thinking", "reasoning", ""] = "reasoning_effort"
    """The form in which effort is told. ``thinking``: ``reasoning_effort``, and none by ``thinking.type``."""
    cache: Literal["", "field", "marks"] = ""
    """Whether the service wants to be told what to cache, by a field of the request or by marks in messages."""
    cached_models: str = ""
    """A pattern of the models for which it does; empty: all."""
    batches: bool = False
    """Whether it answers batches at half the price (``evaluation.llm.batches``)."""
    short_ids: bool = False
    """Whether ids of tool calls are nine letters and digits (Mistral)."""


DIALECTS: Mapping[str, Dialect] = {
    "": Dialect(),
    **TypeAdapter(dict[str, Dialect]).validate_python(
        tomllib.loads(Path(__file__).with_name("dialects.toml").read_text("utf-8"))
    ),
}


def dialect_of(chosen: str, base_url: str) -> Dialect:
    """As set on the model, or by its address."""
    if chosen:
        return DIALECTS.get(chosen, DIALECTS[""])
    host = (urlsplit(base_url).hostname or "").casefold()
    fits = (each for each in DIALECTS.values() for end in each.hosts if host == end or host.endswith(f".{end}"))
    return next(fits, DIALECTS[""])


def effort_params(dialect: Dialect, effort: str) -> dict[str, Any]:
    """How the service is told. Raises ValueError where it cannot be, for another effort is another system."""
    if not effort:
        return {}
    if dialect.effort == "":
        raise ValueError("Effort has no effect at this address. Connect the model through a router instead.")
    if dialect.effort == "reasoning":
        return {"reasoning": {"effort": effort}}
    if effort == "none" and dialect.effort == "thinking":
        return {"thinking": {"type": "disabled"}}
    if dialect.effort == "enable_thinking":
        return {"enable_thinking": False} if effort == "none" else {"enable_thinking": True, "reasoning_effort": effort}
    return {"reasoning_effort": effort}


def origin_of(base_url: str, model: str) -> str:
    return hashlib.sha256(f"{base_url} {model}".encode()).hexdigest()[:8]


def messages_for(dialect: Dialect, origin: str, messages: Sequence[Json], model: str) -> list[dict[str, Any]]:
    """The conversation as the service takes it: what it sent itself comes back, and nothing of our own."""
    last_user = max((index for index, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    sent = []
    for index, message in enumerate(messages):
        if message.get("role") == "assistant":
            own = message.get(ORIGIN, origin) == origin
            thinks = own and (dialect.across_turns or index > last_user)
            message = _answer(dialect, message, own=own, thinks=thinks)
        else:
            message = {name: message[name] for name in _ALWAYS_SENT if name in message}
        sent.append(_with_short_ids(message) if dialect.short_ids else message)
    if dialect.cache == "marks" and re.search(dialect.cached_models, model, re.I):
        _mark(sent)
    return sent


def carries_thoughts(message: Json) -> bool:
    """Whether its service sent anything with it by which the model goes on thinking, readable or not."""
    if OUTPUT in message:
        return any(item.get("type") == "reasoning" for item in message[OUTPUT])
    parts = (message, *(message.get("tool_calls") or ()))
    fields = (*FIELDS, "extra_content", "provider_specific_fields")
    return isinstance(message.get("content"), list) or any(part.get(name) for part in parts for name in fields)


def request_fields(dialect: Dialect, model: str) -> dict[str, Any]:
    """What the service wants in each request besides."""
    if dialect.cache == "field" and re.search(dialect.cached_models, model, re.I):
        return {"cache_control": _MARK}
    return {}


def _answer(dialect: Dialect, message: Json, *, own: bool, thinks: bool) -> dict[str, Any]:
    kept = (*_ALWAYS_SENT, *dialect.returned) if thinks else _ALWAYS_SENT
    answer = {name: message[name] for name in kept if name in message}
    calls = answer.get("tool_calls")
    if not calls:
        answer.pop("tool_calls", None)
        if not answer.get("content"):
            answer["content"] = NO_WORDS
    elif dialect.insists and thinks:
        answer.setdefault(dialect.insists, "")
    if not own:  # known keys only
        answer["content"] = _plain(answer.get("content"))
        if calls:
            answer["tool_calls"] = [{name: call[name] for name in ("id", "type", "function")} for call in calls]
    return answer


def _plain(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping) and "text" in part)


def _with_short_ids(message: dict[str, Any]) -> dict[str, Any]:
    if calls := message.get("tool_calls"):
        return {**message, "tool_calls": [{**call, "id": _short(str(call.get("id")))} for call in calls]}
    if "tool_call_id" in message:
        return {**message, "tool_call_id": _short(str(message["tool_call_id"]))}
    return message


def _short(identity: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9]{9}", identity):
        return identity
    return hashlib.sha256(identity.encode()).hexdigest()[:9]


def _mark(messages: list[dict[str, Any]]) -> None:
    """After the briefing, and after the last message: what comes before is read from the cache next time."""
    last = len(messages) - 1
    for index in {0, last}:
        content = messages[index].get("content") if messages else None
        parts = [{"type": "text", "text": content}] if isinstance(content, str) and content else content
        if isinstance(parts, list) and parts:
            messages[index] = {**messages[index], "content": [*parts[:-1], {**parts[-1], "cache_control": _MARK}]}
