"""Words that a remark is about, found again after the text was edited.

Looked for where they must be if a single stretch elsewhere was edited, then by the words around them, then along the
difference to the text they were chosen in. They are never taken for other words: what is gone is gone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from diff_match_patch import diff_match_patch

from studio.domain.task import ExpectedArtifact, TaskSpec

CONTEXT_LENGTH = 48
"""Characters kept of the text before and after the words."""
TEXT_FIELDS = ("title", "description", "initial_request", "reference_workflow")
LINE_FIELDS = ("files_read", "expected_artifacts")
ROW_TEXTS = {"intents": "content", "checklist": "criterion"}
"""Where words can be chosen: fields of text, of lines, and the text of each row."""
TOKENS = re.compile(r"\s+|\w+|[^\w\s]")
WORD = re.compile(r"\w+")
_DIFF = diff_match_patch()
_DIFF.Diff_Timeout = 0.5  # seconds; a difference that takes longer is a coarser one

FieldKey = tuple[str, str]
"""A field of the task and, in a list, the row's uid; else an empty string."""


@dataclass(frozen=True)
class Quote:
    """Words as they stood, with what stood around them."""

    words: str
    before: str = ""
    after: str = ""
    start: int = 0


@dataclass(frozen=True)
class QuoteSpan:
    start: int
    end: int
    changed: bool = False
    """The words themselves were edited: this is what became of them."""


@dataclass(frozen=True)
class Anchor:
    """Where a remark stands in a task now."""

    field: str
    row: str
    state: Literal["here", "changed", "gone"] = "here"
    span: QuoteSpan | None = None
    """None: the field or row as a whole, or words that are gone."""


def quote_at(text: str, start: int, end: int) -> Quote:
    """The words of a text between two places."""
    return Quote(text[start:end], text[max(0, start - CONTEXT_LENGTH) : start], text[end : end + CONTEXT_LENGTH], start)


def find_quote(wanted: Quote, text: str, origin: str | None = None) -> QuoteSpan | None:
    """Where the words are in ``text``. ``origin`` is the text they were chosen in, where it is known."""
    if not wanted.words:
        return None
    if origin is None or not origin.startswith(wanted.words, wanted.start):
        return _by_context(wanted, text)
    return (
        _beside_one_edit(wanted, text, origin)
        or _between_neighbours(wanted, text)
        or _after_edits(wanted, text, origin)
    )


def quotable_texts(task: Mapping[str, Any]) -> dict[FieldKey, str]:
    """The texts of a TaskSpec as JSON in which words can be chosen, as the editor shows them."""
    texts: dict[FieldKey, str] = {(name, ""): task.get(name, "") for name in TEXT_FIELDS}
    texts |= {(name, ""): "\n".join(map(_line, task.get(name, ()))) for name in LINE_FIELDS}
    texts |= {(name, row["uid"]): row.get(text, "") for name, text in ROW_TEXTS.items() for row in task.get(name, ())}
    return {where: text.replace("\r\n", "\n").replace("\r", "\n") for where, text in texts.items()}


def _line(value: Any) -> str:
    """A line of a list; of an expected artifact its path."""
    return str(value["path"]) if isinstance(value, Mapping) else str(value)


def replace_text(spec: TaskSpec, where: FieldKey, text: str) -> TaskSpec:
    """The task with another text at a place that ``texts_of`` names."""
    field, row = where
    value: Any = text
    if field == "title":
        value = " ".join(text.split("\n"))
    elif field in LINE_FIELDS:
        value = tuple(line for line in text.split("\n") if line.strip())
        if field == "expected_artifacts":
            known = {one.path: one for one in spec.expected_artifacts}
            value = tuple(known.get(path) or ExpectedArtifact(path=path) for path in dict.fromkeys(value))
    elif field in ROW_TEXTS:
        value = tuple(
            one.model_copy(update={ROW_TEXTS[field]: text}) if one.uid == row else one for one in getattr(spec, field)
        )
    return spec.model_copy(update={field: value})


def locate(
    where: FieldKey, wanted: Quote | None, texts: Mapping[FieldKey, str], origin: Mapping[FieldKey, str]
) -> Anchor:
    """Where a remark on ``where`` stands now. ``origin``: the texts of the version it was made on.

    A row keeps its remarks when it moves. Where a row was split or joined, they go with their words.
    """
    field, row = where
    there = not row or where in texts
    words = wanted if wanted and wanted.words else None
    if words is None:
        if there or not (whole := origin.get(where, "")):
            return Anchor(field, row, "here" if there else "gone")
        moved = _elsewhere(Quote(whole), field, texts, origin)
        return Anchor(field, moved[0], "here") if moved else Anchor(field, row, "gone")
    span = find_quote(words, texts[where], origin.get(where)) if where in texts else None
    if row and (span is None or span.changed) and (moved := _elsewhere(words, field, texts, origin)):
        return Anchor(field, moved[0], "here", moved[1])
    if span is None:
        return Anchor(field, row, "gone")
    return Anchor(field, row, "changed" if span.changed else "here", span)


