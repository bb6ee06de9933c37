"""What a proposed intent can be found out from, as authors choose it."""

from __future__ import annotations

from collections.abc import Collection

from evaluation.assistance.answers import SCORED
from evaluation.assistance.material import available_tools
from studio.domain.task import Recovery, RecoveryKind, TaskSpec
from studio.drafts.load import load_tasks
from studio.models import Task
from studio.tasks.checks import placed_tasks


def name_of_source(source: Recovery) -> str:
    return f"{source.kind} {source.ref}".strip()


def sources_for(task: Task, spec: TaskSpec) -> dict[str, Recovery]:
    """By name: asking, the task's files, earlier tasks, and the persona's tools."""
    earlier = [task_id for task_id, _, position in placed_tasks(task) if position < (task.position or 0)]
    refs: list[tuple[RecoveryKind, str]] = [
        ("question", ""),
        *(("file", file.path) for file in spec.assets),
        *(("session", task_id) for task_id in earlier),
        *(("tool", name) for name in available_tools(task.persona.tools, spec)),
    ]
    sources = (Recovery(kind=kind, ref=ref) for kind, ref in refs)
    return {name_of_source(source): source for source in sources}


def earlier_tasks(task: Task, ids: Collection[str]) -> list[TaskSpec]:
    """Those with these ids that come before it in its episode."""
    rows = Task.objects.filter(persona=task.persona_id, task_id__in=ids, position__lt=task.position or 0)
    return list(load_tasks(rows.values_list("pk", flat=True)).values())


def notes_on(task: Task, source: str) -> tuple[str, ...]:
    """What an author should know who chose this source, by its name."""
    kind, _, ref = source.partition(" ")
    if kind != "session" or "\0" in ref:
        return ()
    return tuple(SCORED.format(ref) for spec in earlier_tasks(task, [ref]) if not spec.is_setup)
