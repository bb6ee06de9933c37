"""A worker's work on one session: the conversation, turn by turn, then grading. Resumable at any point."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from evaluation.call_records import CallRecord, session_record
from evaluation.grading.evidence import load_script
from evaluation.grading.judges import ModelChecklistJudge, ModelIntentJudge
from evaluation.grading.session import Checklist, SessionGrade, decide_checklist, grade
from evaluation.judging.judgings import close_judging, open_judging, open_judgings, versions_of
from evaluation.leases.sessions import (
    LeaseLostError,
    State,
    acquire,
    leased_row,
    lock_leased_row,
    release,
    renewing,
)
from evaluation.models import Judging, Pilot, Session, Verdict
from evaluation.pilots.budgets import BudgetSpentError
from evaluation.pilots.checkpoints import (
    SnapshottingAgent,
    load_progress,
    load_workspace,
    store_provided_intents,
    store_turn,
)
from evaluation.pilots.control import GOING_ON, pause
from evaluation.pilots.frozen import persona_of, task_of
from evaluation.pilots.lifecycle import finish_pilot, tell_starter
from evaluation.pilots.participants import build_agent, open_world
from evaluation.pilots.spending import SessionSpending, shared_spending
from evaluation.pilots.tool_servers import open_servers
from evaluation.pilots.usage import tokens_by_mode
from evaluation.pilots.voice import speaker
from evaluation.protocol.participants import AgentError, InfrastructureError
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED, MAX_TURNS, take_turn
from evaluation.protocol.trace import read_texts
from evaluation.store.evidence import load_evidence
from evaluation.store.snapshots import apps_before
from evaluation.store.verdicts import JudgeOnRecord, known_of, verdict_rows
from evaluation.workspaces.app_states import load_apps
from evaluation.workspaces.folders import temporary_folder
from evaluation.workspaces.manifests import MissingContentError, folder_reader, rebuild_workspace
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob
from studio.models.statements import PreparedQuery

logger = logging.getLogger(__name__)
HandOn = Callable[[int], None]
LONGEST_PAUSE = 600.0
"""Seconds between two attempts."""

_carried: Counter[int] = Counter()
"""Sessions that this process works on, by pilot."""
_lock = threading.Lock()
"""Of the above."""
_UNENDED = PreparedQuery(lambda run: Session.objects.filter(run=run, ended_at=None).order_by().values_list("pk")[:1])


def work_on(
    session_id: int, hand_on: HandOn = lambda run_id: None, under_way: Callable[[], None] = lambda: None
) -> bool:
    """Take a session as far as it can go now. False if it cannot be leased. Safe to call twice and from two workers.

    ``hand_on`` is called with the run's key when others of its sessions may be due, and ``under_way`` when it begins to
    ask models.
    """
    session = acquire(session_id)
    if session is None:
        return False
    pilot_id = session.run.pilot_id
    with _lock:
        _carried[pilot_id] += 1
    try:
        over = _work_and_record(session, hand_on, under_way)
    finally:
        with _lock:
            _carried[pilot_id] -= 1
            last = not _carried[pilot_id]
            if last:
                del _carried[pilot_id]
    if not over:
        hand_on(session.run_id)
    if last:
        finish_pilot(pilot_id)
    return True


def _work_and_record(session: Session, hand_on: HandOn, under_way: Callable[[], None]) -> bool:
    """Whether nothing is left to do of it, and others were told when they could be due."""
    with renewing(session):
        try:
            return _work(session, hand_on, under_way)
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
            logger.exception("Session %d stopped by a defect of the studio.", session.pk)
            connection.close_if_unusable_or_obsolete()
            _record_failure(session, f"Internal error: {type(error).__name__}: {error}", "InternalError")
    return False


def _work(session: Session, hand_on: HandOn, under_way: Callable[[], None]) -> bool:
    """As ``_work_and_record``."""
    task = task_of(session.revision_id)
    persona = persona_of(session.run.persona_revision_id)
    spending = SessionSpending(session)
    record = session_record(session, spending.check, spending)
    if session.ended_at is None:
        if not _converse(session, task, persona, record, under_way):
            return False
        if not session.alone:
            hand_on(session.run_id)
    under_way()
    changes, judgings = _grade(session, task, persona, record)
    _store_end(
        session,
        judgings,
        claimed_by="",
        lease_until=None,
        state=State.FINISHED,
        attempts=0,
        failing_since=None,
        **tokens_by_mode(session),
        **changes,
    )
    return "graded_compat_at" in changes


def _converse(
    session: Session, task: TaskSpec, persona: PersonaSpec, record: CallRecord, under_way: Callable[[], None]
) -> bool:
    """Run the conversation from the last stored turn to its end. False if the agent failed, which ends the session."""
    progress = load_progress(session, task)
    if progress.turns == 0 and session.turn_count == 0:
        store_provided_intents(session, task)
    with temporary_folder() as folder, open_servers(persona) as servers:
        manifest = load_workspace(session, task, persona)
        rebuild_workspace(manifest, folder, Blob.objects.read)
        agent = SnapshottingAgent(session, record, folder, manifest, progress.turns)
        agent.apps = load_apps(apps_before(session, persona), persona, task.task_id, Blob.objects.read)
        agent.world = open_world(agent.apps)
        agent.inner = build_agent(session, task, persona, folder, agent.world, record, lambda: agent.number, servers)
        judging = open_judging(session, "")
        ask, versions = JudgeOnRecord(judging, record), versions_of(judging)
        read = folder_reader(folder)
        speak = speaker(session, persona, judging, record, lambda: agent.number)
        max_turns = int(session.run.pilot.limits.get("turns") or MAX_TURNS)
        under_way()
        while progress.ending is None:
            judge = ModelIntentJudge(ask, versions, progress.turns + 1)
            try:
                taken, progress = take_turn(
                    progress,
                    agent,
                    judge,
                    lambda: read_texts(task.files_read, read),
                    max_turns=max_turns,
                    speak=speak,
                )
            except AgentError as error:
                progress = replace(progress, message="", ending="failed", reason=str(error))
            else:
                store_turn(agent, judging, judge, task, taken, progress)
        closing = agent.close() if session.followed and progress.ending != "failed" else {}
    covered = sum(item.status in COVERED for item in progress.intents)
    now = timezone.now()
    if progress.ending == "failed":
        release(session, state=State.FAILED, reason=progress.reason, ended_at=now, covered=covered)
        return False
    _store_end(session, [judging], ended_at=now, covered=covered, attempts=1, failing_since=None, **closing)
    return True


def _grade(
    session: Session, task: TaskSpec, persona: PersonaSpec, record: CallRecord
) -> tuple[dict[str, Any], list[Judging]]:
    """What to store of the session, and the judgings that are finished with it."""

    script = load_script(task, persona, Blob.objects.read)

    def decide(judging: Judging) -> SessionGrade:
        mode = ScoringMode(judging.scoring)
        checklist = Checklist(task, script, load_evidence(session, mode), mode)
        judge = ModelChecklistJudge(JudgeOnRecord(judging, record), versions_of(judging))
        known = known_of(judging)
        for decided in decide_checklist(checklist, judge, known):
            with transaction.atomic():
                lock_leased_row(session)
                Verdict.objects.bulk_create(verdict_rows(judging, decided, record.answered))
            known |= {each.place: each.met for each in decided}
        return grade(checklist, known)

    judgings = open_judgings(session, [ScoringMode.STRICT, *([ScoringMode.COMPAT] if session.alone else [])])
    strict = decide(judgings[0])
    changes = {"comp_strict": strict.comp, "ungraded": strict.ungraded, "graded_strict_at": timezone.now()}
    if not session.alone and not _UNENDED.exists(session.run_id):
        judgings.append(open_judging(session, ScoringMode.COMPAT))
    for judging in judgings[1:]:
        changes |= {"comp_compat": decide(judging).comp, "graded_compat_at": timezone.now()}
    return changes, judgings


def _store_end(session: Session, judgings: Sequence[Judging], **changes: Any) -> None:
    """Store ``changes`` of the session's row and finish its ``judgings``. Raises LeaseLostError; then nothing is
    stored."""
    with transaction.atomic():
        if not leased_row(session).update(**changes):
            raise LeaseLostError
        close_judging(*judgings)


def _stop_for_budget(session: Session, spent: BudgetSpentError) -> None:
    """A session's own budget stops it alone; the others pause all pilots they are for, until they are raised."""
    shared_spending.forget(session.run.pilot_id)
    if spent.scope == "session":
        _release_stopped(session, str(spent), type(spent).__name__, None)
        return
    pilot = session.run.pilot
    affected = {"pk": pilot.pk} if spent.scope == "pilot" else {"benchmark": pilot.benchmark_id}
    with transaction.atomic():
        for row in Pilot.objects.select_for_update(no_key=True).filter(state__in=GOING_ON, **affected).order_by("pk"):
            pause(row, str(spent))
            tell_starter(row, f"is paused: {str(spent)[0].lower()}{str(spent)[1:]}")


def _record_failure(session: Session, reason: str, kind: str, *, hopeless: bool = False) -> None:
    """Schedule a retry with exponential backoff; after the last attempt, or if it is ``hopeless``, a person must resume
    the session."""
    attempts = leased_row(session).values_list("attempts", flat=True).first() or settings.SESSION_ATTEMPTS
    retry = attempts < settings.SESSION_ATTEMPTS and not hopeless
    pause = min(settings.SESSION_RETRY_SECONDS * 2 ** (attempts - 1), LONGEST_PAUSE)
    _release_stopped(session, reason, kind, timezone.now() + timedelta(seconds=pause) if retry else None)


def _record_outage(session: Session, failure: InfrastructureError) -> None:
    """Pause for as long again as the outage has lasted. No attempt is used up, but an outage of a day ends it.

    A person who comes back to a pilot in the morning should find it going on, not stopped since the evening.
    """
    now = timezone.now()
    since = leased_row(session).values_list("failing_since", flat=True).first() or now
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
    release(session, state=State.ERROR, reason=storable(reason)[:2000], failure=kind, retry_at=retry_at, **changes)
