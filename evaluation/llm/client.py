"""Asking a model: from the record if the same was asked before, else over the wire, with retry_policy and a budget."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from evaluation.llm.budget import Budget
from evaluation.llm.completion import Completion, read_completion
from evaluation.llm.endpoint import Endpoint
from evaluation.llm.errors import (
    ContextTooLongError,
    EndpointError,
    RequestRejectedError,
    UnreadableAnswerError,
    UnusableJsonError,
)
from evaluation.llm.retry import RetryPolicy, Timing
from evaluation.llm.transport import send
from evaluation.protocol.participants import Tokens

Message = Mapping[str, Any]
T = TypeVar("T")

MODES = ("json_schema", "json_object", "text")
"""How an answer in JSON is asked for, from strict to plain."""

_works: dict[tuple[str, str], int] = {}
"""By address and model: the strictest of MODES the endpoint is known to take."""
_works_lock = threading.Lock()


@dataclass(frozen=True)
class Call:
    """One request with its outcome, for the record. It holds no key."""

    endpoint: Endpoint
    request_hash: str
    request: Mapping[str, Any]
    response: Mapping[str, Any] | None
    """As the endpoint gave it; None: it failed, ``error`` says how."""
    error: str
    tokens: Tokens
    cost: Decimal
    milliseconds: int
    """With all attempts and pauses."""
    attempts: int


class Recorder(Protocol):
    """Keeps calls, so that none is paid for twice."""

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None:
        """The stored answer to this very request."""
        ...

    def record(self, call: Call) -> None:
        """Store an answered or failed call. Called before anyone acts on the answer."""
        ...


class ModelClient:
    """The way to one endpoint. Cheap to make; connections are shared by all clients of a process."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        recorder: Recorder | None = None,
        budget: Budget | None = None,
        retry_policy: RetryPolicy | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.recorder = recorder
        self.budget = budget or Budget()
        self.retry_policy = retry_policy or RetryPolicy()
        self.timing = timing or Timing()

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        response_format: Mapping[str, Any] | None = None,
        sequence: int = 0,
        **params: Any,
    ) -> Completion:
        """Ask once. The same request with the same ``sequence`` is answered from the record.

        What the endpoint sets itself among ``params`` wins; null there leaves a parameter out. Raises
        EndpointError, BudgetExceededError.
        """
        body = self._body(messages, tools, response_format, params)
        digest = request_hash(self.endpoint, body, sequence)
        self.budget.check()
        stored = self.recorder.lookup(digest) if self.recorder else None
        if stored is not None:
            completion = self._read(stored, digest, replayed=True)
            self.budget.spend(completion.tokens, completion.cost)
            return completion
        return self._ask(body, digest)

    def ask_json(
        self,
        messages: Sequence[Message],
        name: str,
        schema: Mapping[str, Any],
        parse: Callable[[str], T],
        *,
        max_tries: int = 5,
        **params: Any,
    ) -> tuple[T, Completion]:
        """Ask for JSON until ``parse`` takes the answer; it raises ValueError, saying why, for one it does not take.

        Rejected answers that came from the record do not count as tries: a session taken up again gets
        fresh ones. Raises UnusableJsonError, and what ``complete`` raises.
        """
        tries = sequence = 0
        complaint = ""
        while tries < max_tries:
            asked = [*messages, {"role": "user", "content": complaint}] if complaint else messages
            completion = self._complete_json(asked, name, schema, sequence, params)
            try:
                return parse(completion.text), completion
            except ValueError as problem:
                reason = str(problem)
            complaint = f"Your last answer could not be used: {reason} Answer again, exactly as asked."
            sequence += 1
            tries += not completion.replayed
        raise UnusableJsonError(
            f"{self.endpoint.name} gave no usable answer in {max_tries} tries; of the last: {reason}"
        )

    def _complete_json(
        self,
        messages: Sequence[Message],
        name: str,
        schema: Mapping[str, Any],
        sequence: int,
        params: Mapping[str, Any],
    ) -> Completion:
        """In the strictest way the endpoint takes; what it refuses is remembered once a plainer way worked."""
        identity = (self.endpoint.base_url, self.endpoint.model)
        mode = _works.get(identity, 0)
        while True:
            try:
                completion = self.complete(
                    messages, response_format=_response_format(MODES[mode], name, schema), sequence=sequence, **params
                )
            except ContextTooLongError:
                raise
            except RequestRejectedError:
                if mode == len(MODES) - 1:
                    raise
                mode += 1
            else:
                with _works_lock:
                    _works[identity] = max(mode, _works.get(identity, 0))
                return completion

    def _body(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        response_format: Mapping[str, Any] | None,
        params: Mapping[str, Any],
    ) -> dict[str, Any]:
        given = {name: value for name, value in {**params, **self.endpoint.params}.items() if value is not None}
        body: dict[str, Any] = {**given, "model": self.endpoint.model, "messages": list(messages)}
        if body.get("stream"):
            body.setdefault("stream_options", {"include_usage": True})
        if tools:
            body["tools"] = list(tools)
        if response_format is not None:
            body["response_format"] = response_format
        return body

    def _ask(self, body: dict[str, Any], digest: str) -> Completion:
        """Over the wire, until it is answered or retry_policy ends; either way it is recorded."""
        began = self.timing.now()
        attempt = 0
        while True:
            attempt += 1
            response: Mapping[str, Any] | None = None
            try:
                response = send(self.endpoint, body)
                completion = self._read(response, digest, replayed=False)
            except EndpointError as failed:
                failure = failed
            else:
                break
            pause = self.retry_policy.pause(failure, attempt, self.timing.now() - began, self.timing.chance())
            if pause is None:
                self._record(body, digest, None, str(failure), None, began, attempt)
                raise failure
            self.timing.sleep(pause)
        self.budget.spend(completion.tokens, completion.cost)
        self._record(body, digest, response, "", completion, began, attempt)
        return completion

    def _read(self, response: Mapping[str, Any], digest: str, *, replayed: bool) -> Completion:
        try:
            text, tool_calls, finish_reason, tokens = read_completion(response)
        except UnreadableAnswerError as problem:
            raise UnreadableAnswerError(f"{self.endpoint.name}: {problem}") from None
        cost = self.endpoint.prices.of(tokens)
        return Completion(text, tool_calls, finish_reason, tokens, cost, digest, replayed)

    def _record(
        self,
        body: Mapping[str, Any],
        digest: str,
        response: Mapping[str, Any] | None,
        error: str,
        completion: Completion | None,
        began: float,
        attempts: int,
    ) -> None:
        if self.recorder is None:
            return
        self.recorder.record(
            Call(
                endpoint=self.endpoint,
                request_hash=digest,
                request=body,
                response=response,
                error=error,
                tokens=completion.tokens if completion else Tokens(),
                cost=completion.cost if completion else Decimal(0),
                milliseconds=round((self.timing.now() - began) * 1000),
                attempts=attempts,
            )
        )


def request_hash(endpoint: Endpoint, body: Mapping[str, Any], sequence: int) -> str:
    """What makes two requests the same: endpoint, body, and which time it is asked."""
    identity = [endpoint.name, endpoint.base_url, sequence, body]
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _response_format(mode: str, name: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if mode == "json_schema":
        return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
    return {"type": "json_object"} if mode == "json_object" else None
