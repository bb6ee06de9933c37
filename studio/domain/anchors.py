"""Locates the passage a comment is about after the text was edited."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from diff_match_patch import diff_match_patch

from studio.domain.base import fields_of
from studio.domain.storable import normalize_newlines
from studio.domain.task import ExpectedArtifact, TaskSpec

CONTEXT_LENGTH = 48
"""Characters stored of the text before and after a quote."""
TEXT_FIELDS = tuple(name for name, about in fields_of(TaskSpec).items() if about.prose)
LINE_FIELDS = tuple(name for name, about in fields_of(TaskSpec).items() if about.lines)
ROW_TEXTS = {name: about.row_text for name, about in fields_of(TaskSpec).items() if about.row_text}
"""Text that can be quoted: text fields, fields of lines, and the text of each row."""
TOKENS = re.compile(r"\s+|\w+|[^\w\s]")
WORD = re.compile(r"\w+")
_DIFF = diff_match_patch()
_DIFF.Diff_Timeout = 0.5  # seconds; after that the diff gets coarser

FieldKey = tuple[str, str]
"""Field of the task and uid of the row; the uid is empty outside lists."""


@dataclass(frozen=True)
class Quote:
    text: str
    before: str = ""
    after: str = ""
    start: int = 0


@dataclass(frozen=True)
class QuoteSpan:
    start: int
    end: int
    changed: bool = False
    """The quoted text itself was edited; the span covers what became of it."""


@dataclass(frozen=True)
class Anchor:
    """Where a comment belongs in the current version of a task."""

    field: str
    row: str
    state: Literal["here", "changed", "gone"] = "here"
    span: QuoteSpan | None = None
    """None: the field or row as a whole, or a quote that is gone."""


def quote_at(text: str, start: int, end: int) -> Quote:
    return Quote(text[start:end], text[max(0, start - CONTEXT_LENGTH) : start], text[end : end + CONTEXT_LENGTH], start)


def find_quote(quote: Quote, text: str, origin: str | None = None) -> QuoteSpan | None:
    """The quote's position in ``text``; None if it is gone. ``origin`` is the text it was selected in, if known."""
    if not quote.text:
        return None
    if origin is None or not origin.startswith(quote.text, quote.start):
        return _by_context(quote, text)
    return (
        _beside_one_edit(quote, text, origin) or _between_neighbours(quote, text) or _after_edits(quote, text, origin)
    )


def quotable_texts(task: Mapping[str, Any]) -> dict[FieldKey, str]:
    """The quotable texts of a TaskSpec (as JSON), as the editor shows them."""
    texts: dict[FieldKey, str] = {(name, ""): task.get(name, "") for name in TEXT_FIELDS}
    texts |= {(name, ""): "\n".join(map(_line_text, task.get(name, ()))) for name in LINE_FIELDS}
    texts |= {(name, row["uid"]): row.get(text, "") for name, text in ROW_TEXTS.items() for row in task.get(name, ())}
    return {key: normalize_newlines(text) for key, text in texts.items()}


def _line_text(value: Any) -> str:
    return str(value["path"]) if isinstance(value, Mapping) else str(value)


def replace_text(spec: TaskSpec, key: FieldKey, text: str) -> TaskSpec:
    field, row = key
    value: Any = text
    if field == "title":
        value = " ".join(text.split("\n"))
    elif field in LINE_FIELDS:
        value = tuple(line for line in text.split("\n") if line.strip())
        if field == "expected_artifacts":
            known = {artifact.path: artifact for artifact in spec.expected_artifacts}
            value = tuple(known.get(path) or ExpectedArtifact(path=path) for path in dict.fromkeys(value))
    elif field in ROW_TEXTS:
        value = tuple(
            item.model_copy(update={ROW_TEXTS[field]: text}) if item.uid == row else item
            for item in getattr(spec, field)
        )
    return spec.model_copy(update={field: value})


def locate(key: FieldKey, quote: Quote | None, texts: Mapping[FieldKey, str], origin: Mapping[FieldKey, str]) -> Anchor:
    """Where a comment on ``key`` belongs now. ``origin``: the texts of the version it was written on.

    Comments follow a row that moves. If a row was split or joined, they follow the quoted text.
    """
    field, row = key
    exists = not row or key in texts
    quote = quote if quote and quote.text else None
    if quote is None:
        if exists or not (whole := origin.get(key, "")):
            return Anchor(field, row, "here" if exists else "gone")
        moved = _in_another_row(Quote(whole), field, texts, origin)
        return Anchor(field, moved[0], "here") if moved else Anchor(field, row, "gone")
    span = find_quote(quote, texts[key], origin.get(key)) if key in texts else None
    if row and (span is None or span.changed) and (moved := _in_another_row(quote, field, texts, origin)):
        return Anchor(field, moved[0], "here", moved[1])
    if span is None:
        return Anchor(field, row, "gone")
    return Anchor(field, row, "changed" if span.changed else "here", span)


