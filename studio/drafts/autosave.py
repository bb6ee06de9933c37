"""Autosaved text of editors, and who has an editor open."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from studio.drafts.validate import DraftError
from studio.models import Autosave, DiscardedText, Persona, Task, User

KEPT_DAYS = 30
"""For which discarded text can be taken back."""
PRESENT_SECONDS = 30
"""How long a user counts as present after the page's last request; it sends one every ten seconds."""
Text = Mapping[str, Sequence[str]]
"""A page's form fields as sent."""
OF_WINDOW = ("base_version", "note")
"""Fields that belong to one window."""


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


def autosave(key: EditorKey, user: User, text: Text, *, base_version: int, window: str = "") -> None:
    """Replace the autosaved text. Raises DraftError for text that cannot be stored."""
    if any("\0" in value for values in text.values() for value in values):
        raise DraftError("", "This contains the character U+0000. Remove it.")
    now = timezone.now()
    form_data = {name: list(values) for name, values in text.items()}
    before = key.rows().filter(user=user).first()
    step = 0 if before and before.form_data == form_data else 1
    columns = {
        "seen_at": now,
        "autosaved_at": now,
        "base_version": base_version,
        "form_data": form_data,
        "window": window,
    }
    changes = {**columns, "number": F("number") + step}
    if before and Autosave.objects.filter(pk=before.pk).update(**changes):
        return
    Autosave.objects.update_or_create(
        **key.columns, user=user, defaults=changes, create_defaults={**columns, "number": 1}
    )


def discard_autosave(key: EditorKey, user: User, *, saved: Text | None = None, number: int | None = None) -> None:
    """Forget the stored text, unless another window stored newer text than ``number``. ``saved`` became a version."""
    columns: dict[str, Any] = {"form_data": None, "autosaved_at": None, "number": F("number") + 1}
    if saved is not None:
        columns["saved_fingerprint"] = fingerprint(saved)
    rows = key.rows().filter(user=user)
    if number is not None and saved is not None:
        newer = rows.filter(form_data__isnull=False).exclude(number=number).first()
        if newer and not _same_text(newer.form_data or {}, saved):
            return
    rows.update(**columns)


@transaction.atomic
def discard(key: EditorKey, user: User) -> None:
    """Forget the autosaved text as its author asks; it can be taken back for KEPT_DAYS."""
    row = locked_text(key, user)
    if row and row.form_data:
        keep_discarded(key, user, row.form_data, base_version=row.base_version)
    discard_autosave(key, user)


def keep_discarded(key: EditorKey, user: User, text: Text, *, base_version: int) -> None:
    DiscardedText.objects.filter(user=user).exclude(discarded_at__gte=_kept_since()).delete()
    form_data = {name: list(values) for name, values in text.items()}
    DiscardedText.objects.create(**key.columns, user=user, base_version=base_version, form_data=form_data)


def discarded_texts(key: EditorKey, user: User) -> QuerySet[DiscardedText]:
    """Newest first."""
    return DiscardedText.objects.filter(**key.columns, user=user, discarded_at__gte=_kept_since())


@transaction.atomic
def take_back(row: DiscardedText) -> None:
    """Make discarded text the autosaved text again; what was autosaved since is discarded in its place."""
    key = EditorKey(row.task, row.persona, row.page)
    discard(key, row.user)
    autosave(key, row.user, row.form_data, base_version=row.base_version)
    row.delete()


def _kept_since() -> dt.datetime:
    return timezone.now() - dt.timedelta(days=KEPT_DAYS)


def autosaved_text(key: EditorKey, user: User) -> Autosave | None:
    return key.rows().filter(user=user, form_data__isnull=False).first()


def locked_text(key: EditorKey, user: User) -> Autosave | None:
    """The user's row for this page; no other window writes it until the transaction ends."""
    return key.rows().filter(user=user).select_for_update(no_key=True).first()


def is_outdated(row: Autosave, text: Text, *, number: int | None, window: str = "") -> bool:
    """Whether another window of the user stored text that ``window``, knowing ``number``, has not seen."""
    own = number in (None, row.number) or (window != "" and window == row.window)
    return bool(row.form_data) and not own and not _same_text(row.form_data, text)


def _same_text(one: Text, other: Text) -> bool:
    names = (one.keys() | other.keys()) - set(OF_WINDOW)
    return all(list(one.get(name, ())) == list(other.get(name, ())) for name in names)


def draft_number(key: EditorKey, user: User) -> int:
    return key.rows().filter(user=user).values_list("number", flat=True).first() or 0


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
