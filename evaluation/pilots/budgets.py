"""Budgets in tokens, model calls and US dollars, of a session, a pilot and a benchmark: what is spent and left."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

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
from evaluation.models.calls import AfterCall
from evaluation.models.connections import give_back_connection
from evaluation.models.leased import LeaseLostError, free
from evaluation.models.pilots import ROLES
from evaluation.models.sessions import ALL_TOKENS
from studio.models import Benchmark, Event, User

Owner = Pilot | Validation
"""What sessions with budgets run in."""
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
    pilot.save(update_fields=["budgets"])
    if pilot.state == Pilot.State.PAUSED and pilot.reason:
        pilot.reason = spent_budget(pilot) or RAISED
        pilot.save(update_fields=["reason"])
    pilot.record("budgeted", f"Changed the budget of pilot {pilot.number}.", by)


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
    try:
        for room in rooms_of(pilot):
            if room.limits:
                check_limits(room.scope, room.limits, spent_in(room.sessions))
    except BudgetSpentError as error:
        return str(error)
    return ""


def benchmark_limits(benchmark_id: int) -> dict[str, float]:
    return dict(BenchmarkBudget.objects.filter(pk=benchmark_id).values_list("limits", flat=True).first() or {})


@dataclass
class Room:
    """A budget, and the sessions that share it."""

    scope: str
    limits: Limits
    sessions: QuerySet[Session]
    spent: Spent = field(default_factory=Spent)
    """As it was last read, and by this process since."""


def rooms_of(owner: Owner, session: int = 0, *, held: bool = False) -> list[Room]:
    """All that hold for a session, by its key, that runs in ``owner``. ``held``: whoever reserves holds the rows of the
    budgets, so that of two at once, the second sees what the first has reserved."""

    def row_of(rows: QuerySet[Any, Any], pk: int, column: str) -> Any:
        rows = rows.select_for_update(no_key=True) if held else rows
        return rows.filter(pk=pk).values_list(column, flat=True).first() or {}

    if isinstance(owner, Validation):
        budget = row_of(Validation.objects.all(), owner.pk, "budget")
        return [Room("validation", budget, Session.objects.filter(probe__validation=owner.pk))]
    shared = row_of(BenchmarkBudget.objects.all(), owner.benchmark_id, "limits")
    budgets = row_of(Pilot.objects.all(), owner.pk, "budgets")
    return [
        Room("session", budgets.get("session", {}), Session.objects.filter(pk=session)),
        Room("pilot", budgets.get("pilot", {}), Session.objects.filter(run__pilot=owner.pk)),
        Room("benchmark", shared, Session.objects.filter(run__pilot__benchmark=owner.benchmark_id)),
    ]


def owner_of(session: Session) -> Owner | None:
    """None: of a rehearsal, which has no budget."""
    return session.run.pilot or (None if session.is_rehearsal else session.probe.asking)


def reserve(session: Session, worst: Decimal) -> bool:
    """Keep free what a call of this session costs at most, in every budget in dollars that holds for it; False while
    other calls under way may use it up. Raises BudgetSpentError if that is more than is left."""
    owner, is_free = owner_of(session), True
    with transaction.atomic():
        for room in rooms_of(owner, session.pk, held=True) if owner else ():
            if limit := room.limits.get("cost"):
                others = room.sessions.exclude(pk=session.pk).exclude(free())
                reserved = Decimal(others.aggregate(all=Sum("reserved"))["all"] or 0)
                is_free &= fits(room.scope, Decimal(str(limit)), spent_in(room.sessions).cost, reserved, worst)
        if is_free:
            Session.objects.filter(pk=session.pk, claimed_by=session.claimed_by).update(reserved=worst)
    return is_free


def models_without_worst_price(pilot: Pilot) -> list[str]:
    """Models for whose calls nothing can be kept free: their prices are unknown, or their answers have no limit."""
    return sorted({row.label for row in map(pilot.endpoint, ROLES) if lacks_worst_price(row)})


def lacks_worst_price(row: ModelEndpoint) -> bool:
    has_limit = any(map(row.params.get, ANSWER_LIMITS))
    return not row.scripted and (None in (row.input_price, row.output_price) or not has_limit)


def budget_rows(limits: Limits, spent: Spent) -> list[BudgetRow]:
    return [BudgetRow(kind, limits[kind], float(getattr(spent, kind))) for kind in KINDS if limits.get(kind)]


class SharedSpending:
    """What sessions that share budgets have spent, as this process knows it: read every second, its own calls at
    once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Owner, tuple[float, list[Room]]] = {}
        """When their rooms were read."""

    def check(self, owner: Owner, spent_by_session: Spent) -> bool:
        """Whether a budget limits dollars. Raises BudgetSpentError."""
        rooms = self._rooms(owner)
        for room in rooms:
            check_limits(room.scope, room.limits, spent_by_session if room.scope == "session" else room.spent)
        return any(room.limits.get("cost") for room in rooms)

    def add(self, owner: Owner, spent: Spent) -> None:
        with self._lock:
            for room in self._known[owner][1] if owner in self._known else ():
                room.spent += spent

    def forget(self, owner: Owner) -> None:
        with self._lock:
            self._known.pop(owner, None)

    def _rooms(self, owner: Owner) -> list[Room]:
        now = time.monotonic()
        with self._lock:
            read_at, rooms = self._known.get(owner, (0.0, []))
            if rooms and now - read_at < FRESH_SECONDS:
                return rooms
            if rooms:
                self._known[owner] = now, rooms  # the other threads go on with what is known
        rooms = rooms_of(owner)
        for room in rooms:
            room.spent = spent_in(room.sessions) if room.limits and room.scope != "session" else Spent()
        with self._lock:
            self._known[owner] = time.monotonic(), rooms
            if len(self._known) > 1000:
                self._known.pop(next(iter(self._known)))
        return rooms


