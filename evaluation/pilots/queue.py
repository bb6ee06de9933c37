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
from functools import partial
from typing import Any, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, Value, Window
from django.db.models.functions import Coalesce, RowNumber
from django.utils import timezone

from evaluation.models import Pilot, Session, Validation
from evaluation.models.leased import Leased, LeasedRows, free
from evaluation.models.sessions import Sessions
from evaluation.protocol.versions import ProtocolName
from studio.celery import count_places, enqueue
from studio.models.transactions import try_lock

State = Session.State
PLACES_SECONDS = 10
"""How long the number of places is remembered. If no worker says how many it has, there are those of one."""
_LOCK = 7_015_002
"""Key of the advisory lock of whoever dispatches."""
T = TypeVar("T")
Owner = TypeVar("Owner", bound=Hashable)


@dataclass(frozen=True)
class Work:
    """A kind of rows that workers work on."""

    task: str
    """Name of the Celery task that works on one."""
    work_on: Callable[[int], object]
    """Given its key. Safe to call twice."""
    kind: type[Leased]
    due: Callable[[], LeasedRows[Any]]
    owner: str
    """Lookup of what gets its fair part."""
    order: str = "pk"
    awaited: bool = False
    """Whether somebody waits for it."""


def leasable() -> Sessions:
    now = timezone.now()
    unfinished = Session.objects.filter(run=OuterRef("run"), ended_at=None).exclude(state=State.CANCELLED)
    resumable = (
        Q(state=State.WAITING) | Q(state=State.RUNNING, lease_until__lt=now) | Q(state=State.ERROR, retry_at__lte=now)
    )
    attempts_left = Q(attempts__lt=settings.SESSION_ATTEMPTS)
    can_converse = Q(~Exists(unfinished.filter(position__lt=OuterRef("position"))))
    waits = Q(state=State.FINISHED, graded_compat_at=None, run__pilot__protocol=ProtocolName.RELEASE)
    can_grade = Q(~Exists(unfinished)) & waits & free()
    return Session.objects.filter((resumable & attempts_left & can_converse) | can_grade).exclude(
        Q(run__pilot__state__in=[Pilot.State.CANCELLED, Pilot.State.PAUSED])
        | Q(probe__validation__state__in=[Validation.State.CANCELLED, Validation.State.STOPPED])
    )


def due_in_pilots() -> Sessions:
    return leasable().filter(run__pilot__isnull=False)


def due_in_rehearsals() -> Sessions:
    return leasable().filter(rehearsal__isnull=False)


def due_in_probes() -> Sessions:
    return leasable().filter(probe__validation__state=Validation.State.RUNNING)


def claim_session(pk: int) -> Session | None:
    """None if another worker has it or it is not due."""
    with transaction.atomic():
        # whoever pauses or cancels holds the pilot: what they change is seen, or what is claimed here is seen by them
        Pilot.objects.select_for_update(no_key=True).filter(runs__sessions=pk).values_list("pk").first()
        token = leasable().claim(
            pk,
            state=State.RUNNING,
            retry_at=None,
            reason="",
            reserved=0,
            started_at=Coalesce("started_at", Value(timezone.now())),
        )
    rows = Session.objects.select_related("run__pilot__agent", "run__pilot__user_model", "run__pilot__judge")
    session = next(iter(rows.filter(pk=pk, claimed_by=token)), None) if token else None
    if session is not None and session.run.pilot and session.run.pilot.state == Pilot.State.WAITING:
        Pilot.objects.filter(pk=session.run.pilot.pk, state=Pilot.State.WAITING).update(state=Pilot.State.RUNNING)
    return session


def dispatch(works: Sequence[Work]) -> None:
    """Send what is due, as far as there are places for it. Harmless if done twice at once: one of the two does nothing.

    What somebody waits for is sent first, and whether or not there are places: workers keep threads for it.
    """
    places: int = cache.get_or_set("worker-places", count_places, PLACES_SECONDS) or settings.WORKER_SESSIONS
    with transaction.atomic():
        if try_lock(_LOCK):
            _send([work for work in works if work.awaited], settings.WORKER_SESSIONS)
            _send([work for work in works if not work.awaited], places)


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


def _send(works: Sequence[Work], places: int) -> None:
    """When the transaction commits."""
    due: dict[tuple[Work, int], list[tuple[Work, int]]] = defaultdict(list)
    under_way: dict[tuple[Work, int], int] = {}
    for work in works:
        rows: LeasedRows[Any] = LeasedRows(work.kind).under_way().exclude(**{work.owner: None}).order_by()
        counted = rows.values_list(work.owner).annotate(Count("pk"))
        under_way |= {(work, owner): number for owner, number in counted}
    free = max(0, places - sum(under_way.values()))
    for work in works:
        place = Window(RowNumber(), partition_by=F(work.owner), order_by=(F(work.order), F("pk")))
        unsent = work.due().unsent().annotate(place=place).filter(place__lte=free).order_by("place")
        for owner, pk in unsent.values_list(work.owner, "pk"):
            due[work, owner].append((work, pk))
    chosen: dict[Work, list[int]] = defaultdict(list)
    for work, pk in fair_order(due, under_way)[:free]:
        chosen[work].append(pk)
    for work, keys in chosen.items():
        work.kind._default_manager.filter(pk__in=keys).update(queued_at=timezone.now())
        transaction.on_commit(partial(enqueue, work.task, keys), robust=True)
