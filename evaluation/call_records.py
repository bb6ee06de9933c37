"""The record of model calls; an answered call is not paid for again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, TypeVar

from django.db import IntegrityError, OperationalError, connection
from psycopg.errors import ForeignKeyViolation

from evaluation import model_access
from evaluation.llm import Budget, Call, Completion, ModelClient, RetryPolicy
from evaluation.llm.client import BatchingClient
from evaluation.model_access import endpoint_of, lane_of
from evaluation.models import (
    Judging,
    ModelCall,
    ModelEndpoint,
    OpinionRequest,
    Pilot,
    Probe,
    Proposal,
    Rehearsal,
    Session,
)
from evaluation.models.calls import (
    COUNTED,
    NONE,
    PART_BY_PURPOSE,
    AfterCall,
    Assumed,
    Chain,
    Json,
    kind_of,
    read_chain,
)
from evaluation.models.connections import give_back_connection
from evaluation.models.pilots import Role
from studio.domain.storable import storable

RESTART_SECONDS = 60.0
T = TypeVar("T")
BeforeSending = Callable[[Decimal | None], None]
"""Given what the call costs at most, if that is known."""
Counted = Callable[[int, Decimal, AfterCall], None]
"""Given the tokens and the cost of an answered call, and its session as the call left it: they are counted in the
statement that stores the call."""


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


class CallRecord:
    """All calls made for ``owner``, a row of one of ``evaluation.models.calls.OWNERS``."""

    def __init__(
        self,
        owner: Session | Proposal | OpinionRequest,
        on_scripted_answer: Callable[[], None],
        before_sending: BeforeSending = lambda worst: None,
        counted: Counted | None = None,
        group: str = "",
    ) -> None:
        name = {Session: "session", Proposal: "proposal", OpinionRequest: "opinion_request"}[type(owner)]
        self._owner = {f"{name}_id": owner.pk}
        self._helped = None if isinstance(owner, Session) else owner
        self._rows = ModelCall.objects.filter(**self._owner)
        self.on_scripted_answer = on_scripted_answer
        self.replayed = 0
        """Requests answered without asking."""
        self.group = group or f"{name} {owner.pk}"
        self._before_sending = before_sending
        """Raises if nothing may be sent any more."""
        self._counted = counted
        self._load()

    def _load(self) -> None:
        self.answered: dict[str, int] = {}
        """Keys of answered calls by request hash."""
        self._responses: dict[int, Json | None] = {}
        self._chain = Chain()
        self._last: int | None = None
        """Key of the call with which the chain ends."""
        for call, exchange, chain in read_chain(self._rows):
            self._last, self._chain = call.pk, chain
            if call.answered:
                self.answered[call.request_hash] = call.pk
                self._responses[call.pk] = exchange.response

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
            endpoint_of(endpoint), recorder=recorder, budget=budget, retry_policy=retry_policy, lane=lane_of(self.group)
        )

    def check(self, worst: Decimal | None) -> None:
        """Before a request is sent, which may take long."""
        self._before_sending(worst)
        give_back_connection()

    def answer(self, request_hash: str) -> Json | None:
        pk = self.answered.get(request_hash)
        if pk is None:
            return None
        self.replayed += 1
        return self._responses[pk]

    def store(
        self,
        request: Json,
        response: Json | None,
        *,
        purpose: str,
        turn: int,
        assumed: Assumed = NONE,
        **row: Any,
    ) -> None:
        """Store outside the turn's transaction: the call was paid for even if the turn fails.

        Tried again after a restart of the database, which may have stored it before it could say so. Raises
        RecordOwnerDeletedError.
        """
        content, chain = self._chain.pack(kind_of(purpose, turn), request, response)
        call = ModelCall(
            **self._owner,
            **row,
            base_id=self._last,
            purpose=purpose,
            turn=turn,
            content=content,
            answered=response is not None,
        )
        part = PART_BY_PURPOSE[purpose] if self._counted and call.answered else ""
        try:
            stored = through_restarts(lambda: ModelCall.objects.store(call, part, assumed))
        except IntegrityError as error:
            if isinstance(error.__cause__, ForeignKeyViolation):
                raise RecordOwnerDeletedError from error
            raise
        if stored is None:  # another process stored the same request first, or this one did before a restart
            self._load()
            return
        key, session = stored
        self._last, self._chain = key, chain
        if call.answered:
            self.answered[call.request_hash] = key
            self._responses[key] = response
        if self._helped:  # of a session, the statement that stores the call gives back what was kept free for it
            self._helped.held().update(reserved=0)
        if self._counted and session:
            self._counted(call.tokens + assumed[0], (call.cost or Decimal(0)) + assumed[1], session)
        give_back_connection()  # tools may take long

    def shorten(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """An agent's state with its conversation, which stands in its calls, as a reference to the last of them."""
        if not isinstance(state.get("messages"), list):
            return dict(state)
        return {**state, "messages": {"call": self._last, **self._chain.shorten("agent", state["messages"])}}

    def restore(self, state: Mapping[str, Any]) -> dict[str, Any]:
        short = state.get("messages")
        if not isinstance(short, dict):
            return dict(state)
        chain = Chain()
        if short["call"] is not None:
            *_, (_, _, chain) = read_chain(self._rows.filter(pk__lte=short["call"]))
        return {**state, "messages": chain.restore("agent", short)}