def _elsewhere(
    words: Quote, field: str, texts: Mapping[FieldKey, str], origin: Mapping[FieldKey, str]
) -> tuple[str, QuoteSpan] | None:
    """The only other row of the field that says these words, if they were said once before, too."""
    said = [where for where, text in origin.items() if where[0] == field for _ in _occurrences(words, text)]
    found = [
        (where[1], span) for where, text in texts.items() if where[0] == field for span in _occurrences(words, text)
    ]
    return found[0] if len(found) == 1 and len(said) == 1 else None


def _beside_one_edit(wanted: Quote, text: str, origin: str) -> QuoteSpan | None:
    """If all that was edited lies before the words, or all of it after them."""
    shift = len(text) - len(origin)
    before = _DIFF.diff_commonPrefix(origin, text) >= wanted.start + len(wanted.words)
    after = _DIFF.diff_commonSuffix(origin, text) >= len(origin) - wanted.start
    starts = [wanted.start] * before + [wanted.start + shift] * after
    return max((_at(start, wanted) for start in starts), key=lambda span: _likeness(span, wanted, text), default=None)


def _between_neighbours(wanted: Quote, text: str) -> QuoteSpan | None:
    """The only place where the words stand between the neighbours they had."""
    exact = [
        span
        for span in _occurrences(wanted, text)
        if text[max(0, span.start - CONTEXT_LENGTH) : span.start] == wanted.before
        and text[span.end : span.end + CONTEXT_LENGTH] == wanted.after
    ]
    return exact[0] if len(exact) == 1 else None


def _by_context(wanted: Quote, text: str) -> QuoteSpan | None:
    """The place most like the one they had, if the words are unmistakable or half of their neighbours are the same."""
    found = _occurrences(wanted, text)
    best = max(found, key=lambda span: (_likeness(span, wanted, text), -abs(span.start - wanted.start)), default=None)
    if best and len(found) > 1 and _likeness(best, wanted, text) * 2 < len(wanted.before) + len(wanted.after):
        return None
    return best


def _after_edits(wanted: Quote, text: str, origin: str) -> QuoteSpan | None:
    """Where the difference of the two texts leaves the words: in one piece, moved as a whole, or most of several."""
    left = _left(wanted, text, origin)
    if left and left[0].end - left[0].start == len(wanted.words):
        return left[0]
    found = _occurrences(wanted, text)
    if len(found) == 1 and len(_occurrences(wanted, origin)) == 1:
        return found[0]
    words = sum(len(WORD.findall(text, piece.start, piece.end)) for piece in left)
    if words < 2 or words * 2 < len(WORD.findall(wanted.words)):
        return None
    first, last = left[0].start, left[-1].end
    return QuoteSpan(first, last, changed=True) if last - first <= 3 * len(wanted.words) else None


def _left(wanted: Quote, text: str, origin: str) -> list[QuoteSpan]:
    """The pieces of the words that ``text`` still has, by a difference in whole words."""
    codes: dict[str, str] = {}
    old, new = (
        "".join(codes.setdefault(token, chr(len(codes))) for token in TOKENS.findall(each)) for each in (origin, text)
    )
    tokens = list(codes)
    start, end = wanted.start, wanted.start + len(wanted.words)
    pieces, a, b = [], 0, 0
    for kind, piece in _DIFF.diff_main(old, new, False):
        size = sum(len(tokens[ord(code)]) for code in piece)
        if kind == _DIFF.DIFF_EQUAL and a < end and start < a + size:
            pieces.append(QuoteSpan(max(a, start) - a + b, min(a + size, end) - a + b))
        a += size if kind != _DIFF.DIFF_INSERT else 0
        b += size if kind != _DIFF.DIFF_DELETE else 0
    return pieces


def _occurrences(wanted: Quote, text: str) -> list[QuoteSpan]:
    """Where the words stand; whole words if they were whole words."""
    words = re.escape(wanted.words)
    if wanted.words[:1].isalnum() and not wanted.before[-1:].isalnum():
        words = r"(?<![^\W_])" + words
    if wanted.words[-1:].isalnum() and not wanted.after[:1].isalnum():
        words += r"(?![^\W_])"
    return [_at(found.start(), wanted) for found in re.finditer(f"(?={words})", text)]


def _at(start: int, wanted: Quote) -> QuoteSpan:
    return QuoteSpan(start, start + len(wanted.words))


def _likeness(span: QuoteSpan, wanted: Quote, text: str) -> int:
    """Characters next to the words that are the same."""
    there = quote_at(text, span.start, span.end)
    before = _DIFF.diff_commonSuffix(there.before, wanted.before)
    return int(before + _DIFF.diff_commonPrefix(there.after, wanted.after))
