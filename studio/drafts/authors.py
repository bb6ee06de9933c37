"""Who wrote a revision."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection, transaction

from studio.models import Revision, Task


@transaction.atomic
def authors_of(revision: Revision) -> set[int]:
    """Who wrote what this revision says: everyone who saved, or whose suggestion was applied, since the one that was
    approved before it. The database asks the same function before it takes an approval."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT authors_of_revision(%s)", [revision.pk])
        return {key for (key,) in cursor.fetchall()}


def authors_of_newest(tasks: Iterable[Task]) -> dict[int, set[int]]:
    """Who wrote the newest version of each, as ``authors_of`` says it, by the task's key. One query."""
    authors: dict[int, set[int]] = {task.pk: set() for task in tasks}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT t.id, author FROM studio_task t"
            " JOIN studio_revision r ON r.task_id = t.id AND r.number = t.version,"
            " authors_of_revision(r.id) author WHERE t.id = ANY(%s)",
            [list(authors)],
        )
        for task, author in cursor.fetchall():
            authors[task].add(author)
    return authors
