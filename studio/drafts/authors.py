"""Authors of revisions."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection, transaction

from studio.models import Revision, Task


@transaction.atomic
def authors_of(revision: Revision) -> set[int]:
    """Ids of everyone who saved, or whose suggestion was applied, since the last approved revision before this one.
    The database uses the same function to reject approvals."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT authors_of_revision(%s)", [revision.pk])
        return {key for (key,) in cursor.fetchall()}


def authors_of_newest(tasks: Iterable[Task]) -> dict[int, set[int]]:
    """``authors_of`` the newest version of each task, by the task's pk. One query."""
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
