"""A turn of an agent that is given: a reference solution, or an answer that takes no work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class GivenCall:
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class GivenTurn:
    """Calls are made first, then files are laid over what they left."""

    reply: str = ""
    calls: tuple[GivenCall, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """Path in the workspace → sha256 of the content."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> GivenTurn:
        calls = tuple(GivenCall(call["name"], call["arguments"]) for call in document["calls"])
        return cls(document["reply"], calls, dict(document["files"]))

    def to_json(self) -> dict[str, Any]:
        calls = [{"name": call.name, "arguments": dict(call.arguments)} for call in self.calls]
        return {"reply": self.reply, "calls": calls, "files": dict(self.files)}
