"""Judging again in batches: questions are collected, sent together, and their answers put on record.

A judging whose question has no answer waits in the state *batched*. Once no other judging of its round can go on, what
they wait for is sent as a batch; once that is over, they go on with its answers on record, up to their next question.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from django.db.models import F, Q
from django.utils import timezone

from evaluation.call_records import CallRecorder, RejudgingRecord
from evaluation.judging.judgings import judge_of
from evaluation.leases import renewing, wake_workers
from evaluation.llm import Endpoint, EndpointError, ModelClient, UnreadableAnswerError
from evaluation.llm.client import AskedLaterError
from evaluation.model_access import endpoint_of
from evaluation.models import BatchedQuestion, Judging, JudgingBatch, JudgingRound
from evaluation.models.connections import give_back_connection
from evaluation.models.leased import LeasedRows, LeaseLostError, free
from studio.domain.storable import storable
from studio.models.transactions import atomic_with_retry

logger = logging.getLogger(__name__)
LOOK_AGAIN = timedelta(minutes=1)
State = Judging.State


@atomic_with_retry
def put_off(judging: Judging, question: AskedLaterError, replayed: int) -> None:
    """End the lease of a judging that waits for an answer."""
    BatchedQuestion.objects.get_or_create(
        judging=judging,
        request_hash=question.request_hash,
        defaults={"purpose": question.purpose, "turn": question.turn, "body": storable(question.body)},
    )
    judging.release(state=State.BATCHED, replayed=F("replayed") + replayed)


def collect() -> None:
    """Make batches of what rounds wait for, of each whose judgings all wait or are done."""
    waiting = BatchedQuestion.objects.filter(batch=None, unanswered=False)
    for pk in waiting.values_list("judging__round", flat=True).distinct().order_by():
        _collect(pk)


@atomic_with_retry
def _collect(round_id: int) -> None:
    from evaluation.llm.batches import MOST

    JudgingRound.objects.select_for_update(no_key=True).get(pk=round_id)
    if Judging.objects.filter(round=round_id, state__in=[State.WAITING, State.RUNNING]).exists():
        return
    waiting = BatchedQuestion.objects.filter(judging__round=round_id, batch=None, unanswered=False)
    by_judge: dict[int, list[int]] = {}
    for endpoint, pk in waiting.order_by("pk").values_list("judging__endpoint", "pk"):
        by_judge.setdefault(endpoint, []).append(pk)
    for keys in by_judge.values():
        for start in range(0, len(keys), MOST):
            batch = JudgingBatch.objects.create(round_id=round_id)
            BatchedQuestion.objects.filter(pk__in=keys[start : start + MOST]).update(batch=batch)
    wake_workers()


def due_batches() -> LeasedRows[JudgingBatch]:
    due = Q(look_at=None) | Q(look_at__lte=timezone.now())
    return JudgingBatch.objects.filter(free(), due, state=JudgingBatch.State.OPEN)


def work_on_batch(pk: int) -> None:
    """Send it, or look how far it is. Safe to call twice, and after a worker died in it."""
    token = due_batches().claim(pk)
    batch = JudgingBatch.objects.filter(claimed_by=token).first() if token else None
    if batch is None:
        return
    with renewing(batch):
        try:
            _advance(batch)
        except LeaseLostError:
            logger.info("Batch %d was taken over.", pk)
        except EndpointError as error:
            if error.hopeless:
                _stop(batch, str(error))
            else:
                batch.release(look_at=timezone.now() + LOOK_AGAIN, reason=storable(str(error))[:2000])


def _advance(batch: JudgingBatch) -> None:
    from evaluation.llm.batches import find_batch, look_at_batch, read_batch, send_batch

    questions = list(batch.questions.select_related("judging__endpoint", "judging__session", "judging__round"))
    if not questions:  # their sessions were deleted
        _finish(batch, ())
        return
    endpoint = endpoint_of(judge_of(questions[0].judging))
    tag = f"{batch.pk} {batch.created_at.isoformat()}"
    give_back_connection()  # sending and reading a batch take long
    if not batch.service_id:
        sent = find_batch(endpoint, tag) if batch.attempts > 1 else ""  # by a worker that died before it could say so
        bodies = {row.request_hash: row.body for row in questions}
        batch.write(service_id=sent or send_batch(endpoint, bodies, tag), total=len(bodies))
        batch.refresh_from_db(fields=["service_id"])
    give_back_connection()
    progress = look_at_batch(endpoint, batch.service_id)
    if not progress.over:
        batch.release(total=progress.total, done=progress.done, look_at=timezone.now() + LOOK_AGAIN, reason="")
        return
    waiting: dict[str, list[BatchedQuestion]] = {}
    for row in questions:
        waiting.setdefault(row.request_hash, []).append(row)
    answered: list[BatchedQuestion] = []
    for line in read_batch(endpoint, progress):
        asked = waiting.pop(line.key, [])
        if not asked:
            continue
        if line.answer is None:
            endpoint.learned.learn(asked[0].body, getattr(line.failure, "complaint", ""))
        elif _kept(endpoint, asked[0], line.answer):  # the others find it on record, as if it had been asked before
            answered += asked
    _finish(batch, answered)


def _kept(endpoint: Endpoint, question: BatchedQuestion, answer: dict[str, object]) -> bool:
    """Whether the answer could be read."""
    judging, record = question.judging, RejudgingRecord(question.judging)
    recorder = CallRecorder(record, judge_of(judging), question.purpose, lambda: question.turn, judging)
    cheap = replace(endpoint, prices=endpoint.prices.halved)
    try:
        ModelClient(cheap, recorder=recorder).keep(question.request_hash, question.body, answer)
    except UnreadableAnswerError:
        return False
    return True


@atomic_with_retry
def _finish(batch: JudgingBatch, answered: Iterable[BatchedQuestion]) -> None:
    batch.lock()
    judgings = Judging.objects.filter(pk__in=batch.questions.values("judging"), state=State.BATCHED)
    judgings.update(state=State.WAITING)
    batch.questions.filter(pk__in=[row.pk for row in answered]).delete()
    batch.questions.update(unanswered=True, batch=None)
    batch.release(state=JudgingBatch.State.OVER, done=batch.total, reason="")
    wake_workers()


@atomic_with_retry
def _stop(batch: JudgingBatch, reason: str) -> None:
    """Of a service that refuses it: its judgings stop, and are sent in another one if somebody resumes them."""
    batch.lock()
    judgings = Judging.objects.filter(pk__in=batch.questions.values("judging"), state=State.BATCHED)
    judgings.update(state=State.ERROR, reason=storable(reason)[:2000])
    batch.questions.all().delete()
    batch.release(state=JudgingBatch.State.OVER, reason=storable(reason)[:2000])
