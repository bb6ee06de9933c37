"""Budgets in tokens, model calls and US dollars, of a session, a pilot and a benchmark: what is spent and left."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django.db import transaction
from django.db.models import F, QuerySet, Sum

from evaluation.engine.budgets import (
    KINDS,
    SCOPES,
    BudgetSpentError,
    Limits,
    Spent,
    check_limits,
    fits,
    validate_budgets,
    validate_limits,
)
from evaluation.llm.client import ANSWER_LIMITS
from evaluation.models import BenchmarkBudget, ModelEndpoint, Pilot, Session, Validation
from evaluation.models.leased import free
from evaluation.models.pilots import ROLES
from evaluation.models.sessions import ALL_TOKENS
from studio.models import Benchmark, Event, User

RAISED = "The budget was raised."
FRESH_SECONDS = 1.0
"""Sums over a pilot or benchmark that are older are read again: other workers spend too."""


@dataclass(frozen=True)
class BudgetRow:
    """For pages: one kind of one budget."""

    kind: str
    limit: float
    spent: float

    @property
    def left(self) -> float:
        return max(self.limit - self.spent, 0)


def set_budgets(pilot: Pilot, given: Mapping[str, Limits], *, by: User | None) -> None:
    """Replace the pilot's budgets; workers heed them within a second. Raises OptionsError."""
    budgets = {scope: limits for scope, limits in (pilot.budgets | validate_budgets(given)).items() if scope in SCOPES}
    for scope, limits in given.items():
        if not any(limits.values()):
            budgets.pop(scope, None)
    pilot.budgets = budgets
    if pilot.state == Pilot.State.PAUSED and pilot.reason:
        pilot.reason = spent_budget(pilot) or RAISED
    pilot.save(update_fields=["budgets", "reason"])
    Event.objects.create(
        benchmark=pilot.benchmark,
        actor=by,
        verb="budgeted",
        summary=f"Changed the budget of pilot {pilot.number}.",
        data={"pilot": pilot.pk},
    )


def set_benchmark_budget(benchmark: Benchmark, given: Limits, *, by: User | None) -> None:
    """Raises OptionsError."""
    limits = validate_limits(given)
    BenchmarkBudget.objects.update_or_create(benchmark=benchmark, defaults={"limits": limits})
    for pilot in Pilot.objects.filter(benchmark=benchmark, state=Pilot.State.PAUSED).exclude(reason=""):
        pilot.reason = spent_budget(pilot) or RAISED
        pilot.save(update_fields=["reason"])
    Event.objects.create(benchmark=benchmark, actor=by, verb="budgeted", summary="Changed the budget of all pilots.")


def spent_budget(pilot: Pilot) -> str:
    """Why the pilot cannot send anything, if its budget or its benchmark's is spent."""
    limits, shared = pilot.budgets.get("pilot", {}), benchmark_limits(pilot.benchmark_id)
    try:
        if limits:
            check_limits("pilot", limits, spent_by_pilot(pilot.pk))
        if shared:
            check_limits("benchmark", shared, spent_by_benchmark(pilot.benchmark_id))
    except BudgetSpentError as error:
        return str(error)
    return ""


def benchmark_limits(benchmark_id: int) -> dict[str, float]:
    limits = BenchmarkBudget.objects.filter(pk=benchmark_id).values_list("limits", flat=True).first()
    return dict(limits or {})


def spent_by_pilot(pilot_id: int) -> Spent:
    return spent_in(Session.objects.filter(run__pilot=pilot_id))


def spent_by_benchmark(benchmark_id: int) -> Spent:
    return spent_in(Session.objects.filter(run__pilot__benchmark=benchmark_id))


def reserve(session: Session, worst: Decimal) -> bool:
    """Keep free what a call of this session costs at most, in every budget in dollars that holds for it; False while
    other calls under way may use it up. Raises BudgetSpentError if that is more than is left."""
    with transaction.atomic():
        is_free = True
        for scope, limits, sessions in _rooms_of(session):
            if limit := limits.get("cost"):
                reserved = sessions.exclude(pk=session.pk).exclude(free()).aggregate(all=Sum("reserved"))["all"] or 0
                is_free &= fits(scope, Decimal(str(limit)), spent_in(sessions).cost, Decimal(reserved), worst)
        if is_free:
            Session.objects.filter(pk=session.pk, claimed_by=session.claimed_by).update(reserved=worst)
    return is_free