def _in_another_row(
    quote: Quote, field: str, texts: Mapping[FieldKey, str], origin: Mapping[FieldKey, str]
) -> tuple[str, QuoteSpan] | None:
    occurrences_before = [key for key, text in origin.items() if key[0] == field for _ in _occurrences(quote, text)]
    matches = [(key[1], span) for key, text in texts.items() if key[0] == field for span in _occurrences(quote, text)]
    return matches[0] if len(matches) == 1 and len(occurrences_before) == 1 else None


def _beside_one_edit(quote: Quote, text: str, origin: str) -> QuoteSpan | None:
    shift = len(text) - len(origin)
    before = _DIFF.diff_commonPrefix(origin, text) >= quote.start + len(quote.text)
    after = _DIFF.diff_commonSuffix(origin, text) >= len(origin) - quote.start
    starts = [quote.start] * before + [quote.start + shift] * after
    return max(
        (_span_at(start, quote) for start in starts),
        key=lambda span: _context_similarity(span, quote, text),
        default=None,
    )


def _between_neighbours(quote: Quote, text: str) -> QuoteSpan | None:
    exact = [
        span
        for span in _occurrences(quote, text)
        if text[max(0, span.start - CONTEXT_LENGTH) : span.start] == quote.before
        and text[span.end : span.end + CONTEXT_LENGTH] == quote.after
    ]
    return exact[0] if len(exact) == 1 else None


def _by_context(quote: Quote, text: str) -> QuoteSpan | None:
    """The occurrence with the most similar surroundings, if it is the only one or at least half of them match."""
    matches = _occurrences(quote, text)
    best = max(
        matches, key=lambda span: (_context_similarity(span, quote, text), -abs(span.start - quote.start)), default=None
    )
    if best and len(matches) > 1 and _context_similarity(best, quote, text) * 2 < len(quote.before) + len(quote.after):
        return None
    return best


def _after_edits(quote: Quote, text: str, origin: str) -> QuoteSpan | None:
    pieces = _surviving_pieces(quote, text, origin)
    if pieces and pieces[0].end - pieces[0].start == len(quote.text):
        return pieces[0]
    matches = _occurrences(quote, text)
    if len(matches) == 1 and len(_occurrences(quote, origin)) == 1:
        return matches[0]
    remaining_words = sum(len(WORD.findall(text, piece.start, piece.end)) for piece in pieces)
    if remaining_words < 2 or remaining_words * 2 < len(WORD.findall(quote.text)):
        return None
    start, end = pieces[0].start, pieces[-1].end
    return QuoteSpan(start, end, changed=True) if end - start <= 3 * len(quote.text) else None


def _surviving_pieces(quote: Quote, text: str, origin: str) -> list[QuoteSpan]:
    codes: dict[str, str] = {}
    old, new = (
        "".join(codes.setdefault(token, chr(len(codes))) for token in TOKENS.findall(each)) for each in (origin, text)
    )
    tokens = list(codes)
    start, end = quote.start, quote.start + len(quote.text)
    pieces, old_position, new_position = [], 0, 0
    for kind, piece in _DIFF.diff_main(old, new, False):
        size = sum(len(tokens[ord(code)]) for code in piece)
        if kind == _DIFF.DIFF_EQUAL and old_position < end and start < old_position + size:
            pieces.append(
                QuoteSpan(
                    max(old_position, start) - old_position + new_position,
                    min(old_position + size, end) - old_position + new_position,
                )
            )
        old_position += size if kind != _DIFF.DIFF_INSERT else 0
        new_position += size if kind != _DIFF.DIFF_DELETE else 0
    return pieces


def _occurrences(quote: Quote, text: str) -> list[QuoteSpan]:
    """Matches whole words if the quote began and ended at word boundaries."""
    pattern = re.escape(quote.text)
    if quote.text[:1].isalnum() and not quote.before[-1:].isalnum():
        pattern = r"(?<![^\W_])" + pattern
    if quote.text[-1:].isalnum() and not quote.after[:1].isalnum():
        pattern += r"(?![^\W_])"
    return [_span_at(match.start(), quote) for match in re.finditer(f"(?={pattern})", text)]


def _span_at(start: int, quote: Quote) -> QuoteSpan:
    return QuoteSpan(start, start + len(quote.text))


def _context_similarity(span: QuoteSpan, quote: Quote, text: str) -> int:
    surroundings = quote_at(text, span.start, span.end)
    before = _DIFF.diff_commonSuffix(surroundings.before, quote.before)
    return int(before + _DIFF.diff_commonPrefix(surroundings.after, quote.after))
