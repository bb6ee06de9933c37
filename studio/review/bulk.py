"""Bulk changes of tasks: previewed first, then applied to all of them or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from django.db import transaction

from studio.domain.arrangement import ArrangementError
from studio.drafts.load import load_tasks
from studio.drafts.validate import DraftError
from studio.episodes import moves
from studio.models import Benchmark, Persona, Task, User
from studio.reports.counts import tasks_with_counts
from studio.review import assignments, bulk_preview
from studio.review.bulk_preview import FEWEST, PARTS, BulkChangeError, Line, categories_of, line_of, names_to_choose
from studio.tasks.save import save_locked
from studio.tasks.transitions import WorkflowError, apply_transition

__all__ = [
    "FEWEST",
    "PARTS",
    "BulkChangeError",
    "Line",
    "apply",
    "categories_of",
    "chosen_tasks",
    "names_to_choose",
    "plan",
]

DOES = {
    "category": "Set the category",
    "group": "Move to a group",
    "tools": "Set the tools",
    "skills": "Set the skills",
    "writer": "Assign an author",
    "reviewer": "Assign a reviewer",
    "submit": "Submit for review",
    "withdraw": "Withdraw from review",
    "retire": "Retire",
    "reopen": "Restore retired tasks",
}
ASKED = ("group", "tools", "skills")
"""Changes whose value is asked for once the tasks are known."""


def chosen_tasks(benchmark: Benchmark, chosen: Mapping[int, int | None]) -> list[Task]:
    """In the order of the list. Raises BulkChangeError if there are none."""
    rows = list(
        tasks_with_counts(Task.objects.filter(episode__persona__benchmark=benchmark, pk__in=chosen))
        .select_related("group", "episode__persona__benchmark")
        .order_by("episode__persona__position", "episode__persona__user_id", "position", "task_id")
    )
    if not rows:
        raise BulkChangeError("Choose at least one task.")
    return rows


def plan(
    benchmark: Benchmark, chosen: Mapping[int, int | None], does: str, value: str = "", *, by: User | None = None
) -> list[Line]:
    """Preview the change for each of these tasks, in the order of the list. A constant number of queries.

    ``chosen``: the version that the user saw, by task key; None for whichever is newest. ``value`` of tools and skills:
    one name per line; empty for all of the persona. Raises BulkChangeError.
    """
    if does not in DOES:
        raise BulkChangeError("Choose what to change.")
    names = categories_of(benchmark) if does == "category" else {}
    if does == "category" and value not in names:
        raise BulkChangeError("Choose one of the categories of this benchmark.")
    rows = chosen_tasks(benchmark, chosen)
    if does == "category":
        lines = [line_of(row, names.get(row.category, row.category), names[value]) for row in rows]
    elif does == "group":
        lines = bulk_preview.group_lines(rows, value)
    elif does in ("tools", "skills"):
        lines = bulk_preview.reach_lines(rows, does, tuple(filter(None, value.split("\n"))))
    elif does in PARTS:
        lines = bulk_preview.people_lines(benchmark, rows, does, value)
    else:
        lines = bulk_preview.step_lines(rows, does, by)
    return [_still(line, chosen[line.task.pk]) for line in lines]


@transaction.atomic
def apply(benchmark: Benchmark, chosen: Mapping[int, int | None], does: str, value: str = "", *, by: User) -> int:
    """Apply the change to each task as its own page would, and return how many were changed. Raises BulkChangeError if
    one of them cannot be changed; then none is."""
    mine = Task.objects.filter(episode__persona__benchmark=benchmark, pk__in=chosen)
    personas = set(mine.values_list("episode__persona", flat=True))
    list(Persona.objects.select_for_update().filter(pk__in=personas).order_by("pk"))
    list(mine.select_for_update(of=("self",)).order_by("pk"))
    lines = plan(benchmark, chosen, does, value, by=by)
    if refused := [line for line in lines if line.refusal]:
        raise BulkChangeError(
            "Nothing was changed. " + " ".join(f"“{line.task}”: {line.refusal}" for line in refused[:3])
        )
    todo = [line.task for line in lines if line.changes]
    try:
        if does in ("category", "tools", "skills"):
            _rewrite(todo, does, value, by=by)
        elif does == "group":
            _group(todo, value, by=by)
        elif does in PARTS:
            people = {line.task.pk: set(line.people) for line in lines if line.changes}
            assignments.name_people(todo, PARTS[does], people, by=by)
        else:
            apply_transition(does, todo, by=by)
    except (DraftError, WorkflowError, ArrangementError) as refusal:
        raise BulkChangeError(f"Nothing was changed. {refusal}") from None
    return len(todo)


def _rewrite(todo: list[Task], does: str, value: str, *, by: User) -> None:
    if todo:
        specs = load_tasks(todo)
        wanted = value if does == "category" else tuple(filter(None, value.split("\n")))
        pairs = [(task, specs[task.pk].model_copy(update={does: wanted})) for task in todo]
        save_locked(pairs, by=by, note="Changed in bulk.")


def _group(todo: list[Task], name: str, *, by: User) -> None:
    """One move on each persona's board, so that it can be undone there."""
    ids: dict[int, list[str]] = {}
    for task in todo:
        ids.setdefault(task.episode.persona_id, []).append(task.task_id)
    for persona, own in ids.items():
        move = moves.Move("group" if name.strip() else "ungroup", tuple(own), group=name)
        moves.make_move(persona, move, by=by, confirmed=True)


def _still(line: Line, seen: int | None) -> Line:
    if seen is None or seen == line.task.version:
        return line
    return replace(line, refusal=f"It has been saved since; it is now at version {line.task.version} now.")
