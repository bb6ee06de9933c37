"""What a pilot would run: the newest revisions of its tasks, planned by its mode."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import F, QuerySet

from evaluation.models import Pilot, Session, Snapshot
from evaluation.protocol.modes import (
    NOTHING_TO_RUN,
    Chain,
    PilotMode,
    PlanError,
    PlannedTask,
    RunPlan,
    Start,
    groups_of,
    plan_run,
)
from evaluation.store.snapshots import snapshot_after, snapshot_before
from studio.domain.content import content_hash, parts_of_tasks
from studio.domain.options import OptionsError
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Benchmark, Finding, Persona, PersonaRevision, Revision, Task, TaskState
from studio.models.tasks import personas_with

IN_REQUEST = "intent-in-request"
"""Rule of the checks."""
ENDED = (Session.State.FINISHED, Session.State.FAILED)
UNFINISHED = (Pilot.State.WAITING, Pilot.State.RUNNING, Pilot.State.PAUSED)


PERSONAS_AT_ONCE = 100
"""Whose tasks are read by one query."""


@dataclass(frozen=True)
class RunnableEpisode:
    persona: Persona
    tasks: list[Task]
    """In run order."""


def runnable_personas(benchmark: Benchmark) -> list[RunnableEpisode]:
    """Personas with tasks to run, in order. Tasks have only the fields that identify them."""
    personas = personas_with(benchmark)
    tasks = (
        Task.objects.filter(persona__in=personas, position__isnull=False)
        .exclude(state=TaskState.RETIRED)
        .only("persona", "task_id", "title", "position", "state")
        .order_by("position")
    )
    placed: dict[int, list[Task]] = {pk: [] for pk in personas}
    for task in tasks:
        task.persona = personas[task.persona_id]
        placed[task.persona_id].append(task)
    return [RunnableEpisode(personas[pk], placed_tasks) for pk, placed_tasks in placed.items() if placed_tasks]


@dataclass(frozen=True)
class PersonaPlan:
    persona: PersonaRevision
    tasks: Mapping[str, tuple[Task, Revision]]
    """Of the episode, in order."""
    plan: RunPlan
    base: BaseSessions | None = None

    @cached_property
    def positions(self) -> dict[str, int]:
        """From 1, among the tasks that run or are taken over."""
        used = {*self.plan.sessions, *self.plan.taken}
        return {name: at for at, name in enumerate((name for name in self.tasks if name in used), start=1)}

    @cached_property
    def contents(self) -> dict[str, str]:
        """``content_hash`` by task."""
        return contents_of(self.persona, self.tasks)

    def revision(self, name: str) -> Revision:
        return self.tasks[name][1]

    def start_of(self, chain: Chain, run: int) -> Snapshot | None:
        if chain.start == Start.INITIAL or self.base is None:
            return None
        return self.base.snapshot_before(chain.tasks[0], run, self.tasks)


def contents_of(persona: PersonaRevision, tasks: Mapping[str, tuple[Task, Revision]]) -> dict[str, str]:
    documents = (revision.spec for _, revision in tasks.values())
    parts = parts_of_tasks(documents, PersonaSpec.model_validate(persona.spec))
    return {name: content_hash(each) for name, each in parts.items()}


def said_in_requests(plans: Sequence[PersonaPlan]) -> dict[str, dict[str, list[int]]]:
    """By persona and task: positions of the intents that the request says in full, as the checks found. Every agent
    gets them; they are scored like others, and marked."""
    said: dict[str, dict[str, list[int]]] = {}
    places = {plan.tasks[name][0].pk: (plan.persona.persona.user_id, name) for plan in plans for name in plan.positions}
    for key, positions in said_by_task(places).items():
        persona, task = places[key]
        said.setdefault(persona, {})[task] = positions
    return said


def said_by_task(tasks: Collection[int]) -> dict[int, list[int]]:
    """Likewise, by the key of the task."""
    said: dict[int, list[int]] = {}
    found = Finding.objects.filter(task__in=tasks, rule=IN_REQUEST, severity="error", item__isnull=False)
    for finding in found.order_by("task", "item").only("task", "item"):
        said.setdefault(finding.task_id, []).append(finding.item or 0)
    return said


class BaseSessions:
    """The sessions of one persona in the pilot from which a pilot of changed tasks takes over what stays."""

    def __init__(self, pilot: Pilot, persona: Persona) -> None:
        self.pilot = pilot
        rows = Session.objects.of(pilot).filter(run__persona_revision__persona=persona)
        rows = rows.select_related("run", "revision__task").defer("revision__spec", "revision__task__spec")
        self.rows = {(row.revision.task.task_id, row.run.number): row for row in rows}

    @property
    def names(self) -> set[str]:
        """Of the tasks that it ran."""
        return {name for name, _ in self.rows}

    def stale(self, persona: PersonaRevision, tasks: Mapping[str, tuple[Task, Revision]]) -> set[str]:
        """Tasks of which something that their score depends on was edited since, are new, or have a run that did not
        end."""
        contents = contents_of(persona, tasks)
        return {
            name
            for name in tasks
            for run in range(1, self.pilot.runs_wanted + 1)
            if (row := self.rows.get((name, run))) is None or row.state not in ENDED or row.content != contents[name]
        }

    def taken(self, names: Sequence[str]) -> list[Session]:
        return [row for (name, _), row in self.rows.items() if name in names]

    def snapshot_before(self, name: str, run: int, tasks: Mapping[str, tuple[Task, Revision]]) -> Snapshot | None:
        """A task that did not run there starts after the last one that ran before it, or in pilots whose groups did
        not share a state, after the last one of its group."""
        if row := self.rows.get((name, run)):
            return snapshot_before(row)
        planned = [planned_task(revision) for _, revision in tasks.values()]
        (group,) = [group for group in groups_of(planned) if name in group]
        shared = self.pilot.mode in (PilotMode.EPISODE, PilotMode.CHANGED)
        earlier = [other for other in list(tasks)[: list(tasks).index(name)] if shared or other in group]
        known = [row for other in earlier if (row := self.rows.get((other, run)))]
        return snapshot_after(known[-1]) if known else None


def plan_pilot(
    benchmark: Benchmark,
    mode: PilotMode = PilotMode.EPISODE,
    persona: str = "",
    names: Sequence[str] = (),
    base: Pilot | None = None,
) -> list[PersonaPlan]:
    """By persona, those with nothing to run or to take over left out. Without ``names``: all tasks, or those of
    ``base``. Raises OptionsError."""
    _validate_base(benchmark, mode, base)
    requested = list(dict.fromkeys(names))
    plans = []
    known: set[str] = set()
    for row, tasks in _placed_tasks(_personas(benchmark, persona)):
        matching = [name for name in requested if name in tasks]
        known.update(matching)
        earlier = BaseSessions(base, row.persona) if base else None
        chosen = matching if requested else [name for name in tasks if tasks[name][0].state != TaskState.RETIRED]
        if earlier and not requested:
            chosen = [name for name in chosen if name in earlier.names]
        if not chosen:
            continue
        stale = earlier.stale(row, tasks) if earlier else ()
        try:
            planned = [planned_task(revision) for _, revision in tasks.values()]
            plan = plan_run(planned, mode, requested if mode == PilotMode.TASK else chosen, stale)
        except PlanError as error:
            raise OptionsError("tasks", str(error)) from error
        if plan.chains or plan.taken:
            plans.append(PersonaPlan(row, tasks, plan, earlier))
    if missing := [name for name in requested if name not in known]:
        raise OptionsError("tasks", f"No episode here has the task “{missing[0]}”.")
    if not any(plan.plan.chains for plan in plans):
        raise OptionsError("tasks", NOTHING_TO_RUN.get(mode, "There are no tasks to run. The episode is empty."))
    return plans


def bases_for(benchmark: Benchmark, pilots: QuerySet[Pilot]) -> QuerySet[Pilot]:
    """Those whose sessions a pilot of changed tasks can take over, newest first."""
    rows = pilots.filter(benchmark=benchmark).exclude(state__in=UNFINISHED).exclude(mode=PilotMode.ABLATION)
    return rows.order_by("-number")


def tasks_of_sessions(plans: Sequence[PersonaPlan]) -> list[int]:
    """The key of each session's task, in one run."""
    return [plan.tasks[name][0].pk for plan in plans for name in plan.plan.sessions]


