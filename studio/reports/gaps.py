"""Gaps of a benchmark: deviations from the plan, unused categories and tools."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode

from studio.domain.plan import Gap, PlacedTask, find_gaps, shape_of_tasks
from studio.models import Benchmark, Dependency, Persona, Task, TaskState
from studio.reports.statistics import categories_of, idle_tools


@dataclass(frozen=True)
class Lack:
    """A gap, how to close it, and where."""

    message: str
    mend: str
    address: str
    place: str
    """The words on the link."""
    unfinished: bool = False
    """It may come as the persona's sessions are written."""


@dataclass(frozen=True)
class PersonaLacks:
    persona: Persona
    lacks: list[Lack]


def lacks_of(benchmark: Benchmark) -> list[PersonaLacks]:
    """Deviations of every persona from the plan, in order. Three queries."""
    personas = list(Persona.objects.filter(benchmark=benchmark).order_by("position", "user_id"))
    needs: dict[int, list[int]] = defaultdict(list)
    links = Dependency.objects.filter(task__episode__persona__benchmark=benchmark).order_by()
    for task, needed in links.values_list("task_id", "requires_id"):
        needs[task].append(needed)
    places: dict[int, list[PlacedTask]] = defaultdict(list)
    rows = (
        Task.objects.filter(episode__persona__benchmark=benchmark, position__isnull=False)
        .exclude(state=TaskState.RETIRED)
        .order_by("position")
        .values_list("episode__persona", "pk", "group__name", "trigger_kind")
    )
    for owner, pk, group, trigger in rows:
        # keys stand for ids here: they are what the links need
        places[owner].append(
            PlacedTask(str(pk), tuple(str(key) for key in needs[pk]), (group or "").strip(), trigger != "user_message")
        )
    plan = benchmark.plan
    found = []
    for persona in personas:
        persona.benchmark = benchmark
        gaps = find_gaps(shape_of_tasks(places[persona.pk]), plan)
        if gaps:
            board = persona.get_absolute_url()
            found.append(PersonaLacks(persona, [_lack(persona, gap, board) for gap in gaps]))
    return found


def other_lacks(benchmark: Benchmark, personas: dict[int, Persona]) -> list[Lack]:
    """Gaps beyond the plan: categories without tasks, tasks without a category, unused tools."""
    lacks = []
    here = reverse("studio:statistics", args=[benchmark.slug])
    rows, without = categories_of(benchmark)
    empty = [row.code for row in rows if not row.tasks]
    if len(empty) == len(rows) and rows:
        lacks.append(
            Lack(
                "No task has a category.",
                "Choose one for each; results are reported by category.",
                reverse("studio:tasks", args=[benchmark.slug]),
                "All tasks",
            )
        )
        without = 0
    elif empty:
        lacks.append(
            Lack(
                f"{len(empty)} of {len(rows)} categories {'has' if len(empty) == 1 else 'have'} no task: "
                f"{', '.join(empty)}.",
                "Write a task of that kind, or leave them empty on purpose.",
                f"{here}#categories",
                "Categories",
            )
        )
    if without:
        tasks = reverse("studio:tasks", args=[benchmark.slug])
        lacks.append(
            Lack(
                f"{without} task{'' if without == 1 else 's'} {'has' if without == 1 else 'have'} no category.",
                "Choose one; results are reported by category.",
                f"{tasks}?{urlencode({'category': 'none'})}",
                "These tasks",
            )
        )
    for pk, (idle, bound) in sorted(idle_tools(benchmark).items()):
        if idle and (persona := personas.get(pk)):
            lacks.append(
                Lack(
                    f"{persona}: {idle} of {bound} tools {'is' if idle == 1 else 'are'} used by no task.",
                    "Unused tools add distractors for the agent; too many only cost tokens.",
                    reverse("studio:profile", args=[benchmark.slug, persona.user_id]) + "#tools",
                    "Its tools",
                )
            )
    return lacks


def _lack(persona: Persona, gap: Gap, board: str) -> Lack:
    if gap.kind == "sessions" and gap.unfinished:
        address = reverse("studio:task_new", args=[persona.benchmark.slug, persona.user_id])
        return Lack(gap.message, gap.fix, address, "New task", unfinished=True)
    if gap.tasks:
        return Lack(gap.message, gap.fix, f"{board}?task={gap.tasks[0]}", "On the board", gap.unfinished)
    return Lack(gap.message, gap.fix, board, "Board", gap.unfinished)
