"""Bulk changes of tasks: previewed first, then applied to all of them or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from studio.domain.arrangement import ArrangementError
from studio.drafts.load import load_tasks
from studio.drafts.validate import DraftError
from studio.episodes import moves
from studio.models import Benchmark, Persona, Task, User
from studio.models.transactions import atomic_with_retry
from studio.review import assignments, bulk_preview
from studio.review.bulk_preview import (
    LEAST_BUSY,
    PARTS,
    BulkChangeError,
    TaskChange,
    categories_of,
    choices_of,
    edit_change,
)
from studio.tasks.save import save_locked
from studio.tasks.transitions import WorkflowError, apply_transition

__all__ = [
    "LEAST_BUSY",
    "PARTS",
    "BulkChangeError",
    "TaskChange",
    "apply",
    "categories_of",
    "choices_of",
    "chosen_tasks",
    "plan",
]

ACTIONS = {
    "category": "Set the category",
    "group": "Move to a group",
    "split": "Set the split",
    "tools": "Set the tools",
    "skills": "Set the skills",
    "writer": "Assign an author",
    "reviewer": "Assign a reviewer",
    "submit": "Submit for review",
    "withdraw": "Withdraw from review",
    "retire": "Retire",
    "reopen": "Restore retired tasks",
}
ACTIONS_WITH_CHOICES = ("group", "split", "tools", "skills")
"""Actions whose values can be offered only once the tasks are known."""


def chosen_tasks(benchmark: Benchmark, chosen: Mapping[int, int | None]) -> list[Task]:
    rows = list(
        Task.objects.filter(persona__benchmark=benchmark, pk__in=chosen)
        .select_related("persona__benchmark")
        .order_by("persona__position", "persona__user_id", "position", "task_id")
    )
    if not rows:
        raise BulkChangeError("Choose at least one task.")
    return rows


def plan(
    benchmark: Benchmark, chosen: Mapping[int, int | None], action: str, value: str = "", *, by: User | None = None
) -> list[TaskChange]:
    """Preview the change for each of these tasks, in the order of the list. A constant number of queries.

    ``chosen``: the version that the user saw, by task key; None for whichever is newest. ``value`` of tools and skills:
    one name per line; empty for all of the persona. Raises BulkChangeError.
    """
    if action not in ACTIONS:
        raise BulkChangeError("Choose what to change.")
    names = categories_of(benchmark) if action == "category" else {}
    if action == "category" and value not in names:
        raise BulkChangeError("Choose one of the categories of this benchmark.")
    rows = chosen_tasks(benchmark, chosen)
    if action == "category":
        changes = [edit_change(row, names.get(row.category, row.category), names[value]) for row in rows]
    elif action == "group":
        changes = bulk_preview.group_changes(rows, value)
    elif action == "split":
        changes = bulk_preview.split_changes(rows, value)
    elif action in ("tools", "skills"):
        changes = bulk_preview.tool_or_skill_changes(rows, action, tuple(filter(None, value.split("\n"))))
    elif action in PARTS:
        changes = bulk_preview.assignment_changes(benchmark, rows, action, value)
    else:
        changes = bulk_preview.transition_changes(rows, action, by)
    return [_reject_outdated(change, chosen[change.task.pk]) for change in changes]


@atomic_with_retry
def apply(benchmark: Benchmark, chosen: Mapping[int, int | None], action: str, value: str = "", *, by: User) -> int:
    """Apply the change to each task as its own page would, and return how many were changed. Raises BulkChangeError if
    one of them cannot be changed; then none is."""
    tasks = Task.objects.filter(persona__benchmark=benchmark, pk__in=chosen)
    personas = set(tasks.values_list("persona", flat=True))
    list(Persona.objects.select_for_update(no_key=True).filter(pk__in=personas).order_by("pk"))
    list(tasks.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    changes = plan(benchmark, chosen, action, value, by=by)
    if refused := [change for change in changes if change.refusal]:
        raise BulkChangeError(
            "Nothing was changed. " + " ".join(f"“{change.task}”: {change.refusal}" for change in refused[:3])
        )
    to_change = [change.task for change in changes if change.differs]
    try:
        if action in ("category", "tools", "skills"):
            _rewrite(to_change, action, value, by=by)
        elif action == "group":
            _arrange(to_change, moves.Move("group" if value.strip() else "ungroup", group=value), by=by)
        elif action == "split":
            _arrange(to_change, moves.Move("split", split=value), by=by)
        elif action in PARTS:
            people = {change.task.pk: set(change.people) for change in changes if change.differs}
            assignments.replace_assignees(to_change, PARTS[action], people, by=by)
        else:
            apply_transition(action, to_change, by=by)
    except (DraftError, WorkflowError, ArrangementError) as error:
        raise BulkChangeError(f"Nothing was changed. {error}") from None
    return len(to_change)


def _rewrite(tasks: list[Task], action: str, value: str, *, by: User) -> None:
    if tasks:
        specs = load_tasks(task.pk for task in tasks)
        wanted = value if action == "category" else tuple(filter(None, value.split("\n")))
        pairs = [(task, specs[task.pk].model_copy(update={action: wanted})) for task in tasks]
        save_locked(pairs, by=by, note="Changed in bulk.")


def _arrange(tasks: list[Task], move: moves.Move, *, by: User) -> None:
    ids: dict[int, list[str]] = {}
    for task in tasks:
        ids.setdefault(task.persona_id, []).append(task.task_id)
    for persona, own in ids.items():
        moves.make_move(persona, replace(move, tasks=tuple(own)), by=by, confirmed=True)


def _reject_outdated(change: TaskChange, seen: int | None) -> TaskChange:
    if seen is None or seen == change.task.version:
        return change
    return replace(change, refusal=f"It has been saved since; it is now at version {change.task.version}.")
