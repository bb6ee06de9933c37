"""Authors of revisions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection, transaction

from studio.domain.content import REQUEST
from studio.models import Revision, Task


@transaction.atomic
def authors_of(revision: Revision) -> set[int]:
    """Ids of everyone who saved, whose suggestion was applied, or whose text was brought in from elsewhere, since the
    last approved revision before this one, and of who wrote what it takes from its persona and from tasks it builds on,
    as far as that is not approved. The database uses the same function to reject approvals."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT authors_of_revision(%s)", [revision.pk])
        return {key for (key,) in cursor.fetchall()}


def authors_of_newest(tasks: Iterable[Task]) -> dict[int, set[int]]:
    """``authors_of`` the newest version of each task, by the task's pk. One query."""
    keys = [task.pk for task in tasks]
    return _people_by_task(
        keys,
        "SELECT t.id, author FROM studio_task t"
        " JOIN studio_revision r ON r.task_id = t.id AND r.number = t.version,"
        " authors_of_revision(r.id) author WHERE t.id = ANY(%s)",
        keys,
    )


def contributors_to(task: Task, version: int) -> set[int]:
    """Ids of everyone who wrote part of the task up to this version, approved or not: the authors of a copy of it."""
    return contributors_to_tasks({task.pk: version})[task.pk]


def contributors_to_tasks(versions: Mapping[int, int]) -> dict[int, set[int]]:
    """``contributors_to`` versions by the task's pk. One query."""
    return _people_by_task(
        versions,
        "SELECT wanted.task, author FROM unnest(%s::bigint[], %s::int[]) wanted (task, version),"
        " contributors_to_version(wanted.task, wanted.version) author",
        list(versions.keys()),
        list(versions.values()),
    )


def _people_by_task(tasks: Iterable[int], sql: str, *parameters: list[int]) -> dict[int, set[int]]:
    people: dict[int, set[int]] = {pk: set() for pk in tasks}
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        for task, person in cursor.fetchall():
            people[task].add(person)
    return people


@dataclass(frozen=True)
class ImportOrigin:
    """Tasks of the studio that say the same as one that is brought in."""

    authors: frozenset[int]
    written_here: bool
    """Whether some of their versions up to there did not come by an import."""


def origins_of(tasks: Sequence[tuple[Sequence[str], int | None]]) -> list[ImportOrigin]:
    """For each, tasks anywhere in the studio that share its request, or half of its texts and, unless it has no
    request, at least three: so a task is known again after an export. ``tasks``: ``pieces_of``, with the pk of the
    task it is for, which does not count. One query."""
    authors: list[set[int]] = [set() for _ in tasks]
    written_here = [False] * len(tasks)
    wanted = [
        {
            "task": task,
            "request": next((piece for piece in pieces if piece.startswith(REQUEST)), None),
            "pieces": list(pieces),
        }
        for pieces, task in tasks
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH wanted AS (
              SELECT index, (row ->> 'task')::bigint AS task, row ->> 'request' AS request,
                     ARRAY(SELECT jsonb_array_elements_text(row -> 'pieces')) AS pieces
                FROM jsonb_array_elements(%s::jsonb) WITH ORDINALITY given (row, index)
            )
            SELECT wanted.index,
                   array(SELECT contributors_to_version(known.task_id, known.number)),
                   came_by_import(known.task_id, known.number)
              FROM wanted CROSS JOIN LATERAL (  -- each by the index: a join would read all revisions
               SELECT r.task_id, max(r.number) AS number FROM studio_revision r
                CROSS JOIN LATERAL (SELECT count(*) AS number FROM unnest(wanted.pieces) piece
                                     WHERE piece = ANY (r.pieces)) shared
                WHERE r.pieces && wanted.pieces AND r.task_id IS DISTINCT FROM wanted.task
                  AND (wanted.request = ANY (r.pieces)
                       OR 2 * shared.number >= cardinality(wanted.pieces)
                          AND shared.number >= CASE WHEN wanted.request IS NULL THEN 1 ELSE 3 END)
                GROUP BY r.task_id
             ) known
            """,
            [json.dumps(wanted)],
        )
        for index, people, imported in cursor.fetchall():
            authors[index - 1] |= set(people)
            written_here[index - 1] |= not imported
    return [ImportOrigin(frozenset(people), here) for people, here in zip(authors, written_here, strict=True)]


def came_by_import(tasks: Iterable[Task]) -> set[int]:
    """The pks of those tasks none of whose versions was written in the studio."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM studio_task WHERE id = ANY(%s) AND came_by_import(id, version)",
            [[task.pk for task in tasks]],
        )
        return {pk for (pk,) in cursor.fetchall()}
