"""Requests and answers as calls store them: what is new, compressed with what came before.

A conversation stands whole in every request. So a request is stored without its leading messages that are those of
the last request of its kind, and what is left is compressed with the end of what was stored before as a dictionary.
Reading gives request and answer back to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zstandard import DICT_TYPE_RAWCONTENT, ZstdCompressionDict, ZstdCompressor, ZstdDecompressor

WINDOW = 65_536
"""Bytes that serve as a dictionary."""
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Exchange:
    body: str
    """The request without its messages, as JSON; in their place null, because the order of keys counts."""
    messages: Sequence[str]
    """As JSON."""
    response: Json | None

    @property
    def request(self) -> Json:
        request: dict[str, Any] = json.loads(self.body)
        if "messages" in request:
            request["messages"] = [json.loads(message) for message in self.messages]
        return request


_NOTHING = Exchange("", (), None)


@dataclass(frozen=True)
class Chain:
    """What a call builds on: the calls of its owner before it."""

    context: bytes = b""
    last: Mapping[str, Exchange] = field(default_factory=dict)
    """By kind."""

    def pack(self, kind: str, request: Json, response: Json | None) -> tuple[bytes, Chain]:
        """The content to store, and the chain with it."""
        before = self.last.get(kind, _NOTHING)
        body = _text({name: None if name == "messages" else value for name, value in request.items()})
        messages = [_text(message) for message in request.get("messages", ())]
        same = count_same(messages, before.messages)
        new = ",".join(messages[same:])
        plain = f"[{same},{'null' if body == before.body else body},[{new}],{_text(response)}]".encode()
        content = ZstdCompressor(dict_data=self._dictionary()).compress(plain)
        return content, self._with(kind, Exchange(body, messages, response), plain)

    def unpack(self, kind: str, content: bytes) -> tuple[Exchange, Chain]:
        """Of content that was packed by an equal chain."""
        before = self.last.get(kind, _NOTHING)
        plain = ZstdDecompressor(dict_data=self._dictionary()).decompress(content)
        same, body, new, response = json.loads(plain)
        messages = [*before.messages[:same], *map(_text, new)]
        exchange = Exchange(before.body if body is None else _text(body), messages, response)
        return exchange, self._with(kind, exchange, plain)

    def _with(self, kind: str, exchange: Exchange, plain: bytes) -> Chain:
        return Chain((self.context + plain)[-WINDOW:], {**self.last, kind: exchange})

    def _dictionary(self) -> ZstdCompressionDict | None:
        return ZstdCompressionDict(self.context, dict_type=DICT_TYPE_RAWCONTENT) if self.context else None

    def shorten(self, kind: str, messages: Sequence[Json]) -> dict[str, Any]:
        """A conversation as JSON that refers to the last request of its kind."""
        same = count_same([_text(message) for message in messages], self.last.get(kind, _NOTHING).messages)
        return {"same": same, "more": list(messages[same:])}

    def restore(self, kind: str, short: Json) -> list[Any]:
        """By the chain that shortened it."""
        messages = self.last.get(kind, _NOTHING).messages[: short["same"]]
        return [*map(json.loads, messages), *short["more"]]


def count_same(messages: Sequence[str], before: Sequence[str]) -> int:
    """The leading ones that are equal."""
    pairs = enumerate(zip(messages, before, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(messages), len(before)))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
