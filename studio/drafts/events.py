"""Events in a task's history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.models import Event, Task, User


def record(task: Task, verb: str, *, by: User, summary: str, data: Mapping[str, Any] | None = None) -> None:
    event(task, verb, by=by, summary=summary, data=data).save()


def event(task: Task, verb: str, *, by: User | None, summary: str, data: Mapping[str, Any] | None = None) -> Event:
    persona = task.persona
    return Event(
        benchmark_id=persona.benchmark_id,
        persona=persona,
        task=task,
        actor=by,
        verb=verb,
        summary=summary,
        data={"version": task.version, **(data or {})},
    )
