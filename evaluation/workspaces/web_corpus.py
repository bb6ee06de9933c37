"""A persona's web pages, searched by PostgreSQL.

Pages are stored by the content of their files, so that the same files always give the same answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet

from evaluation.models import StoredWebPage
from evaluation.workspaces.web_snippets import snippet_of
from studio.domain.persona import PersonaSpec
from studio.domain.web_pages import MAX_PAGES, WebPage, WebPageError, read_web_page, same_address
from studio.models import Blob

# Any of the words counts, and those that are rare or near each other count more.
SEARCH = """
WITH asked AS (
    SELECT replace(plainto_tsquery('english', %(query)s)::text, '&', '|')::tsquery AS words
), found AS (
    SELECT blob_id, ts_rank_cd(vector, words, 1) + ts_rank(vector, words) AS rank
    FROM evaluation_storedwebpage, asked
    WHERE vector @@ words AND blob_id = ANY(%(files)s) AND address <> ''
        AND (cardinality(tasks) = 0 OR %(task)s = ANY(tasks))
    ORDER BY rank DESC, array_position(%(files)s, blob_id)
    LIMIT %(limit)s OFFSET %(offset)s
)
SELECT address, title, date, text, tasks, tsvector_to_array(to_tsvector('english', %(query)s))
FROM found JOIN evaluation_storedwebpage USING (blob_id)
ORDER BY rank DESC, array_position(%(files)s, blob_id)
"""


class StoredCorpus:
    """Pages are stored when they are first used, whoever uses them."""

    def __init__(self, persona: PersonaSpec, task_id: str) -> None:
        self._persona = persona
        self._task_id = task_id

    def count(self) -> int:
        return self._pages().count()

    def page(self, address: str) -> WebPage | None:
        rows = {row.blob_id: row for row in self._pages().filter(place=same_address(address)).defer("vector")}
        row = next((rows[sha] for sha in self._files if sha in rows), None)
        return WebPage(row.address, row.title, row.date, row.text, tuple(row.tasks)) if row else None

    def search(self, query: str, limit: int, offset: int) -> Sequence[tuple[WebPage, str]]:
        given: dict[str, Any] = {
            "query": query,
            "files": self._files,
            "task": self._task_id,
            "limit": limit,
            "offset": offset,
        }
        with connection.cursor() as cursor:
            cursor.execute(SEARCH, given)
            return [
                (WebPage(address, title, date, text, tuple(tasks)), snippet_of(text, stems))
                for address, title, date, text, tasks, stems in cursor.fetchall()
            ]

    def _pages(self) -> QuerySet[StoredWebPage]:
        of_task = Q(tasks=[]) | Q(tasks__contains=[self._task_id])
        return StoredWebPage.objects.filter(of_task, pk__in=self._files).exclude(address="")

    @cached_property
    def _files(self) -> list[str]:
        files = [file.sha256 for file in self._persona.web_pages[:MAX_PAGES]]
        store_pages(files)
        return files


def store_pages(files: Sequence[str]) -> None:
    """Those whose files, by hash, no one used before."""
    known = set(StoredWebPage.objects.filter(pk__in=files).values_list("pk", flat=True))
    contents = Blob.objects.read([sha for sha in files if sha not in known]) if known < set(files) else {}
    rows = [_row(sha, contents[sha]) for sha in sorted(contents)]
    StoredWebPage.objects.bulk_create(rows, ignore_conflicts=True, batch_size=50)


def _row(sha: str, content: bytes) -> StoredWebPage:
    try:
        page = read_web_page(content)
    except WebPageError:
        return StoredWebPage(blob_id=sha)  # the persona's page says so
    return StoredWebPage(
        blob_id=sha,
        address=page.address,
        place=same_address(page.address),
        title=page.title,
        date=page.date,
        text=page.text,
        tasks=list(page.tasks),
    )


def open_corpus(persona: PersonaSpec, task_id: str) -> StoredCorpus | None:
    """None if the persona has no pages, and so no web."""
    return StoredCorpus(persona, task_id) if persona.web_pages else None
