"""The client of a model endpoint: replays recorded answers, retries failures, and keeps to a budget."""

from __future__ import annotations

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
from evaluation.llm.rendering import Rendered, Renderer
from evaluation.llm.retry import RetryPolicy, Timing
from evaluation.protocol.participants import Tokens
from evaluation.scripted.answers import FINGERPRINT

Message = Mapping[str, Any]
T = TypeVar("T")

MODES = ("json_schema", "json_object", "text")
"""Ways to request JSON, strictest first."""

_accepted_modes: dict[tuple[str, str], int] = {}
"""By address and model: index in MODES of the strictest mode that the endpoint is known to accept."""
_accepted_modes_lock = threading.Lock()


@dataclass(frozen=True)
class Call:
    """A request with its outcome, as recorded. Never contains a key."""

    endpoint: Endpoint
    request_hash: str
    request: Mapping[str, Any]
    response: Mapping[str, Any] | None
    """As the endpoint sent it; None if the request failed with ``error``."""
    error: str
    tokens: Tokens
    cost: Decimal | None
    milliseconds: int
    """Including all attempts and pauses."""
    attempts: int
    storable: bool
    """Whether PostgreSQL certainly takes every text of the request."""

    @property
    def is_scripted(self) -> bool:
        """Whether a scripted model answered, under whatever name and address."""
        return self.response is not None and self.response.get("system_fingerprint") == FINGERPRINT


class Recorder(Protocol):
    """Stores calls, so that none is paid for twice."""

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None: ...

    def check(self) -> None:
        """Called before each request is sent; raises if it may not be."""
        ...

    def record(self, call: Call) -> None:
        """Store an answered or failed call; called before the answer is used."""
        ...


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
        group: str = "",
    ) -> None:
        self.endpoint = endpoint
        self.recorder = recorder
        self.budget = budget or Budget()
        self.retry_policy = retry_policy or RetryPolicy()
        self.timing = timing or Timing()
        self.group = group
        """Of calls that wait in one line for an endpoint's limits; groups take turns."""
        self._renderer = Renderer()

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

        The endpoint's own parameters override ``params``; None leaves a parameter out. Raises EndpointError,
        BudgetExceededError.
        """
        body = self._body(messages, tools, response_format, params)
        rendered = self._renderer.render(self.endpoint.base_url, body, sequence)
        self.budget.check()
        stored = self.recorder.lookup(rendered.digest) if self.recorder else None
        if stored is not None:
            completion = self._read(stored, rendered.digest, replayed=True)
            self.budget.spend(completion.tokens, completion.cost)
            return completion
        return self._ask(rendered)

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

        ``first`` is the ``sequence`` of the first try: another sample of the same question needs another. Rejected
        answers from the record do not count as tries, so that a resumed session gets fresh ones. Raises
        UnusableJsonError, and what ``complete`` raises.
        """
        tries, sequence = 0, first
        complaint = ""
        while tries < max_tries:
            conversation = [*messages, {"role": "user", "content": complaint}] if complaint else messages
            completion = self._complete_json(conversation, name, schema, sequence, params)
            try:
                return parse(completion.text), completion
            except ValueError as error:
                reason = str(error)
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
        """Use the strictest mode the endpoint accepts; a rejected mode is remembered once a less strict one worked."""
        identity = (self.endpoint.base_url, self.endpoint.model)
        mode = _accepted_modes.get(identity, 0)
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
                with _accepted_modes_lock:
                    _accepted_modes[identity] = max(mode, _accepted_modes.get(identity, 0))
                return completion

    def _body(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        response_format: Mapping[str, Any] | None,
        params: Mapping[str, Any],
    ) -> dict[str, Any]:
        effective = {name: value for name, value in {**params, **self.endpoint.params}.items() if value is not None}
        body: dict[str, Any] = {**effective, "model": self.endpoint.model, "messages": list(messages)}
        if body.get("stream"):
            body.setdefault("stream_options", {"include_usage": True})
        if tools:
            body["tools"] = list(tools)
        if response_format is not None:
            body["response_format"] = response_format
        return body

    def _ask(self, rendered: Rendered) -> Completion:
        # Importing the openai client takes half of the time a process needs to start; most never ask a model.
        from evaluation.llm.transport import send_request

        started = self.timing.now()
        attempt = 0
        while True:
            attempt += 1
            if self.recorder:
                self.recorder.check()
            response: Mapping[str, Any] | None = None
            try:
                check = self.recorder.check if self.recorder else _no_check
                response = send_request(self.endpoint, rendered.content, self.group, check)
                completion = self._read(response, rendered.digest, replayed=False)
            except EndpointError as error:
                failure = error
            else:
                break
            pause = self.retry_policy.pause(failure, attempt, self.timing.now() - started, self.timing.chance())
            if pause is None:
                self._record(rendered, None, str(failure), None, started, attempt)
                raise failure
            self.timing.sleep(pause)
        self.budget.spend(completion.tokens, completion.cost)
        self._record(rendered, response, "", completion, started, attempt)
        return completion

    def _read(self, response: Mapping[str, Any], digest: str, *, replayed: bool) -> Completion:
        try:
            text, tool_calls, finish_reason, tokens = read_completion(response)
        except UnreadableAnswerError as error:
            raise UnreadableAnswerError(f"{self.endpoint.name}: {error}") from None
        cost = self.endpoint.prices.of(tokens)
        return Completion(text, tool_calls, finish_reason, tokens, cost, digest, replayed)

    def _record(
        self,
        rendered: Rendered,
        response: Mapping[str, Any] | None,
        error: str,
        completion: Completion | None,
        started: float,
        attempts: int,
    ) -> None:
        if self.recorder is None:
            return
        self.recorder.record(
            Call(
                endpoint=self.endpoint,
                request_hash=rendered.digest,
                request=rendered.request,
                response=response,
                error=error,
                tokens=completion.tokens if completion else Tokens(),
                cost=completion.cost if completion else Decimal(0),
                milliseconds=round((self.timing.now() - started) * 1000),
                attempts=attempts,
                storable=rendered.storable,
            )
        )


def _no_check() -> None:
    pass


def _response_format(mode: str, name: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if mode == "json_schema":
        return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
    return {"type": "json_object"} if mode == "json_object" else None
