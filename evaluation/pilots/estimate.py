"""What a pilot will probably use, from earlier sessions of the same tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.metrics.extrapolation import UsedBefore, extrapolate, sum_of_known
from evaluation.models import ModelCall, ModelEndpoint, Session
from evaluation.models.calls import PART_BY_PURPOSE
from evaluation.pilots.plans import PersonaPlan, tasks_of_sessions
from evaluation.protocol.participants import UNTOLD, Tokens
from evaluation.protocol.versions import ProtocolName
from evaluation.store.usage import OF_USE, as_ran, use_of
from studio.models import Benchmark

NAMED = 8
"""Tasks."""
SEAT_OF_PART = {"agent": "agent", "user": "user_model", "judge": "judge"}


@dataclass(frozen=True)
class CostEstimate:
    sessions: int
    """That run."""
    tasks: int
    known: int
    """Tasks of which there are sessions; the others are taken for their mean."""
    same_agent: bool = True
    """Whether those were of this agent's model."""
    calls: int = 0
    tokens: Tokens = UNTOLD
    cost: Decimal | None = Decimal(0)
    """At today's prices, with the cached shares of earlier sessions. None: a price or a count is not known."""
    unpriced: tuple[str, ...] = ()
    """Models without a price."""
    taken: int = 0
    """Sessions that are taken over."""


def estimate_pilot(
    benchmark: Benchmark,
    tasks: Sequence[int],
    runs: int,
    endpoints: Mapping[str, ModelEndpoint],
    taken: int = 0,
    protocol: str = ProtocolName.PAPER,
) -> CostEstimate:
    """``tasks``: the key of each session's task in one run. A task may come more than once. ``endpoints`` by seat."""
    times = Counter(tasks)
    sessions = len(tasks) * runs
    earlier, same_agent = _earlier_sessions(benchmark, tasks, endpoints["agent"], protocol)
    counted: Iterable[Mapping[str, Any]] = earlier.values("revision__task").annotate(number=Count("pk"))
    used = {row["revision__task"]: UsedBefore(row["number"]) for row in counted}
    if not used:
        return CostEstimate(sessions, len(times), 0, taken=taken)
    made = as_ran(ModelCall.objects.filter(session__in=earlier))
    rows: Iterable[Mapping[str, Any]] = made.values("session__revision__task", "purpose").annotate(**OF_USE)
    for row in rows:
        seat, use = SEAT_OF_PART[PART_BY_PURPOSE[row["purpose"]]], use_of(row)
        used[row["session__revision__task"]].add(seat, use.calls, use.tokens)
    calls, tokens = extrapolate(Counter({task: number * runs for task, number in times.items()}), used)
    costs = {seat: endpoints[seat].cost_of(own) for seat, own in tokens.items() if seat in endpoints}
    return CostEstimate(
        sessions,
        len(times),
        len(used),
        same_agent,
        calls,
        sum(tokens.values(), start=UNTOLD),
        sum_of_known(costs.values()),
        tuple(dict.fromkeys(endpoints[seat].label for seat, cost in costs.items() if cost is None)),
        taken,
    )


def what_runs(
    benchmark: Benchmark, plans: Sequence[PersonaPlan], runs: int, endpoints: Mapping[str, ModelEndpoint]
) -> str:
    """What a pilot is about to run and use, in a sentence or two."""
    tasks, taken = tasks_of_sessions(plans), runs * sum(len(plan.plan.taken) for plan in plans)
    names = list(dict.fromkeys(name for plan in plans for name in plan.plan.sessions))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    number = len(tasks) * runs
    said = f"Runs {number} session{'s' if number > 1 else ''}: {', '.join(names[:NAMED])}{more}."
    said += f" Takes over {taken}." if taken else ""
    estimate = estimate_pilot(benchmark, tasks, runs, endpoints, taken)
    if not estimate.known:
        return f"{said} What they will cost is not known: none of these tasks was run before."
    cost = "cost unknown" if estimate.cost is None else f"${estimate.cost:.2f}"
    return f"{said} About {estimate.calls:,} calls, {estimate.tokens.total:,} tokens, {cost}."


def _earlier_sessions(
    benchmark: Benchmark, tasks: Sequence[int], agent: ModelEndpoint, protocol: str
) -> tuple[QuerySet[Session], bool]:
    """Of the same agent; if there are none, of any real one, and False. Judges cost otherwise under another
    protocol."""
    pilots = {"run__pilot__benchmark": benchmark, "run__pilot__protocol": protocol}
    finished = Session.objects.filter(state=Session.State.FINISHED, calls__gt=0, **pilots)
    rows = finished.filter(revision__task__in=tasks).order_by()
    own = rows.filter(run__pilot__agent=agent, run__pilot__config__agent__effort=agent.effort)
    if agent.scripted or own.exists():
        return own, True
    return rows.filter(run__pilot__scripted=False), False
