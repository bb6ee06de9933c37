"""A pilot after its start: cancelling, retrying, finishing, and recovery of its sessions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from django.conf import settings
from django.utils import timezone

from evaluation.leases.sessions import State, expire_dead
from evaluation.models import Pilot, Session
from evaluation.pilots.queue import enqueue_due
from evaluation.results.scores import store_scores
from studio.models import Event, User
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify

OUTCOMES = {Pilot.State.FINISHED: "has finished", Pilot.State.STOPPED: "was stopped by infrastructure failures"}


@atomic_with_retry
def cancel_pilot(pilot_id: int, *, by: User | None) -> Pilot:
    """Cancel the sessions that have not ended. A running one loses its lease and stores nothing more."""
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=pilot_id)
    if pilot.state in (Pilot.State.FINISHED, Pilot.State.CANCELLED):
        return pilot
    pilot.state = Pilot.State.CANCELLED
    pilot.finished_at = timezone.now()
    pilot.save(update_fields=["state", "finished_at"])
    Session.objects.filter(run__pilot=pilot, state__in=[State.WAITING, State.RUNNING, State.ERROR]).update(
        state=State.CANCELLED, claimed_by="", lease_until=None, retry_at=None
    )
    store_scores(pilot)
    _log_event(pilot, by, "cancelled", f"Cancelled pilot {pilot.number}.")
    return pilot


@atomic_with_retry
def retry_pilot(pilot_id: int, *, by: User | None) -> Pilot:
    """Resume the sessions that infrastructure failures stopped. Stored turns and answered model calls are reused."""
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=pilot_id)
    stopped = Session.objects.filter(run__pilot=pilot, state=State.ERROR)
    if pilot.state == Pilot.State.CANCELLED or not stopped.exists():
        return pilot
    stopped.update(attempts=0, failing_since=None, retry_at=timezone.now())
    pilot.state = Pilot.State.RUNNING
    pilot.finished_at = None
    pilot.save(update_fields=["state", "finished_at"])
    _log_event(pilot, by, "retried", f"Resumed pilot {pilot.number}.")
    enqueue_due(pilot.runs.all())
    return pilot


@atomic_with_retry
def finish_pilot(pilot_id: int) -> None:
    """If none of its sessions can continue, store the pilot's final state and scores, and notify who started it."""
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=pilot_id)
    if pilot.state not in (Pilot.State.WAITING, Pilot.State.RUNNING):
        return
    rows = Session.objects.filter(run__pilot=pilot).order_by("run_id", "position")
    state = _state_of(list(rows.only("run", "position", "state", "ended_at", "graded_compat_at", "retry_at")))
    if state == Pilot.State.RUNNING:
        return
    pilot.state = state
    pilot.finished_at = timezone.now()
    pilot.save(update_fields=["state", "finished_at"])
    store_scores(pilot)
    notify.notify(
        [pilot.created_by_id] if pilot.created_by_id else [],
        notify.Kind.PILOT_ENDED,
        f"Pilot {pilot.number}, which you started, {OUTCOMES[Pilot.State(state)]}.",
        benchmark=pilot.benchmark_id,
        address=pilot.get_absolute_url(),
        by=None,
    )


def sweep(*, include_recent: bool = False) -> int:
    """Enqueue the sessions that could continue but that no worker holds; returns how many. Runs periodically.

    ``include_recent`` also enqueues sessions whose message was just sent, for a starting worker whose broker may have
    lost its messages.
    """
    expire_dead()
    exhausted = Session.objects.filter(
        state=State.RUNNING, lease_until__lt=timezone.now(), attempts__gte=settings.SESSION_ATTEMPTS
    )
    pilots = set(exhausted.values_list("run__pilot", flat=True))
    exhausted.update(
        state=State.ERROR,
        reason=f"Its worker stopped {settings.SESSION_ATTEMPTS} times before a turn was stored.",
        claimed_by="",
        lease_until=None,
        retry_at=None,
    )
    for pilot_id in pilots:
        finish_pilot(pilot_id)
    return enqueue_due(include_recent=include_recent)


def _state_of(sessions: Sequence[Session]) -> str:
    """Running while any session can continue without a person. ``sessions`` are in the order of their runs."""
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


def _log_event(pilot: Pilot, by: User | None, verb: str, summary: str) -> None:
    Event.objects.create(benchmark=pilot.benchmark, actor=by, verb=verb, summary=summary, data={"pilot": pilot.pk})
