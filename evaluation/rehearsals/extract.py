"""A good line of a rehearsal becomes a hidden intent or a checklist item of the draft."""

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

Kind = Literal["intent", "item"]
NOTE = "From a rehearsal"
MOST_CHARACTERS = 2_000
TRIES = 4


class ExtractError(Exception):
    """The words were not added; the text says why. They are still the person's."""


@dataclass(frozen=True)
class Harvest:
    kind: Kind
    position: int
    """1-based, in the draft."""
    version: int


def keep_words(rehearsal: Rehearsal, kind: Kind, words: str, *, by: User) -> Harvest:
    """Add ``words`` to the task's draft as it is now, whatever others saved since; the rehearsal's own revision stays.

    Raises ExtractError.
    """
    words = " ".join(words.split())
    if not words:
        raise ExtractError("Select or write some text first.")
    if len(words) > MOST_CHARACTERS:
        raise ExtractError(
            f"This has {len(words):,} characters; the limit is {MOST_CHARACTERS:,}. Extract only the part that matters."
        )
    for _ in range(TRIES):  # it adds at the end, so a draft that has just been saved is no reason to trouble anyone
        task = Task.objects.select_related("group").get(pk=rehearsal.revision.task_id)
        spec = _with(load_task(task), kind, words)
        try:
            revision = save_task(task.pk, spec, by=by, note=NOTE, base_version=task.version)
        except StaleDraftError:
            continue
        except DraftError as refusal:
            raise ExtractError(str(refusal)) from None
        return Harvest(kind, len(spec.intents if kind == "intent" else spec.checklist), revision.number)
    raise ExtractError("Someone else is saving this task right now. Your text is still here. Try again.")


def _with(spec: TaskSpec, kind: Kind, words: str) -> TaskSpec:
    there = [one.content for one in spec.intents] if kind == "intent" else [one.criterion for one in spec.checklist]
    for number, text in enumerate(there, 1):
        if " ".join(text.split()) == words:
            raise ExtractError(f"{'Intent' if kind == 'intent' else 'Item'} {number} of the draft already says this.")
    uid = str(uuid.uuid4())
    if kind == "intent":
        return spec.model_copy(update={"intents": (*spec.intents, HiddenIntent(uid=uid, content=words))})
    return spec.model_copy(update={"checklist": (*spec.checklist, ChecklistItem(uid=uid, criterion=words))})
