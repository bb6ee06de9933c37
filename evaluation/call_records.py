"""The record of model calls: what was answered once is not paid for again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import IntegrityError, models

from evaluation.llm import Call
from evaluation.models import (
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
from evaluation.scripted.answers import FINGERPRINT
from studio.domain.storable import storable


class RecordOwnerGoneError(Exception):
    """Whom the call was made for was deleted in the meantime. There is nobody to record it for."""


class CallRecord:
    """All calls made for one ``owner``: rows of ``kind`` whose foreign key ``named`` is that owner. Loaded once."""

    def __init__(
        self, kind: type[RecordedCall], named: str, owner: models.Model, tell_scripted: Callable[[], None]
    ) -> None:
        self._kind = kind
        self._owner = {named: owner}
        self.tell_scripted = tell_scripted
        """Called when a scripted model has answered, by whatever name and address."""
        self.answered: dict[str, int] = dict(self._answers().values_list("request_hash", "pk"))
        """Rows of answered calls by what was asked."""

    def recorder(self, endpoint: ModelEndpoint, purpose: str, turn: Callable[[], int]) -> Recorder:
        return Recorder(self, endpoint, purpose, turn)

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        """What a model answered before, if it was asked the same."""
        pk = self.answered.get(request_hash)
        return None if pk is None else self._answers().values_list("response", flat=True).get(pk=pk)

    def keep(self, row: dict[str, Any]) -> None:
        """Stored at once, outside of any transaction of the turn: it was paid for, whatever becomes of the turn.
        Raises RecordOwnerGoneError."""
        call = self._kind(**self._owner, **row)
        answered = call.response is not None
        try:
            self._kind._default_manager.bulk_create([call], ignore_conflicts=answered)
        except IntegrityError as error:
            raise RecordOwnerGoneError from error
        if answered:
            same = self._answers().filter(request_hash=call.request_hash)
            self.answered[call.request_hash] = call.pk or same.values_list("pk", flat=True).get()

    def _answers(self) -> models.QuerySet[RecordedCall]:
        return self._kind._default_manager.filter(**self._owner, response__isnull=False)


class Recorder:
    """What a door writes to: calls of one purpose. ``turn`` gives the turn they belong to."""

    def __init__(self, record: CallRecord, endpoint: ModelEndpoint, purpose: str, turn: Callable[[], int]) -> None:
        self._record = record
        self._endpoint = endpoint
        self._purpose = purpose
        self._turn = turn

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None:
        return self._record.answer(request_hash)

    def record(self, call: Call) -> None:
        self._record.keep(
            {
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
        if call.response is not None and call.response.get("system_fingerprint") == FINGERPRINT:
            self._record.tell_scripted()


def session_record(session: Session) -> CallRecord:
    """For one who holds the session's claim. A scripted answer makes its whole pilot scripted, and no evidence."""
    return CallRecord(ModelCall, "session", session, lambda: _mark_scripted(session.run.pilot))


def rehearsal_record(rehearsal: Rehearsal) -> CallRecord:
    return CallRecord(RehearsalCall, "rehearsal", rehearsal, lambda: _mark_scripted(rehearsal))


def proposal_record(proposal: Proposal) -> CallRecord:
    """For one who holds the proposal's lease."""

    def scripted() -> None:
        _mark_scripted(proposal, claimed_by=proposal.claimed_by, state=Proposal.State.REQUESTED)

    return CallRecord(ProposalCall, "proposal", proposal, scripted)


def _mark_scripted(row: Pilot | Rehearsal | Proposal, **held: Any) -> None:
    """``held`` is what the stored row must still be for the change to be ours."""
    if not row.scripted:
        type(row)._default_manager.filter(pk=row.pk, **held).update(scripted=True)
        row.scripted = True
