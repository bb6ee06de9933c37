"""Extracting text of a rehearsal into the draft, as a hidden intent or a checklist item."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Literal

from evaluation.models import Rehearsal
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec
from studio.drafts.load import load_task
from studio.drafts.validate import DraftError, StaleDraftError
from studio.models import Task, User
from studio.tasks.save import save_task

RowKind = Literal["intent", "item"]
NOTE = "From a rehearsal"
MAX_CHARACTERS = 2_000
MAX_SAVES = 4


class ExtractError(Exception):
    """The text was not added; the message says why."""


@dataclass(frozen=True)
class ExtractedRow:
    kind: RowKind
    position: int
    """1-based, in the draft."""
    version: int


def extract_row(rehearsal: Rehearsal, kind: RowKind, text: str, *, by: User) -> ExtractedRow:
    text = " ".join(text.split())
    if not text:
        raise ExtractError("Select or write some text first.")
    if len(text) > MAX_CHARACTERS:
        raise ExtractError(
            f"This has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}. Extract only the part that matters."
        )
    for _ in range(MAX_SAVES):  # appending never conflicts, so a stale draft is simply retried
        task = Task.objects.get(pk=rehearsal.session.revision.task_id)
        spec = _with_row(load_task(task), kind, text)
        try:
            revision = save_task(task.pk, spec, by=by, note=NOTE, base_version=task.version)
        except StaleDraftError:
            continue
        except DraftError as error:
            raise ExtractError(str(error)) from None
        return ExtractedRow(kind, len(spec.intents if kind == "intent" else spec.checklist), revision.number)
    raise ExtractError("Someone else is saving this task right now. Your text is still here. Try again.")


def _with_row(spec: TaskSpec, kind: RowKind, text: str) -> TaskSpec:
    if kind == "intent":
        existing = [intent.content for intent in spec.intents]
    else:
        existing = [item.criterion for item in spec.checklist]
    for number, row in enumerate(existing, 1):
        if " ".join(row.split()) == text:
            raise ExtractError(f"{'Intent' if kind == 'intent' else 'Item'} {number} of the draft already says this.")
    uid = str(uuid.uuid4())
    if kind == "intent":
        return spec.model_copy(update={"intents": (*spec.intents, HiddenIntent(uid=uid, content=text))})
    return spec.model_copy(update={"checklist": (*spec.checklist, ChecklistItem(uid=uid, criterion=text))})
