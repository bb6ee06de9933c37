"""Parsing a judge's answer: lenient about wrapping, strict about counts and indexes, because an answer for the wrong
criteria is worse than none.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any
from unicodedata import east_asian_width

from evaluation.protocol.participants import Decision, Style
from evaluation.protocol.prompts import JudgePrompt

MAX_QUOTE = 4_000
"""Characters; longer quotes and reasons are truncated."""

LEAST_PASSAGE, LEAST_JOINED = 5, 12
"""Letters and digits of a quote, or of each passage it joins, and of all of these together: fewer stand in nearly every
text. Those of Chinese, Japanese and Korean count twice."""
_JSON_ESCAPE = re.compile(r'\\(["nrt])')
_GAP = re.compile(r"\s*[\[(]?(?:…|\.\.\.)[\])]?\s*")
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_STYLES: dict[str, Style] = {"clarify": "clarify", "options": "options"}


class UnusableAnswerError(ValueError):
    """The message goes back to the judge."""


def parse_answer(prompt: JudgePrompt, answer: str) -> tuple[Decision, ...]:
    """The decisions of ``answer``, in the order asked. Raises UnusableAnswerError."""
    entries = _entries(extract_document(answer))
    if len(entries) != prompt.count:
        raise UnusableAnswerError(f"{prompt.count} decisions were asked for, {len(entries)} came.")
    by_index: dict[int, Decision] = {}
    for position, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise UnusableAnswerError(f"Decision {position} is not an object.")
        index = _index(entry.get("index"), position)
        if index not in prompt.indexes:
            raise UnusableAnswerError(f"Decision {position} is about index {index}, which was not asked for.")
        if index in by_index:
            raise UnusableAnswerError(f"Index {index} is decided twice.")
        by_index[index] = _decision(prompt, entry, position)
    return tuple(by_index[index] for index in prompt.indexes)


def occurs(quote: str, evidence: str) -> bool:
    """Whether ``quote`` is long enough to be evidence, or a whole line of it, and occurs in ``evidence``, ignoring runs
    of white space; each of its parts, if it joins several.

    A quote from an escaped prompt may be escaped itself; one from a call's arguments, which are shown as JSON, may have
    the line breaks and quotation marks that they stand for.
    """
    sizes = {part: _size(part) for part in parts_of(quote)}
    if _stands(quote, evidence):
        return sum(sizes.values()) >= LEAST_PASSAGE or _is_line(quote, evidence)
    if len(sizes) < 2 or min(sizes.values()) < LEAST_PASSAGE or sum(sizes.values()) < LEAST_JOINED:
        return False
    return all(_stands(part, evidence) for part in sizes)


def parts_of(quote: str) -> list[str]:
    """The passages that it joins by an ellipsis."""
    return [part for part in _GAP.split(quote) if part.strip()]


def _size(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text if letter.isalnum())


def _is_line(quote: str, evidence: str) -> bool:
    wanted = {_collapse_whitespace(quote), _collapse_whitespace(html.unescape(quote))}
    return any(_collapse_whitespace(line) in wanted for line in evidence.splitlines())


def _stands(quote: str, evidence: str) -> bool:
    wanted = _collapse_whitespace(quote)
    if not wanted:
        return False
    text = _collapse_whitespace(evidence)
    if wanted in text or _collapse_whitespace(html.unescape(quote)) in text:
        return True
    return _without_json_escapes(quote) in _without_json_escapes(evidence)


def _without_json_escapes(text: str) -> str:
    return _collapse_whitespace(_JSON_ESCAPE.sub(lambda found: '"' if found[1] == '"' else " ", text))


def extract_document(answer: str) -> Any:
    """The JSON in a model's answer: bare, in a code fence, or within text. Raises UnusableAnswerError."""
    candidates = [answer.strip(), *(match.strip() for match in _FENCE.findall(answer))]
    for opening, closing in ("{}", "[]"):
        start, end = answer.find(opening), answer.rfind(closing)
        if 0 <= start < end:
            candidates.append(answer[start : end + 1])
    for candidate in candidates:
        try:
            document = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, (dict, list)):
            return document
    raise UnusableAnswerError("The answer is not JSON." if answer.strip() else "The answer is empty.")


def _entries(document: Any) -> list[Any]:
    entries = document.get("decisions") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise UnusableAnswerError('The answer has no list "decisions".')
    return entries


def _index(value: Any, position: int) -> int:
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 9:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise UnusableAnswerError(f"Decision {position} has no whole number as index.")


def _decision(prompt: JudgePrompt, entry: dict[str, Any], position: int) -> Decision:
    value = entry.get("decision")
    decision = ("YES" if value else "NO") if isinstance(value, bool) else _text(value).strip().upper()
    if decision not in ("YES", "NO"):
        raise UnusableAnswerError(f"Decision {position} is neither YES nor NO.")
    yes = decision == "YES"
    quote, reason = _text(entry.get("quote")), _text(entry.get("reason"))
    style: Style | None = None
    if prompt.purpose == "follow_up" and yes:
        style = _STYLES.get(_text(entry.get("style")).strip().lower())
        if style is None:
            raise UnusableAnswerError(f'Decision {position} is YES without a style: "Clarify" or "Options".')
    return Decision(yes, quote[:MAX_QUOTE], reason[:MAX_QUOTE], occurs(quote, prompt.evidence), style)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
