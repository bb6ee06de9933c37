"""Locking the rows of tasks before they change."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from studio.models import Task


def lock(task_id: int) -> Task:
    return _lockable().get(pk=task_id)


def lock_all(task_ids: Iterable[int]) -> list[Task]:
    return list(_lockable().filter(pk__in=task_ids).order_by("pk"))


def _lockable() -> QuerySet[Task]:
    return Task.objects.select_for_update(no_key=True, of=("self",)).select_related("persona__benchmark")
