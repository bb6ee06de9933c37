"""Finding quotes in texts, and rendering texts as safe HTML with quotes highlighted."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import pairwise

from django.utils.safestring import SafeString, mark_safe

from evaluation.protocol.answers import parts_of
from studio.files.previews import markup


@dataclass(frozen=True)
class Passage:
    start: int
    end: int
    key: str


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """The span of ``quote`` in ``text``, ignoring runs of white space and the escaping that judges see."""
    for variant in _variants(quote):
        terms = variant.split()
        if terms and (match := re.search(r"\s+".join(map(re.escape, terms)), text)):
            return match.span()
    return None


def _spans(text: str, quote: str) -> list[tuple[int, int]]:
    """Of the whole quote, or of those passages it joins that are there."""
    if whole := find_quote(text, quote):
        return [whole]
    return [span for part in parts_of(quote) if (span := find_quote(text, part))]


def highlight(text: str, quotes: Mapping[str, str]) -> tuple[SafeString, set[str]]:
    """``text`` escaped with ``quotes`` (by key) highlighted, and the keys of the quotes found."""
    passages = _passages(text, quotes)
    return mark_safe("".join(_render(text, 0, passages, set()))), {passage.key for passage in passages}


def highlight_markdown(text: str, quotes: Mapping[str, str]) -> tuple[SafeString, set[str]]:
    """Markdown as sanitized HTML with quotes highlighted; plain text if that locates more quotes."""
    if len(text) > markup.MAX_MARKDOWN:
        return _highlight_source(text, quotes)
    clean = markup.markdown(text)
    if not quotes:
        return mark_safe(clean), set()
    document = _Document()
    document.feed(clean)
    document.close()
    text_content = "".join(document.texts)
    passages = _passages(text_content, {key: _without_markup(text_content, quote) for key, quote in quotes.items()})
    located = {passage.key for passage in passages}
    if located != set(quotes):
        source, in_source = _highlight_source(text, quotes)
        if len(in_source) > len(located):
            return source, in_source
    return mark_safe(document.render(passages)), located


def _highlight_source(text: str, quotes: Mapping[str, str]) -> tuple[SafeString, set[str]]:
    rendered, located = highlight(text, quotes)
    return mark_safe(f'<div class="as-is">{rendered}</div>'), located


def _variants(quote: str) -> Iterable[str]:
    yield quote
    unescaped = html.unescape(quote)
    yield unescaped
    yield unescaped.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")


def _without_markup(text: str, quote: str) -> str:
    if find_quote(text, quote) is not None:
        return quote
    document = _Document()
    document.feed(markup.render_unsanitised(html.unescape(quote)))
    document.close()
    return "".join(document.texts)


def _passages(text: str, quotes: Mapping[str, str]) -> list[Passage]:
    passages = [Passage(*span, key) for key, quote in quotes.items() for span in _spans(text, quote)]
    return sorted(passages, key=lambda passage: (passage.start, passage.end))


def _render(text: str, offset: int, passages: Sequence[Passage], anchored: set[str]) -> Iterable[str]:
    """HTML of the part of a text that starts at ``offset``, with an anchor where each passage starts and marks
    along it.
    """
    end = offset + len(text)
    here = [passage for passage in passages if passage.start < end and passage.end > offset]
    bounds = [position for passage in here for position in (passage.start, passage.end)]
    edges = sorted({offset, end, *(min(max(position, offset), end) for position in bounds)})
    for start, stop in pairwise(edges):
        escaped = html.escape(text[start - offset : stop - offset])
        keys = [passage.key for passage in here if passage.start <= start and passage.end >= stop]
        for key in keys:
            if key not in anchored:
                anchored.add(key)
                yield f'<span class="evidence-at" id="e{html.escape(key)}"></span>'
        yield (
            f'<mark class="evidence" data-evidence="{html.escape(" ".join(keys))}">{escaped}</mark>'
            if keys
            else escaped
        )


class _Document(HTMLParser):
    """Sanitized HTML split into tags and texts, so that the texts can be highlighted."""

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

    def render(self, passages: Sequence[Passage]) -> str:
        anchored: set[str] = set()
        offset = 0
        out: list[str] = []
        for is_text, part in self.parts:
            if is_text:
                out += _render(part, offset, passages, anchored)
                offset += len(part)
            else:
                out.append(part)
        return "".join(out)
