"""Where quotes stand in texts, and texts drawn with them marked. What comes out is safe HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise

from django.utils.safestring import SafeString, mark_safe

from studio.files.previews import markup


@dataclass(frozen=True)
class Passage:
    """A stretch of a text, ``start`` to ``end``, and what it is evidence for."""

    start: int
    end: int
    key: str


def find(text: str, quote: str) -> tuple[int, int] | None:
    """Where ``quote`` stands in ``text``, runs of white space aside; also as judges see it, escaped."""
    for wanted in _readings(quote):
        words = wanted.split()
        if words:
            found = re.search(r"\s+".join(map(re.escape, words)), text)
            if found:
                return found.span()
    return None


def plain(text: str, quotes: Mapping[str, str]) -> tuple[SafeString, set[str]]:
    """``text`` escaped, with the ``quotes`` (by key) marked; and the keys of those found."""
    passages = _passages(text, quotes)
    return mark_safe("".join(_drawn(text, 0, passages, set()))), {one.key for one in passages}


def markdown(text: str, quotes: Mapping[str, str]) -> tuple[SafeString, set[str]]:
    """A model's Markdown as sanitised HTML, with the quotes marked; plain if only so all of them are found."""
    if len(text) > markup.LONGEST:
        return _as_is(text, quotes)
    clean = markup.markdown(text)
    if not quotes:
        return mark_safe(clean), set()
    reading = _Walk()
    reading.feed(clean)
    reading.close()
    shown = "".join(reading.texts)
    passages = _passages(shown, {key: _as_shown(shown, quote) for key, quote in quotes.items()})
    found = {one.key for one in passages}
    if found != set(quotes):
        as_is, also = _as_is(text, quotes)
        if len(also) > len(found):
            return as_is, also
    return mark_safe(reading.drawn(passages)), found


def _as_is(text: str, quotes: Mapping[str, str]) -> tuple[SafeString, set[str]]:
    drawn, found = plain(text, quotes)
    return mark_safe(f'<div class="as-is">{drawn}</div>'), found


def _readings(quote: str) -> Iterable[str]:
    """A quote as given, unescaped, and as text inside JSON."""
    yield quote
    unescaped = html.unescape(quote)
    yield unescaped
    yield unescaped.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")


def _as_shown(shown: str, quote: str) -> str:
    """The quote without its Markdown, unless it stands in the text as it is."""
    if find(shown, quote) is not None:
        return quote
    walk = _Walk()
    walk.feed(markup.rendered(html.unescape(quote)))
    walk.close()
    return "".join(walk.texts)


def _passages(text: str, quotes: Mapping[str, str]) -> list[Passage]:
    found = ((key, find(text, quote)) for key, quote in quotes.items())
    return sorted((Passage(*span, key) for key, span in found if span), key=lambda one: (one.start, one.end))


def _drawn(text: str, offset: int, passages: Sequence[Passage], begun: set[str]) -> Iterable[str]:
    """A piece of the whole text that starts at ``offset``: an anchor where a passage begins, marks over its length."""
    end = offset + len(text)
    here = [one for one in passages if one.start < end and one.end > offset]
    edges = sorted({offset, end, *(min(max(at, offset), end) for one in here for at in (one.start, one.end))})
    for start, stop in pairwise(edges):
        words = html.escape(text[start - offset : stop - offset])
        keys = [one.key for one in here if one.start <= start and one.end >= stop]
        for key in keys:
            if key not in begun:
                begun.add(key)
                yield f'<span class="evidence-at" id="e{html.escape(key)}"></span>'
        yield f'<mark class="evidence" data-evidence="{html.escape(" ".join(keys))}">{words}</mark>' if keys else words


class _Walk(HTMLParser):
    """Sanitised HTML as tags and texts in order, so that the texts can be marked and all put together again."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[tuple[bool, str]] = []
        """Whether it is text, and the tag or text itself."""

    @property
    def texts(self) -> list[str]:
        return [part for is_text, part in self.parts if is_text]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append((False, self.get_starttag_text() or ""))

    def handle_endtag(self, tag: str) -> None:
        self.parts.append((False, f"</{tag}>"))

    def handle_data(self, data: str) -> None:
        self.parts.append((True, data))

    def drawn(self, passages: Sequence[Passage]) -> str:
        begun: set[str] = set()
        offset = 0
        out: list[str] = []
        for is_text, part in self.parts:
            if is_text:
                out += _drawn(part, offset, passages, begun)
                offset += len(part)
            else:
                out.append(part)
        return "".join(out)
