"""One change to many tasks: what it would do to each, told before it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from studio import assigning, publishing
from studio.drafts.findings import refresh_findings
from studio.drafts.loading import load_tasks
from studio.drafts.saving import SETTLED, save_tasks
from studio.models import Assignment, Benchmark, Task, TaskState, User
from studio.publishing import authors_of_newest

DOES = {
    "category": "Set the category",
    "writer": "Say who writes",
    "reviewer": "Ask for a review",
    "retire": "Retire",
    "reopen": "Make retired tasks drafts again",
}
PARTS = {"writer": Assignment.Part.WRITER, "reviewer": Assignment.Part.REVIEWER}
FEWEST = "~fewest"
"""In place of a name: whoever has the fewest open tasks, one after the other."""


class BulkRefused(ValueError):
    """A change that cannot be made at all; the text says why."""


@dataclass(frozen=True)
class Line:
    """What the change does to one task."""

    task: Task
    before: str
    after: str
    note: str = ""
    """What follows from it."""
    refusal: str = ""
    """Why it is left alone."""
    people: frozenset[int] = frozenset()
    """Who is named by it, by key."""

    @property
    def changes(self) -> bool:
        return not self.refusal and self.before != self.after


def plan(benchmark: Benchmark, chosen: Mapping[int, int | None], does: str, value: str = "") -> list[Line]:
    """What the change would do to each of these tasks, in the order of the list. ``chosen``: the version the person
    saw, by the task's key; None: whichever is the newest. Raises BulkRefused. A few queries, however many they are."""
    if does not in DOES:
        raise BulkRefused("Choose what to change.")
    names = categories_of(benchmark) if does == "category" else {}
    if does == "category" and value not in names:
        raise BulkRefused("Choose one of the categories of this benchmark.")
    rows = (
        Task.objects.filter(episode__persona__benchmark=benchmark, pk__in=chosen)
        .select_related("group", "episode__persona__benchmark")
        .order_by("episode__persona__position", "episode__persona__user_id", "position", "task_id")
    )
    if does in PARTS:
        lines = _people_lines(benchmark, list(rows), does, value, chosen)
    else:
        lines = [_line(row, does, value, names, chosen[row.pk]) for row in rows]
    if not lines:
        raise BulkRefused("Choose at least one task.")
    return lines


@transaction.atomic
def apply(
    benchmark: Benchmark, chosen: Mapping[int, int | None], does: str, value: str = "", *, by: User
) -> tuple[int, list[Line]]:
    """Do it, each task as its page would: a version, a line of history, findings. Returns how many were changed, and
    the lines that were left alone. Raises BulkRefused."""
    list(Task.objects.select_for_update().filter(episode__persona__benchmark=benchmark, pk__in=chosen).order_by("pk"))
    lines = plan(benchmark, chosen, does, value)
    todo = [line.task for line in lines if line.changes]
    if does == "category" and todo:
        specs = load_tasks(todo)
        pairs = [(task, specs[task.pk].model_copy(update={"category": value})) for task in todo]
        save_tasks(pairs, by=by, note="Changed with others.")
        refresh_findings({task.episode.persona_id: task.episode.persona for task in todo}.values())
    if does in PARTS:
        people = {line.task.pk: set(line.people) for line in lines if line.changes}
        assigning.name_people(todo, PARTS[does], people, by=by)
    for task in todo if does in ("retire", "reopen") else ():
        (publishing.retire if does == "retire" else publishing.reopen)(task.pk, by=by)
    return len(todo), [line for line in lines if line.refusal]


def categories_of(benchmark: Benchmark) -> dict[str, str]:
    """Names of the categories a task here may have, by code; the empty one first."""
    rows = benchmark.taxonomy.categories.all() if benchmark.taxonomy else ()
    return {"": "none", **{row.code: str(row) for row in rows}}


def _line(row: Task, does: str, value: str, names: Mapping[str, str], seen: int | None) -> Line:
    state = str(row.get_state_display())
    if does == "category":
        before, after = names.get(row.category, row.category), names[value]
        note = "Becomes a draft and needs a review again." if row.state in SETTLED and before != after else ""
    else:
        before, note = state, ""
        after = str((TaskState.RETIRED if does == "retire" else TaskState.DRAFT).label)
    refusal = ""
    if seen is not None and seen != row.version:
        refusal = f"It was saved since: this is version {row.version} now."
    elif does == "retire" and row.state != TaskState.RETIRED and row.position is not None:
        refusal = "It has a place in the episode. Take it out on the board first."
    elif does == "reopen" and row.state != TaskState.RETIRED:
        refusal = "It is not retired."
    return Line(
        task=row, before=before, after=before if refusal else after, note="" if refusal else note, refusal=refusal
    )


def _people_lines(
    benchmark: Benchmark, rows: list[Task], does: str, value: str, chosen: Mapping[int, int | None]
) -> list[Line]:
    """One person for each task, or nobody; in place of who was named before."""
    part, found = PARTS[does], assigning.candidates(benchmark)[PARTS[does]]
    known = {one.user.username: one.user for one in found}
    if value and value != FEWEST and value not in known:
        raise BulkRefused("Choose somebody who may do this here.")
    named: dict[tuple[int, str], dict[int, str]] = {}
    for one in Assignment.objects.filter(task__in=rows).select_related("user"):
        named.setdefault((one.task_id, one.part), {})[one.user_id] = str(one.user)
    authors = authors_of_newest(rows) if does == "reviewer" else {}
    busy = {one.user.pk: one.open for one in found}
    lines = []
    for row in rows:
        had = named.get((row.pk, part), {})
        other = next(other for other in PARTS.values() if other != part)
        unfit = authors.get(row.pk, set()) | set(named.get((row.pk, other), {}))
        fit = [one.user for one in found if one.user.pk not in unfit]
        user, refusal = known.get(value), ""
        if value == FEWEST:
            user = min(fit, key=lambda one: busy[one.pk], default=None)
            refusal = "" if user else "There is nobody who may and did not write it."
        elif user and user not in fit:
            refusal = f"{user} {'reviews' if does == 'writer' else 'writes'} it."
        if chosen[row.pk] not in (None, row.version):
            refusal = f"It was saved since: this is version {row.version} now."
        before, after = ", ".join(sorted(had.values())) or "nobody", str(user or "nobody")
        if user and not refusal and user.pk not in had:
            busy[user.pk] += 1
        lines.append(Line(row, before, after, refusal=refusal, people=frozenset({user.pk} if user else ())))
    return lines
