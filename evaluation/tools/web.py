"""``web_search`` and ``web_fetch``: pages frozen with the persona stand for the web, so that pilots repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import Field

from evaluation.tools.tool import Arguments, ToolError
from studio.domain.web_pages import WebPage

MAX_PART = 15_000
"""Characters of a page that are shown at a time."""


class Corpus(Protocol):
    """The pages there are."""

    def count(self) -> int: ...

    def search(self, query: str, limit: int, offset: int) -> Sequence[tuple[WebPage, str]]:
        """Pages with a snippet each, best first."""
        ...

    def page(self, address: str) -> WebPage | None: ...


class WebSearch(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=1_000, description="The search query")]
    count: Annotated[int, Field(ge=1, le=20, description="How many results")] = 5
    offset: Annotated[int, Field(ge=0, le=1_000, description="How many to leave out, to see those after them")] = 0


class WebFetch(Arguments):
    url: Annotated[str, Field(min_length=1, max_length=4_000, description="Address of the page")]
    offset: Annotated[int, Field(ge=0, description="Character to start from, to go on in a long page")] = 0


def web_search(corpus: Corpus, arguments: WebSearch) -> str:
    hits = corpus.search(arguments.query.replace("\0", " "), arguments.count, arguments.offset)
    if not hits:
        found = "Nothing more was found" if arguments.offset else "Nothing was found"
        there = f"The web here is a fixed collection of {_pages(corpus)}: other words may help, or it is not there."
        return f"[{found}. {there}]"
    return "\n".join(
        f"{number}. {page.title}\n   {page.address}{f' ({page.date})' if page.date else ''}\n   {snippet}"
        for number, (page, snippet) in enumerate(hits, start=arguments.offset + 1)
    )


def web_fetch(corpus: Corpus, arguments: WebFetch) -> str:
    page = corpus.page(arguments.url)
    if page is None:
        raise ToolError(
            f"{arguments.url[:300]} is not there. The web here is a fixed collection of {_pages(corpus)}; web_search "
            "finds them."
        )
    if arguments.offset and arguments.offset >= len(page.text):
        raise ToolError(f"The page has {len(page.text)} characters; there is no character {arguments.offset}.")
    end = arguments.offset + MAX_PART
    head = f"{page.title}\n{page.address}{f', as of {page.date}' if page.date else ''}\n\n"
    more = len(page.text) - end
    rest = f"\n[{more} more characters; go on with offset {end}]" if more > 0 else ""
    return f"{head}{page.text[arguments.offset : end]}{rest}"


def _pages(corpus: Corpus) -> str:
    count = corpus.count()
    return f"{count} page{'' if count == 1 else 's'}"
