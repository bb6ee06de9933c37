"""A pilot after its start: finishing, and recovery of its sessions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from django.conf import settings
from django.utils import timezone

from evaluation.endpoints.connection import learned_facts
from evaluation.judging.judgings import recompute_results
from evaluation.models import Pilot, Session
from evaluation.models.pilots import ROLES
from evaluation.pilots.queue import State, leasable
from evaluation.protocol.scoring import ScoringMode
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify

GOING_ON = (Pilot.State.WAITING, Pilot.State.RUNNING)
OUTCOMES = {Pilot.State.FINISHED: "has finished", Pilot.State.STOPPED: "was stopped by technical failures"}


def finish_pilot(pilot_id: int) -> None:
    """If none of its sessions can continue, store the pilot's final state, and notify who started it."""
    sessions = Session.objects.filter(run__pilot=pilot_id, state=State.RUNNING)
    if not sessions.exists() and not leasable().filter(run__pilot=pilot_id).exists():
        _finish(pilot_id)


@atomic_with_retry
def _finish(pilot_id: int) -> None:
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=pilot_id)
    if pilot.state not in GOING_ON:
        return
    rows = Session.objects.filter(run__pilot=pilot).order_by("run_id", "position")
    sessions = rows.values_list("run_id", "state", "ended_at", "graded_compat_at", "retry_at", named=True)
    state = _state_of(sessions, waits=ScoringMode.COMPAT in pilot.terms.modes)
    if state == Pilot.State.RUNNING:
        return
    pilot.state = state
    pilot.finished_at = timezone.now()
    pilot.config["learned"] = {role: learned_facts(getattr(pilot, role), pilot.endpoint(role)) for role in ROLES}
    pilot.save(update_fields=["state", "finished_at", "config"])
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


def sweep() -> None:
    """Give up the sessions that killed one worker after another, and finish the pilots whose last worker died before
    it did. Runs periodically; twice at once does no harm."""
    exhausted = Session.objects.filter(
        state=State.RUNNING, lease_until__lt=timezone.now(), attempts__gte=settings.SESSION_ATTEMPTS
    )
    exhausted.take_away(
        state=State.ERROR,
        reason=f"Its worker stopped {settings.SESSION_ATTEMPTS} times before a turn was stored.",
        failure="WorkerLostError",
        retry_at=None,
    )
    for pilot_id in Pilot.objects.filter(state__in=GOING_ON).order_by("pk").values_list("pk", flat=True):
        finish_pilot(pilot_id)


def _state_of(sessions: Iterable[Any], *, waits: bool) -> str:
    """Running while any session can continue without a person. ``sessions`` are rows in the order of their runs;
    ``waits``: for compat, which is graded once all conversations of a run are over."""
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
            if waits and row.state == State.FINISHED and row.graded_compat_at is None and not unfinished:
                return str(Pilot.State.RUNNING)
    return str(Pilot.State.STOPPED if stopped else Pilot.State.FINISHED)
