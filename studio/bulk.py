"""One change to many tasks: what it would do to each, told before it is done; then to all of them or to none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.db import transaction

from studio import arranging, assigning, publishing
from studio.drafts.findings import refresh_findings
from studio.drafts.loading import load_tasks
from studio.drafts.refusing import DraftRefused
from studio.drafts.saving import SETTLED, save_tasks
from studio.models import (
    Assignment,
    Benchmark,
    DependencyGroup,
    Persona,
    Skill,
    Task,
    TaskState,
    ToolBinding,
    User,
    WorkingCopy,
)
from studio.publishing import PublishingRefused, authors_of_newest
from studio.queries import tasks_with_counts
from studio.spec.arrangement import LONGEST_NAME, StepRefused

DOES = {
    "category": "Set the category",
    "group": "Move into a group",
    "tools": "Set the tools",
    "skills": "Set the skills",
    "writer": "Say who writes",
    "reviewer": "Say who reviews",
    "submit": "Submit for review",
    "withdraw": "Withdraw from review",
    "retire": "Retire",
    "reopen": "Make retired tasks drafts again",
}
ASKED = ("group", "tools", "skills")
"""Changes whose value is asked for once the tasks are known."""
STEPS = {
    "submit": (TaskState.IN_REVIEW, publishing.submit),
    "withdraw": (TaskState.DRAFT, publishing.withdraw),
    "retire": (TaskState.RETIRED, publishing.retire),
    "reopen": (TaskState.DRAFT, publishing.reopen),
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


def chosen_tasks(benchmark: Benchmark, chosen: Mapping[int, int | None]) -> list[Task]:
    """In the order of the list. Raises BulkRefused if there are none."""
    rows = list(
        tasks_with_counts(Task.objects.filter(episode__persona__benchmark=benchmark, pk__in=chosen))
        .select_related("group", "episode__persona__benchmark")
        .order_by("episode__persona__position", "episode__persona__user_id", "position", "task_id")
    )
    if not rows:
        raise BulkRefused("Choose at least one task.")
    return rows


def plan(
    benchmark: Benchmark, chosen: Mapping[int, int | None], does: str, value: str = "", *, by: User | None = None
) -> list[Line]:
    """What the change would do to each of these tasks, in the order of the list. ``chosen``: the version the person
    saw, by the task's key; None: whichever is the newest. ``value`` of tools and skills: a name a line, none for all
    that the persona has. Raises BulkRefused. A few queries, however many they are."""
    if does not in DOES:
        raise BulkRefused("Choose what to change.")
    names = categories_of(benchmark) if does == "category" else {}
    if does == "category" and value not in names:
        raise BulkRefused("Choose one of the categories of this benchmark.")
    rows = chosen_tasks(benchmark, chosen)
    if does == "category":
        lines = [_line(row, names.get(row.category, row.category), names[value]) for row in rows]
    elif does == "group":
        lines = _group_lines(rows, value)
    elif does in ("tools", "skills"):
        lines = _reach_lines(rows, does, tuple(filter(None, value.split("\n"))))
    elif does in PARTS:
        lines = _people_lines(benchmark, rows, does, value)
    else:
        lines = _step_lines(rows, does, by)
    return [_still(line, chosen[line.task.pk]) for line in lines]


@transaction.atomic
def apply(benchmark: Benchmark, chosen: Mapping[int, int | None], does: str, value: str = "", *, by: User) -> int:
    """Do it, each task as its page would: a version, a line of history, findings. Returns how many were changed.
    Raises BulkRefused where one of them cannot be, and then nothing happened."""
    mine = Task.objects.filter(episode__persona__benchmark=benchmark, pk__in=chosen)
    list(Persona.objects.select_for_update().filter(episode__tasks__in=mine).order_by("pk"))
    list(mine.select_for_update().order_by("pk"))
    lines = plan(benchmark, chosen, does, value, by=by)
    if refused := [line for line in lines if line.refusal]:
        raise BulkRefused("Nothing was changed. " + " ".join(f"“{line.task}”: {line.refusal}" for line in refused[:3]))
    todo = [line.task for line in lines if line.changes]
    try:
        if does in ("category", "tools", "skills"):
            _rewrite(todo, does, value, by=by)
        elif does == "group":
            _group(todo, value, by=by)
        elif does in PARTS:
            people = {line.task.pk: set(line.people) for line in lines if line.changes}
            assigning.name_people(todo, PARTS[does], people, by=by)
        else:
            for task in todo:
                STEPS[does][1](task.pk, by=by)
    except (DraftRefused, PublishingRefused, StepRefused) as refusal:
        raise BulkRefused(f"Nothing was changed. {refusal}") from None
    return len(todo)


def _rewrite(todo: list[Task], does: str, value: str, *, by: User) -> None:
    if todo:
        specs = load_tasks(todo)
        wanted = value if does == "category" else tuple(filter(None, value.split("\n")))
        pairs = [(task, specs[task.pk].model_copy(update={does: wanted})) for task in todo]
        save_tasks(pairs, by=by, note="Changed with others.")
        refresh_findings({task.episode.persona_id: task.episode.persona for task in todo}.values())


def _group(todo: list[Task], name: str, *, by: User) -> None:
    """A step on each persona's board, which undoes it."""
    ids: dict[int, list[str]] = {}
    for task in todo:
        ids.setdefault(task.episode.persona_id, []).append(task.task_id)
    for persona, own in ids.items():
        step = arranging.Step("group" if name.strip() else "ungroup", tuple(own), group=name)
        arranging.arrange(persona, step, by=by, sure=True)


