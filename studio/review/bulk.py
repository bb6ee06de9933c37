"""Bulk changes of tasks: previewed first, then applied to all of them or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.domain.arrangement import LONGEST_NAME, ArrangementError
from studio.domain.episode import Split
from studio.drafts.authors import authors_of_newest
from studio.drafts.load import load_tasks
from studio.drafts.save_tasks import ENDED_BY_EDITS
from studio.drafts.validate import DraftError
from studio.episodes import moves
from studio.findings.queries import open_blanks
from studio.models import Assignment, Autosave, Benchmark, Category, Persona, Task, TaskState, User
from studio.models.transactions import atomic_with_retry
from studio.review import assignments
from studio.tasks.save import save_locked
from studio.tasks.transitions import OPEN, TRANSITIONS, WorkflowError, apply_transition

PARTS = {"writer": Assignment.Part.WRITER, "reviewer": Assignment.Part.REVIEWER}
LEAST_BUSY = "~fewest"
"""In place of a username: for each task, whoever has the fewest open ones."""
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


class BulkChangeError(ValueError):
    """Nothing was changed; the message says why."""


@dataclass(frozen=True)
class TaskChange:
    task: Task
    before: str
    after: str
    note: str = ""
    """A consequence of the change."""
    refusal: str = ""
    """Why the task cannot be changed."""
    people: frozenset[int] = frozenset()
    """Keys of the users who are assigned."""

    @property
    def differs(self) -> bool:
        return not self.refusal and self.before != self.after


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
        changes = group_changes(rows, value)
    elif action == "split":
        changes = split_changes(rows, value)
    elif action in ("tools", "skills"):
        changes = tool_or_skill_changes(rows, action, tuple(filter(None, value.split("\n"))))
    elif action in PARTS:
        changes = assignment_changes(benchmark, rows, action, value)
    else:
        changes = transition_changes(rows, action, by)
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


def categories_of(benchmark: Benchmark) -> dict[str, str]:
    rows = Category.objects.filter(taxonomy=benchmark.taxonomy_id) if benchmark.taxonomy_id else ()
    return {"": "none", **{row.code: str(row) for row in rows}}


def edit_change(row: Task, before: str, after: str, refusal: str = "") -> TaskChange:
    ends_review = row.state in ENDED_BY_EDITS and before != after and not refusal
    return TaskChange(row, before, after, "Becomes a draft and needs another review." if ends_review else "", refusal)


def transition_changes(rows: list[Task], action: str, by: User | None) -> list[TaskChange]:
    after = str(TRANSITIONS[action].to.label)
    autosaves = Autosave.objects.filter(user=by, task__in=rows, form_data__isnull=False)
    unsaved = set(autosaves.values_list("task_id", flat=True)) if by and action == "submit" else set()
    unfilled = set(open_blanks(rows).values_list("task_id", flat=True)) if action == "submit" else set()
    changes = []
    for row in rows:
        note, refusal = "", ""
        if action == "submit" and row.state not in OPEN:
            refusal = "Only a draft can be submitted."
        elif action == "submit" and row.pk in unsaved:
            refusal = "It has unsaved changes of yours. Open it and save them first."
        elif action == "submit" and row.pk in unfilled:
            refusal = "It has blanks that must be filled in before a review."
        elif action == "submit" and (errors := row.n_errors):
            count = "an error" if errors == 1 else f"{errors} errors"
            note = f"The checks find {count}; it cannot be approved until they are fixed."
        elif action == "withdraw" and row.state != TaskState.IN_REVIEW:
            refusal = "It is not in review."
        elif action == "retire" and row.state != TaskState.RETIRED and row.position is not None:
            refusal = "It is in the episode. Take it out on the board first."
        elif action == "reopen" and row.state != TaskState.RETIRED:
            refusal = "It is not retired."
        changes.append(TaskChange(row, str(row.get_state_display()), after, note, refusal))
    return changes


def group_changes(rows: list[Task], value: str) -> list[TaskChange]:
    if "\0" in value or len(" ".join(value.split())) > LONGEST_NAME:
        raise BulkChangeError(f"A group name can have at most {LONGEST_NAME} characters. Shorten it.")
    name = " ".join(value.split()) or "none"
    return [edit_change(row, row.group or "none", name) for row in rows]


def split_changes(rows: list[Task], value: str) -> list[TaskChange]:
    if value not in tuple(Split):
        raise BulkChangeError("Choose a split.")
    return [TaskChange(row, Split(row.split).label, Split(value).label) for row in rows]


def tool_or_skill_changes(rows: list[Task], action: str, wanted: tuple[str, ...]) -> list[TaskChange]:
    known = _known([row.persona_id for row in rows], action)
    specs = load_tasks(row.pk for row in rows)
    changes = []
    for row in rows:
        missing = [name for name in wanted if name not in known.get(row.persona_id, ())]
        refusal = f"{row.persona} does not have {', '.join(f'“{name}”' for name in missing)}." if missing else ""
        everything = "all of the persona's"
        before = ", ".join(getattr(specs[row.pk], action)) or everything
        changes.append(edit_change(row, before, ", ".join(wanted) or everything, refusal))
    return changes


def choices_of(rows: list[Task], action: str) -> list[str]:
    if action == "group":
        groups = Task.objects.filter(persona__in={row.persona_id for row in rows}).exclude(group="").order_by()
        return sorted(set(groups.values_list("group", flat=True)))
    if action == "split":
        return list(Split)
    known = _known([row.persona_id for row in rows], action)
    return sorted({name for names in known.values() for name in names})


def _known(personas: list[int], action: str) -> dict[int, set[str]]:
    return {pk: set(names) for pk, names in Persona.objects.filter(pk__in=personas).values_list("pk", action)}


def assignment_changes(benchmark: Benchmark, rows: list[Task], action: str, value: str) -> list[TaskChange]:
    part, members = PARTS[action], assignments.eligible_members(benchmark)[PARTS[action]]
    known = {member.user.username: member.user for member in members}
    if value and value != LEAST_BUSY and value not in known:
        raise BulkChangeError("Choose someone who is allowed to do this here.")
    assigned: dict[tuple[int, str], dict[int, str]] = {}
    for assignment in Assignment.objects.filter(task__in=rows).select_related("user"):
        people = assigned.setdefault((assignment.task_id, assignment.part), {})
        people[assignment.user_id] = str(assignment.user)
    authors = authors_of_newest(rows) if action == "reviewer" else {}
    busy = {member.user.pk: member.open for member in members}
    changes = []
    for row in rows:
        earlier = assigned.get((row.pk, part), {})
        other = next(other for other in PARTS.values() if other != part)
        ineligible = authors.get(row.pk, set()) | set(assigned.get((row.pk, other), {}))
        eligible = [member.user for member in members if member.user.pk not in ineligible]
        user, refusal = known.get(value), ""
        if value == LEAST_BUSY:
            user = min(eligible, key=lambda user: busy[user.pk], default=None)
            refusal = "" if user else "No eligible person: everyone who may do this wrote part of it."
        elif user and user not in eligible:
            refusal = f"{user} {'reviews' if action == 'writer' else 'writes'} it."
        before, after = ", ".join(sorted(earlier.values())) or "nobody", str(user or "nobody")
        if user and not refusal and user.pk not in earlier:
            busy[user.pk] += 1
        changes.append(TaskChange(row, before, after, refusal=refusal, people=frozenset({user.pk} if user else ())))
    return changes
