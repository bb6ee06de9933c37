"""The client of a model endpoint: replays recorded answers, retries failures, and keeps to a budget."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from evaluation.llm.budget import Budget
from evaluation.llm.completion import Completion, read_answer
from evaluation.llm.dialects import NO_WORDS, ORIGIN, effort_params, messages_for, request_fields
from evaluation.llm.endpoint import Endpoint
from evaluation.llm.errors import (
    ContentFilteredError,
    ContextCutError,
    ContextTooLongError,
    EndpointError,
    RequestRejectedError,
    UnreadableAnswerError,
    UnusableJsonError,
)
from evaluation.llm.responses import responses_request
from evaluation.llm.retry import RetryPolicy, Timing
from evaluation.llm.slots import Lane
from evaluation.protocol.participants import Tokens
from evaluation.scripted.answers import FINGERPRINT

Message = Mapping[str, Any]
T = TypeVar("T")

CHARACTERS = 4
"""Of a token, roughly; only for what no service has counted."""
CUT_FROM = 20_000
"""Characters of a request from which on it is noticed that the service has read far less."""
CUT_CHARACTERS = 10
"""More characters of a token than any text has."""
LEAST_READ = 1_000
"""With fewer tokens the service counts something else, such as what its cache did not have."""
ANSWER_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Parameters that limit an answer, thoughts included."""
MAX_SHOWN = 20_000
"""Characters of an unusable answer that its model is shown."""


@dataclass(frozen=True)
class Call:
    """A request with its outcome, as recorded. Never contains a key."""

    endpoint: Endpoint
    request_hash: str
    request: Mapping[str, Any]
    """As a chat completion, whichever API it went to, and without how it travelled (streamed, marked for caches)."""
    response: Mapping[str, Any] | None
    """As the endpoint sent it; None if the request failed with ``error``."""
    error: str
    ending: str
    """As ``Completion.ending``; of one that failed ``too_long``, ``filtered`` or empty."""
    completion: Completion | None
    milliseconds: int
    """Including all attempts and pauses."""
    attempts: int
    storable: bool
    """Whether PostgreSQL certainly takes every text of the request."""

    @property
    def tokens(self) -> Tokens:
        return self.completion.tokens if self.completion else Tokens()

    @property
    def cost(self) -> Decimal | None:
        """None: unknown. What failed cost nothing."""
        return self.completion.cost if self.completion else Decimal(0)

    @property
    def is_scripted(self) -> bool:
        """Whether a scripted model answered, under whatever name and address."""
        return self.response is not None and self.response.get("system_fingerprint") == FINGERPRINT


class Recorder(Protocol):
    """Stores calls, so that none is paid for twice."""

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None: ...

    def check(self, worst: Decimal | None = None) -> None:
        """Called before each request is sent; raises if it may not be. ``worst``: what it costs at most, if that can be
        told, to be kept free until it is recorded."""
        ...

    def record(self, call: Call) -> None:
        """Store an answered or failed call; called before the answer is used."""
        ...


@dataclass(frozen=True)
class Request:
    body: Mapping[str, Any]
    digest: str
    """Identifies what was asked of which model: by address, body and the number of its repetition.

    Not by the endpoint's name: a renamed one, or another of the same model, is answered from the same record.
    """
    size: int
    """Characters."""
    storable: bool


