"""Starting a pilot: which tasks run, at which revisions, with which limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.db.models import F, Max

from evaluation.grading.judgings import open_first_round
from evaluation.models import ModelEndpoint, Pilot, Run, Session
from evaluation.models.endpoints import freeze_endpoint
from evaluation.pilots.budgets import BudgetError, validate_budgets
from evaluation.pilots.queue import wake_workers
from evaluation.protocol.session import MAX_TURNS
from studio.domain.task import TaskSpec
from studio.models import Benchmark, Event, Persona, PersonaRevision, Revision, Task, TaskState, User
from studio.models.transactions import atomic_with_retry

APPROVED = (TaskState.APPROVED, TaskState.RELEASED)
MAX_RUNS = 20
LIMITS: dict[str, float] = {"turns": MAX_TURNS, "turn_seconds": 2400, "tool_calls": 200, "tokens": 2_000_000, "cost": 0}
"""Per session; 0 means no limit. ``tool_calls`` is per turn, ``cost`` is in US dollars."""


class PilotError(Exception):
    """The pilot cannot start. ``field`` names the invalid choice."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@atomic_with_retry
def start_pilot(
    benchmark: Benchmark,
    *,
    by: User | None,
    agent: ModelEndpoint,
    user_model: ModelEndpoint,
    judge: ModelEndpoint,
    persona: str = "",
    tasks: Sequence[str] = (),
    runs: int = 1,
    limits: Mapping[str, float] | None = None,
    budgets: Mapping[str, Mapping[str, float]] | None = None,
) -> Pilot:
    """Create a pilot over the newest revisions and wake the workers.

    Dependencies of the chosen tasks run too, earlier and in the same workspace. Raises PilotError.
    """
    if not 1 <= runs <= MAX_RUNS:
        raise PilotError("runs", f"Choose between 1 and {MAX_RUNS} runs.")
    all_limits = _validate_limits(limits or {})
    try:
        all_budgets = validate_budgets(budgets or {})
    except BudgetError as error:
        raise PilotError(error.field, str(error)) from error
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    selection = _select_tasks(benchmark, persona, tasks)
    endpoints = {"agent": agent, "user_model": user_model, "judge": judge}
    for part, endpoint in endpoints.items():
        if endpoint.benchmark_id not in (None, benchmark.pk):
            raise PilotError(part, f"“{endpoint}” belongs to another benchmark.")
    number = (benchmark.pilots.aggregate(last=Max("number"))["last"] or 0) + 1
    pilot = Pilot.objects.create(
        benchmark=benchmark,
        number=number,
        **endpoints,
        runs_wanted=runs,
        limits=all_limits,
        budgets=all_budgets,
        config={role: freeze_endpoint(endpoint) for role, endpoint in endpoints.items()},
        scripted=any(endpoint.scripted for endpoint in endpoints.values()),
        drafts=any(task.state not in APPROVED for _, rows in selection for task, _ in rows),
        created_by=by,
    )
    open_first_round(pilot, by)
    personas = _newest_persona_revisions([row for row, _ in selection])
    created_runs = [
        Run(pilot=pilot, persona_revision=personas[row.pk], number=k)
        for row, _ in selection
        for k in range(1, runs + 1)
    ]
    Run.objects.bulk_create(created_runs)
    revisions = {row.pk: [revision for _, revision in rows] for row, rows in selection}
    Session.objects.bulk_create(
        Session(
            run=run,
            revision=revision,
            position=position,
            intent_count=len(revision.spec.get("intents", ())),
        )
        for run in created_runs
        for position, revision in enumerate(revisions[run.persona_revision.persona_id], start=1)
    )
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="piloted",
        summary=f"Started pilot {number}.",  # the agent is closed to auditors of the pilot
        data={"pilot": pilot.pk},
    )
    wake_workers()
    return pilot


def newest_revisions(tasks: Sequence[Task]) -> dict[int, Revision]:
    """The newest revision of each task, by task key, in one query. Raises PilotError if a task has none."""
    rows = Revision.objects.filter(task__in=tasks).order_by("task_id", "-number").distinct("task_id")
    newest = {row.task_id: row for row in rows}
    for task in tasks:
        if task.pk not in newest:
            raise PilotError("tasks", f"“{task.task_id}” has never been saved.")
    return newest


def _newest_persona_revisions(personas: Sequence[Persona]) -> dict[int, PersonaRevision]:
    rows = PersonaRevision.objects.filter(persona__in=personas, number=F("persona__version")).defer("spec")
    return {row.persona_id: row for row in rows}


def with_dependencies(names: Iterable[str], specs: Mapping[str, TaskSpec]) -> set[str]:
    needed: set[str] = set()
    remaining = list(names)
    while remaining:
        name = remaining.pop()
        if name in specs and name not in needed:
            needed.add(name)
            remaining += [dependency.task_id for dependency in specs[name].depends_on]
    return needed


def chosen_tasks(benchmark: Benchmark, persona: str, names: Sequence[str]) -> list[int]:
    """Keys of the tasks that would run. Raises PilotError."""
    return [task.pk for _, rows in _select_tasks(benchmark, persona, names) for task, _ in rows]


def _select_tasks(
    benchmark: Benchmark, persona: str, names: Sequence[str]
) -> list[tuple[Persona, list[tuple[Task, Revision]]]]:
    personas = list(benchmark.personas.all())
    if persona:
        personas = [row for row in personas if row.user_id == persona]
        if not personas:
            raise PilotError("persona", f"There is no persona “{persona}” in this benchmark.")
    requested = list(dict.fromkeys(names))
    known: set[str] = set()
    selection: list[tuple[Persona, list[tuple[Task, Revision]]]] = []
    for row in personas:
        placed = list(Task.objects.filter(episode__persona=row, position__isnull=False).order_by("position"))
        revisions = newest_revisions(placed)
        specs = {task.task_id: TaskSpec.model_validate(revisions[task.pk].spec) for task in placed}
        matching = [name for name in requested if name in specs]
        known.update(matching)
        chosen = matching if requested else [task.task_id for task in placed if task.state != TaskState.RETIRED]
        needed = with_dependencies(chosen, specs)
        if rows := [(task, revisions[task.pk]) for task in placed if task.task_id in needed]:
            selection.append((row, rows))
    if missing := [name for name in requested if name not in known]:
        raise PilotError("tasks", f"No episode here has the task “{missing[0]}”.")
    if not selection:
        raise PilotError("tasks", "There are no tasks to run. The episode is empty.")
    return selection


def _validate_limits(given: Mapping[str, float]) -> dict[str, float]:
    for name, value in given.items():
        if name not in LIMITS:
            raise PilotError("limits", f"There is no limit “{name}”; there are {', '.join(LIMITS)}.")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise PilotError("limits", f"The limit “{name}” is not a number from 0 up.")
    limits = LIMITS | dict(given)
    if not 1 <= limits["turns"] <= MAX_TURNS:
        raise PilotError("limits", f"A session can have between 1 and {MAX_TURNS} turns.")
    return limits
