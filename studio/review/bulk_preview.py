"""Previews of bulk changes, and the values to choose from."""

from __future__ import annotations

from dataclasses import dataclass

from studio.domain.arrangement import LONGEST_NAME
from studio.drafts.authors import authors_of_newest
from studio.drafts.save_tasks import ENDED_BY_EDITS
from studio.models import (
    Assignment,
    Autosave,
    Benchmark,
    DependencyGroup,
    Skill,
    Task,
    TaskState,
    ToolBinding,
    User,
)
from studio.review import assignments
from studio.tasks.transitions import OPEN, TRANSITIONS

PARTS = {"writer": Assignment.Part.WRITER, "reviewer": Assignment.Part.REVIEWER}
FEWEST = "~fewest"
"""In place of a name: whoever has the fewest open tasks, one after the other."""


class BulkChangeError(ValueError):
    """Nothing was changed; the message says why."""


@dataclass(frozen=True)
class Line:
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


def categories_of(benchmark: Benchmark) -> dict[str, str]:
    """Names of the taxonomy's categories by code, the empty code first."""
    rows = benchmark.taxonomy.categories.all() if benchmark.taxonomy else ()
    return {"": "none", **{row.code: str(row) for row in rows}}


def line_of(row: Task, before: str, after: str, refusal: str = "") -> Line:
    settled = row.state in ENDED_BY_EDITS and before != after and not refusal
    return Line(row, before, after, "Becomes a draft and needs another review." if settled else "", refusal)


def step_lines(rows: list[Task], does: str, by: User | None) -> list[Line]:
    after = str(TRANSITIONS[does].to.label)
    typed = Autosave.objects.filter(user=by, task__in=rows, form_data__isnull=False)
    unsaved = set(typed.values_list("task_id", flat=True)) if by and does == "submit" else set()
    lines = []
    for row in rows:
        note, refusal = "", ""
        if does == "submit" and row.state not in OPEN:
            refusal = "Only a draft can be submitted."
        elif does == "submit" and row.pk in unsaved:
            refusal = "It has unsaved changes of yours. Open it and save them first."
        elif does == "submit" and (errors := getattr(row, "n_errors", 0)):
            what = "an error" if errors == 1 else f"{errors} errors"
            note = f"The checks find {what}; it cannot be approved until they are fixed."
        elif does == "withdraw" and row.state != TaskState.IN_REVIEW:
            refusal = "It is not in review."
        elif does == "retire" and row.state != TaskState.RETIRED and row.position is not None:
            refusal = "It is in the episode. Take it out on the board first."
        elif does == "reopen" and row.state != TaskState.RETIRED:
            refusal = "It is not retired."
        lines.append(Line(row, str(row.get_state_display()), after, note, refusal))
    return lines


def group_lines(rows: list[Task], value: str) -> list[Line]:
    if "\0" in value or len(" ".join(value.split())) > LONGEST_NAME:
        raise BulkChangeError(f"A group name can have at most {LONGEST_NAME} characters. Shorten it.")
    name = " ".join(value.split()) or "none"
    return [line_of(row, row.group.name or "none" if row.group else "none", name) for row in rows]


def reach_lines(rows: list[Task], does: str, wanted: tuple[str, ...]) -> list[Line]:
    known = _known([row.episode.persona_id for row in rows], does)
    lines = []
    for row in rows:
        missing = [name for name in wanted if name not in known.get(row.episode.persona_id, ())]
        refusal = (
            f"{row.episode.persona} does not have {', '.join(f'“{name}”' for name in missing)}." if missing else ""
        )
        everything = "all of the persona's"
        before = ", ".join(row.tools if does == "tools" else row.skills) or everything
        lines.append(line_of(row, before, ", ".join(wanted) or everything, refusal))
    return lines


def names_to_choose(rows: list[Task], does: str) -> list[str]:
    """Groups of these tasks' episodes, or tools or skills of their personas."""
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


def people_lines(benchmark: Benchmark, rows: list[Task], does: str, value: str) -> list[Line]:
    part, found = PARTS[does], assignments.candidates(benchmark)[PARTS[does]]
    known = {one.user.username: one.user for one in found}
    if value and value != FEWEST and value not in known:
        raise BulkChangeError("Choose someone who is allowed to do this here.")
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
            refusal = "" if user else "No eligible person: everyone who may do this wrote part of it."
        elif user and user not in fit:
            refusal = f"{user} {'reviews' if does == 'writer' else 'writes'} it."
        before, after = ", ".join(sorted(had.values())) or "nobody", str(user or "nobody")
        if user and not refusal and user.pk not in had:
            busy[user.pk] += 1
        lines.append(Line(row, before, after, refusal=refusal, people=frozenset({user.pk} if user else ())))
    return lines
