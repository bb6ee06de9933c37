"""A worker's work on one judging of a stored session. Resumable at any turn."""

from __future__ import annotations

import logging
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from evaluation.call_records import rejudging_record
from evaluation.grading.intents import judge_intents
from evaluation.grading.judges import ModelChecklistJudge
from evaluation.grading.questions import judge_questions
from evaluation.grading.session import grade_session
from evaluation.leases.heartbeat import heartbeat, lease_end
from evaluation.models import Judging, JudgingRound
from evaluation.models.judgings import Purpose
from evaluation.pilots.rejudging import RUN_JUDGING
from evaluation.protocol.participants import InfrastructureError
from evaluation.workspaces.snapshots import MissingContentError
from studio.celery import enqueue
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec

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
    if judging.asked is not None:
        judge_questions(judging, task, record, lambda: _lock(judging))
    elif judging.scoring:
        grade_session(judging, task, persona, ModelChecklistJudge(judging, record), lambda: _lock(judging))
    else:
        judge_intents(judging, task, record, lambda: _lock(judging))
    return record.replayed


def _claimed(judging: Judging) -> QuerySet[Judging]:
    return Judging.objects.filter(pk=judging.pk, claimed_by=judging.claimed_by, state=State.RUNNING)


def _lock(judging: Judging) -> None:
    if not _claimed(judging).order_by().select_for_update(no_key=True).values_list("pk").first():
        raise JudgingLeaseLostError


def _release(judging: Judging, **changes: object) -> None:
    _claimed(judging).update(claimed_by="", lease_until=None, **changes)
