"""Words that a remark is about, found again after the text was edited.

Looked for where they must be if a single stretch elsewhere was edited, then by the words around them, then along the
difference to the text they were chosen in. They are never taken for other words: what is gone is gone.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from studio.spec.task import ExpectedArtifact, TaskSpec

AROUND = 48
"""Characters kept of the text before and after the words."""
MOST_TOKENS = 4_000
"""A difference of longer texts is not worked out: the words around decide."""
LONG = ("title", "description", "initial_request", "reference_workflow")
LINES = ("files_read", "expected_artifacts")
ROWS = {"intents": "content", "checklist": "criterion"}
"""Where words can be chosen: fields of text, of lines, and the text of each row."""
TOKENS = re.compile(r"\s+|\w+|[^\w\s]")

Where = tuple[str, str]
"""A field of the task and, in a list, the row's uid; else an empty string."""


@dataclass(frozen=True)
class Quote:
    """Words as they stood, with what stood around them."""

    words: str
    before: str = ""
    after: str = ""
    start: int = 0


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    changed: bool = False
    """The words themselves were edited: this is what became of them."""


@dataclass(frozen=True)
class Place:
    """Where a remark stands in a task now."""

    field: str
    row: str
    state: Literal["here", "changed", "gone"] = "here"
    span: Span | None = None
    """None: the field or row as a whole, or words that are gone."""


def quote(text: str, start: int, end: int) -> Quote:
    """The words of a text between two places."""
    return Quote(text[start:end], text[max(0, start - AROUND) : start], text[end : end + AROUND], start)


def find(wanted: Quote, text: str, origin: str | None = None) -> Span | None:
    """Where the words are in ``text``. ``origin`` is the text they were chosen in, where it is known."""
    if origin is not None and not origin.startswith(wanted.words, wanted.start):
        origin = None
    if not wanted.words:
        return None
    if origin is None:
        return _by_context(wanted, text, known=False)
    return (
        _beside_one_edit(wanted, text, origin)
        or _by_context(wanted, text, known=True)
        or _along_difference(wanted, text, origin)
        or _moved(wanted, text, origin)
        or _what_became(wanted, text, origin)
    )


def texts_of(task: Mapping[str, Any]) -> dict[Where, str]:
    """The texts of a TaskSpec as JSON in which words can be chosen, as the editor shows them."""
    texts: dict[Where, str] = {(name, ""): task.get(name, "") for name in LONG}
    texts |= {(name, ""): "\n".join(map(_line, task.get(name, ()))) for name in LINES}
    texts |= {(name, row["uid"]): row.get(text, "") for name, text in ROWS.items() for row in task.get(name, ())}
    return {where: text.replace("\r\n", "\n").replace("\r", "\n") for where, text in texts.items()}


def _line(value: Any) -> str:
    """A line of a list; of an expected artifact its path."""
    return str(value["path"]) if isinstance(value, Mapping) else str(value)


def with_text(spec: TaskSpec, where: Where, text: str) -> TaskSpec:
    """The task with another text at a place that ``texts_of`` names."""
    field, row = where
    value: Any = text
    if field == "title":
        value = " ".join(text.split("\n"))
    elif field in LINES:
        value = tuple(line for line in text.split("\n") if line.strip())
        if field == "expected_artifacts":
            known = {one.path: one for one in spec.expected_artifacts}
            value = tuple(known.get(path) or ExpectedArtifact(path=path) for path in dict.fromkeys(value))
    elif field in ROWS:
        value = tuple(
            one.model_copy(update={ROWS[field]: text}) if one.uid == row else one for one in getattr(spec, field)
        )
    return spec.model_copy(update={field: value})


def place(where: Where, wanted: Quote | None, texts: Mapping[Where, str], origin: Mapping[Where, str]) -> Place:
    """Where a remark on ``where`` stands now. ``origin``: the texts of the version it was made on.

    A row keeps its remarks when it moves. Where a row was split or joined, they go with their words.
    """
    field, row = where
    there = not row or where in texts
    words = wanted if wanted and wanted.words else None
    if words is None:
        if there or not (whole := origin.get(where, "")):
            return Place(field, row, "here" if there else "gone")
        moved = _elsewhere(Quote(whole), field, texts, origin)
        return Place(field, moved[0], "here") if moved else Place(field, row, "gone")
    span = find(words, texts[where], origin.get(where)) if where in texts else None
    if row and (span is None or span.changed) and (moved := _elsewhere(words, field, texts, origin)):
        return Place(field, moved[0], "here", moved[1])
    if span is None:
        return Place(field, row, "gone")
    return Place(field, row, "changed" if span.changed else "here", span)


