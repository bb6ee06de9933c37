"""What lists show of a task: one value instead of rows of five tables."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from studio.domain.episode import Split
from studio.models.tasks import Task

TRIGGERS = dict(Task._meta.get_field("trigger_kind").choices or ())


class ListedTask(NamedTuple):
    """What lists show of a task."""

    pk: int
    position: int | None
    title: str
    task_id: str
    state: str
    category: str
    trigger_kind: str
    version: int
    updated_at: datetime
    persona: str
    """Its id, as its folder is called."""
    persona_name: str
    benchmark: str
    """Its slug."""
    intents: int
    items: int
    errors: int
    """Open findings."""
    warnings: int
    split: str
    writer: tuple[str, str] | None = None
    """Username and name."""
    reviewers: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> int:
        return self.pk

    @property
    def name(self) -> str:
        return self.title.strip() or self.task_id

    @property
    def split_label(self) -> str:
        return Split(self.split).label

    @property
    def trigger(self) -> str:
        return str(TRIGGERS.get(self.trigger_kind, self.trigger_kind))
