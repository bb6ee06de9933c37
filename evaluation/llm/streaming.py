"""An answer that arrives in pieces, put together: no field that a service sends is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evaluation.llm.errors import TruncatedAnswerError, UnreadableAnswerError

Json = dict[str, Any]
MOST_PARTS = 10_000
"""Of a list: each piece is looked for among them."""
_TEXTS = frozenset(
    ("content", "reasoning_content", "reasoning", "refusal", "arguments", "text", "summary", "thinking", "data")
)
"""Fields that arrive bit by bit. Others come whole."""
_SAID = ("content", "tool_calls", "reasoning_content", "reasoning")
_KEPT = ("id", "object", "created", "model", "system_fingerprint", "provider", "service_tier", "usage")
_OF_CHOICES = ("finish_reason", "native_finish_reason", "error")
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def assemble(events: Iterable[object], on_begin: Callable[[], None] = lambda: None) -> Json:
    """A chat completion or a Responses answer. ``on_begin`` is called when the answer itself begins.

    Raises TruncatedAnswerError if its end is missing, UnreadableAnswerError.
    """
    answer: Json = {}
    message: Json = {"role": "assistant"}
    choice: Json = {"index": 0, "message": message}
    begun = False
    for event in events:
        if not isinstance(event, Mapping):
            raise UnreadableAnswerError("A piece of the streamed answer is not a JSON object.")
        kind = event.get("type")
        if kind in _ENDS and isinstance(event.get("response"), Mapping):
            return dict(event["response"])
        says = isinstance(kind, str) and kind.endswith(".delta") and bool(event.get("delta"))
        answer |= {name: event[name] for name in (*_KEPT, "error", "base_resp") if event.get(name) is not None}
        choices = event.get("choices")
        for part in choices[:1] if isinstance(choices, list) else ():
            if not isinstance(part, Mapping):
                continue
            delta = part.get("delta") or part.get("message")
            if isinstance(delta, Mapping):
                _grow(message, delta)
                says = says or any(delta.get(name) for name in _SAID)
            choice |= {name: part[name] for name in _OF_CHOICES if part.get(name)}
        if says and not begun:
            begun = True
            on_begin()
    if "finish_reason" not in choice and "error" not in answer and "base_resp" not in answer:
        raise TruncatedAnswerError("The stream ended before the answer did.")
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            call.pop("index", None)
    message.setdefault("content", None if calls else "")
    return answer | {"object": "chat.completion", "choices": [] if "error" in answer else [choice]}


def _grow(whole: Json, piece: Mapping[str, Any]) -> None:
    for name, value in piece.items():
        old = whole.get(name)
        if value is None:
            whole.setdefault(name, None)
        elif isinstance(value, str) and isinstance(old, str) and name in _TEXTS:
            whole[name] = old + value
        elif isinstance(value, list) and (old is None or isinstance(old, list)):
            whole[name] = old or []
            for entry in value:
                _add(whole[name], entry)
        elif isinstance(value, list) and isinstance(old, str) and name == "content":
            whole[name] = [{"type": "text", "text": old}] if old else []
            for entry in value:
                _add(whole[name], entry)
        elif isinstance(value, str) and isinstance(old, list) and name == "content":
            _add(old, {"type": "text", "text": value})
        elif isinstance(value, Mapping) and isinstance(old, dict):
            _grow(old, value)
        elif value != "" or name not in whole:  # an empty text after the first piece is no news
            whole[name] = _copy(value)


def _add(entries: list[Any], piece: Any) -> None:
    """To the entry that it belongs to: by its number, or else the last one if that is of its kind and open."""
    if not isinstance(piece, Mapping):
        entries.append(piece)
    elif entry := _entry_of(entries, piece):
        _grow(entry, piece)
    elif len(entries) == MOST_PARTS:
        raise UnreadableAnswerError(f"A list of the streamed answer has more than {MOST_PARTS:,} parts.")
    else:
        entries.append(_copy(piece))


def _entry_of(entries: list[Any], piece: Mapping[str, Any]) -> Json | None:
    number = piece.get("index")
    own = (entry for entry in reversed(entries) if isinstance(entry, dict))
    if isinstance(number, int):
        own = (entry for entry in own if entry.get("index") == number)
    last = next(own, None)
    if last is None or (piece.get("type") or last.get("type")) != (last.get("type") or piece.get("type")):
        return None
    if "function" in piece or "function" in last:  # another call begins with an id of its own
        return None if piece.get("id") not in (None, "", last.get("id")) else last
    return None if last.get("signature") and not piece.get("signature") and "index" not in piece else last


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copy(part) for name, part in value.items()}
    return [_copy(part) for part in value] if isinstance(value, list) else value
