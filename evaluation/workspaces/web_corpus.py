"""A persona's web pages, searched by PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.db import connection

from studio.domain.persona import PersonaSpec
from studio.domain.web_pages import MAX_PAGES, WebPage, WebPageError, read_web_page, same_address
from studio.models import Blob

# Any of the words counts, and those that are rare or near each other count more.
SEARCH = """
WITH asked AS (
    SELECT replace(plainto_tsquery('english', %(query)s)::text, '&', '|')::tsquery AS words
), pages AS (
    SELECT number, title, body, setweight(to_tsvector('english', title), 'A') || to_tsvector('english', body) AS vector
    FROM unnest(%(numbers)s::int[], %(titles)s::text[], %(bodies)s::text[]) AS given (number, title, body)
), found AS (
    SELECT number, body, ts_rank_cd(vector, words, 1) + ts_rank(vector, words) AS rank, words
    FROM pages, asked
    WHERE vector @@ words
    ORDER BY rank DESC, number
    LIMIT %(limit)s OFFSET %(offset)s
)
SELECT number, ts_headline('english', body, words, 'MaxFragments=2, MinWords=8, MaxWords=24, StartSel="", StopSel=""')
FROM found ORDER BY rank DESC, number
"""


class StoredCorpus:
    """Read when it is first used."""

    def __init__(self, persona: PersonaSpec, task_id: str) -> None:
        self._files = persona.web_pages[:MAX_PAGES]
        self._task_id = task_id

    def count(self) -> int:
        return len(self._pages)

    def page(self, address: str) -> WebPage | None:
        wanted = same_address(address)
        return next((page for page in self._pages if same_address(page.address) == wanted), None)

    def search(self, query: str, limit: int, offset: int) -> Sequence[tuple[WebPage, str]]:
        if not self._pages:
            return []
        given: dict[str, Any] = {
            "query": query,
            "numbers": list(range(len(self._pages))),
            "titles": [page.title for page in self._pages],
            "bodies": [page.text for page in self._pages],
            "limit": limit,
            "offset": offset,
        }
        with connection.cursor() as cursor:
            cursor.execute(SEARCH, given)
            return [(self._pages[number], " ".join(snippet.split())) for number, snippet in cursor.fetchall()]

    @cached_property
    def _pages(self) -> list[WebPage]:
        contents = Blob.objects.read([file.sha256 for file in self._files])
        pages = []
        for file in self._files:
            try:
                page = read_web_page(contents.get(file.sha256, b""))
            except WebPageError:
                continue  # the persona's page says so
            if "\0" not in page.text + page.title and (not page.tasks or self._task_id in page.tasks):
                pages.append(page)
        return pages


def open_corpus(persona: PersonaSpec, task_id: str) -> StoredCorpus | None:
    """None if the persona has no pages, and so no web."""
    return StoredCorpus(persona, task_id) if persona.web_pages else None
