"""Assembling a streamed answer, for endpoints whose parameters set ``stream``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.llm.errors import TruncatedAnswerError, UnreadableAnswerError


def assemble(content: bytes) -> dict[str, Any]:
    """A chat completion from server-sent events. Raises TruncatedAnswerError if the end is missing,
    UnreadableAnswerError."""
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    completion: dict[str, Any] = {}
    finish_reason = ""
    ended = False
    for data in _events(content):
        if data == "[DONE]":
            ended = True
            break
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            chunk = None
        if not isinstance(chunk, Mapping):
            raise UnreadableAnswerError("A piece of the streamed answer is not a JSON object.")
        completion |= {key: chunk[key] for key in ("id", "created", "model", "usage", "error") if chunk.get(key)}
        for choice in _list(chunk.get("choices"))[:1]:
            delta = _mapping(_mapping(choice).get("delta"))
            if isinstance(piece := delta.get("content"), str):
                text.append(piece)
            for call in _list(delta.get("tool_calls")):
                _add(calls, _mapping(call))
            finish_reason = _mapping(choice).get("finish_reason") or finish_reason
    if not ended and not finish_reason and "error" not in completion:
        raise TruncatedAnswerError("The stream ended before the answer did.")
    message: dict[str, Any] = {"role": "assistant", "content": "".join(text)}
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return completion | {"object": "chat.completion", "choices": [] if "error" in completion else [choice]}


def _add(calls: dict[int, dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """A tool call arrives in pieces: id and name first, then its arguments."""
    number = piece.get("index")
    index = number if isinstance(number, int) else len(calls)
    call = calls.setdefault(index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
    function = _mapping(piece.get("function"))
    call["id"] = piece.get("id") or call["id"]
    if piece.get("extra_content"):
        call["extra_content"] = piece["extra_content"]
    for name in ("name", "arguments"):
        if isinstance(value := function.get(name), str):
            call["function"][name] += value


def _events(content: bytes) -> Iterator[str]:
    for line in content.decode("utf-8", "replace").splitlines():
        if line.startswith("data:"):
            yield line[5:].strip()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
