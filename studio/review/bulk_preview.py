"""Previews of bulk changes, and the values to choose from."""

from __future__ import annotations

from dataclasses import dataclass

from studio.domain.arrangement import LONGEST_NAME
from studio.domain.episode import Split
from studio.drafts.authors import authors_of_newest
from studio.drafts.load import load_tasks
from studio.drafts.save_tasks import ENDED_BY_EDITS
from studio.findings.queries import open_blanks
from studio.models import (
    Assignment,
    Autosave,
    Benchmark,
    Category,
    Persona,
    Task,
    TaskState,
    User,
)
from studio.review import assignments
from studio.tasks.transitions import OPEN, TRANSITIONS

PARTS = {"writer": Assignment.Part.WRITER, "reviewer": Assignment.Part.REVIEWER}
LEAST_BUSY = "~fewest"
"""In place of a username: for each task, whoever has the fewest open ones."""


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
