"""A pilot after its start: finishing, and recovery of its sessions."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from evaluation.endpoints.connection import learned_facts
from evaluation.judging.judgings import recompute_results
from evaluation.models import Pilot, Session
from evaluation.models.pilots import ROLES
from evaluation.pilots.queue import State, leasable
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify

GOING_ON = (Pilot.State.WAITING, Pilot.State.RUNNING)
OUTCOMES = {Pilot.State.FINISHED: "has finished", Pilot.State.STOPPED: "was stopped by technical failures"}


def finish_pilot(pilot_id: int) -> None:
    """If none of its sessions can continue, store the pilot's final state, and notify who started it."""
    if not _goes_on(pilot_id):
        _finish(pilot_id)


def _goes_on(pilot_id: int) -> bool:
    """Whether any session can continue without a person, now or later."""
    later = Q(state=State.RUNNING) | Q(state=State.ERROR, retry_at__isnull=False)
    sessions = Session.objects.filter(later, run__pilot=pilot_id)
    return sessions.exists() or leasable().filter(run__pilot=pilot_id).exists()


@atomic_with_retry
def _finish(pilot_id: int) -> None:
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=pilot_id)
    if pilot.state not in GOING_ON or _goes_on(pilot_id):
        return
    stopped = Session.objects.filter(run__pilot=pilot, state=State.ERROR).exists()
    pilot.state = Pilot.State.STOPPED if stopped else Pilot.State.FINISHED
    pilot.finished_at = timezone.now()
    pilot.config["learned"] = {role: learned_facts(getattr(pilot, role), pilot.endpoint(role)) for role in ROLES}
    pilot.save(update_fields=["state", "finished_at", "config"])
    recompute_results(pilot.benchmark_id)
    tell_starter(pilot, f"{OUTCOMES[pilot.state]}.")


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
