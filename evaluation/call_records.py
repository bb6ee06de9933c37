"""The record of model calls; an answered call is not paid for again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import IntegrityError, models

from evaluation.llm import Budget, Call, Endpoint, ModelClient, RetryPolicy
from evaluation.models import (
    Judging,
    ModelCall,
    ModelEndpoint,
    Pilot,
    Proposal,
    ProposalCall,
    Rehearsal,
    RehearsalCall,
    Session,
)
from evaluation.models.calls import RecordedCall
from studio.domain.storable import storable


class RecordOwnerDeletedError(Exception):
    """The row that the call was made for has been deleted."""


class CallRecord:
    """All calls made for ``owner``: rows of ``kind`` whose ``foreign_key`` refers to it."""

    def __init__(
        self,
        kind: type[RecordedCall],
        foreign_key: str,
        owner: models.Model,
        on_scripted_answer: Callable[[], None],
    ) -> None:
        self._kind = kind
        self._owner = {foreign_key: owner}
        self.on_scripted_answer = on_scripted_answer
        self.replayed = 0
        """Requests answered without asking."""
        self.answered: dict[str, int] = dict(self._answers().values_list("request_hash", "pk"))
        """Keys of answered calls by request hash."""

    def client(
        self,
        endpoint: ModelEndpoint,
        purpose: str,
        turn: Callable[[], int] = lambda: 0,
        *,
        judging: Judging | None = None,
        budget: Budget | None = None,
        retry_policy: RetryPolicy | None = None,
    ) -> ModelClient:
        """``judging`` owns the calls of a judge."""
        recorder = CallRecorder(self, endpoint, purpose, turn, judging)
        return ModelClient(Endpoint.of(endpoint), recorder=recorder, budget=budget, retry_policy=retry_policy)

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        pk = self.answered.get(request_hash)
        if pk is None:
            return None
        self.replayed += 1
        return self._answers().values_list("response", flat=True).get(pk=pk)

    def store(self, row: dict[str, Any]) -> None:
        """Store outside the turn's transaction: the call was paid for even if the turn fails.

        Raises RecordOwnerDeletedError.
        """
        call = self._kind(**self._owner, **row)
        answered = call.response is not None
        try:
            self._kind._default_manager.bulk_create([call], ignore_conflicts=answered)
        except IntegrityError as error:
            raise RecordOwnerDeletedError from error
        if answered:
            same = self._answers().filter(request_hash=call.request_hash)
            self.answered[call.request_hash] = call.pk or same.values_list("pk", flat=True).get()

    def _answers(self) -> models.QuerySet[RecordedCall]:
        return self._kind._default_manager.filter(**self._owner, response__isnull=False)


class RejudgingRecord(CallRecord):
    """Of a judging of a stored session. The same request is not asked again, whichever session it was asked for."""

    def __init__(self, judging: Judging) -> None:
        super().__init__(ModelCall, "session", judging.session, lambda: _mark_scripted(judging))  # type: ignore[arg-type]
        self._judging = judging

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        found = super().answer(request_hash)
        if found is not None:
            return found
        elsewhere = ModelCall.objects.filter(request_hash=request_hash, response__isnull=False)
        call = elsewhere.exclude(purpose="agent").order_by("pk").first()
        if call is None:
            return None
        # A row of its own: the other session can be deleted. Without an attempt and without cost, for nothing was sent.
        copied = (
            "purpose",
            "turn",
            "endpoint_id",
            "request_hash",
            "request",
            "response",
            "prompt_tokens",
            "completion_tokens",
        )
        self.store({name: getattr(call, name) for name in copied} | {"judging": self._judging, "attempts": 0})
        self.replayed += 1
        response: Mapping[str, Any] | None = call.response
        return response


class CallRecorder:
    """A ``Recorder`` of one endpoint's calls for one purpose."""

    def __init__(
        self,
        record: CallRecord,
        endpoint: ModelEndpoint,
        purpose: str,
        turn: Callable[[], int],
        judging: Judging | None,
    ) -> None:
        self._record = record
        self._endpoint = endpoint
        self._purpose = purpose
        self._turn = turn
        self._judging = {"judging": judging} if judging else {}

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None:
        return self._record.answer(request_hash)

    def record(self, call: Call) -> None:
        self._record.store(
            self._judging
            | {
                "purpose": self._purpose,
                "turn": self._turn(),
                "endpoint": self._endpoint,
                "request_hash": call.request_hash,
                "request": storable(call.request),
                "response": None if call.response is None else storable(call.response),
                "error": storable(call.error),
                "prompt_tokens": call.tokens.prompt,
                "completion_tokens": call.tokens.completion,
                "cost": call.cost,
                "milliseconds": max(call.milliseconds, 0),
                "attempts": min(call.attempts, 32_767),
            }
        )
        if call.is_scripted:
            self._record.on_scripted_answer()


def session_record(session: Session) -> CallRecord:
    """For the holder of the session's lease. A scripted answer marks the whole pilot as scripted."""
    return CallRecord(ModelCall, "session", session, lambda: _mark_scripted(session.run.pilot))


def rejudging_record(judging: Judging) -> RejudgingRecord:
    """For the holder of the judging's lease."""
    return RejudgingRecord(judging)


def rehearsal_record(rehearsal: Rehearsal) -> CallRecord:
    return CallRecord(RehearsalCall, "rehearsal", rehearsal, lambda: _mark_scripted(rehearsal))


def proposal_record(proposal: Proposal) -> CallRecord:
    def on_scripted_answer() -> None:
        _mark_scripted(proposal, claimed_by=proposal.claimed_by, state=Proposal.State.REQUESTED)

    return CallRecord(ProposalCall, "proposal", proposal, on_scripted_answer)


def _mark_scripted(row: Pilot | Judging | Rehearsal | Proposal, **conditions: Any) -> None:
    """Does nothing if the stored row no longer meets ``conditions``."""
    if not row.scripted:
        type(row)._default_manager.filter(pk=row.pk, **conditions).update(scripted=True)
        row.scripted = True
