"""Gaps of a benchmark: deviations from the plan, unused categories and tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from django.urls import reverse
from django.utils.http import urlencode

from studio.domain.plan import Gap, PlacedTask, find_gaps, shape_of_tasks
from studio.models import Benchmark, Persona, Task, TaskState
from studio.reports.statistics import categories_of, idle_tools


@dataclass(frozen=True)
class ReportedGap:
    """A gap, how to close it, and where."""

    message: str
    fix: str
    address: str
    link_text: str
    unfinished: bool = False
    """Adding the planned tasks may close it."""


@dataclass
class PersonaGaps:
    persona: Persona
    found: tuple[Gap, ...]

    @cached_property
    def gaps(self) -> list[ReportedGap]:
        """What was found, with addresses."""
        board = self.persona.get_absolute_url()
        return [_reported_gap(self.persona, gap, board) for gap in self.found]


def personas_of(benchmark: Benchmark) -> list[Persona]:
    """In order, with what their addresses take."""
    rows = Persona.objects.filter(benchmark=benchmark).order_by("position", "user_id")
    personas = list(rows.only("name", "user_id", "benchmark"))
    for persona in personas:
        persona.benchmark = benchmark
    return personas


def gaps_by_persona(benchmark: Benchmark, personas: Iterable[Persona] | None = None) -> list[PersonaGaps]:
    """``personas``: those of ``personas_of``, if they were read."""
    personas = personas_of(benchmark) if personas is None else personas
    episodes, plan = _episodes(benchmark), benchmark.plan
    found = ((persona, tuple(find_gaps(shape_of_tasks(episodes[persona.pk]), plan))) for persona in personas)
    return [PersonaGaps(persona, gaps) for persona, gaps in found if gaps]


def _episodes(benchmark: Benchmark) -> dict[int, list[PlacedTask]]:
    """By persona key. Tasks go by key instead of id, since links contain keys."""
    episodes: dict[int, list[PlacedTask]] = defaultdict(list)
    keys: dict[tuple[int, str], str] = {}
    rows = (
        Task.objects.filter(persona__benchmark=benchmark, position__isnull=False)
        .exclude(state=TaskState.RETIRED)
        .order_by("position")
    )
    columns = ("persona", "pk", "task_id", "needs", "group", "trigger_kind")
    for persona, pk, task_id, needs, group, trigger in rows.values_list(*columns):
        keys[persona, task_id] = str(pk)
        needed = tuple(keys[persona, need] for need in needs if (persona, need) in keys)
        episodes[persona].append(PlacedTask(str(pk), needed, group.strip(), trigger != "user_message"))
    return episodes


def other_gaps(benchmark: Benchmark, personas: dict[int, Persona]) -> list[ReportedGap]:
    """Gaps beyond the plan: categories without tasks, tasks without a category, unused tools."""
    gaps = []
    statistics_page = reverse("studio:statistics", args=[benchmark.slug])
    rows, without = categories_of(benchmark)
    empty = [row.code for row in rows if not row.tasks]
    if len(empty) == len(rows) and rows:
        gaps.append(
            ReportedGap(
                "No task has a category.",
                "Choose one for each; results are reported by category.",
                reverse("studio:tasks", args=[benchmark.slug]),
                "All tasks",
            )
        )
        without = 0
    elif empty:
        gaps.append(
            ReportedGap(
                f"{len(empty)} of {len(rows)} categories {'has' if len(empty) == 1 else 'have'} no task: "
                f"{', '.join(empty)}.",
                "Write a task of that kind, or leave them empty on purpose.",
                f"{statistics_page}#categories",
                "Categories",
            )
        )
    if without:
        tasks = reverse("studio:tasks", args=[benchmark.slug])
        gaps.append(
            ReportedGap(
                f"{without} task{'' if without == 1 else 's'} {'has' if without == 1 else 'have'} no category.",
                "Choose one; results are reported by category.",
                f"{tasks}?{urlencode({'category': 'none'})}",
                "These tasks",
            )
        )
    for pk, (idle, bound) in sorted(idle_tools(benchmark).items()):
        if idle and (persona := personas.get(pk)):
            gaps.append(
                ReportedGap(
                    f"{persona}: {idle} of {bound} tools {'is' if idle == 1 else 'are'} used by no task.",
                    "Unused tools add distractors for the agent; too many only cost tokens.",
                    f"{persona.get_absolute_url()}profile/#tools",
                    "Its tools",
                )
            )
    return gaps


def _reported_gap(persona: Persona, gap: Gap, board: str) -> ReportedGap:
    if gap.kind == "sessions" and gap.unfinished:
        address = reverse("studio:task_new", args=[persona.benchmark.slug, persona.user_id])
        return ReportedGap(gap.message, gap.fix, address, "New task", unfinished=True)
    if gap.tasks:
        return ReportedGap(gap.message, gap.fix, f"{board}?task={gap.tasks[0]}", "On the board", gap.unfinished)
    return ReportedGap(gap.message, gap.fix, board, "Board", gap.unfinished)
