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
class ReportedGap:
    """A gap, how to close it, and where."""

    message: str
    fix: str
    address: str
    link_text: str
    unfinished: bool = False
    """Adding the planned tasks may close it."""


@dataclass(frozen=True)
class PersonaGaps:
    persona: Persona
    gaps: list[ReportedGap]


def gaps_by_persona(benchmark: Benchmark) -> list[PersonaGaps]:
    personas = list(Persona.objects.filter(benchmark=benchmark).order_by("position", "user_id"))
    needs: dict[int, list[int]] = defaultdict(list)
    links = Dependency.objects.filter(task__episode__persona__benchmark=benchmark).order_by()
    for task, needed in links.values_list("task_id", "requires_id"):
        needs[task].append(needed)
    placed: dict[int, list[PlacedTask]] = defaultdict(list)
    rows = (
        Task.objects.filter(episode__persona__benchmark=benchmark, position__isnull=False)
        .exclude(state=TaskState.RETIRED)
        .order_by("position")
        .values_list("episode__persona", "pk", "group__name", "trigger_kind")
    )
    for persona_key, pk, group, trigger in rows:
        # keys instead of ids, since the links contain keys
        placed[persona_key].append(
            PlacedTask(str(pk), tuple(str(key) for key in needs[pk]), (group or "").strip(), trigger != "user_message")
        )
    plan = benchmark.plan
    result = []
    for persona in personas:
        persona.benchmark = benchmark
        gaps = find_gaps(shape_of_tasks(placed[persona.pk]), plan)
        if gaps:
            board = persona.get_absolute_url()
            result.append(PersonaGaps(persona, [_reported_gap(persona, gap, board) for gap in gaps]))
    return result


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
                    reverse("studio:profile", args=[benchmark.slug, persona.user_id]) + "#tools",
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