def _rooms_of(session: Session) -> list[tuple[str, Limits, QuerySet[Session]]]:
    """Scopes with their limits and sessions. Whoever reserves holds the rows of the budgets: of two at once, the second
    sees what the first has reserved."""
    pilot = session.run.pilot
    if pilot is None:
        asking = session.probe.asking.pk
        budget = Validation.objects.select_for_update(no_key=True).values_list("budget", flat=True).get(pk=asking)
        return [("validation", budget, Session.objects.filter(probe__validation=asking))]
    row = BenchmarkBudget.objects.select_for_update(no_key=True).filter(pk=pilot.benchmark_id).first()
    budgets = Pilot.objects.select_for_update(no_key=True).values_list("budgets", flat=True).get(pk=pilot.pk)
    return [
        ("session", budgets.get("session", {}), Session.objects.filter(pk=session.pk)),
        ("pilot", budgets.get("pilot", {}), Session.objects.filter(run__pilot=pilot)),
        ("benchmark", row.limits if row else {}, Session.objects.filter(run__pilot__benchmark=pilot.benchmark_id)),
    ]


def models_without_worst_price(pilot: Pilot) -> list[str]:
    """Models for whose calls nothing can be kept free: their prices are unknown, or their answers have no limit."""
    return sorted({row.label for row in map(pilot.endpoint, ROLES) if lacks_worst_price(row)})


def lacks_worst_price(row: ModelEndpoint) -> bool:
    has_limit = any(map(row.params.get, ANSWER_LIMITS))
    return not row.scripted and (None in (row.input_price, row.output_price) or not has_limit)


def budget_rows(limits: Limits, spent: Spent) -> list[BudgetRow]:
    return [BudgetRow(kind, limits[kind], float(getattr(spent, kind))) for kind in KINDS if limits.get(kind)]


@dataclass
class _Total:
    pilot: Limits = field(default_factory=dict)
    session: Limits = field(default_factory=dict)
    benchmark: Limits = field(default_factory=dict)
    spent_by_pilot: Spent = field(default_factory=Spent)
    spent_by_benchmark: Spent = field(default_factory=Spent)
    read_at: float = 0.0


class SharedSpending:
    """What pilots and benchmarks have spent, as this process knows it: read every second, its own calls at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[int, _Total] = {}

    def check(self, pilot_id: int, benchmark_id: int, spent_by_session: Spent) -> None:
        """Raises BudgetSpentError."""
        total = self._total(pilot_id, benchmark_id)
        check_limits("session", total.session, spent_by_session)
        check_limits("pilot", total.pilot, total.spent_by_pilot)
        check_limits("benchmark", total.benchmark, total.spent_by_benchmark)

    def limits_dollars(self, pilot_id: int) -> bool:
        """Whether a budget does, as of the last check."""
        total = self._totals.get(pilot_id, _Total())
        return any(limits.get("cost") for limits in (total.session, total.pilot, total.benchmark))

    def add(self, pilot_id: int, spent: Spent) -> None:
        with self._lock:
            if total := self._totals.get(pilot_id):
                total.spent_by_pilot += spent
                total.spent_by_benchmark += spent

    def forget(self, pilot_id: int) -> None:
        with self._lock:
            self._totals.pop(pilot_id, None)

    def _total(self, pilot_id: int, benchmark_id: int) -> _Total:
        with self._lock:
            total = self._totals.get(pilot_id)
            if total and time.monotonic() - total.read_at < FRESH_SECONDS:
                return total
            if total:
                total.read_at = time.monotonic()  # the other threads go on with what is known
        fresh = _read(pilot_id, benchmark_id)
        with self._lock:
            self._totals[pilot_id] = fresh
            if len(self._totals) > 1000:
                self._totals.pop(next(iter(self._totals)))
        return fresh


def _read(pilot_id: int, benchmark_id: int) -> _Total:
    budgets = Pilot.objects.filter(pk=pilot_id).values_list("budgets", flat=True).first() or {}
    benchmark = benchmark_limits(benchmark_id)
    pilot = budgets.get("pilot", {})
    return _Total(
        pilot,
        budgets.get("session", {}),
        benchmark,
        spent_by_pilot(pilot_id) if pilot else Spent(),
        spent_by_benchmark(benchmark_id) if benchmark else Spent(),
        time.monotonic(),
    )


def spent_in(sessions: QuerySet[Session]) -> Spent:
    """With what is assumed of calls whose services told nothing."""
    used, paid = Sum(ALL_TOKENS + F("assumed_tokens")), Sum(F("cost") + F("assumed_cost"))
    row = sessions.aggregate(used=used, asked=Sum("calls"), paid=paid)
    return Spent(row["used"] or 0, row["asked"] or 0, row["paid"] or Decimal(0))
