"""Requests as text: what is sent, and what identifies it.

A conversation stands whole in every request, so what was rendered of it for the last one is kept.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Rendered:
    request: Json
    """As it was when it was rendered, whatever becomes of the messages it was made of."""
    content: bytes
    """As it is sent."""
    digest: str
    """Identifies what was asked of which model: by address, body and the number of its repetition.

    Not by the endpoint's name: a renamed one, or another of the same model, is answered from the same record.
    """
    storable: bool
    """Whether PostgreSQL certainly takes every text in it."""


class Renderer:
    """Of the requests of one client. What is offered as tools is not changed between them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._messages = _Messages("")
        self._tools: tuple[Sequence[Json], _Text] = ((), _Text(b"", ""))

    def render(self, address: str, body: Json, sequence: int) -> Rendered:
        with self._lock:
            return self._render(address, body, sequence)

    def _render(self, address: str, body: Json, sequence: int) -> Rendered:
        texts = {name: self._text(name, value) for name, value in body.items() if name != "messages"}
        names = sorted(body)
        before = "".join(f"{_sorted(name)}:{texts[name].ordered}," for name in names if name < "messages")
        after = "".join(f",{_sorted(name)}:{texts[name].ordered}" for name in names if name > "messages")
        start = f'[{_sorted(address)},{sequence},{{{before}"messages":['
        if not self._messages.grow(start, body["messages"]):
            self._messages = _Messages(start)
            self._messages.grow(start, body["messages"])
        messages = self._messages
        identity = messages.identity.copy()
        identity.update(f"]{after}}}]".encode())
        parts = [
            b'"messages":[%s]' % messages.content
            if name == "messages"
            else b"%s:%s" % (_encode(name), texts[name].plain)
            for name in body
        ]
        return Rendered(
            {**body, "messages": list(messages.copies)},
            b"{%s}" % b",".join(parts),
            identity.hexdigest(),
            messages.storable and _is_storable(start) and _is_storable(after),
        )

    def _text(self, name: str, value: Any) -> _Text:
        if name != "tools":
            return _Text(_encode(value), _sorted(value))
        known, text = self._tools
        if len(known) != len(value) or any(one is not other for one, other in zip(known, value, strict=True)):
            text = _Text(_encode(value), _sorted(value))
            self._tools = (tuple(value), text)
        return text


@dataclass(frozen=True)
class _Text:
    plain: bytes
    ordered: str
    """Names in order, and all in ASCII."""


class _Messages:
    """A conversation as far as it was rendered."""

    def __init__(self, start: str) -> None:
        self.copies: list[Json] = []
        self.content = b""
        self.identity = hashlib.sha256(start.encode())
        self.storable = True
        self._start = start

    def grow(self, start: str, messages: Sequence[Json]) -> bool:
        """False if these do not go on from what was rendered."""
        known = len(self.copies)
        if start != self._start or len(messages) < known or list(messages[:known]) != self.copies:
            return False
        parts = [self.content] if known else []
        for message in messages[known:]:
            ordered = _sorted(message)
            self.identity.update(f",{ordered}".encode() if self.copies else ordered.encode())
            self.storable = self.storable and _is_storable(ordered)
            parts.append(_encode(message))
            self.copies.append(deepcopy(message))
        self.content = b",".join(parts)
        return True


def _encode(value: Any) -> bytes:
    try:
        return _plain(value).encode()
    except UnicodeEncodeError:  # half of a pair
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


_PLAIN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str)
_plain = _PLAIN.encode
_sorted = _SORTED.encode


def _is_storable(text: str) -> bool:
    return "\\u0000" not in text and "\\ud" not in text
