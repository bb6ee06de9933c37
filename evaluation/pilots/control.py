"""Pause, resume, cancel and retry of a pilot. Page, API and command call ``control_pilot``."""

from __future__ import annotations

from django.db.models import F, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from evaluation.judging.judgings import recompute_results
from evaluation.leases import wake_workers
from evaluation.models import Pilot, Session
from evaluation.pilots.budgets import spent_budget
from evaluation.pilots.lifecycle import GOING_ON, finish_pilot
from evaluation.pilots.queue import State
from studio.domain.options import OptionsError
from studio.models import User
from studio.models.transactions import atomic_with_retry

ACTIONS = ("pause", "resume", "cancel", "retry")
DONE = {"pause": "paused", "resume": "resumed", "cancel": "cancelled", "retry": "retried"}
STATES = {
    "pause": ((Pilot.State.PAUSED,), GOING_ON),
    "resume": (GOING_ON, (Pilot.State.PAUSED,)),
    "cancel": ((Pilot.State.CANCELLED,), (*GOING_ON, Pilot.State.PAUSED, Pilot.State.STOPPED)),
}
"""Of a pilot that has undergone the action already, and of one that can."""
OVER = {
    Pilot.State.FINISHED: "Pilot {} has finished. Start another pilot to run its tasks again.",
    Pilot.State.CANCELLED: "Pilot {} was cancelled and cannot be resumed. Start another pilot.",
}


class ControlError(OptionsError):
    """The pilot's state does not allow the action; the message says what does."""

    def __init__(self, message: str) -> None:
        super().__init__("action", message)


def control_pilot(pilot_id: int, action: str, *, by: User | None, everything: bool = False) -> Pilot:
    """Returns the pilot in its new state; an action that it has already undergone changes nothing.

    ``everything`` makes a retry take up the sessions that the agent failed as well. A session that a pause or a cancel
    takes from its worker sends no further model call; the answer it waits for is still recorded. Raises ControlError.
    """
    if action not in ACTIONS:
        raise ControlError(f"There is no “{action}”; there are {', '.join(ACTIONS)}.")
    pilot = _control(pilot_id, action, by, everything)
    if action in ("resume", "retry"):
        finish_pilot(pilot_id)  # nothing may have been left to do
        pilot.refresh_from_db()
    return pilot


def possible_actions(pilot: Pilot, *, stopped: int, failed: int) -> frozenset[str]:
    """``stopped`` and ``failed``: its sessions that technical failures stopped, and that the agent failed."""
    if pilot.imported:
        return frozenset()
    actions = {action for action, (_, possible) in STATES.items() if pilot.state in possible}
    if pilot.state not in (Pilot.State.PAUSED, Pilot.State.CANCELLED):
        actions |= {"retry"} if stopped else set()
        actions |= {"retry all"} if failed and pilot.state not in GOING_ON else set()
    return frozenset(actions)


def pause(pilot: Pilot, reason: str) -> None:
    """In a transaction that holds the pilot's row."""
    pilot.state, pilot.reason = Pilot.State.PAUSED, reason
    pilot.save(update_fields=["state", "reason"])
    Session.objects.filter(run__pilot=pilot, state=State.RUNNING).take_away(
        state=State.WAITING, retry_at=None, attempts=Greatest(F("attempts") - 1, 0)
    )


@atomic_with_retry
def _control(pilot_id: int, action: str, by: User | None, everything: bool) -> Pilot:
    pilot = Pilot.objects.select_for_update(no_key=True).get(pk=pilot_id)
    if _act(pilot, action, everything):
        pilot.record(DONE[action], f"{DONE[action].capitalize()} pilot {pilot.number}.", by)
    return pilot


def _act(pilot: Pilot, action: str, everything: bool) -> bool:
    """Whether that changed anything."""
    if action == "retry":
        return _retry(pilot, everything)
    undergone, possible = STATES[action]
    if pilot.state in undergone:
        return False
    if pilot.state not in possible:
        state = Pilot.State(pilot.state)
        words = OVER.get(state, f"Pilot {{}} is {state.value} and cannot be {DONE[action]}.")
        raise ControlError(words.format(pilot.number))
    match action:
        case "pause":
            pause(pilot, "")
        case "resume":
            _go_on(pilot)
        case "cancel":
            _cancel(pilot)
    return True


def _cancel(pilot: Pilot) -> None:
    pilot.state, pilot.reason, pilot.finished_at = Pilot.State.CANCELLED, "", timezone.now()
    pilot.save(update_fields=["state", "reason", "finished_at"])
    going_on = [State.WAITING, State.RUNNING, State.ERROR]
    Session.objects.filter(run__pilot=pilot, state__in=going_on).take_away(state=State.CANCELLED, retry_at=None)
    recompute_results(pilot.benchmark_id)


def _retry(pilot: Pilot, everything: bool) -> bool:
    if pilot.state == Pilot.State.CANCELLED:
        raise ControlError(OVER[Pilot.State.CANCELLED].format(pilot.number))
    if pilot.imported:
        raise ControlError(f"Pilot {pilot.number} was not played here, so it cannot be retried here.")
    wanted = Q(state=State.ERROR) | (Q(state=State.FAILED) if everything else Q(pk=None))
    sessions = Session.objects.filter(wanted, run__pilot=pilot)
    failed = sessions.filter(state=State.FAILED).update(
        state=State.WAITING, reason="", ended_at=None, attempts=0, failing_since=None, retry_at=None
    )
    stopped = sessions.filter(state=State.ERROR).update(attempts=0, failing_since=None, retry_at=timezone.now())
    if not failed and not stopped:
        return False
    _go_on(pilot)
    return True


def _go_on(pilot: Pilot) -> None:
    if spent := spent_budget(pilot):
        raise ControlError(spent)
    pilot.state, pilot.reason, pilot.finished_at = Pilot.State.RUNNING, "", None
    pilot.save(update_fields=["state", "reason", "finished_at"])
    Session.objects.filter(run__pilot=pilot).update(queued_at=None)  # messages of before may have come in the meantime
    wake_workers()
