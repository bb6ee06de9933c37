"""The record of model calls; an answered call is not paid for again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import count
from typing import Any, Protocol, TypeVar

from django.db import IntegrityError, OperationalError, connection, models

from evaluation import llm
from evaluation.llm import Budget, Call, Endpoint, ModelClient, RetryPolicy
from evaluation.llm.exchange import Exchange, Json, decode_messages, encode, encode_messages, sharing
from evaluation.models import (
    Judging,
    ModelCall,
    ModelEndpoint,
    OpinionCall,
    OpinionRequest,
    Pilot,
    Proposal,
    ProposalCall,
    Rehearsal,
    RehearsalCall,
    Session,
)
from evaluation.models.calls import RecordedCall, decode_calls, decode_chain
from evaluation.models.counted_calls import CountedCall, CountedUse, StoredCall, store_calls, together
from evaluation.models.inserts import insert_or_ignore
from evaluation.models.pilots import Role
from evaluation.models.shelved import shelve
from evaluation.models.together import NotStoredTogetherError
from studio.domain.storable import storable

RESTART_SECONDS = 60.0
T = TypeVar("T")


class Counting(Protocol):
    """Of a session: what answered calls use is counted in the statement that stores them."""

    def part(self, purpose: str) -> str:
        """Key of ``Session.tokens``."""
        ...

    def counted(self, spent: CountedUse | None, tokens: int, cost: Decimal) -> None:
        """``spent``: as the row says now, if the call was not counted before."""
        ...


class RecordOwnerDeletedError(Exception):
    """The row that the call was made for has been deleted."""


def through_restarts(write: Callable[[], T]) -> T:
    """Write what has been paid for, and go on trying while the database restarts."""
    end = time.monotonic() + RESTART_SECONDS
    while True:
        try:
            return write()
        except OperationalError:
            if connection.in_atomic_block or time.monotonic() > end:
                raise
            connection.close()
            time.sleep(0.5)


def _store_counted(call: CountedCall) -> StoredCall:
    """What was tried before may have been committed without being confirmed: the database was killed, or others' calls
    failed in the same statement."""
    tries = count()

    def write() -> StoredCall:
        if next(tries) == 0:
            try:
                return together.store(call)
            except NotStoredTogetherError:
                pass
        return store_calls([replace(call, again=True)])[0]

    return through_restarts(write)


class ExchangeChain:
    """The exchanges of one owner, each built on the one before, as far as more will be built on them."""

    def __init__(self, rows: models.QuerySet[RecordedCall] | None) -> None:
        """``rows``: None if there are none."""
        exchanges, self.context = ({}, b"") if rows is None else decode_chain(rows)
        self.last = next(reversed(exchanges), None)
        """Key of the last call."""
        self.responses = {key: exchange.response for key, exchange in exchanges.items()}
        self._latest: dict[tuple[str, int], Exchange] = {}
        if rows is None:
            return
        for pk, purpose, turn in rows.order_by("pk").values_list("pk", "purpose", "turn"):
            if pk in exchanges:
                self._latest[_kind(purpose, turn)] = self._latest[_kind(purpose)] = exchanges[pk]

    def likeness(self, purpose: str, turn: int = 0) -> Exchange | None:
        """The latest exchange with the same purpose, of judges if possible in the same turn."""
        return self._latest.get(_kind(purpose, turn)) or self._latest.get(_kind(purpose))

    def add(self, exchange: Exchange, context: bytes, purpose: str, turn: int) -> None:
        self.last, self.context = exchange.key, context
        self.responses[exchange.key] = exchange.response
        self._latest[_kind(purpose, turn)] = self._latest[_kind(purpose)] = exchange


def _kind(purpose: str, turn: int = 0) -> tuple[str, int]:
    """Both scoring modes ask alike; an agent's turn goes on from the one before."""
    kind = purpose.split("_")[0]
    return kind, 0 if kind == "agent" else turn


