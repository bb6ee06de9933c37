"""Words that are in no version yet, kept as they are typed; and who is at the page where they are written."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from studio.drafts.validate import DraftError
from studio.models import Persona, Task, User, WorkingCopy

PRESENT_SECONDS = 30
"""How long somebody counts as here after their page last spoke; it speaks every ten seconds."""


@dataclass(frozen=True)
class Desk:
    """A page on which somebody writes: a task's, or one of a persona's, by its name (``profile``, ``script:7``)."""

    task: Task | None = None
    persona: Persona | None = None
    name: str = ""

    def copies(self) -> QuerySet[WorkingCopy]:
        return WorkingCopy.objects.filter(**self.row)

    @property
    def row(self) -> dict[str, Any]:
        return {"task": self.task, "persona": self.persona, "page": self.name}


def keep_copy(desk: Desk, user: User, sheet: Mapping[str, Sequence[str]], *, base_version: int) -> WorkingCopy:
    """Keep what a page holds in place of what was kept of it. Raises DraftError for what cannot be stored."""
    if any("\0" in value for values in sheet.values() for value in values):
        raise DraftError("", "This contains the character U+0000. Remove it.")
    now = timezone.now()
    words = {name: list(values) for name, values in sheet.items()}
    kept, _ = WorkingCopy.objects.update_or_create(
        **desk.row,
        user=user,
        defaults={"seen_at": now, "kept_at": now, "base_version": base_version, "sheet": words},
    )
    return kept


def drop_copy(desk: Desk, user: User, *, settled: Mapping[str, Sequence[str]] | None = None) -> None:
    """What was typed is in a version now, or not wanted. ``settled`` are the words of which a version was made."""
    more = {"settled": fingerprint(settled)} if settled is not None else {}
    desk.copies().filter(user=user).update(sheet=None, kept_at=None, **more)


def copy_of(desk: Desk, user: User) -> WorkingCopy | None:
    """What this person typed here and made no version of."""
    return desk.copies().filter(user=user, sheet__isnull=False).first()


def is_settled(desk: Desk, user: User, words: Mapping[str, Sequence[str]]) -> bool:
    """Whether the version this person made last here was made of just these words."""
    return desk.copies().filter(user=user, settled=fingerprint(words)).exists()


def fingerprint(words: Mapping[str, Sequence[str]]) -> str:
    named = sorted((name, list(values)) for name, values in words.items())
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def be_here(desk: Desk, user: User) -> None:
    WorkingCopy.objects.update_or_create(**desk.row, user=user, defaults={"seen_at": timezone.now()})


def others_here(desk: Desk, user: User) -> list[User]:
    """Who else has the page open, the first to come first."""
    since = timezone.now() - dt.timedelta(seconds=PRESENT_SECONDS)
    rows = desk.copies().filter(seen_at__gte=since).exclude(user=user)
    return [row.user for row in rows.select_related("user").order_by("pk")]