class ModelClient:
    """Calls one endpoint. Cheap to create: the clients of a process share connections."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        recorder: Recorder | None = None,
        budget: Budget | None = None,
        retry_policy: RetryPolicy | None = None,
        timing: Timing | None = None,
        lane: Lane | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.recorder = recorder
        self.budget = budget or Budget()
        self.retry_policy = retry_policy or RetryPolicy()
        self.timing = timing or Timing()
        self.lane = lane or Lane()

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        response_format: Mapping[str, Any] | None = None,
        sequence: int = 0,
        **params: Any,
    ) -> Completion:
        """One completion. The same request with the same ``sequence`` is answered from the record.

        The endpoint's own parameters override ``params``; None leaves a parameter out. What the service refuses by name
        is left out from then on, or renamed. Raises EndpointError, BudgetExceededError.
        """
        wanted = self._wanted(messages, tools, response_format, params)
        while True:
            request = self._request(wanted, sequence)
            self.budget.check()
            stored = self.recorder.lookup(request.digest) if self.recorder else None
            if stored is not None:
                completion = self._read(request, stored, replayed=True)
                self._spend(completion)
                break
            if self.endpoint.learned.refresh():
                continue
            try:
                completion = self._ask(request)
                break
            except ContextTooLongError:
                raise
            except RequestRejectedError as refusal:
                learned, travel = self.endpoint.learned, self._travel
                learned.learn({**request.body, **travel}, refusal.complaint)
                if learned.adapt(wanted) == request.body and self._travel == travel:
                    raise
        self._check_whole(request, completion)
        return completion

    def ask_json(
        self,
        messages: Sequence[Message],
        name: str,
        schema: Mapping[str, Any],
        parse: Callable[[str], T],
        *,
        max_tries: int = 5,
        first: int = 0,
        **params: Any,
    ) -> tuple[T, Completion]:
        """Request JSON until ``parse`` accepts the answer; it rejects one by raising ValueError with the reason.

        Each further try shows the model its last answer and what was wrong with it. ``first`` is the ``sequence`` of
        the first try: another sample of the same question needs another. Where all ``max_tries`` come from the record,
        somebody wants it tried anew, and it is. Raises UnusableJsonError, and what ``complete`` raises.
        """
        wanted = {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
        conversation: Sequence[Message] = messages
        tries = 0
        while True:
            completion = self.complete(conversation, response_format=wanted, sequence=first + tries, **params)
            tries += 1
            try:
                return parse(completion.text), completion
            except ValueError as error:
                reason = "It was cut off at its limit of length." if completion.ending == "cut" else str(error)
            if completion.ending == "filtered":
                raise ContentFilteredError(f"The filter of {self.endpoint.name} did not let its answer through.")
            if tries % max_tries == 0 and not completion.replayed:
                raise UnusableJsonError(
                    f"{self.endpoint.name} gave no usable answer in {max_tries} tries; of the last: {reason}"
                )
            conversation = [*messages, *_complaint(completion, reason)]

    def _wanted(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        response_format: Mapping[str, Any] | None,
        params: Mapping[str, Any],
    ) -> dict[str, Any]:
        endpoint = self.endpoint
        effort = effort_params(endpoint.speaks, endpoint.effort)
        given = {**params, **effort, **endpoint.params}
        effective = {name: value for name, value in given.items() if value is not None and name != "stream"}
        body: dict[str, Any] = {**effective, "model": endpoint.model, "messages": [dict(each) for each in messages]}
        if tools:
            body["tools"] = list(tools)
        if response_format is not None:
            body["response_format"] = response_format
        return body

    def _request(self, wanted: Mapping[str, Any], sequence: int) -> Request:
        endpoint = self.endpoint
        body = endpoint.learned.adapt(wanted)
        identity = [endpoint.base_url, sequence, body if endpoint.api == "chat" else {**body, "api": endpoint.api}]
        text = json.dumps(identity, sort_keys=True, separators=(",", ":"), default=str)
        storable = "\\u0000" not in text and "\\ud" not in text
        return Request(body, hashlib.sha256(text.encode()).hexdigest(), len(text), storable)

    @property
    def _travel(self) -> dict[str, Any]:
        """Real models are streamed: a slow thought and a broken line look alike otherwise."""
        endpoint = self.endpoint
        streams = endpoint.params.get("stream", not endpoint.scripted) and not endpoint.learned.knows_refused("stream")
        if not streams:
            return {}
        if endpoint.api == "responses" or endpoint.learned.knows_refused("stream_options"):
            return {"stream": True}
        return {"stream": True, "stream_options": {"include_usage": True}}

    def sent(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """A chat completion as the service takes it, whole or streamed."""
        endpoint = self.endpoint
        if endpoint.api == "responses":
            return responses_request(body, endpoint.origin)
        dialect = endpoint.speaks
        messages = messages_for(dialect, endpoint.origin, body["messages"], endpoint.model)
        return {**body, "messages": messages, **request_fields(dialect, endpoint.model)}

    def keep(self, request_hash: str, body: Mapping[str, Any], response: Mapping[str, Any]) -> None:
        """Record an answer that came by another way. Raises UnreadableAnswerError."""
        request = Request(body, request_hash, len(json.dumps(body)), storable=False)
        self._record(request, response, self._read(request, response, replayed=False), self.timing.now(), 1)

    def _ask(self, request: Request) -> Completion:
        # Importing the openai client takes half of the time a process needs to start; most never ask a model.
        from evaluation.llm.sending import send_request

        started = self.timing.now()
        attempt = 0
        while True:
            attempt += 1
            if self.recorder:
                self.recorder.check(_worst(self.endpoint, request) if attempt == 1 else None)
            try:
                check = self.recorder.check if self.recorder else _no_check
                response = send_request(self.endpoint, self.sent(request.body) | self._travel, self.lane, check)
                completion = self._read(request, response, replayed=False)
            except EndpointError as error:
                failure = error
            else:
                break
            pause = self.retry_policy.pause(failure, attempt, self.timing.now() - started, self.timing.chance())
            if pause is None:
                self._record(request, None, failure, started, attempt)
                raise failure
            self.timing.sleep(pause)
        self._spend(completion)
        self._record(request, response, completion, started, attempt)
        return completion

    def _read(self, request: Request, response: Mapping[str, Any], *, replayed: bool) -> Completion:
        try:
            answer = read_answer(response)
        except UnreadableAnswerError as error:
            raise UnreadableAnswerError(f"{self.endpoint.name}: {error}") from None
        message = answer.message
        if message.keys() - {"role", "content", "tool_calls"}:
            message = {**message, ORIGIN: self.endpoint.origin}
        cost = self.endpoint.prices.of(answer.tokens) if answer.cost is None else answer.cost
        written = len(answer.text) + len(answer.thoughts) + sum(len(call.arguments) for call in answer.tool_calls)
        return Completion(
            answer.text,
            answer.tool_calls,
            answer.finish_reason,
            answer.tokens,
            cost,
            request.digest,
            replayed,
            answer.thoughts,
            answer.ending,
            answer.answered_by,
            message,
            Tokens(request.size // CHARACTERS, written // CHARACTERS),
        )

    def _spend(self, completion: Completion) -> None:
        self.budget.spend(completion.spent, completion.charge(self.endpoint.prices))

    def _check_whole(self, request: Request, completion: Completion) -> None:
        """Some servers cut a conversation that is too long for them, and answer as if nothing was (Ollama)."""
        read = completion.tokens.prompt
        if read is None or completion.tokens.cached or read * CUT_CHARACTERS > request.size or request.size < CUT_FROM:
            return
        if read < LEAST_READ or _holds_pictures(request.body):
            return
        raise ContextCutError(
            f"{self.endpoint.name} read {read:,} tokens of about {request.size // CHARACTERS:,}: it cuts conversations "
            "without a word. Give the model a longer context at its server.",
            read,
        )

    def _record(
        self,
        request: Request,
        response: Mapping[str, Any] | None,
        outcome: Completion | EndpointError,
        started: float,
        attempts: int,
    ) -> None:
        if self.recorder is None:
            return
        self.recorder.record(
            Call(
                endpoint=self.endpoint,
                request_hash=request.digest,
                request=request.body,
                response=response,
                error=str(outcome) if isinstance(outcome, EndpointError) else "",
                ending=outcome.ending,
                completion=None if isinstance(outcome, EndpointError) else outcome,
                milliseconds=round((self.timing.now() - started) * 1000),
                attempts=attempts,
                storable=request.storable,
            )
        )


class AskedLaterError(Exception):
    """A question without an answer on record, of a client that sends nothing itself."""

    def __init__(self, purpose: str, turn: int, request_hash: str, body: Mapping[str, Any]) -> None:
        super().__init__(purpose)
        self.purpose = purpose
        self.turn = turn
        self.request_hash = request_hash
        self.body = body
        """As a chat completion."""


class BatchingClient(ModelClient):
    """Leaves what the record does not answer to a batch, unless a batch came back without an answer to it."""

    purpose = ""
    turn = 0
    unanswered: frozenset[str] = frozenset()
    """Hashes."""

    def _ask(self, request: Request) -> Completion:
        if request.digest not in self.unanswered:
            raise AskedLaterError(self.purpose, self.turn, request.digest, request.body)
        return super()._ask(request)


def _no_check() -> None:
    pass


def _worst(endpoint: Endpoint, request: Request) -> Decimal | None:
    """No text has more tokens than characters as JSON. None if the answer has no limit, or the model no price."""
    limit = next((request.body[name] for name in ANSWER_LIMITS if request.body.get(name)), None)
    return endpoint.prices.worst(request.size, limit) if isinstance(limit, int) else None


def _holds_pictures(body: Mapping[str, Any]) -> bool:
    return any(isinstance(message.get("content"), list) for message in body["messages"])


def _complaint(completion: Completion, reason: str) -> list[Message]:
    briefly = ", and more briefly" if completion.ending == "cut" else ""
    complaint = f"Your last answer could not be used: {reason} Answer again, exactly as asked{briefly}."
    return [
        {"role": "assistant", "content": completion.text[:MAX_SHOWN].strip() or NO_WORDS},
        {"role": "user", "content": complaint},
    ]