class CallRecord:
    """All calls made for ``owner``: rows of ``kind``."""

    def __init__(
        self,
        kind: type[RecordedCall],
        owner: models.Model,
        on_scripted_answer: Callable[[], None],
        before_sending: Callable[[], None] = lambda: None,
        counting: Counting | None = None,
        group: str = "",
        *,
        fresh: bool = False,
    ) -> None:
        """``fresh``: no calls were made for the owner yet."""
        self._kind = kind
        self._owner = {f"{kind.owner}_id": owner.pk}
        self._loaded: ExchangeChain | None = ExchangeChain(None) if fresh else None
        self.on_scripted_answer = on_scripted_answer
        self.replayed = 0
        """Requests answered without asking."""
        self.group = group or f"{kind.owner} {owner.pk}"
        self.before_sending = before_sending
        """Raises if nothing may be sent any more."""
        self._counting = counting
        self.answered: dict[str, int] = {}
        """Keys of answered calls by request hash."""
        if not fresh:
            self.answered |= self._rows(answered=True).values_list("request_hash", "pk")

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
        return ModelClient(
            Endpoint.of(endpoint), recorder=recorder, budget=budget, retry_policy=retry_policy, group=self.group
        )

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        pk = self.answered.get(request_hash)
        if pk is None:
            return None
        self.replayed += 1
        return self._chain().responses[pk]

    def store(self, request: Json, response: Json | None, *, purpose: str, turn: int, **row: Any) -> None:
        """Store outside the turn's transaction: the call was paid for even if the turn fails.

        Raises RecordOwnerDeletedError.
        """
        chain = self._chain()
        likeness = chain.likeness(purpose, turn)
        content, context = encode(request, response, chain.context, likeness, shelve)
        call = self._kind(
            **self._owner,
            **(row | {"base_id": chain.last}),  # each kind of call has its own
            purpose=purpose,
            turn=turn,
            content=content,
            answered=response is not None,
        )
        tokens = call.prompt_tokens + call.completion_tokens
        counting = self._counting if call.answered else None
        try:
            if counting and isinstance(call, ModelCall):
                stored = _store_counted(CountedCall(call, counting.part(purpose), tokens))
                pk = stored.key
                counting.counted(stored.spent, tokens, Decimal(call.cost))
            else:
                pk = through_restarts(lambda: insert_or_ignore(call))
        except IntegrityError as error:
            raise RecordOwnerDeletedError from error
        if pk is None:  # another process stored the same request first
            self._loaded = None
            pk = self._rows(answered=True, request_hash=call.request_hash).values_list("pk", flat=True).get()
        else:
            chain.add(Exchange(pk, sharing(request, likeness), response), context, purpose, turn)
        if call.answered:
            self.answered[call.request_hash] = pk

    def shorten(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """An agent's state with its conversation, which stands in its calls, as a reference to them."""
        messages = state.get("messages")
        if not isinstance(messages, list):
            return dict(state)
        return {**state, "messages": encode_messages(messages, self._chain().likeness("agent"))}

    def restore(self, state: Mapping[str, Any]) -> dict[str, Any]:
        messages = state.get("messages")
        if not isinstance(messages, dict):
            return dict(state)
        return {**state, "messages": decode_messages(messages, decode_calls(self._rows()))}

    def _chain(self) -> ExchangeChain:
        if self._loaded is None:
            self._loaded = ExchangeChain(self._rows())
        return self._loaded

    def _rows(self, **conditions: Any) -> models.QuerySet[RecordedCall]:
        return self._kind._default_manager.filter(**self._owner, **conditions)


class RejudgingRecord(CallRecord):
    """Of a judging of a stored session. The same request is not asked again, whichever session it was asked for."""

    def __init__(self, judging: Judging) -> None:
        assert judging.session is not None
        super().__init__(ModelCall, judging.session, lambda: _mark_scripted(judging))
        self._judging = judging

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        found = super().answer(request_hash)
        if found is not None:
            return found
        elsewhere = ModelCall.objects.filter(request_hash=request_hash, answered=True)
        call = elsewhere.exclude(purpose="agent").order_by("pk").first()
        if call is None:
            return None
        # A row of its own: the other session can be deleted. Without an attempt and without cost, for nothing was sent.
        self.store(
            call.request,
            call.response,
            purpose=call.purpose,
            turn=call.turn,
            endpoint_id=call.endpoint_id,
            request_hash=request_hash,
            prompt_tokens=call.prompt_tokens,
            completion_tokens=call.completion_tokens,
            judging=self._judging,
            attempts=0,
        )
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
        self._judging: dict[str, Any] = {"judging_id": judging.pk} if judging else {}

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None:
        return self._record.answer(request_hash)

    def check(self) -> None:
        self._record.before_sending()

    def record(self, call: Call) -> None:
        self._record.store(
            call.request if call.storable else storable(call.request),
            None if call.response is None else storable(call.response),
            **self._judging,
            purpose=self._purpose,
            turn=self._turn(),
            endpoint_id=self._endpoint.pk,
            request_hash=call.request_hash,
            error=storable(call.error),
            prompt_tokens=call.tokens.prompt or 0,
            completion_tokens=call.tokens.completion or 0,
            cost=call.cost or 0,
            milliseconds=max(call.milliseconds, 0),
            attempts=min(call.attempts, 32_767),
        )
        if call.is_scripted:
            self._record.on_scripted_answer()


def session_record(
    session: Session,
    before_sending: Callable[[], None] = lambda: None,
    counting: Counting | None = None,
) -> CallRecord:
    """For the holder of the session's lease. A scripted answer marks the whole pilot as scripted."""
    pilot = session.run.pilot
    return CallRecord(
        ModelCall,
        session,
        lambda: _mark_scripted(pilot),
        before_sending,
        counting,
        group=_group_of(pilot),
        fresh=session.fresh,
    )


def load_client() -> None:
    """Import what sends calls: two seconds of work, which sessions would wait for."""
    import evaluation.llm.transport  # noqa: F401


def calls_in_flight(pilot: Pilot, role: Role) -> int:
    """Model calls of its sessions to the endpoint of ``role`` that are under way, a moment ago."""
    return llm.calls_in_flight(Endpoint.of(pilot.endpoint(role)), _group_of(pilot))


def _group_of(pilot: Pilot) -> str:
    """The line in which a pilot's calls wait for endpoints."""
    return f"pilot {pilot.pk}"


def rejudging_record(judging: Judging) -> RejudgingRecord:
    """For the holder of the judging's lease."""
    return RejudgingRecord(judging)


def rehearsal_record(rehearsal: Rehearsal) -> CallRecord:
    return CallRecord(RehearsalCall, rehearsal, lambda: _mark_scripted(rehearsal))


def proposal_record(proposal: Proposal) -> CallRecord:
    def on_scripted_answer() -> None:
        _mark_scripted(proposal, claimed_by=proposal.claimed_by, state=Proposal.State.REQUESTED)

    return CallRecord(ProposalCall, proposal, on_scripted_answer)


def opinion_record(asked: OpinionRequest) -> CallRecord:
    return CallRecord(OpinionCall, asked, lambda: None)


def _mark_scripted(row: Pilot | Judging | Rehearsal | Proposal, **conditions: Any) -> None:
    """Does nothing if the stored row no longer meets ``conditions``."""
    if not row.scripted:
        type(row)._default_manager.filter(pk=row.pk, **conditions).update(scripted=True)
        row.scripted = True
