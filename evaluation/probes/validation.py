"""Validations: what is left to probe, starting it within a budget, and its end. Workers play the sessions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from pydantic import Field

from evaluation.endpoints.connection import find_model
from evaluation.engine.budgets import validate_limits
from evaluation.feasibility.kinds import ProbedItem, ProbeKind, kinds_for
from evaluation.feasibility.seats import files_before, given_turn, task_told
from evaluation.leases import wake_workers
from evaluation.models import ModelEndpoint, Probe, ReferenceSolution, Run, Session, Validation, Verdict
from evaluation.models.endpoints import IDENTITY, freeze_endpoint
from evaluation.models.leased import LeasedRows
from evaluation.pilots.plans import newest_revisions
from evaluation.pilots.queue import due_in_probes
from evaluation.pilots.session_work import stop_validation, work_on
from evaluation.pilots.wait import wait_until_done
from evaluation.protocol.given import GivenTurn
from evaluation.protocol.prompt_files import current_prompts
from evaluation.protocol.versions import Terms
from evaluation.store.frozen import task_of
from evaluation.store.snapshots import take_snapshot
from evaluation.workspaces.app_states import initial_apps
from studio.domain.episode import EpisodeSpec
from studio.domain.options import Options, OptionsError
from studio.domain.phrases import count_of
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episode
from studio.models import Benchmark, Blob, Event, Persona, Revision, Task, TaskState, User
from studio.models.transactions import atomic_with_retry

State = Validation.State
SessionState = Session.State


class ValidationOptions(Options):
    agent: str = ""
    """Writes the candidates: a model, by its name. Default: that of the last validation, else scripted-helpful."""
    judge: str = ""
    """Judges them. Default: that of the last validation, else as for a pilot."""
    persona: str = Field(default="", title="Episode")
    """Of this persona alone, by its user id."""
    task: str = ""
    """This task alone, by its id."""
    cost: float = Field(default=5, ge=0, title="Cost in US dollars")
    """The budget in US dollars; 0: no limit."""
    tokens: int = Field(default=0, ge=0, le=10**12, title="Tokens")
    """The budget in tokens; 0: no limit."""
    calls: int = Field(default=0, ge=0, title="Model calls")
    """The budget in model calls; 0: no limit."""

    @property
    def budget(self) -> dict[str, float]:
        return validate_limits({"cost": self.cost, "tokens": self.tokens, "calls": self.calls})


@dataclass(frozen=True)
class ProbedEpisode:
    """A persona with all that its probes are made of."""

    row: Persona
    episode: EpisodeSpec
    rows: dict[str, Task]
    """Of the placed tasks that are not retired, by id, in order."""
    solved: dict[str, ReferenceSolution]
    """The newest solution of each task that has one, by its id."""

    @cached_property
    def solutions(self) -> dict[str, GivenTurn]:
        return {name: row.turn for name, row in self.solved.items()}

    def given(self, kind: str, task: TaskSpec) -> GivenTurn | None:
        return given_turn(kind, task, self.episode, self.solutions, Blob.objects.read)

    @property
    def tasks(self) -> Iterator[tuple[Task, TaskSpec]]:
        for task in self.episode.tasks:
            if task.task_id in self.rows:
                yield self.rows[task.task_id], task


@dataclass(frozen=True)
class DueProbe:
    """One that no stored probe stands for."""

    place: ProbedEpisode
    row: Task
    task: TaskSpec
    kind: ProbeKind
    solution: ReferenceSolution | None
    """That is tried, if one is."""
    judged: bool
    """Whether a judge is asked."""
    asked: str


@dataclass(frozen=True)
class Plan:
    """What a validation would probe."""

    agent: ModelEndpoint
    judge: ModelEndpoint
    due: Sequence[DueProbe]

    @property
    def asks(self) -> bool:
        """Whether a model is."""
        return any(each.kind.asks or each.judged for each in self.due)

    @property
    def sentence(self) -> str:
        """What it takes, before it starts."""
        if not self.due:
            return "Nothing is left to probe: these contents were probed by these models before."
        tasks = count_of(len({each.row.pk for each in self.due}), "task")
        answers = count_of(sum(each.kind.asks for each in self.due), "answer")
        judgings = count_of(sum(each.judged for each in self.due), "judging")
        return (
            f"{count_of(len(self.due), 'probe')} of {tasks}: {answers} by {self.agent.label} with tools, {judgings} by "
            f"{self.judge.label}."
        )


def load_probed(persona: Persona) -> ProbedEpisode:
    rows = Task.objects.filter(persona=persona, position__isnull=False).exclude(state=TaskState.RETIRED)
    placed = {row.task_id: row for row in rows.order_by("position")}
    for row in placed.values():
        row.persona = persona
    newest = ReferenceSolution.objects.filter(task__persona=persona).order_by("task_id", "-pk").distinct("task_id")
    solved = {row.task.task_id: row for row in newest.select_related("task")}
    return ProbedEpisode(persona, load_episode(persona), placed, solved)


def plan_validation(benchmark: Benchmark, options: ValidationOptions) -> Plan:
    """Raises OptionsError."""
    agent, judge = find_models(benchmark, options)
    personas = benchmark.personas.order_by("position", "user_id")
    if options.persona and not personas.filter(user_id=options.persona).exists():
        raise OptionsError("persona", f"There is no persona “{options.persona}” in this benchmark.")
    chosen = personas.filter(user_id=options.persona) if options.persona else personas
    places = [load_probed(persona) for persona in chosen]
    if options.task and not any(options.task in place.rows for place in places):
        raise OptionsError("task", f"No episode here has the task “{options.task}”.")
    due = [each for place in places for each in _due(place, options.task, agent, judge)]
    return Plan(agent, judge, due)


def find_models(benchmark: Benchmark, options: ValidationOptions) -> tuple[ModelEndpoint, ModelEndpoint]:
    """Who writes the candidates, and who judges them. Raises OptionsError."""
    last = Validation.objects.filter(benchmark=benchmark).select_related("agent", "judge").first()
    usual = last.agent.name if last else "scripted-helpful"
    agent = find_model(benchmark, options.agent or usual, "agent")
    usual = "scripted-judge" if agent.scripted else settings.DEFAULT_JUDGE
    if last and last.judge.scripted == agent.scripted:
        usual = last.judge.name
    return agent, find_model(benchmark, options.judge or usual, "judge")


def _due(place: ProbedEpisode, only: str, agent: ModelEndpoint, judge: ModelEndpoint) -> Iterator[DueProbe]:
    rows = Probe.objects.filter(task__in=[row.pk for row in place.rows.values()]).exclude(validation=None)
    known: set[tuple[object, ...]] = set(
        rows.filter(items__isnull=False).values_list("task", "content", "kind", "solution", "asked")
    )
    asked = {
        (asks, judged): _asked([agent] if asks else [], [judge] if judged else [])
        for asks in (True, False)
        for judged in (True, False)
    }
    for row, task in place.tasks:
        if only not in ("", task.task_id):
            continue
        judged = any(item.grader == "rubric" for item in task.scored_items)
        for kind in kinds_for(task, place.episode):
            solution = place.solved.get(task.task_id) if kind.name == "reference" else None
            if not kind.asks and (not judged or (kind.name == "reference" and solution is None)):
                continue  # rules say it for nothing, or there is no solution
            by = asked[kind.asks, judged]
            if (row.pk, row.content, kind.name, solution and solution.pk, by) not in known:
                yield DueProbe(place, row, task, kind, solution, judged, by)


def _asked(agents: Sequence[ModelEndpoint], judges: Sequence[ModelEndpoint]) -> str:
    """Hash of who is asked, with the judge's prompts."""
    frozen = [[{name: freeze_endpoint(row)[name] for name in IDENTITY} for row in rows] for rows in (agents, judges)]
    prompts = current_prompts(Terms().protocol, ["checklist"]) if judges else None
    return hashlib.sha256(json.dumps([frozen, prompts], sort_keys=True, default=str).encode()).hexdigest()