def categories_of(benchmark: Benchmark) -> dict[str, str]:
    """Names of the categories a task here may have, by code; the empty one first."""
    rows = benchmark.taxonomy.categories.all() if benchmark.taxonomy else ()
    return {"": "none", **{row.code: str(row) for row in rows}}


def _still(line: Line, seen: int | None) -> Line:
    """Refused if somebody saved the task since it was looked at."""
    if seen is None or seen == line.task.version:
        return line
    return replace(line, refusal=f"It was saved since: this is version {line.task.version} now.")


def _line(row: Task, before: str, after: str, refusal: str = "") -> Line:
    """Of a change that makes a version."""
    settled = row.state in SETTLED and before != after and not refusal
    return Line(row, before, after, "Becomes a draft and needs a review again." if settled else "", refusal)


def _step_lines(rows: list[Task], does: str, by: User | None) -> list[Line]:
    after = str(STEPS[does][0].label)
    typed = WorkingCopy.objects.filter(user=by, task__in=rows, sheet__isnull=False)
    unsaved = set(typed.values_list("task_id", flat=True)) if by and does == "submit" else set()
    lines = []
    for row in rows:
        note, refusal = "", ""
        if does == "submit" and row.state not in publishing.OPEN:
            refusal = "Only a draft can be submitted."
        elif does == "submit" and row.pk in unsaved:
            refusal = "Your words in it are in no version yet. Open it and save them first."
        elif does == "submit" and (errors := getattr(row, "n_errors", 0)):
            what = "an error" if errors == 1 else f"{errors} errors"
            note = f"The checks find {what}: it cannot be approved like this."
        elif does == "withdraw" and row.state != TaskState.IN_REVIEW:
            refusal = "It is not in review."
        elif does == "retire" and row.state != TaskState.RETIRED and row.position is not None:
            refusal = "It has a place in the episode. Take it out on the board first."
        elif does == "reopen" and row.state != TaskState.RETIRED:
            refusal = "It is not retired."
        lines.append(Line(row, str(row.get_state_display()), after, note, refusal))
    return lines


def _group_lines(rows: list[Task], value: str) -> list[Line]:
    if "\0" in value or len(" ".join(value.split())) > LONGEST_NAME:
        raise BulkRefused(f"A group's name has at most {LONGEST_NAME} characters: shorten it.")
    name = " ".join(value.split()) or "none"
    return [_line(row, row.group.name or "none" if row.group else "none", name) for row in rows]


def _reach_lines(rows: list[Task], does: str, wanted: tuple[str, ...]) -> list[Line]:
    known = _known([row.episode.persona_id for row in rows], does)
    lines = []
    for row in rows:
        missing = [name for name in wanted if name not in known.get(row.episode.persona_id, ())]
        refusal = (
            f"{row.episode.persona} does not have {', '.join(f'“{name}”' for name in missing)}." if missing else ""
        )
        everything = "all of the persona's"
        before = ", ".join(row.tools if does == "tools" else row.skills) or everything
        lines.append(_line(row, before, ", ".join(wanted) or everything, refusal))
    return lines


def names_to_choose(rows: list[Task], does: str) -> list[str]:
    """Of groups in these tasks' episodes, or of tools or skills of their personas."""
    if does == "group":
        groups = DependencyGroup.objects.filter(episode__in={row.episode_id for row in rows}).exclude(name="")
        return sorted(set(groups.values_list("name", flat=True)))
    known = _known([row.episode.persona_id for row in rows], does)
    return sorted({name for names in known.values() for name in names})


def _known(personas: list[int], does: str) -> dict[int, set[str]]:
    table = ToolBinding if does == "tools" else Skill
    known: dict[int, set[str]] = {}
    for persona, name in table.objects.filter(persona__in=set(personas)).values_list("persona_id", "name"):
        known.setdefault(persona, set()).add(name)
    return known


def _people_lines(benchmark: Benchmark, rows: list[Task], does: str, value: str) -> list[Line]:
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
        before, after = ", ".join(sorted(had.values())) or "nobody", str(user or "nobody")
        if user and not refusal and user.pk not in had:
            busy[user.pk] += 1
        lines.append(Line(row, before, after, refusal=refusal, people=frozenset({user.pk} if user else ())))
    return lines
