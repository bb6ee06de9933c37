"""Pilots: started, cancelled, taken up again, settled. What a session does is in ``sessions``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from evaluation.leases.sessions import State, free_dead
from evaluation.models import ModelEndpoint, Pilot, Run, Session
from evaluation.pilots.queue import enqueue_due
from evaluation.protocol.prompts import PROMPTS_VERSION
from evaluation.protocol.session import MAX_TURNS
from evaluation.results.pilot_report import pilot_scores
from studio.domain.task import TaskSpec
from studio.models import Benchmark, Event, Persona, Revision, Task, TaskState, User
from studio.notifications import notify

ENDED = {Pilot.State.FINISHED: "has finished", Pilot.State.STOPPED: "was stopped by infrastructure failures"}
APPROVED = (TaskState.APPROVED, TaskState.RELEASED)
MAX_RUNS = 20
LIMITS: dict[str, float] = {"turns": MAX_TURNS, "turn_seconds": 2400, "tool_calls": 200, "tokens": 2_000_000, "cost": 0}
"""Of one session; 0: no limit. ``tool_calls`` are of one turn; ``cost`` is in US dollars."""


class PilotError(Exception):
    """The pilot cannot start. ``field`` says which choice is at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@transaction.atomic
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
) -> Pilot:
    """Freeze what is to be run, and send the first sessions to the workers.

    Each task is frozen as its newest Revision, each persona likewise. What a chosen task depends on
    runs too, before it and over the same workspace. Raises PilotError.
    """
    if not 1 <= runs <= MAX_RUNS:
        raise PilotError("runs", f"Choose between 1 and {MAX_RUNS} runs.")
    chosen_limits = _limits(limits or {})
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    chosen = _choose(benchmark, persona, tasks)
    endpoints = {"agent": agent, "user_model": user_model, "judge": judge}
    number = (benchmark.pilots.aggregate(last=Max("number"))["last"] or 0) + 1
    pilot = Pilot.objects.create(
        benchmark=benchmark,
        number=number,
        **endpoints,
        runs_wanted=runs,
        limits=chosen_limits,
        config={"prompts": PROMPTS_VERSION} | {role: _frozen(endpoint) for role, endpoint in endpoints.items()},
        scripted=any(endpoint.scripted for endpoint in endpoints.values()),
        drafts=any(task.state not in APPROVED for _, rows in chosen for task, _ in rows),
        created_by=by,
    )
    made = [
        Run(pilot=pilot, persona_revision=row.revisions.get(number=row.version), number=k)
        for row, _ in chosen
        for k in range(1, runs + 1)
    ]
    Run.objects.bulk_create(made)
    revisions = {row.pk: [revision for _, revision in rows] for row, rows in chosen}
    Session.objects.bulk_create(
        Session(
            run=run,
            revision=revision,
            position=position,
            intent_count=len(revision.spec.get("intents", ())),
        )
        for run in made
        for position, revision in enumerate(revisions[run.persona_revision.persona_id], start=1)
    )
    Event.objects.create(
        benchmark=benchmark,
        actor=by,
        verb="piloted",
        summary=f"Started pilot {number} with {agent.name}.",
        data={"pilot": pilot.pk},
    )
    enqueue_due(made)
    return pilot


@transaction.atomic
def cancel_pilot(pilot_id: int, *, by: User | None) -> Pilot:
    """Stop what has not ended. A session under way loses its claim and stores nothing more."""
    pilot = Pilot.objects.select_for_update().get(pk=pilot_id)
    if pilot.state in (Pilot.State.FINISHED, Pilot.State.CANCELLED):
        return pilot
    pilot.state = Pilot.State.CANCELLED
    pilot.finished_at = timezone.now()
    pilot.save(update_fields=["state", "finished_at"])
    Session.objects.filter(run__pilot=pilot, state__in=[State.WAITING, State.RUNNING, State.ERROR]).update(
        state=State.CANCELLED, claimed_by="", lease_until=None, retry_at=None
    )
    _score(pilot)
    _tell(pilot, by, "cancelled", f"Cancelled pilot {pilot.number}.")
    return pilot


@transaction.atomic
def retry_pilot(pilot_id: int, *, by: User | None) -> Pilot:
    """Take up again what our own failures stopped. Stored turns and answered model calls stay as they are."""
    pilot = Pilot.objects.select_for_update().get(pk=pilot_id)
    stopped = Session.objects.filter(run__pilot=pilot, state=State.ERROR)
    if pilot.state == Pilot.State.CANCELLED or not stopped.exists():
        return pilot
    stopped.update(attempts=0, retry_at=timezone.now())
    pilot.state = Pilot.State.RUNNING
    pilot.finished_at = None
    pilot.save(update_fields=["state", "finished_at"])
    _tell(pilot, by, "retried", f"Resumed pilot {pilot.number}.")
    enqueue_due(pilot.runs.all())
    return pilot


def settle_pilot(pilot_id: int) -> None:
    """Bring the pilot's state in line with its sessions; compute its scores once nothing more will happen."""
    with transaction.atomic():
        pilot = Pilot.objects.select_for_update().get(pk=pilot_id)
        if pilot.state not in (Pilot.State.WAITING, Pilot.State.RUNNING):
            return
        rows = Session.objects.filter(run__pilot=pilot).order_by("run_id", "position")
        state = _state_of(list(rows.only("run", "position", "state", "ended_at", "graded_compat_at", "retry_at")))
        if state == Pilot.State.RUNNING:
            return
        pilot.state = state
        pilot.finished_at = timezone.now()
        pilot.save(update_fields=["state", "finished_at"])
        _score(pilot)
        notify.notify(
            [pilot.created_by_id] if pilot.created_by_id else [],
            notify.Kind.PILOT_ENDED,
            f"Pilot {pilot.number}, which you started, {ENDED[Pilot.State(state)]}.",
            benchmark=pilot.benchmark_id,
            address=pilot.get_absolute_url(),
            by=None,
        )


