"""Synchronisation of child rows with a spec."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.db.models import Model

M = TypeVar("M", bound=Model)
BATCH = 200


def sync(
    existing: Iterable[M],
    wanted: Sequence[M],
    *,
    key: Callable[[M], Any],
    fields: Sequence[str],
) -> dict[Any, M]:
    """Create, change and delete rows of one model until they are ``wanted``; return the stored rows by ``key``.

    A row keeps its primary key as long as its ``key`` stays. ``fields`` are compared and set.
    """
    rows = {key(row): row for row in existing}
    stored: dict[Any, M] = {}
    new, changed = [], []
    for row in wanted:
        old = rows.pop(key(row), None)
        if old is None:
            new.append(row)
            continue
        stored[key(row)] = old
        if any(_text(getattr(old, name)) != _text(getattr(row, name)) for name in fields):
            for name in fields:
                setattr(old, name, getattr(row, name))
            changed.append(old)
    if not (rows or new or changed):
        return stored
    manager = type(next(iter([*rows.values(), *new, *changed])))._default_manager
    if rows:
        manager.filter(pk__in=[row.pk for row in rows.values()]).delete()
    if changed:
        manager.bulk_update(changed, fields, batch_size=BATCH)
    for row in manager.bulk_create(new, batch_size=BATCH * 5):
        stored[key(row)] = row
    return stored


def _text(value: Any) -> str:
    """With the order of keys and the types of numbers, which matter in storage."""
    return json.dumps(value, ensure_ascii=False, default=str)
