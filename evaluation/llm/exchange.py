"""Requests and answers as they are stored: only what is new since an earlier one, compressed.

A conversation stands whole in every request. An exchange therefore says how many of its first messages are those of
an earlier one, its *likeness*, and is compressed with what came before, its *context*, as the dictionary. The context
is that of one earlier exchange, its *base*, so that the exchanges of an owner (a session) form a chain. The first one
is compressed with a dictionary of what requests and answers often contain. Decoding gives request and answer back to
the byte.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WINDOW = 32_768
"""Bytes that zlib can look back; so much of what came before serves as its dictionary."""
LONG = 2_000
"""Characters of the tools of a request from which on they are stored apart, once for all who have them."""
SHARED = 64
"""Characters that two texts must share at an end to be worth a reference."""

DICTIONARIES = [(Path(__file__).parent / "dictionaries" / "1.txt").read_bytes()]
"""What was compressed with one of them cannot be read without it: a file is never changed. The last one is used."""
_BY_CHECKSUM = {zlib.adler32(content): content for content in DICTIONARIES}

Json = Mapping[str, Any]
Shelve = Callable[[str], str]
"""Stores a text by its hash, and returns that; reading one back has the same shape."""


@dataclass(frozen=True)
class Exchange:
    key: int
    """Names it among the exchanges of its owner."""
    request: Json
    response: Json | None

    @property
    def messages(self) -> Sequence[Json]:
        messages: Sequence[Json] = self.request.get("messages", ())
        return messages


def encode(
    request: Json,
    response: Json | None,
    context: bytes = b"",
    likeness: Exchange | None = None,
    shelve: Shelve | None = None,
) -> tuple[bytes, bytes]:
    """The content to store, and the context for what builds on it. ``context`` is that of the base; empty for none."""
    context = context or DICTIONARIES[-1]
    document: dict[str, Any] = {}
    if "messages" in request:
        document |= _encode_messages(request["messages"], likeness)
    body = _without_messages(request)
    if likeness is None or not _is_same(body, _without_messages(likeness.request)):
        tools = _text(body["tools"]) if shelve and body.get("tools") else ""
        if shelve and tools and len(tools) >= LONG:  # all sessions of an agent have the same
            document["tools"] = shelve(tools)
            body = {**body, "tools": None}
        document["body"] = body
    if response is not None:
        document["answer"] = response
    plain = _text(document).encode()
    return _compress(plain, context), (context + plain)[-WINDOW:]


def decode(
    key: int, content: bytes, context: bytes, known: Mapping[int, Exchange], unshelve: Shelve | None = None
) -> tuple[Exchange, bytes]:
    """The exchange, and the context for what builds on it. ``known`` are the exchanges decoded before, by key."""
    context = context or _dictionary_of(content)
    plain = _decompress(content, context)
    document = json.loads(plain)
    likeness = known[document["like"]] if "like" in document else None
    body = document["body"] if "body" in document else _without_messages(likeness.request if likeness else {})
    request = dict(body)
    if unshelve and "tools" in document:
        request["tools"] = json.loads(unshelve(document["tools"]))
    if "messages" in request:
        request["messages"] = _decode_messages(document, likeness)
    return Exchange(key, request, document.get("answer")), (context + plain)[-WINDOW:]


def sharing(request: Json, likeness: Exchange | None) -> Json:
    """The request with the very messages of ``likeness`` where they are the same, to hold them in memory once."""
    if likeness is None or "messages" not in request:
        return request
    same = _count_same(request["messages"], likeness.messages)
    return {**request, "messages": [*likeness.messages[:same], *request["messages"][same:]]}


def encode_messages(messages: Sequence[Json], likeness: Exchange | None) -> dict[str, Any]:
    """For what else holds a conversation, as JSON: ``{"like", "same", "more"}``."""
    return _encode_messages(messages, likeness)


def decode_messages(document: Json, known: Mapping[int, Exchange]) -> list[Any]:
    return _decode_messages(document, known[document["like"]] if "like" in document else None)


def _encode_messages(messages: Sequence[Json], likeness: Exchange | None) -> dict[str, Any]:
    if likeness is None:
        return {"more": list(messages)}
    before = likeness.messages
    same = _count_same(messages, before)
    more = [
        _encode_message(
            message, before[position] if position < len(before) else None, likeness if position == len(before) else None
        )
        for position, message in enumerate(messages[same:], start=same)
    ]
    return {"like": likeness.key, "same": same, "more": more}


def _decode_messages(document: Json, likeness: Exchange | None) -> list[Any]:
    before = likeness.messages if likeness else ()
    messages = [*before[: document.get("same", 0)]]
    for entry in document["more"]:
        earlier = before[len(messages)] if len(messages) < len(before) else None
        messages.append(_decode_message(entry, earlier, likeness))
    return messages


def _encode_message(message: Json, before: Json | None, answered: Exchange | None) -> Any:
    """A list refers to something: ``[start, end, text, message]`` to the text of the message at the same position, and
    ``[keys, message]`` to the answer. A mapping is the message itself."""
    content = message.get("content")
    if before is not None and isinstance(content, str) and isinstance(before.get("content"), str):
        start, end = _shared_ends(content, before["content"])
        if start + end >= SHARED:
            return [start, end, content[start : len(content) - end], {**message, "content": None}]
    if answered is not None and (answer := _answer_message(answered)) is not None:
        same = [key for key, value in message.items() if key in answer and _is_same(value, answer[key])]
        if same:
            return [same, {key: None if key in same else value for key, value in message.items()}]
    return message


def _decode_message(entry: Any, before: Json | None, likeness: Exchange | None) -> Any:
    if not isinstance(entry, list) or likeness is None:
        return entry
    if len(entry) == 4:
        start, end, middle, message = entry
        text = before["content"] if before else ""
        return {**message, "content": text[:start] + middle + text[len(text) - end :]}
    same, message = entry
    answer = _answer_message(likeness) or {}
    return {key: answer[key] if key in same else value for key, value in message.items()}


def _answer_message(exchange: Exchange) -> Json | None:
    try:
        message = (exchange.response or {})["choices"][0]["message"]
    except (KeyError, IndexError, TypeError):
        return None
    return message if isinstance(message, dict) else None


def _count_same(messages: Sequence[Json], before: Sequence[Json]) -> int:
    count = 0
    for message, earlier in zip(messages, before, strict=False):
        if not _is_same(message, earlier):
            break
        count += 1
    return count


def _shared_ends(text: str, other: str) -> tuple[int, int]:
    """Lengths of the longest common start, and of the longest common end behind it."""
    limit = min(len(text), len(other))
    start = _longest(limit, lambda length: text[:length] == other[:length])
    rest = limit - start
    end = _longest(rest, lambda length: text[len(text) - length :] == other[len(other) - length :])
    return start, end


def _longest(limit: int, agrees: Callable[[int], bool]) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if agrees(middle) else (low, middle - 1)
    return low


def _without_messages(request: Json) -> dict[str, Any]:
    """With a placeholder, because the order of keys counts."""
    return {key: None if key == "messages" else value for key, value in request.items()}


def _is_same(value: Any, other: Any) -> bool:
    """Whether they are the same as JSON, to the byte."""
    if value is other:
        return True
    if isinstance(value, dict) and isinstance(other, dict):
        return len(value) == len(other) and all(
            key == name and _is_same(one, two)
            for (key, one), (name, two) in zip(value.items(), other.items(), strict=True)
        )
    if isinstance(value, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(value) == len(other) and all(map(_is_same, value, other))
    if isinstance(value, str) and isinstance(other, str):
        return value == other
    return type(value) is type(other) and _text(value) == _text(other)


def _dictionary_of(content: bytes) -> bytes:
    """As the header of its format (RFC 1950) names it; empty for none."""
    return _BY_CHECKSUM[int.from_bytes(content[2:6])] if content[1] & 0x20 else b""


def _compress(plain: bytes, context: bytes) -> bytes:
    packer = zlib.compressobj(zdict=context)
    return packer.compress(plain) + packer.flush()


def _decompress(content: bytes, context: bytes) -> bytes:
    unpacker = zlib.decompressobj(zdict=context) if context else zlib.decompressobj()
    return unpacker.decompress(content) + unpacker.flush()


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
