"""Autosaved text of editors, and who has an editor open."""

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
from studio.models import Autosave, Persona, Task, User

PRESENT_SECONDS = 30
"""How long a user counts as present after the page's last request; it sends one every ten seconds."""
Text = Mapping[str, Sequence[str]]
"""A page's form fields as sent."""


@dataclass(frozen=True)
class EditorKey:
    """A task's editor, or one of a persona's by name (``profile``, ``script:7``)."""

    task: Task | None = None
    persona: Persona | None = None
    name: str = ""

    def rows(self) -> QuerySet[Autosave]:
        return Autosave.objects.filter(**self.columns)

    @property
    def columns(self) -> dict[str, Any]:
        return {"task": self.task, "persona": self.persona, "page": self.name}


def autosave(key: EditorKey, user: User, text: Text, *, base_version: int) -> None:
    """Replace the autosaved text. Raises DraftError for text that cannot be stored."""
    if any("\0" in value for values in text.values() for value in values):
        raise DraftError("", "This contains the character U+0000. Remove it.")
    now = timezone.now()
    form_data = {name: list(values) for name, values in text.items()}
    Autosave.objects.update_or_create(
        **key.columns,
        user=user,
        defaults={"seen_at": now, "autosaved_at": now, "base_version": base_version, "form_data": form_data},
    )


def discard_autosave(key: EditorKey, user: User, *, saved: Text | None = None) -> None:
    """``saved``: the text that became a version."""
    fingerprints = {"saved_fingerprint": fingerprint(saved)} if saved is not None else {}
    key.rows().filter(user=user).update(form_data=None, autosaved_at=None, **fingerprints)


def autosaved_text(key: EditorKey, user: User) -> Autosave | None:
    return key.rows().filter(user=user, form_data__isnull=False).first()


def is_saved(key: EditorKey, user: User, text: Text) -> bool:
    """Whether the user's last version of this page was made of exactly this text."""
    return key.rows().filter(user=user, saved_fingerprint=fingerprint(text)).exists()


def fingerprint(text: Text) -> str:
    fields = sorted((name, list(values)) for name, values in text.items())
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def mark_present(key: EditorKey, user: User) -> None:
    Autosave.objects.update_or_create(**key.columns, user=user, defaults={"seen_at": timezone.now()})


def others_present(key: EditorKey, user: User) -> list[User]:
    since = timezone.now() - dt.timedelta(seconds=PRESENT_SECONDS)
    rows = key.rows().filter(seen_at__gte=since).exclude(user=user)
    return [row.user for row in rows.select_related("user").order_by("pk")]
