"""Readable reasoning, and what was said: thoughts are for nobody but who reads the transcript."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

FIELDS = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")
"""Of an assistant's message, by service."""

_NAMES = r"think|thinking|mm:think"
_OPENED = re.compile(rf"\s*(?:<({_NAMES})>|◁think▷)", re.I)
_CLOSED_LATER = re.compile(rf"(?:^|\n)[ \t]*(?:</(?:{_NAMES})>|◁/think▷)[ \t]*(?:\n|$)", re.I)
"""The opening stood in the prompt, as some chat templates have it. In running text the words are just words."""


def split_thoughts(text: str) -> tuple[str, str]:
    """Thoughts that open an answer, and what was said after them."""
    if opened := _OPENED.match(text):
        closing = f"</{opened[1]}>" if opened[1] else "◁/think▷"
        closed = re.compile(re.escape(closing), re.I).search(text, opened.end())
        if not closed:  # cut while it thought
            return text[opened.end() :].strip(), ""
        return text[opened.end() : closed.start()].strip(), text[closed.end() :].lstrip()
    if (closed := _CLOSED_LATER.search(text)) and not re.search(rf"<(?:{_NAMES})>", text[: closed.start()], re.I):
        return text[: closed.start()].strip(), text[closed.end() :].lstrip()
    return "", text


def read_message(message: Mapping[str, Any]) -> tuple[str, str]:
    """Thoughts and words of an assistant's message, in whatever form its service gave them."""
    inline, said = split_thoughts(_joined(message.get("content"), "text"))
    told = _joined(message.get("content"), "thinking") or next(
        (text for name in FIELDS if (text := _joined(message.get(name)))), ""
    )
    return "\n\n".join(part for part in (told, inline) if part), said


def said_in(message: Mapping[str, Any]) -> str:
    """Its words without thoughts."""
    return read_message(message)[1]


def _joined(value: Any, kind: str = "") -> str:
    """A text, or the texts of a list of parts (of one ``kind``)."""
    if isinstance(value, str):
        return "" if kind == "thinking" else value
    if not isinstance(value, list):
        return ""
    parts = [part for part in value if isinstance(part, Mapping) and kind in ("", _kind(part))]
    texts = (part.get("text") or part.get("thinking") or part.get("summary") or "" for part in parts)
    return "".join(text if isinstance(text, str) else _joined(text) for text in texts)


def _kind(part: Mapping[str, Any]) -> str:
    return "thinking" if part.get("type") in ("thinking", "reasoning") else "text"
