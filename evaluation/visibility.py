"""Who sees which pilots, sessions, releases and model endpoints. Membership decides."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count, F, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform

from evaluation.models import ModelEndpoint, Pilot, Release, Session, Turn, Verdict
from studio.access import AnyUser, benchmarks_for
from studio.models import Benchmark, Episode, Persona, Task, TaskState

State = Session.State


def visible_pilots(user: AnyUser) -> QuerySet[Pilot]:
    return Pilot.objects.filter(benchmark__in=benchmarks_for(user)).select_related(
        "benchmark", "agent", "user_model", "judge", "created_by"
    )


def with_counts(pilots: QuerySet[Pilot]) -> QuerySet[Pilot]:
    """Annotated with ``total`` sessions, and how many are ``over``, ``failed`` by the agent, and ``stopped`` by
    infrastructure failures.
    """
    path = "runs__sessions"
    return pilots.annotate(
        total=Count(path),
        over=Count(path, filter=Q(runs__sessions__state__in=[State.FINISHED, State.FAILED, State.CANCELLED])),
        failed=Count(path, filter=Q(runs__sessions__state=State.FAILED)),
        stopped=Count(path, filter=Q(runs__sessions__state=State.ERROR)),
    )


def sessions_of(pilot: Pilot) -> QuerySet[Session]:
    return (
        Session.objects.of(pilot)
        .annotate(
            arm=F("run__arm"),
            pilot_number=F("run__pilot__number"),
            task_id=KeyTextTransform("task_id", "revision__spec"),
            task_title=KeyTextTransform("title", "revision__spec"),
            run_number=F("run__number"),
            persona_id=F("run__persona_revision__persona"),
            persona_name=F("run__persona_revision__persona__name"),
            persona_user=F("run__persona_revision__persona__user_id"),
        )
        .order_by("run__persona_revision__persona__position", "persona_id", "position", "arm", "run_number")
    )


def personas_of(pilot: Pilot) -> QuerySet[Persona]:
    played = Session.objects.of(pilot).values("run__persona_revision__persona")
    return Persona.objects.filter(pk__in=played).order_by("position", "pk")


def visible_sessions(user: AnyUser) -> QuerySet[Session]:
    return Session.objects.filter(run__pilot__benchmark__in=benchmarks_for(user)).select_related(
        "revision__task",
        "run__persona_revision__persona",
        "run__pilot__benchmark",
        "run__pilot__agent",
        "run__pilot__user_model",
        "run__pilot__judge",
    )


def turns_of(session: Session) -> list[Turn]:
    rows = session.turns.select_related("snapshot").prefetch_related("tool_calls", "notes__author")
    return list(rows.order_by("number"))


def verdicts_of(session: Session) -> list[Verdict]:
    """Of the judgings that score."""
    found = Verdict.objects.scoring().corrected().filter(judging__session=session).select_related("judging")
    return list(found.order_by("judging__sample", "turn", "kind", "index"))


def neighbours(session: Session) -> tuple[Session | None, Session | None]:
    """Before and after it in its run."""
    rows = Session.objects.filter(run=session.run_id).only("pk", "position")
    before = rows.filter(position__lt=session.position).order_by("-position").first()
    return before, rows.filter(position__gt=session.position).order_by("position").first()


@dataclass(frozen=True)
class RunnableEpisode:
    persona: Persona
    tasks: list[Task]
    """In run order."""


def runnable_personas(benchmark: Benchmark) -> list[RunnableEpisode]:
    """Personas with tasks to run, in order. Tasks have only the fields that identify them."""
    episodes = episodes_of(benchmark)
    tasks = (
        Task.objects.filter(episode__in=list(episodes), position__isnull=False)
        .exclude(state=TaskState.RETIRED)
        .only("episode", "task_id", "title", "position", "state")
        .order_by("position")
    )
    placed: dict[int, list[Task]] = {pk: [] for pk in episodes}
    for task in tasks:
        task.episode = episodes[task.episode_id]
        placed[task.episode_id].append(task)
    return [RunnableEpisode(episodes[pk].persona, placed_tasks) for pk, placed_tasks in placed.items() if placed_tasks]


def episodes_of(benchmark: Benchmark, tasks: Collection[int] | None = None) -> dict[int, Episode]:
    """By key, with their personas, in order; all, or those of ``tasks``. Assigned in bulk, these spare a query per
    task."""
    rows = Episode.objects.filter(persona__benchmark=benchmark).select_related("persona")
    if tasks is not None:
        rows = rows.filter(pk__in=Task.objects.filter(pk__in=tasks).values("episode"))
    return {row.pk: row for row in rows.order_by("persona__position", "persona__user_id")}


def mean_session_costs() -> dict[int, tuple[Decimal, int]]:
    """By the agent's endpoint: mean cost of a session in US dollars, and the number of sessions."""
    rows = (
        Session.objects.filter(state=State.FINISHED, run__pilot__scripted=False, run__pilot__imported="")
        .order_by()
        .values("run__pilot__agent")
        .annotate(mean=Avg("cost"), n=Count("pk"))
    )
    return {row["run__pilot__agent"]: (row["mean"], row["n"]) for row in rows}


def endpoints_for(benchmark: Benchmark) -> QuerySet[ModelEndpoint]:
    return ModelEndpoint.objects.usable_in(benchmark)


def visible_endpoints(user: AnyUser) -> QuerySet[ModelEndpoint]:
    rows = ModelEndpoint.objects.filter(Q(benchmark=None) | Q(benchmark__in=benchmarks_for(user)))
    return rows.select_related("benchmark").order_by("scripted", "name")


def visible_releases(user: AnyUser) -> QuerySet[Release]:
    return (
        Release.objects.filter(benchmark__in=benchmarks_for(user))
        .select_related("benchmark", "created_by")
        .annotate(task_count=Count("tasks"))
        .order_by("-created_at")
    )