class RejudgingRecord(CallRecord):
    """Of a judging of a stored session, for the holder of its lease. The same request is not asked again, whichever
    session it was asked for."""

    def __init__(self, judging: Judging) -> None:
        super().__init__(judging.session, lambda: _mark_scripted(judging), group=f"judging round {judging.round_id}")
        self._judging = judging

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        found = super().answer(request_hash)
        if found is not None:
            return found
        elsewhere = ModelCall.objects.filter(
            request_hash=request_hash, answered=True, session__run__pilot__isnull=False
        )
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
            **{name: getattr(call, name) for name in COUNTED},
            cost=Decimal(0),
            judging_id=self._judging.pk,
            attempts=0,
        )
        self.replayed += 1
        response: Mapping[str, Any] | None = call.response
        return response


class BatchingRecord(RejudgingRecord):
    """Of one whose questions are sent in batches."""

    def __init__(self, judging: Judging) -> None:
        super().__init__(judging)
        self._unanswered = frozenset(judging.batched.filter(unanswered=True).values_list("request_hash", flat=True))
        self._own = set(judging.calls.filter(answered=True).values_list("request_hash", flat=True))

    def client(
        self, endpoint: ModelEndpoint, purpose: str, turn: Callable[[], int] = lambda: 0, **options: Any
    ) -> ModelClient:
        usual = super().client(endpoint, purpose, turn, **options)
        client = BatchingClient(usual.endpoint, recorder=usual.recorder, lane=usual.lane)
        client.purpose, client.turn, client.unanswered = purpose, turn(), self._unanswered
        return client

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        found = super().answer(request_hash)
        self.replayed -= found is not None and request_hash in self._own
        return found


@dataclass(frozen=True)
class CallRecorder:
    """A ``Recorder`` of one endpoint's calls for one purpose."""

    kept: CallRecord
    endpoint: ModelEndpoint
    purpose: str
    turn: Callable[[], int]
    judging: Judging | None

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None:
        return self.kept.answer(request_hash)

    def check(self, worst: Decimal | None = None) -> None:
        self.kept.check(worst)

    def record(self, call: Call) -> None:
        self.kept.store(
            call.request if call.storable else storable(call.request),
            None if call.response is None else storable(call.response),
            judging_id=self.judging and self.judging.pk,
            purpose=self.purpose,
            turn=self.turn(),
            endpoint_id=self.endpoint.pk,
            request_hash=call.request_hash,
            error=storable(call.error),
            ending=call.ending,
            **(_told(call.completion) if call.completion else {}),
            assumed=_assumed(call),
            prompt_tokens=call.tokens.prompt,
            completion_tokens=call.tokens.completion,
            cached_tokens=call.tokens.cached,
            cache_written_tokens=call.tokens.cache_written,
            reasoning_tokens=call.tokens.reasoning,
            cost=call.cost,
            milliseconds=max(call.milliseconds, 0),
            attempts=min(call.attempts, 32_767),
        )
        if call.is_scripted:
            self.kept.on_scripted_answer()


def _told(completion: Completion) -> dict[str, Any]:
    """What the service said of itself and of its answer."""
    who = {name: told for name, told in asdict(completion.answered_by).items() if told}
    invalid = sum(not call.is_valid for call in completion.tool_calls)
    return {"answered_by": storable(who), "invalid_calls": min(invalid, 32_767)}


def _assumed(call: Call) -> Assumed:
    """Of an answer of which the service did not tell what it used: budgets count something for it."""
    if call.completion is None or not call.tokens.untold:
        return NONE
    cost = call.completion.charge(call.endpoint.prices) or Decimal(0)
    return call.completion.spent.total - call.tokens.total, cost - (call.cost or Decimal(0))


def session_record(
    session: Session,
    before_sending: BeforeSending = lambda worst: None,
    counted: Counted | None = None,
) -> CallRecord:
    """For the holder of the session's lease. A scripted answer marks what it runs in as scripted: the whole pilot, the
    rehearsal or the probe."""

    def on_scripted_answer() -> None:
        _mark_scripted(session.run.pilot or (session.rehearsal if session.is_rehearsal else session.probe))

    return CallRecord(session, on_scripted_answer, before_sending, counted)


def load_client() -> None:
    """Import what sends calls: two seconds of work, which sessions would wait for."""
    import evaluation.llm.sending  # noqa: F401


def calls_in_flight(pilot: Pilot, role: Role) -> int:
    """Model calls of its sessions to the endpoint of ``role`` that are under way, a moment ago."""
    return model_access.calls_in_flight(endpoint_of(pilot.endpoint(role)), group_of(pilot))


def group_of(pilot: Pilot) -> str:
    """The line in which a pilot's calls wait for endpoints."""
    return f"pilot {pilot.pk}"


def proposal_record(proposal: Proposal, before_sending: BeforeSending) -> CallRecord:
    def on_scripted_answer() -> None:
        _mark_scripted(proposal, claimed_by=proposal.claimed_by, state=Proposal.State.REQUESTED)

    return CallRecord(proposal, on_scripted_answer, before_sending)


def opinion_record(asked: OpinionRequest, before_sending: BeforeSending) -> CallRecord:
    return CallRecord(asked, lambda: None, before_sending)


def _mark_scripted(row: Pilot | Judging | Rehearsal | Probe | Proposal, **conditions: Any) -> None:
    """Does nothing if the stored row no longer meets ``conditions``."""
    if not row.scripted:
        type(row)._default_manager.filter(pk=row.pk, **conditions).update(scripted=True)
        row.scripted = True
