"""A worker's work on one session: the conversation, turn by turn, then grading. Resumable at any point."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from evaluation.call_records import session_record
from evaluation.engine.budgets import BudgetSpentError
from evaluation.engine.conversation import converse, converse_with_person
from evaluation.engine.grading import grade_session
from evaluation.leases import renewing
from evaluation.models import Pilot, Rehearsal, Session, Validation
from evaluation.models.leased import LeaseLostError
from evaluation.pilots.budgets import SessionSpending, owner_of, shared_spending
from evaluation.pilots.control import pause
from evaluation.pilots.lifecycle import GOING_ON, finish_pilot, tell_starter
from evaluation.pilots.queue import State, claim_session
from evaluation.protocol.participants import InfrastructureError
from evaluation.protocol.scoring import ScoringMode
from evaluation.store.plans import plan_of
from evaluation.store.rows import RowStore
from evaluation.workspaces.manifests import MissingContentError
from studio.domain.storable import storable
from studio.models.transactions import is_away

logger = logging.getLogger(__name__)
LONGEST_PAUSE = 600.0
"""Seconds between two attempts."""


def work_on(session_id: int) -> bool:
    """Take a session as far as it can go now. False if it cannot be claimed. Safe from two workers at once."""
    session = claim_session(session_id)
    if session is None:
        return False
    _work_and_record(session)
    if session.run.pilot_id is not None:
        finish_pilot(session.run.pilot_id)
    return True


def _work_and_record(session: Session) -> None:
    with renewing(session):
        try:
            _work(session)
        except LeaseLostError:
            logger.info("Session %d was taken over or cancelled.", session.pk)
        except BudgetSpentError as error:
            _stop_for_budget(session, error)
        except InfrastructureError as error:
            if error.retryable:
                _record_outage(session, error)
            else:
                _record_failure(session, str(error), type(error).__name__, hopeless=error.hopeless)
        except MissingContentError as error:
            _record_failure(session, str(error), type(error).__name__)
        except Exception as error:
            if is_away(error):  # the lease runs out, and whoever takes it then goes on
                raise
            logger.exception("Session %d stopped by a defect of the studio.", session.pk)
            connection.close_if_unusable_or_obsolete()
            _record_failure(session, f"Internal error: {type(error).__name__}: {error}", "InternalError")


def _work(session: Session) -> None:
    plan = plan_of(session)
    spending = SessionSpending(session)
    store = RowStore(session, session_record(session, spending.check, spending.counted))
    if session.ended_at is None:
        play = converse_with_person if session.is_rehearsal else converse
        ending = play(plan, store, store.standing(plan)).ending
        if ending is None:
            session.release(state=State.AWAITING, attempts=0)
        if ending in (None, "failed"):
            return
    modes = [ScoringMode.STRICT]
    if ScoringMode.COMPAT in plan.terms.modes and store.is_run_over():
        modes.append(ScoringMode.COMPAT)
    store.finish({mode: grade_session(plan, store, mode, store.played(plan, mode)) for mode in modes})


def stop_validation(validation_id: int, reason: str, state: str = Validation.State.STOPPED) -> None:
    """Its sessions send no further call, and go on from where they stand if it is resumed."""
    with transaction.atomic():
        row = Validation.objects.select_for_update(no_key=True).get(pk=validation_id)
        if row.state != Validation.State.RUNNING:
            return
        row.state, row.reason = state, reason
        row.save(update_fields=["state", "reason"])
        Session.objects.filter(probe__validation=row, state=Session.State.RUNNING).take_away(
            state=Session.State.WAITING, retry_at=None, attempts=Greatest(F("attempts") - 1, 0)
        )


def _stop_for_budget(session: Session, spent: BudgetSpentError) -> None:
    """A session's own budget stops it alone; the others pause its pilot or all of a benchmark, until raised."""
    if (owner := owner_of(session)) is not None:
        shared_spending.forget(owner)
    if isinstance(owner, Validation):
        stop_validation(owner.pk, str(spent))
        return
    if spent.scope == "session":
        _release_stopped(session, str(spent), type(spent).__name__, None)
        return
    pilot = session.pilot
    affected = {"pk": pilot.pk} if spent.scope == "pilot" else {"benchmark": pilot.benchmark_id}
    with transaction.atomic():
        for row in Pilot.objects.select_for_update(no_key=True).filter(state__in=GOING_ON, **affected).order_by("pk"):
            pause(row, str(spent))
            tell_starter(row, f"is paused: {str(spent)[0].lower()}{str(spent)[1:]}")


def _record_failure(session: Session, reason: str, kind: str, *, hopeless: bool = False) -> None:
    """Schedule a retry with exponential backoff; after the last attempt, or if it is ``hopeless``, a person must resume
    the session."""
    attempts = session.held().values_list("attempts", flat=True).first() or settings.SESSION_ATTEMPTS
    retry = attempts < settings.SESSION_ATTEMPTS and not hopeless
    pause = min(settings.SESSION_RETRY_SECONDS * 2 ** (attempts - 1), LONGEST_PAUSE)
    _release_stopped(session, reason, kind, timezone.now() + timedelta(seconds=pause) if retry else None)


def _record_outage(session: Session, failure: InfrastructureError) -> None:
    """Pause for as long again as the outage has lasted. No attempt is used up, but an outage of a day ends it.

    A person who comes back to a pilot in the morning should find it going on, not stopped since the evening.
    """
    now = timezone.now()
    since = session.held().values_list("failing_since", flat=True).first() or now
    lasted = (now - since).total_seconds()
    if lasted >= settings.SESSION_OUTAGE_SECONDS:
        _release_stopped(session, str(failure), type(failure).__name__, None)
        return
    pause = min(max(settings.SESSION_RETRY_SECONDS, lasted, failure.retry_after or 0), LONGEST_PAUSE)
    _release_stopped(
        session,
        str(failure),
        type(failure).__name__,
        now + timedelta(seconds=pause),
        failing_since=since,
        attempts=Greatest(F("attempts") - 1, 0),
    )


def _release_stopped(session: Session, reason: str, kind: str, retry_at: datetime | None, **changes: Any) -> None:
    state = State.ERROR
    if session.is_rehearsal:
        state, retry_at = without_model(session), None
    session.release(state=state, reason=storable(reason)[:2000], failure=kind, retry_at=retry_at, **changes)


def without_model(session: Session) -> State:
    """Of a rehearsal, once a model's work in it has failed or was called off: who plays the user can decide by
    themselves on a reply that is there; all else waits for the person to try again."""
    decidable = session.rehearsal.seat == Rehearsal.Seat.USER and session.ended_at is None
    has_reply = session.turns.filter(number__gt=session.turn_count).exists()
    return State.AWAITING if decidable and has_reply else State.ERROR
