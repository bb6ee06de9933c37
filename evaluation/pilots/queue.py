"""What is due, in which order it is sent to the workers, and claiming a session.

A conversation requires every earlier one of its run to be over, because they share a workspace. Compat grading
requires all of them to be over, because it reads the files as they are at the end.

The broker only carries messages: a row says what to do, and whoever claims it does it. A message that comes twice finds
nothing to claim; one that is lost is sent again.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, Value, Window
from django.db.models.functions import Coalesce, RowNumber
from django.utils import timezone

from evaluation.models import Pilot, Session
from evaluation.models.leased import LeasedRows, free
from evaluation.models.sessions import Sessions
from studio.celery import enqueue, places, send
from studio.models.transactions import try_lock

State = Session.State
DISPATCH = "evaluation.tasks.dispatch"
PLACES_SECONDS = 10
"""How long the number of places is remembered."""
_LOCK = 7_015_002
"""Key of the advisory lock of whoever dispatches."""
T = TypeVar("T")
Owner = TypeVar("Owner", bound=Hashable)


@dataclass(frozen=True)
class Work:
    """A kind of rows that workers work on."""

    task: str
    """The Celery task that works on one, by key."""
    due: Callable[[], LeasedRows[Any]]
    owner: str
    """Lookup of what gets its fair part."""
    order: str = "pk"
    awaited: bool = False
    """Somebody waits for it: it is sent even if all places are taken."""


def wake_workers() -> None:
    """Once this transaction commits. If the broker cannot be reached, beat has them look soon."""
    transaction.on_commit(lambda: send(DISPATCH), robust=True)


def leasable() -> Sessions:
    now = timezone.now()
    unfinished = Session.objects.filter(run=OuterRef("run"), ended_at=None).exclude(state=State.CANCELLED)
    resumable = (
        Q(state=State.WAITING) | Q(state=State.RUNNING, lease_until__lt=now) | Q(state=State.ERROR, retry_at__lte=now)
    )
    attempts_left = Q(attempts__lt=settings.SESSION_ATTEMPTS)
    can_converse = Q(~Exists(unfinished.filter(position__lt=OuterRef("position"))))
    can_grade = Q(~Exists(unfinished), state=State.FINISHED, graded_compat_at=None) & free()
    return Session.objects.filter((resumable & attempts_left & can_converse) | can_grade).exclude(
        run__pilot__state__in=[Pilot.State.CANCELLED, Pilot.State.PAUSED]
    )


def claim_session(pk: int) -> Session | None:
    """None if another worker has it or it is not due."""
    token = leasable().claim(
        pk,
        state=State.RUNNING,
        attempts=F("attempts") + 1,
        retry_at=None,
        reason="",
        started_at=Coalesce("started_at", Value(timezone.now())),
    )
    rows = Session.objects.select_related("run__pilot__agent", "run__pilot__user_model", "run__pilot__judge")
    session = rows.filter(pk=pk, claimed_by=token).first() if token else None
    if session is not None:
        Pilot.objects.filter(pk=session.run.pilot_id, state=Pilot.State.WAITING).update(state=Pilot.State.RUNNING)
    return session


@transaction.atomic
def dispatch(works: Sequence[Work]) -> int:
    """Send what is due, as far as there are places for it, when this transaction commits; returns how much it is.

    Harmless if run twice at once: one of the two does nothing.
    """
    if not try_lock(_LOCK):
        return 0
    sent = 0
    for awaited in (True, False):
        group = {work.task: work for work in works if work.awaited == awaited}
        under_way = _under_way(group.values())
        room = settings.WORKER_SESSIONS if awaited else _places() - sum(under_way.values())
        if room <= 0:
            continue
        due = {owner: rows for work in group.values() for owner, rows in _due(work, room).items()}
        chosen: dict[str, list[int]] = defaultdict(list)
        for task, pk in fair_order(due, under_way)[:room]:
            chosen[task].append(pk)
        for task, keys in chosen.items():
            group[task].due().model._default_manager.filter(pk__in=keys).update(queued_at=timezone.now())
            transaction.on_commit(lambda task=task, keys=keys: enqueue(task, keys), robust=True)  # type: ignore[misc]
            sent += len(keys)
    return sent


def fair_order(due: Mapping[Owner, Iterable[T]], running: Mapping[Owner, int]) -> list[T]:
    """Always the next session of the pilot that has the fewest, those running counted: a pilot of five is not kept
    waiting by one of five thousand."""
    waiting = {owner: deque(rows) for owner, rows in due.items()}
    heap = [(running.get(owner, 0), place, owner) for place, (owner, rows) in enumerate(waiting.items()) if rows]
    heapq.heapify(heap)
    order: list[T] = []
    while heap:
        number, place, owner = heapq.heappop(heap)
        order.append(waiting[owner].popleft())
        if waiting[owner]:
            heapq.heappush(heap, (number + 1, place, owner))
    return order


def _places() -> int:
    """In all workers that answer; if none does in time, those of one."""
    found: int = cache.get_or_set("worker-places", places, PLACES_SECONDS) or settings.WORKER_SESSIONS
    return found


def _under_way(works: Iterable[Work]) -> dict[tuple[str, int], int]:
    found = {}
    for work in works:
        rows = work.due().model._default_manager.under_way().order_by()
        for owner, number in rows.values_list(work.owner).annotate(Count("pk")):
            found[work.task, owner] = number
    return found


def _due(work: Work, most: int) -> dict[tuple[str, int], list[tuple[str, int]]]:
    """At most so many of each owner, in order: task and key."""
    place = Window(RowNumber(), partition_by=F(work.owner), order_by=(F(work.order), F("pk")))
    rows = work.due().unsent().annotate(place=place).filter(place__lte=most).order_by("place")
    by_owner: dict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
    for owner, pk in rows.values_list(work.owner, "pk"):
        by_owner[work.task, owner].append((work.task, pk))
    return by_owner