def planned_task(revision: Revision) -> PlannedTask:
    return PlannedTask.of(TaskSpec.model_validate(revision.spec))


def newest_revisions(tasks: Sequence[Task]) -> dict[int, Revision]:
    """The newest revision of each task, by task key, in one query. Raises OptionsError if a task has none."""
    rows = Revision.objects.filter(task__in=tasks).order_by("task_id", "-number").distinct("task_id")
    newest = {row.task_id: row for row in rows}
    for task in tasks:
        if task.pk not in newest:
            raise OptionsError("tasks", f"“{task.task_id}” has never been saved.")
    return newest


def _personas(benchmark: Benchmark, user_id: str) -> list[PersonaRevision]:
    rows = PersonaRevision.objects.filter(persona__benchmark=benchmark, number=F("persona__version"))
    if user_id:
        rows = rows.filter(persona__user_id=user_id)
    found = list(rows.select_related("persona").defer("spec").order_by("persona__position", "persona"))
    if user_id and not found:
        raise OptionsError("persona", f"There is no persona “{user_id}” in this benchmark.")
    return found


def newest_tasks(benchmark: Benchmark) -> Iterator[tuple[str, PersonaRevision, Mapping[str, Revision]]]:
    """By persona: its user id, and its placed tasks in order."""
    for row, placed in _placed_tasks(_personas(benchmark, "")):
        yield row.persona.user_id, row, {name: revision for name, (_, revision) in placed.items()}


def _placed_tasks(
    personas: Sequence[PersonaRevision],
) -> Iterator[tuple[PersonaRevision, dict[str, tuple[Task, Revision]]]]:
    """Of each persona in order, read for many personas at once."""
    for start in range(0, len(personas), PERSONAS_AT_ONCE):
        some = personas[start : start + PERSONAS_AT_ONCE]
        placed = Task.objects.filter(persona__in=[row.persona_id for row in some], position__isnull=False)
        by_persona: dict[int, list[Task]] = {row.persona_id: [] for row in some}
        for task in placed.order_by("position"):
            by_persona[task.persona_id].append(task)
        revisions = newest_revisions([task for tasks in by_persona.values() for task in tasks])
        for row in some:
            yield row, {task.task_id: (task, revisions[task.pk]) for task in by_persona[row.persona_id]}


def _validate_base(benchmark: Benchmark, mode: PilotMode, base: Pilot | None) -> None:
    if mode != PilotMode.CHANGED:
        if base is not None:
            raise OptionsError("base", "Only the mode “changed” takes over sessions of an earlier pilot.")
        return
    if base is None:
        raise OptionsError("base", "Choose the pilot from which the other sessions are taken over.")
    if base.benchmark_id != benchmark.pk:
        raise OptionsError("base", "This pilot is of another benchmark.")
    if base.mode == PilotMode.ABLATION:
        raise OptionsError("base", f"Pilot {base.number} is an ablation; choose one that ran tasks once.")
    if base.state in UNFINISHED:
        raise OptionsError("base", f"Pilot {base.number} has not ended yet.")
