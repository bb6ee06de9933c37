"""What a pilot will probably use, from earlier sessions of the same tasks with the same agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, BigIntegerField, F
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from evaluation.models import ModelEndpoint, Session
from studio.models import Benchmark

PARTS = ("agent", "user", "judge")


@dataclass(frozen=True)
class Estimate:
    sessions: int
    tasks: int
    known: int
    """Tasks of which there are sessions; the others are taken for their mean."""
    tokens: int = 0
    calls: int = 0
    cost: Decimal = Decimal(0)


def estimate_pilot(benchmark: Benchmark, tasks: Sequence[int], runs: int, agent: ModelEndpoint) -> Estimate:
    """``tasks``: their keys."""
    used = sum((_part(part) for part in PARTS[1:]), start=_part(PARTS[0]))
    rows = list(
        Session.objects.filter(
            revision__task__in=tasks,
            run__pilot__benchmark=benchmark,
            run__pilot__agent=agent,
            state=Session.State.FINISHED,
            calls__gt=0,
        )
        .order_by()
        .values("revision__task")
        .annotate(mean_tokens=Avg(used), mean_calls=Avg("calls"), mean_cost=Avg("cost"))
    )
    sessions = len(tasks) * runs
    if not rows:
        return Estimate(sessions, len(tasks), 0)
    each = Decimal(sessions) / len(rows)
    return Estimate(
        sessions,
        len(tasks),
        len(rows),
        round(sum(Decimal(row["mean_tokens"]) for row in rows) * each),
        round(sum(Decimal(row["mean_calls"]) for row in rows) * each),
        sum((row["mean_cost"] for row in rows), start=Decimal(0)) * each,
    )


def _part(name: str) -> Coalesce:
    return Coalesce(Cast(KeyTextTransform(name, F("tokens")), BigIntegerField()), 0)