@atomic_with_retry
def start_validation(benchmark: Benchmark, options: ValidationOptions, *, by: User | None) -> Validation:
    """Probe what was not probed before with the same content, and wake the workers. Raises OptionsError."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    if Validation.objects.filter(benchmark=benchmark, state=State.RUNNING).exists():
        raise OptionsError("", "A validation is running here. Wait for it, or stop it.")
    plan = plan_validation(benchmark, options)
    if not plan.due:
        raise OptionsError("", plan.sentence)
    validation = Validation.objects.create(
        benchmark=benchmark,
        agent=plan.agent,
        judge=plan.judge,
        config={"agent": freeze_endpoint(plan.agent), "judge": freeze_endpoint(plan.judge)},
        budget=options.budget,
        created_by=by,
    )
    revisions = newest_revisions([each.row for each in plan.due])
    for due in plan.due:
        _create(validation, due, revisions[due.row.pk])
    summary = f"Started a validation: {plan.sentence}"
    Event.objects.create(benchmark=benchmark, actor=by, verb="validated", summary=summary)
    wake_workers()
    return validation


def _create(validation: Validation, due: DueProbe, revision: Revision) -> None:
    place = due.place
    persona = place.row.revisions.order_by("-number").first()
    assert persona is not None
    run = Run.objects.create(persona_revision=persona, number=1)
    before = files_before(due.task, place.episode, place.solutions)
    run.start = take_snapshot(run, before, apps=initial_apps(place.episode.persona))
    run.save(update_fields=["start"])
    at = 1 + [task.task_id for task in place.episode.tasks].index(due.task.task_id)
    session = Session.objects.create(run=run, revision=revision, position=at, intent_count=0)
    given = None if due.kind.asks else place.given(due.kind.name, due.task)
    Probe.objects.create(
        task=due.row,
        content=due.row.content,
        kind=due.kind.name,
        solution=due.solution,
        asked=due.asked,
        request=task_told(due.kind.name, due.task, place.episode).initial_request,
        given=given.to_json() if given else None,
        validation=validation,
        session=session,
        scripted=(due.kind.asks and validation.agent.scripted) or (due.judged and validation.judge.scripted),
    )


def work_on_probe(session_id: int) -> None:
    """Play and grade it as far as it can go now. Safe from two workers at once."""
    if work_on(session_id):
        settle(session_id)


def settle(session_id: int) -> None:
    """Store what it earned once it is over, and end its validation with its last."""
    probe = Probe.objects.select_related("session__run", "session__revision").get(session=session_id)
    session = probe.session
    assert session is not None
    if probe.items is None and session.state in (SessionState.FINISHED, SessionState.FAILED):
        items = [asdict(item) for item in _items_of(session)]
        Probe.objects.filter(pk=probe.pk, items__isnull=True).update(items=items)
    finish_validation(probe.asking.pk)


def _items_of(session: Session) -> list[ProbedItem]:
    task = task_of(session.revision_id)
    weights = {item.uid: item.weight for item in task.scored_items}
    if session.state == SessionState.FAILED:  # no turn was stored, so nothing was graded
        return [
            ProbedItem(index, item.criterion, item.weight, False, session.reason, item.uid)
            for index, item in enumerate(task.scored_items, 1)
        ]
    verdicts = Verdict.objects.filter(judging__session=session, kind=Verdict.Kind.CHECKLIST).order_by("index")
    return [
        ProbedItem(
            row.index,
            row.subject(task),
            weights.get(str(row.uid), 1.0),
            row.met,
            row.reason or row.error,
            str(row.uid or ""),
        )
        for row in verdicts
    ]


@atomic_with_retry
def finish_validation(validation_id: int) -> None:
    """If no session of it can go on."""
    row = Validation.objects.select_for_update(no_key=True).get(pk=validation_id)
    if row.state != State.RUNNING:
        return
    sessions = Session.objects.filter(probe__validation=row, probe__items__isnull=True)
    stuck = sessions.filter(state=SessionState.ERROR, retry_at=None)
    if sessions.exclude(pk__in=stuck.values("pk")).exists():
        return
    first = stuck.order_by("pk").first()
    row.state, row.reason = (State.STOPPED, first.reason) if first else (State.FINISHED, "")
    row.finished_at = None if first else timezone.now()
    row.save(update_fields=["state", "reason", "finished_at"])


@atomic_with_retry
def resume_validation(validation: Validation, *, budget: dict[str, float] | None = None) -> None:
    """What stopped goes on, within the ``budget`` if one is given. Raises OptionsError."""
    row = Validation.objects.select_for_update(no_key=True).get(pk=validation.pk)
    if row.state not in (State.STOPPED, State.CANCELLED):
        raise OptionsError("", "This validation is running." if row.state == State.RUNNING else "It has finished.")
    row.state, row.reason = State.RUNNING, ""
    row.budget = row.budget if budget is None else budget
    row.save(update_fields=["state", "reason", "budget"])
    sessions = Session.objects.filter(probe__validation=row)
    sessions.filter(state=SessionState.ERROR).update(attempts=0, failing_since=None, retry_at=timezone.now())
    sessions.update(queued_at=None)
    transaction.on_commit(lambda: finish_validation(row.pk))
    wake_workers()


def cancel_validation(validation: Validation) -> None:
    """What was probed stays."""
    stop_validation(validation.pk, "", State.CANCELLED)


def sweep_validations() -> None:
    """Settle what a worker left that died between the end of a session and its probe."""
    unsettled = Session.objects.filter(probe__isnull=False, probe__items__isnull=True)
    ended = unsettled.filter(state__in=[SessionState.FINISHED, SessionState.FAILED])
    for pk in list(ended.values_list("pk", flat=True)[:200]):
        settle(pk)
    for pk in list(Validation.objects.filter(state=State.RUNNING).values_list("pk", flat=True)):
        finish_validation(pk)


def wait_for_validation(validation: Validation) -> Validation:
    """Return when it has ended or stopped. If no worker answers, its sessions run here, in threads."""
    rows = Validation.objects.filter(pk=validation.pk, state=State.RUNNING)

    def due() -> LeasedRows[Session]:
        return due_in_probes().filter(probe__validation=validation.pk)

    wait_until_done(rows.exists, due, work_on_probe)
    validation.refresh_from_db()
    return validation
