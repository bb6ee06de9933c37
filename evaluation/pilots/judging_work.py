"""A worker's work on one judging of a stored session. Resumable at any turn."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from evaluation.audits.model_answers import keep_answers, record_of
from evaluation.call_records import BatchingRecord, RejudgingRecord
from evaluation.grading.decided import Decided
from evaluation.grading.evidence import load_script
from evaluation.grading.intents import IntentStatus, decide_intents
from evaluation.grading.judges import Ask, ModelChecklistJudge
from evaluation.grading.questions import decide_in_truth, decide_questions
from evaluation.grading.session import Checklist, decide_checklist
from evaluation.judging.judgings import asked_in, versions_of
from evaluation.leases import renewing
from evaluation.llm.client import AskedLaterError
from evaluation.models import Judging, JudgingRound, Session, Verdict
from evaluation.models.judgings import Purpose
from evaluation.models.leased import LeasedRows, LeaseLostError, free
from evaluation.pilots.batching import collect, put_off
from evaluation.pilots.wait import wait_until_done
from evaluation.protocol.participants import InfrastructureError
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName
from evaluation.store.evidence import load_evidence
from evaluation.store.verdicts import JudgeOnRecord, known_of, verdict_rows
from evaluation.workspaces.manifests import MissingContentError
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob
from studio.models.transactions import atomic_with_retry, is_away

logger = logging.getLogger(__name__)
State = Judging.State


def claimable() -> LeasedRows[Judging]:
    """Those of stored sessions that nobody works on. A pilot's own are part of its sessions' work."""
    open_rows = Judging.objects.filter(free(), state__in=[State.WAITING, State.RUNNING])
    return open_rows.exclude(purpose=Purpose.SCORING)


def work_on(pk: int) -> bool:
    """Do one judging. False if another worker has it. Safe to call twice."""
    token = claimable().claim(pk, state=State.RUNNING, reason="")
    rows = Judging.objects.select_related("endpoint", "round", "session__revision", "session__run__persona_revision")
    row = rows.filter(claimed_by=token).first() if token else None
    if row is None:
        return False
    with renewing(row):
        record = (BatchingRecord if row.round and row.round.batched else RejudgingRecord)(row)
        try:
            _judge(row, record)
            _finish(row, record.replayed)
        except AskedLaterError as question:
            put_off(row, question, record.replayed)
        except LeaseLostError:
            logger.info("Judging %d was taken over.", pk)
        except (InfrastructureError, MissingContentError) as error:
            row.release(state=State.ERROR, reason=storable(str(error))[:2000])
        except Exception as error:
            if is_away(error):  # the lease runs out, and whoever takes it then goes on
                raise
            logger.exception("Judging %d stopped by a defect of the studio.", pk)
            connection.close_if_unusable_or_obsolete()
            row.release(state=State.ERROR, reason=f"Internal error: {type(error).__name__}: {error}"[:2000])
    if row.round and row.round.batched:
        collect()
    return True


@atomic_with_retry
def _finish(judging: Judging, replayed: int) -> None:
    """A model's answers in an audit are kept by whichever of a round's judgings ends last: they end one by one."""
    if judging.purpose == Purpose.AUDIT:
        JudgingRound.objects.select_for_update(no_key=True).get(pk=judging.round_id or 0)
    ended = judging.release(state=State.FINISHED, replayed=F("replayed") + replayed, finished_at=timezone.now())
    if ended and judging.purpose == Purpose.AUDIT:
        keep_answers(judging)


def wait_for_round(judging_round: JudgingRound) -> None:
    """Return when no judging of the round can go on. If no worker answers, they are done here, in threads."""
    rows = Judging.objects.filter(round=judging_round, state__in=[State.WAITING, State.RUNNING])
    wait_until_done(rows.exists, lambda: claimable().filter(round=judging_round), work_on)


def _judge(judging: Judging, record: RejudgingRecord) -> None:
    session = judging.session
    task = TaskSpec.model_validate(session.revision.spec)
    persona = PersonaSpec.model_validate(session.run.persona_revision.spec)
    for decided in _decide(judging, session, task, persona, JudgeOnRecord(judging, record)):
        with transaction.atomic():
            judging.lock()
            Verdict.objects.bulk_create(verdict_rows(judging, decided, record.answered))


def _decide(
    judging: Judging, session: Session, task: TaskSpec, persona: PersonaSpec, ask: Ask
) -> Iterator[list[Decided]]:
    """What is not decided yet. Raises InfrastructureError."""
    assert judging.round is not None
    protocol = ProtocolName(judging.round.protocol)
    known, versions, mode = known_of(judging), versions_of(judging), ScoringMode(judging.scoring or ScoringMode.STRICT)
    if judging.asked is not None:
        turns = load_evidence(session, ScoringMode.STRICT)
        questions = [question for question in asked_in(judging) if question.place not in known]
        if any(question.in_truth for question in questions):
            return decide_in_truth(questions, partial(record_of, judging.round), ask)
        return decide_questions(questions, task, turns, mode, protocol, ask, versions)
    turns = load_evidence(session, mode)
    if not judging.scoring:
        held = {row.index: IntentStatus(row.status, row.turn) for row in session.intents.all()}
        return decide_intents(task, turns, held, protocol, ask, versions, known)
    every_turn = judging.round.every_turn
    checklist = Checklist(task, load_script(task, persona, Blob.objects.read), turns, mode, protocol, every_turn)
    return decide_checklist(checklist, ModelChecklistJudge(ask, versions, protocol), known)
