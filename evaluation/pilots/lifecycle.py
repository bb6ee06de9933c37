"""A pilot after its start: finishing, and recovery of its sessions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from django.conf import settings
from django.utils import timezone

from evaluation.judging.recomputing import COMPUTE_RESULTS, recompute_results
from evaluation.leases.sessions import State, expire_dead, is_any_leasable, leasable
from evaluation.models import Pilot, Session
from evaluation.results.ahead import compute_ahead
from evaluation.results.scores import store_scores
from studio.models.statements import PreparedQuery
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify

__all__ = ["COMPUTE_RESULTS", "compute_ahead", "finish_pilot", "sweep", "tell_starter"]

OUTCOMES = {Pilot.State.FINISHED: "has finished", Pilot.State.STOPPED: "was stopped by infrastructure failures"}

_RUNNING = PreparedQuery(
    lambda pilot: Session.objects.filter(run__pilot=pilot, state=State.RUNNING).order_by().values_list("pk")[:1]
)


def finish_pilot(pilot_id: int) -> None:
    """If none of its sessions can continue, store the pilot's final state and scores, and notify who started it."""
    if _goes_on(pilot_id):
        return
    _finish(pilot_id)


@atomic_with_retry
def _finish(pilot_id: int) -> None:
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=pilot_id)
    if pilot.state not in (Pilot.State.WAITING, Pilot.State.RUNNING):
        return
    rows = Session.objects.filter(run__pilot=pilot).order_by("run_id", "position")
    state = _state_of(rows.values_list("run_id", "state", "ended_at", "graded_compat_at", "retry_at", named=True))
    if state == Pilot.State.RUNNING:
        return
    pilot.state = state
    pilot.finished_at = timezone.now()
    pilot.save(update_fields=["state", "finished_at"])
    store_scores(pilot)
    recompute_results(pilot.benchmark_id)
    tell_starter(pilot, f"{OUTCOMES[Pilot.State(state)]}.")


def tell_starter(pilot: Pilot, what: str) -> None:
    notify.notify(
        [pilot.created_by_id] if pilot.created_by_id else [],
        notify.Kind.PILOT_ENDED,
        f"Pilot {pilot.number}, which you started, {what}",
        benchmark=pilot.benchmark_id,
        address=pilot.get_absolute_url(),
        by=None,
    )


def sweep() -> int:
    """Give up the sessions that killed one worker after another, and free those of dead processes; returns how many
    sessions are due. Runs periodically.
    """
    expire_dead()
    exhausted = Session.objects.filter(
        state=State.RUNNING, lease_until__lt=timezone.now(), attempts__gte=settings.SESSION_ATTEMPTS
    )
    pilots = set(exhausted.values_list("run__pilot", flat=True))
    exhausted.update(
        state=State.ERROR,
        reason=f"Its worker stopped {settings.SESSION_ATTEMPTS} times before a turn was stored.",
        failure="WorkerLostError",
        claimed_by="",
        lease_until=None,
        retry_at=None,
    )
    for pilot_id in pilots:
        finish_pilot(pilot_id)
    return leasable().count()


def _goes_on(pilot_id: int) -> bool:
    """Cheap, because it is asked after each session; the last one of a pilot looks at all of them."""
    return _RUNNING.exists(pilot_id) or is_any_leasable(pilot_id)


def _state_of(sessions: Iterable[Any]) -> str:
    """Running while any session can continue without a person. ``sessions`` are rows in the order of their runs."""
    stopped = False
    for _, group in groupby(sessions, key=lambda session: session.run_id):
        rows = list(group)
        unfinished = [row for row in rows if row.ended_at is None]
        next_session = unfinished[0] if unfinished else None
        for row in rows:
            given_up = row.state == State.ERROR and row.retry_at is None
            stopped = stopped or given_up
            if row.state == State.RUNNING or (row.state == State.ERROR and not given_up):
                return str(Pilot.State.RUNNING)
            if row.state == State.WAITING and row is next_session:
                return str(Pilot.State.RUNNING)
            if row.state == State.FINISHED and row.graded_compat_at is None and not unfinished:
                return str(Pilot.State.RUNNING)
    return str(Pilot.State.STOPPED if stopped else Pilot.State.FINISHED)
