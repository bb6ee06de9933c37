"""One task tried on a model: a pilot of the task and of what it builds on, in one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from evaluation.endpoints.parts import default_endpoint
from evaluation.models import ModelEndpoint, Pilot, Session
from evaluation.models.pilots import ROLES
from evaluation.pilots.estimate import CostEstimate, estimate_pilot
from evaluation.pilots.plans import plan_pilot, tasks_of_sessions
from evaluation.pilots.start import PilotOptions, find_participants, options_of
from evaluation.protocol.modes import Arm, PilotMode
from studio.domain.options import OptionsError
from studio.models import Benchmark, Task, User


@dataclass(frozen=True)
class PossibleTry:
    options: PilotOptions
    agent: ModelEndpoint
    like: Pilot | None
    """Whose agent, user and judge it has; None: the usual ones."""
    earlier: tuple[Task, ...]
    """What the task builds on, which runs first."""
    estimate: CostEstimate


def plan_try(task: Task, pilots: QuerySet[Pilot], by: User) -> PossibleTry:
    """As the benchmark's newest pilot ran, by real models if there is one; ``pilots`` are those to look among. Raises
    OptionsError."""
    benchmark, user_id = task.persona.benchmark, task.persona.user_id
    like = _newest_usable(benchmark, pilots)
    settings: Mapping[str, Any] = options_of(like).model_dump() if like else _usual_models(benchmark)
    only: dict[str, Any] = {
        "mode": PilotMode.TASK,
        "base": None,
        "tasks": [task.task_id],
        "persona": user_id,
        "runs": 1,
        "budgets": {},
    }
    options = PilotOptions.read({**settings, **only})
    participants = find_participants(benchmark, options, by)
    plans = plan_pilot(benchmark, options.mode, user_id, options.tasks)
    tasks = tasks_of_sessions(plans)
    earlier = Task.objects.filter(pk__in=tasks).exclude(pk=task.pk).order_by("position")
    estimate = estimate_pilot(benchmark, tasks, 1, participants.endpoints, protocol=options.protocol)
    return PossibleTry(options, participants.endpoints["agent"], like, tuple(earlier), estimate)


def newest_session(task: Task, pilots: QuerySet[Pilot]) -> Session | None:
    """Of the task, in one of ``pilots``, with what it builds on."""
    sessions = Session.objects.filter(revision__task=task, run__pilot__in=pilots).exclude(run__arm=Arm.WITHOUT)
    related = ("revision__task", "run__persona_revision__persona", "run__pilot__agent")
    return sessions.select_related(*related).order_by("-run__pilot__number", "run__number").first()


def _newest_usable(benchmark: Benchmark, pilots: QuerySet[Pilot]) -> Pilot | None:
    usable = ModelEndpoint.objects.usable_in(benchmark).values("pk")
    rows = pilots.filter(benchmark=benchmark, imported="", **{f"{role}__in": usable for role in ROLES})
    return rows.order_by("scripted", "-number").first()


def _usual_models(benchmark: Benchmark) -> dict[str, str]:
    agent = default_endpoint("agent", benchmark)
    if agent is None:
        raise OptionsError("agent", "No model is connected to this benchmark yet.")
    others = {seat: default_endpoint(seat, benchmark, agent) for seat in ("user_model", "judge")}
    return {"agent": agent.name} | {seat: row.name for seat, row in others.items() if row}