def _elsewhere(
    words: Quote, field: str, texts: Mapping[Where, str], origin: Mapping[Where, str]
) -> tuple[str, Span] | None:
    """The only other row of the field that says these words, if they were said once before, too."""
    said = [where for where, text in origin.items() if where[0] == field for _ in _occurrences(words, text)]
    found = [
        (where[1], Span(at, at + len(words.words)))
        for where, text in texts.items()
        if where[0] == field
        for at in _occurrences(words, text)
    ]
    return found[0] if len(found) == 1 and len(said) == 1 else None


def _beside_one_edit(wanted: Quote, text: str, origin: str) -> Span | None:
    """If all that was edited lies before the words, or all of it after them."""
    start, end = wanted.start, wanted.start + len(wanted.words)
    same_head = _common(origin, text)
    same_tail = _common(origin[::-1], text[::-1])
    shift = len(text) - len(origin)
    before = Span(start, end) if end <= same_head else None
    after = Span(start + shift, end + shift) if start >= len(origin) - same_tail else None
    if before and after and before != after:
        return max((before, after), key=lambda span: _likeness(quote(text, span.start, span.end), wanted))
    return before or after


def _by_context(wanted: Quote, text: str, *, known: bool) -> Span | None:
    """The one place where the words stand between the same neighbours. Without the text they were chosen in, the
    place that is most alike is taken, if the words are unmistakable or half of their neighbours are the same."""
    found = [quote(text, at, at + len(wanted.words)) for at in _occurrences(wanted, text)]
    exact = [one for one in found if (one.before, one.after) == (wanted.before, wanted.after)]
    if len(exact) == 1 or (exact and not known):
        best = min(exact, key=lambda one: abs(one.start - wanted.start))
        return Span(best.start, best.start + len(best.words))
    if known or not found:
        return None
    best = max(found, key=lambda one: (_likeness(one, wanted), -abs(one.start - wanted.start)))
    if len(found) > 1 and _likeness(best, wanted) * 2 < len(wanted.before) + len(wanted.after):
        return None
    return Span(best.start, best.start + len(best.words))


def _along_difference(wanted: Quote, text: str, origin: str) -> Span | None:
    """Where the words went, if the difference of the two texts leaves them in one piece."""
    for a, b, size in _same_stretches(origin, text):
        if a <= wanted.start and wanted.start + len(wanted.words) <= a + size:
            start = wanted.start - a + b
            return Span(start, start + len(wanted.words))
    return None


def _moved(wanted: Quote, text: str, origin: str) -> Span | None:
    """Words that were said once and are said once went where they are now."""
    found = _occurrences(wanted, text)
    if len(found) != 1 or len(_occurrences(wanted, origin)) != 1:
        return None
    return Span(found[0], found[0] + len(wanted.words))


def _what_became(wanted: Quote, text: str, origin: str) -> Span | None:
    """Of several words of which most are left, the stretch from the first to the last that is."""
    start, end = wanted.start, wanted.start + len(wanted.words)
    left = [
        (max(a, start) - a + b, min(a + size, end) - a + b, origin[max(a, start) : min(a + size, end)])
        for a, b, size in _same_stretches(origin, text)
        if a < end and start < a + size
    ]
    words = sum(len(re.findall(r"\w+", piece)) for _, _, piece in left)
    if words < 2 or words * 2 < len(re.findall(r"\w+", wanted.words)):
        return None
    first, last = left[0][0], left[-1][1]
    if last - first > 3 * len(wanted.words):
        return None
    return Span(first, last, changed=True)


def _same_stretches(origin: str, text: str) -> list[tuple[int, int, int]]:
    """Stretches that both say, as places in both and a length, by whole words."""
    a, b = TOKENS.findall(origin), TOKENS.findall(text)
    if len(a) > MOST_TOKENS or len(b) > MOST_TOKENS:
        return []
    places_a, places_b = _places(a), _places(b)
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return [
        (places_a[block.a], places_b[block.b], places_a[block.a + block.size] - places_a[block.a])
        for block in blocks
        if block.size
    ]


def _places(tokens: list[str]) -> list[int]:
    places = [0]
    for token in tokens:
        places.append(places[-1] + len(token))
    return places


def _occurrences(wanted: Quote, text: str) -> list[int]:
    """Where the words stand; whole words if they were whole words."""
    words = re.escape(wanted.words)
    if wanted.words[:1].isalnum() and not wanted.before[-1:].isalnum():
        words = r"(?<![^\W_])" + words
    if wanted.words[-1:].isalnum() and not wanted.after[:1].isalnum():
        words += r"(?![^\W_])"
    return [found.start() for found in re.finditer(f"(?={words})", text)]


def _likeness(one: Quote, other: Quote) -> int:
    """Characters next to the words that are the same."""
    return _common(one.before[::-1], other.before[::-1]) + _common(one.after, other.after)


def _common(one: str, other: str) -> int:
    """Length of the beginning that both have."""
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    low, high = 0, length
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
