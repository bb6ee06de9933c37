"""Versions of a task."""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.models import Revision, Task


@dataclass
class TaskVersions:
    task: Task
    _read: dict[int, TaskSpec] = field(default_factory=dict)
    """By number: a page is read against its base version and rebased on the newest, often the same."""

    @property
    def newest(self) -> int:
        return self.task.version

    def lock(self) -> None:
        rows = Task.objects.select_related("persona__benchmark")
        self.task.refresh_from_db(from_queryset=rows.select_for_update(no_key=True, of=("self",)))
        self._read.clear()

    def at(self, number: int) -> TaskSpec:
        if number not in self._read:
            self._read[number] = self._at(number)
        return self._read[number]

    def author_of(self, number: int) -> int | None:
        return Revision.objects.filter(task=self.task, number=number).values_list("created_by_id", flat=True).first()

    def _at(self, number: int) -> TaskSpec:
        if number == self.task.version:
            return load_task(self.task)
        revision = Revision.objects.filter(task=self.task, number=number).first()
        return TaskSpec.model_validate(revision.spec) if revision else load_task(self.task)


def spec_at(task: Task, version: int) -> TaskSpec:
    """The task at a version, or as it is now if that number does not exist."""
    return TaskVersions(task).at(version)
