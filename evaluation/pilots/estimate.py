"""What a pilot will probably use, from earlier sessions of the same tasks with the same agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Avg

from evaluation.models import ModelEndpoint, Session
from evaluation.models.sessions import ALL_TOKENS
from studio.models import Benchmark


@dataclass(frozen=True)
class CostEstimate:
    sessions: int
    """That run."""
    tasks: int
    known: int
    """Tasks of which there are sessions; the others are taken for their mean."""
    tokens: int = 0
    calls: int = 0
    cost: Decimal = Decimal(0)
    taken: int = 0
    """Sessions that are taken over."""


def estimate_pilot(
    benchmark: Benchmark, tasks: Sequence[int], runs: int, agent: ModelEndpoint, taken: int = 0
) -> CostEstimate:
    """``tasks``: the key of each session's task in one run. A task may come more than once."""
    rows: Sequence[Mapping[str, Any]] = list(
        Session.objects.filter(
            revision__task__in=tasks,
            run__pilot__benchmark=benchmark,
            run__pilot__agent=agent,
            state=Session.State.FINISHED,
            calls__gt=0,
        )
        .order_by()
        .values("revision__task")
        .annotate(mean_tokens=Avg(ALL_TOKENS), mean_calls=Avg("calls"), mean_cost=Avg("cost"))
    )
    sessions = len(tasks) * runs
    distinct = len(set(tasks))
    if not rows:
        return CostEstimate(sessions, distinct, 0, taken=taken)
    times = Counter(tasks)
    known = sum(times[row["revision__task"]] for row in rows)
    each = Decimal(sessions) / known

    def total(name: str) -> Decimal:
        return sum((Decimal(row[name]) * times[row["revision__task"]] for row in rows), start=Decimal(0)) * each

    return CostEstimate(
        sessions,
        distinct,
        len(rows),
        round(total("mean_tokens")),
        round(total("mean_calls")),
        total("mean_cost"),
        taken,
    )