def spent_in(sessions: QuerySet[Session]) -> Spent:
    """With what is assumed of calls whose services told nothing."""
    used, paid = Sum(ALL_TOKENS + F("assumed_tokens")), Sum(F("cost") + F("assumed_cost"))
    row = sessions.aggregate(used=used, asked=Sum("calls"), paid=paid)
    return Spent(row["used"] or 0, row["asked"] or 0, row["paid"] or Decimal(0))


shared_spending = SharedSpending()
ASK_AGAIN = 0.5
"""Seconds until a call that waits for others looks again."""


class SessionSpending:
    """For the holder of the session's lease."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._owner = owner_of(session)
        tokens, cost = ALL_TOKENS + F("assumed_tokens"), F("cost") + F("assumed_cost")
        self._row = Session.objects.filter(pk=session.pk).values_list("claimed_by", "state", tokens, "calls", cost)
        self._told: tuple[AfterCall, float] | None = None
        """By the statement that stored the last call, and when. One check goes by it, if made at once."""

    def check(self, worst: Decimal | None = None) -> None:
        """Before a call is sent. Where dollars are limited, what it costs at most is kept free until it is stored; it
        waits while calls under way may use that up. Raises LeaseLostError and BudgetSpentError."""
        if self._check() and worst is not None:
            while not reserve(self._session, worst):
                give_back_connection()
                time.sleep(ASK_AGAIN)
                self._check()

    def _check(self) -> bool:
        """Whether a budget limits dollars."""
        told, self._told = self._told, None
        is_fresh = told is not None and time.monotonic() - told[1] < FRESH_SECONDS
        now = told[0] if told and is_fresh else next((AfterCall(*row) for row in self._row.all()), None)
        if now is None or (now.claimed_by, now.state) != (self._session.claimed_by, Session.LEASED):
            raise LeaseLostError
        spent = Spent(now.tokens, now.calls, now.cost)
        return self._owner is not None and shared_spending.check(self._owner, spent)

    def counted(self, tokens: int, cost: Decimal, session: AfterCall) -> None:
        """Also of a call whose session was cancelled meanwhile: it was paid for."""
        self._told = session, time.monotonic()
        if self._owner is not None:
            shared_spending.add(self._owner, Spent(tokens, 1, cost))
