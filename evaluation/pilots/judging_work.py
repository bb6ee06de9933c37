"""A worker's work on one judging of a stored session. Resumable at any turn."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from evaluation.call_records import rejudging_record
from evaluation.grading.decided import Decided
from evaluation.grading.evidence import load_script
from evaluation.grading.intents import IntentStatus, decide_intents
from evaluation.grading.judges import Ask, ModelChecklistJudge
from evaluation.grading.questions import decide_questions
from evaluation.grading.session import Checklist, decide_checklist
from evaluation.judging.judgings import asked_in, versions_of
from evaluation.leases.heartbeat import heartbeat, lease_end
from evaluation.models import Judging, JudgingRound, Session, Verdict
from evaluation.models.judgings import Purpose
from evaluation.pilots.rejudging import RUN_JUDGING
from evaluation.protocol.participants import InfrastructureError
from evaluation.protocol.scoring import ScoringMode
from evaluation.store.evidence import load_evidence
from evaluation.store.verdicts import JudgeOnRecord, known_of, verdict_rows
from evaluation.workspaces.manifests import MissingContentError
from studio.celery import enqueue
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob

logger = logging.getLogger(__name__)
State = Judging.State
THREADS = 16
POLL_SECONDS = 0.2
RESEND_AFTER = timedelta(minutes=2)


class JudgingLeaseLostError(Exception):
    """Another worker has the judging now. Store nothing more."""


def claimable() -> QuerySet[Judging]:
    """Those of stored sessions that nobody works on. A pilot's own are part of its sessions' work.

    By columns of the row alone: with a join, two workers could both claim it.
    """
    free = Q(state=State.WAITING) | Q(state=State.RUNNING, lease_until__lt=timezone.now())
    return Judging.objects.filter(free).exclude(purpose=Purpose.SCORING)


def work_on(pk: int) -> bool:
    """Do one judging. False if another worker has it. Safe to call twice."""
    token = uuid.uuid4().hex
    if not claimable().filter(pk=pk).update(state=State.RUNNING, claimed_by=token, lease_until=lease_end(), reason=""):
        return False
    judging = Judging.objects.select_related("endpoint", "round", "session__revision", "session__run__persona_revision")
    row = judging.get(pk=pk)
    with heartbeat(lambda: _claimed(row).update(lease_until=lease_end()), "judging"):
        try:
            replayed = _judge(row)
        except JudgingLeaseLostError:
            logger.info("Judging %d was taken over.", pk)
        except (InfrastructureError, MissingContentError) as error:
            _release(row, state=State.ERROR, reason=storable(str(error))[:2000])
        except Exception as error:
            logger.exception("Judging %d stopped by a defect of the studio.", pk)
            connection.close_if_unusable_or_obsolete()
            _release(row, state=State.ERROR, reason=f"Internal error: {type(error).__name__}: {error}"[:2000])
        else:
            _release(row, state=State.FINISHED, replayed=replayed, finished_at=timezone.now())
    return True


def wait_for_round(judging_round: JudgingRound) -> None:
    """Return when no judging of the round can go on. This process works too, beside the workers there are."""
    in_progress: set[int] = set()

    def work(pk: int) -> None:
        try:
            work_on(pk)
        finally:
            in_progress.discard(pk)
            connection.close()

    open_rows = Judging.objects.filter(round=judging_round, state__in=[State.WAITING, State.RUNNING])
    with ThreadPoolExecutor(THREADS, thread_name_prefix="judging") as pool:
        while open_rows.exists():
            room = THREADS - len(in_progress)
            due = claimable().filter(round=judging_round).exclude(pk__in=list(in_progress)).order_by("pk")
            for pk in list(due.values_list("pk", flat=True)[:room]):
                in_progress.add(pk)
                pool.submit(work, pk)
            time.sleep(POLL_SECONDS)


def resend_unclaimed() -> int:
    """Enqueue the judgings whose message was lost or whose worker died; returns how many. Runs periodically."""
    lost = claimable().filter(Q(state=State.RUNNING) | Q(round__created_at__lt=timezone.now() - RESEND_AFTER))
    ids = list(lost.values_list("pk", flat=True)[:1000])
    if ids:
        enqueue(RUN_JUDGING, ids)
    return len(ids)


def _judge(judging: Judging) -> int:
    """How many requests the record answered."""
    session = judging.session
    assert session is not None
    task = TaskSpec.model_validate(session.revision.spec)
    persona = PersonaSpec.model_validate(session.run.persona_revision.spec)
    record = rejudging_record(judging)
    for decided in _decide(judging, session, task, persona, JudgeOnRecord(judging, record)):
        with transaction.atomic():
            _lock(judging)
            Verdict.objects.bulk_create(verdict_rows(judging, decided, record.answered))
    return record.replayed


def _decide(
    judging: Judging, session: Session, task: TaskSpec, persona: PersonaSpec, ask: Ask
) -> Iterator[list[Decided]]:
    """What is not decided yet. Raises InfrastructureError."""
    known, versions, mode = known_of(judging), versions_of(judging), ScoringMode(judging.scoring or ScoringMode.STRICT)
    if judging.asked is not None:
        turns = load_evidence(session, ScoringMode.STRICT)
        return decide_questions(asked_in(judging), task, turns, mode, ask, versions, known)
    turns = load_evidence(session, mode)
    if not judging.scoring:
        held = {row.index: IntentStatus(row.status, row.turn) for row in session.intents.all()}
        return decide_intents(task, turns, held, ask, versions, known)
    every_turn = judging.round is not None and judging.round.every_turn
    checklist = Checklist(task, load_script(task, persona, Blob.objects.read), turns, mode, every_turn)
    return decide_checklist(checklist, ModelChecklistJudge(ask, versions), known)


def _claimed(judging: Judging) -> QuerySet[Judging]:
    return Judging.objects.filter(pk=judging.pk, claimed_by=judging.claimed_by, state=State.RUNNING)


def _lock(judging: Judging) -> None:
    if not _claimed(judging).order_by().select_for_update(no_key=True).values_list("pk").first():
        raise JudgingLeaseLostError


def _release(judging: Judging, **changes: object) -> None:
    _claimed(judging).update(claimed_by="", lease_until=None, **changes)
