"""Which sessions are due, in what order, and waking the workers for them."""

from __future__ import annotations

import heapq
import random
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

from django.db import transaction
from django.db.models import Count, F, Window
from django.db.models.functions import RowNumber

from evaluation.leases.sessions import State, leasable, leasable_in_run
from evaluation.models import Session
from studio.celery import send

WAKE = "evaluation.tasks.wake"


def wake_workers() -> None:
    """Once this transaction commits. One worker gets the message; the others look for due sessions every second."""
    transaction.on_commit(lambda: send(WAKE), robust=True)


def due_sessions(limit: int, *, pilot_id: int | None = None) -> list[int]:
    """At most ``limit`` per pilot, in the order in which a worker should try to lease them."""
    due = leasable()
    if pilot_id is not None:
        due = due.filter(run__pilot=pilot_id)
    place = Window(RowNumber(), partition_by=F("run__pilot"), order_by=(F("position"), F("pk")))
    rows = due.annotate(place=place).filter(place__lte=limit).order_by().values_list("run__pilot", "pk")
    by_pilot: dict[int, list[int]] = defaultdict(list)
    for pilot, pk in rows:
        by_pilot[pilot].append(pk)
    if not by_pilot:
        return []
    counted = Session.objects.filter(state=State.RUNNING, run__pilot__in=by_pilot).order_by()
    running = dict(counted.values_list("run__pilot").annotate(Count("pk")))
    for pks in by_pilot.values():
        random.shuffle(pks)  # workers that look at the same time should not all try the same session
    return fair_order(by_pilot, running)


def due_in_run(run_id: int) -> list[int]:
    return leasable_in_run(run_id)


def fair_order(due: Mapping[int, Iterable[int]], running: Mapping[int, int]) -> list[int]:
    """Always the next session of the pilot that has the fewest, those running counted: a pilot of five is not kept
    waiting by one of five thousand."""
    waiting = {pilot: deque(sessions) for pilot, sessions in due.items()}
    heap = [(running.get(pilot, 0), pilot) for pilot, sessions in waiting.items() if sessions]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        number, pilot = heapq.heappop(heap)
        order.append(waiting[pilot].popleft())
        if waiting[pilot]:
            heapq.heappush(heap, (number + 1, pilot))
    return order
