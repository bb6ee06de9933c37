"""The scripted judge: YES by the share of a requirement's words that occur in the material.

Reads the prompts of ``evaluation.protocol.prompts`` by their tags; falls back to any ``<… index="N">``.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evaluation.scripted.text import best_sentence, sentences, share, stems

Purpose = Literal["satisfaction", "follow_up", "checklist"]
Pieces = list[tuple[str, frozenset[str]]]
"""Sentences verbatim from the prompt, with their stems."""

SATISFIED = 0.55
"""Minimum share of an intent's words in a reply that meets it."""
MET = 0.6
"""Likewise for a criterion and the trace."""
ASKED = 0.25
"""Minimum share of an intent's words in a question that asks for it; two words always suffice."""
MAX_QUOTE = 300

_INDEXED = re.compile(r'<(requirement|criterion) index="(\d+)">(.*?)</\1>', re.DOTALL)
_CHOICE = re.compile(r"\b(or|either|option|shall i|should i|would you like me|i propose|i suggest)\b", re.IGNORECASE)
_USER = re.compile(r'<user turn="\d+">.*?</user>', re.DOTALL)  # the user's messages are no evidence
_TAG_LINE = re.compile(r"^</?[a-z_]+[^<>\n]*>$", re.MULTILINE)


@dataclass(frozen=True)
class JudgeQuestion:
    purpose: Purpose
    asked: tuple[tuple[int, str], ...]
    """Index and text of each requirement or criterion."""
    material: str
    """What decisions and quotes are based on, verbatim from the prompt."""


def question_in(text: str) -> JudgeQuestion | None:
    """None: the text holds no judge's question."""
    if "<criteria>" in text and "<trace>" in text:
        start = text.rfind("<criteria>")
        trace = text[text.find("<trace>") + 7 : text.rfind("</trace>", 0, start)]
        return JudgeQuestion("checklist", _indexed(text[start:]), _TAG_LINE.sub("", _USER.sub("", trace)))
    if "<open_requirements>" in text:
        start = text.rfind("<open_requirements>")
        material = _TAG_LINE.sub("", text[:start])
        purpose: Purpose = "follow_up" if '"style"' in text[start:] else "satisfaction"
        return JudgeQuestion(purpose, _indexed(text[start:]), material)
    asked = _indexed(text)
    return JudgeQuestion("checklist", asked, text[: text.find("<")]) if asked else None


def decide(question: JudgeQuestion) -> list[dict[str, Any]]:
    """One decision for each requirement or criterion, in order."""
    pieces = [(piece, stems(html.unescape(piece))) for piece in sentences(question.material)]
    if question.purpose == "follow_up":
        questions = [piece for piece in pieces if "?" in piece[0] or _CHOICE.match(piece[0])]
        return [_asked_for(index, text, questions) for index, text in question.asked]
    found = frozenset().union(*(some for _, some in pieces))
    least = SATISFIED if question.purpose == "satisfaction" else MET
    return [_occurs(index, text, pieces, found, least) for index, text in question.asked]


def answer(question: JudgeQuestion, spoil: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None = None) -> str:
    decisions = decide(question)
    return json.dumps({"decisions": spoil(decisions) if spoil else decisions}, ensure_ascii=False)


def _occurs(index: int, text: str, pieces: Pieces, found: frozenset[str], least: float) -> dict[str, Any]:
    wanted = stems(text)
    part = share(wanted, found)
    yes = part >= least
    return {
        "index": index,
        "decision": "YES" if yes else "NO",
        "quote": _short(best_sentence(wanted, pieces)) if yes else "",
        "reason": f"{len(wanted & found)} of its {len(wanted)} content words occur in what was shown.",
    }


def _asked_for(index: int, text: str, questions: Pieces) -> dict[str, Any]:
    wanted = stems(text)
    piece = best_sentence(wanted, questions)
    shared = wanted & stems(html.unescape(piece))
    yes = len(shared) >= 2 or share(wanted, shared) >= ASKED
    return {
        "index": index,
        "decision": "YES" if yes else "NO",
        "style": ("Options" if _CHOICE.search(piece) else "Clarify") if yes else "",
        "quote": _short(piece) if yes else "",
        "reason": f"A question names {len(shared)} of its {len(wanted)} content words.",
    }


def _indexed(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(index), html.unescape(body).strip()) for _, index, body in _INDEXED.findall(text))


def _short(quote: str) -> str:
    """Cut between words, and not within an escaped character, so that it stays verbatim."""
    if len(quote) <= MAX_QUOTE:
        return quote
    return quote[:MAX_QUOTE].rsplit(" ", 1)[0].rsplit("&", 1)[0].rstrip() or quote[:MAX_QUOTE]
