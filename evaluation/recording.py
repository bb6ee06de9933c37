"""The record of a session's model calls: what was answered once is not paid for again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.llm import Call
from evaluation.models import ModelCall, ModelEndpoint, Pilot, Session
from evaluation.scripted.answers import FINGERPRINT
from evaluation.storable import storable


class SessionRecord:
    """All calls of one session, for one who holds its claim. Loaded once: before a first try it is empty."""

    def __init__(self, session: Session) -> None:
        self.session = session
        rows = session.model_calls.filter(response__isnull=False)
        self.answered: dict[str, int] = dict(rows.values_list("request_hash", "pk"))
        """Rows of answered calls by what was asked."""

    def tell_scripted(self) -> None:
        """A scripted model answered, by whatever name and address: the pilot is scripted, and no evidence."""
        pilot = self.session.run.pilot
        if not pilot.scripted:
            Pilot.objects.filter(pk=pilot.pk).update(scripted=True)
            pilot.scripted = True

    def recorder(self, endpoint: ModelEndpoint, purpose: str, turn: Callable[[], int]) -> Recorder:
        return Recorder(self, endpoint, purpose, turn)


class Recorder:
    """What a door writes to: calls of one purpose. ``turn`` gives the turn they belong to."""

    def __init__(self, record: SessionRecord, endpoint: ModelEndpoint, purpose: str, turn: Callable[[], int]) -> None:
        self._record = record
        self._endpoint = endpoint
        self._purpose = purpose
        self._turn = turn

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None:
        pk = self._record.answered.get(request_hash)
        if pk is None:
            return None
        response: Mapping[str, Any] | None = ModelCall.objects.values_list("response", flat=True).get(pk=pk)
        return response

    def record(self, call: Call) -> None:
        """Stored at once, outside of any transaction of the turn: it was paid for, whatever becomes of the turn."""
        row = ModelCall(
            session=self._record.session,
            purpose=self._purpose,
            turn=self._turn(),
            endpoint=self._endpoint,
            request_hash=call.request_hash,
            request=storable(call.request),
            response=None if call.response is None else storable(call.response),
            error=storable(call.error),
            prompt_tokens=call.tokens.prompt,
            completion_tokens=call.tokens.completion,
            cost=call.cost,
            milliseconds=max(call.milliseconds, 0),
            attempts=min(call.attempts, 32_767),
        )
        ModelCall.objects.bulk_create([row], ignore_conflicts=call.response is not None)
        if call.response is not None and call.response.get("system_fingerprint") == FINGERPRINT:
            self._record.tell_scripted()
        if call.response is not None:
            answered = self._record.session.model_calls.filter(request_hash=call.request_hash, response__isnull=False)
            self._record.answered[call.request_hash] = row.pk or answered.values_list("pk", flat=True).get()
