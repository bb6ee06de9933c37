"""The scripted judge: YES if enough of a requirement's content words occur in the material.

Reads the prompts of ``evaluation.protocol.prompts`` by their tags; falls back to any ``<… index="N">``.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any, Literal

from evaluation.scripted.text import best_sentence, sentences, stems, word_overlap

Purpose = Literal["satisfaction", "follow_up", "checklist"]
Sentences = list[tuple[str, frozenset[str]]]
"""Verbatim from the prompt, each with its stems."""

SATISFIED = 0.55
"""Minimum share of an intent's content words in a reply that meets it."""
MET = 0.6
"""Likewise for a criterion and the trace."""
ASKED = 0.25
"""Minimum share of an intent's content words in a question that asks for it; two words always suffice."""
MAX_QUOTE = 300

_INDEXED = re.compile(r'<(requirement|criterion) index="(\d+)">(.*?)</\1>', re.DOTALL)
_CHOICE = re.compile(r"\b(or|either|option|shall i|should i|would you like me|i propose|i suggest)\b", re.IGNORECASE)
_USER = re.compile(r'<(user|event) turn="\d+".*?</\1>', re.DOTALL)  # what the agent was told is no evidence
_INPUT = re.compile(r'<file path="[^"]*" status="input".*?</file>', re.DOTALL)  # nor is what it found
_TAG_LINE = re.compile(r"^</?[a-z_]+[^<>\n]*>$", re.MULTILINE)


@dataclass(frozen=True)
class JudgeQuestion:
    purpose: Purpose
    criteria: tuple[tuple[int, str], ...]
    """Index and text of each requirement or criterion."""
    material: str
    """The part of the prompt that decisions and quotes are based on, verbatim."""


def find_question(text: str) -> JudgeQuestion | None:
    if "<criteria>" in text and "<trace>" in text:
        start = text.rfind("<criteria>")
        trace = text[text.find("<trace>") + 7 : text.rfind("</trace>", 0, start)]
        return JudgeQuestion("checklist", _numbered_criteria(text[start:]), _material(trace))
    if "<open_requirements>" in text:
        start = text.rfind("<open_requirements>")
        material = _material(text[:start])
        purpose: Purpose = "follow_up" if '"style"' in text[start:] else "satisfaction"
        return JudgeQuestion(purpose, _numbered_criteria(text[start:]), material)
    criteria = _numbered_criteria(text)
    return JudgeQuestion("checklist", criteria, text[: text.find("<")]) if criteria else None


def _material(text: str) -> str:
    return _TAG_LINE.sub("", _INPUT.sub("", _USER.sub("", text)))


def decide(question: JudgeQuestion) -> list[dict[str, Any]]:
    candidates = [(sentence, stems(html.unescape(sentence))) for sentence in sentences(question.material)]
    if question.purpose == "follow_up":
        questions = [sentence for sentence in candidates if "?" in sentence[0] or _CHOICE.match(sentence[0])]
        return [_asked_for(index, text, questions) for index, text in question.criteria]
    present = frozenset().union(*(terms for _, terms in candidates))
    threshold = SATISFIED if question.purpose == "satisfaction" else MET
    return [_occurs(index, text, candidates, present, threshold) for index, text in question.criteria]


def _occurs(index: int, text: str, candidates: Sentences, present: frozenset[str], threshold: float) -> dict[str, Any]:
    terms = stems(text)
    overlap = word_overlap(terms, present)
    yes = overlap >= threshold
    return {
        "index": index,
        "decision": "YES" if yes else "NO",
        "quote": _truncate(best_sentence(terms, candidates)) if yes else "",
        "reason": f"{len(terms & present)} of its {len(terms)} content words occur in what was shown.",
    }


def _asked_for(index: int, text: str, questions: Sentences) -> dict[str, Any]:
    terms = stems(text)
    question = best_sentence(terms, questions)
    shared = terms & stems(html.unescape(question))
    yes = len(shared) >= 2 or word_overlap(terms, shared) >= ASKED
    return {
        "index": index,
        "decision": "YES" if yes else "NO",
        "style": ("Options" if _CHOICE.search(question) else "Clarify") if yes else "",
        "quote": _truncate(question) if yes else "",
        "reason": f"A question names {len(shared)} of its {len(terms)} content words.",
    }


def _numbered_criteria(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(index), html.unescape(body).strip()) for _, index, body in _INDEXED.findall(text))


def _truncate(quote: str) -> str:
    """Truncated between words, and outside of an escaped character, so that it stays verbatim."""
    if len(quote) <= MAX_QUOTE:
        return quote
    return quote[:MAX_QUOTE].rsplit(" ", 1)[0].rsplit("&", 1)[0].rstrip() or quote[:MAX_QUOTE]
