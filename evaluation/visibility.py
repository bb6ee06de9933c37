"""Who sees which pilots, sessions, releases and model endpoints. Membership decides."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import Avg, Count, Q, QuerySet

from evaluation.models import ModelEndpoint, Pilot, Release, Session
from studio.access import AnyUser, benchmarks_for
from studio.models import Persona

State = Session.State


def visible_pilots(user: AnyUser) -> QuerySet[Pilot]:
    return Pilot.objects.filter(benchmark__in=benchmarks_for(user)).select_related(
        "benchmark", "agent", "user_model", "judge", "created_by", "submission__release", "submission__verified_by"
    )


def with_counts(pilots: QuerySet[Pilot]) -> QuerySet[Pilot]:
    """Annotated with ``total`` sessions, and how many are ``over``, ``failed`` by the agent, and ``stopped`` by
    technical failures.
    """
    path = "runs__sessions"
    return pilots.annotate(
        total=Count(path),
        over=Count(path, filter=Q(runs__sessions__state__in=[State.FINISHED, State.FAILED, State.CANCELLED])),
        failed=Count(path, filter=Q(runs__sessions__state=State.FAILED)),
        stopped=Count(path, filter=Q(runs__sessions__state=State.ERROR)),
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


def mean_session_costs() -> dict[int, tuple[Decimal, int]]:
    """By the agent's endpoint: mean cost of a session in US dollars, and the number of sessions."""
    rows = (
        Session.objects.filter(state=State.FINISHED, run__pilot__scripted=False, run__pilot__imported="")
        .order_by()
        .values("run__pilot__agent")
        .annotate(mean=Avg("cost"), n=Count("pk"))
    )
    return {row["run__pilot__agent"]: (row["mean"], row["n"]) for row in rows}


def visible_endpoints(user: AnyUser) -> QuerySet[ModelEndpoint]:
    rows = ModelEndpoint.objects.filter(Q(benchmark=None) | Q(benchmark__in=benchmarks_for(user)))
    return rows.select_related("benchmark").order_by("scripted", "name")


def visible_releases(user: AnyUser) -> QuerySet[Release]:
    return (
        Release.objects.filter(benchmark__in=benchmarks_for(user))
        .select_related("benchmark", "created_by", "key")
        .annotate(task_count=Count("tasks"))
        .order_by("-created_at")
    )