def sweep(*, sent_before: bool = False) -> int:
    """Find what no worker works on though it could, and send it. Called now and then; returns how many were sent.

    ``sent_before`` True sends also what was sent a short while ago: for a worker that starts, perhaps with a
    broker that has forgotten everything.
    """
    free_dead()
    deadly = Session.objects.filter(
        state=State.RUNNING, lease_until__lt=timezone.now(), attempts__gte=settings.SESSION_ATTEMPTS
    )
    pilots = set(deadly.values_list("run__pilot", flat=True))
    deadly.update(
        state=State.ERROR,
        reason=f"Its worker stopped {settings.SESSION_ATTEMPTS} times before a turn was stored.",
        claimed_by="",
        lease_until=None,
        retry_at=None,
    )
    for pilot_id in pilots:
        settle_pilot(pilot_id)
    return enqueue_due(sent_before=sent_before)


def _state_of(sessions: Sequence[Session]) -> str:
    """``sessions`` in the order of their runs. Running as long as anything can still go on by itself."""
    stopped = False
    for _, group in groupby(sessions, key=lambda session: session.run_id):
        rows = list(group)
        talking = [row for row in rows if row.ended_at is None]
        first = talking[0] if talking else None
        for row in rows:
            given_up = row.state == State.ERROR and row.retry_at is None
            stopped = stopped or given_up
            if row.state == State.RUNNING or (row.state == State.ERROR and not given_up):
                return str(Pilot.State.RUNNING)
            if row.state == State.WAITING and row is first:
                return str(Pilot.State.RUNNING)
            if row.state == State.FINISHED and row.graded_compat_at is None and not talking:
                return str(Pilot.State.RUNNING)
    return str(Pilot.State.STOPPED if stopped else Pilot.State.FINISHED)


def _score(pilot: Pilot) -> None:
    pilot.scores = pilot_scores(pilot)
    pilot.save(update_fields=["scores"])


def _choose(
    benchmark: Benchmark, persona: str, names: Sequence[str]
) -> list[tuple[Persona, list[tuple[Task, Revision]]]]:
    """Each persona concerned with its tasks to run, in the episode's order."""
    personas = list(benchmark.personas.all())
    if persona:
        personas = [row for row in personas if row.user_id == persona]
        if not personas:
            raise PilotError("persona", f"There is no persona “{persona}” in this benchmark.")
    wanted = list(dict.fromkeys(names))
    found: set[str] = set()
    chosen: list[tuple[Persona, list[tuple[Task, Revision]]]] = []
    for row in personas:
        placed = list(Task.objects.filter(episode__persona=row, position__isnull=False).order_by("position"))
        frozen = newest_revisions(placed)
        specs = {task.task_id: TaskSpec.model_validate(frozen[task.pk].spec) for task in placed}
        mine = [name for name in wanted if name in specs]
        found.update(mine)
        first = mine if wanted else [task.task_id for task in placed if task.state != TaskState.RETIRED]
        needed = with_dependencies(first, specs)
        if rows := [(task, frozen[task.pk]) for task in placed if task.task_id in needed]:
            chosen.append((row, rows))
    if missing := [name for name in wanted if name not in found]:
        raise PilotError("tasks", f"No episode here has the task “{missing[0]}”.")
    if not chosen:
        raise PilotError("tasks", "There are no tasks to run. The episode is empty.")
    return chosen


def newest_revisions(tasks: Sequence[Task]) -> dict[int, Revision]:
    """The newest revision of each task, in one query."""
    rows = Revision.objects.filter(task__in=tasks).order_by("task_id", "-number").distinct("task_id")
    newest = {row.task_id: row for row in rows}
    for task in tasks:
        if task.pk not in newest:
            raise PilotError("tasks", f"“{task.task_id}” has never been saved.")
    return newest


def with_dependencies(names: Iterable[str], specs: Mapping[str, TaskSpec]) -> set[str]:
    needed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in specs and name not in needed:
            needed.add(name)
            waiting += [dependency.task_id for dependency in specs[name].depends_on]
    return needed


def _limits(given: Mapping[str, float]) -> dict[str, float]:
    for name, value in given.items():
        if name not in LIMITS:
            raise PilotError("limits", f"There is no limit “{name}”; there are {', '.join(LIMITS)}.")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise PilotError("limits", f"The limit “{name}” is not a number from 0 up.")
    limits = LIMITS | dict(given)
    if not 1 <= limits["turns"] <= MAX_TURNS:
        raise PilotError("limits", f"A session can have between 1 and {MAX_TURNS} turns.")
    return limits


def _frozen(endpoint: ModelEndpoint) -> dict[str, Any]:
    """What the results rest on. The key is not part of it, nor is the name of its variable."""
    return {
        "name": endpoint.name,
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "params": endpoint.params,
        "input_price": str(endpoint.input_price),
        "output_price": str(endpoint.output_price),
        "scripted": endpoint.scripted,
    }


def _tell(pilot: Pilot, by: User | None, verb: str, summary: str) -> None:
    Event.objects.create(benchmark=pilot.benchmark, actor=by, verb=verb, summary=summary, data={"pilot": pilot.pk})
