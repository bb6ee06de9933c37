"""Questions sent together, to be answered within a day at half the price: the Batch API of OpenAI, which others copy.

Sources: developers.openai.com, Batch guide and API reference; help.aliyun.com, OpenAI-compatible Batch (November 2026).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import openai
from openai.types import Batch

from evaluation.llm.client import ModelClient
from evaluation.llm.connections import Watch, watched
from evaluation.llm.endpoint import Endpoint
from evaluation.llm.errors import EndpointError, RequestRejectedError
from evaluation.llm.failures import Problem, failure_of
from evaluation.llm.sending import FAILURES, PATHS, asked_of, client_for, failed_in, failure_from

MOST = 200
"""Requests of a batch: services take more, but all answers come as one file."""
WINDOW: Any = "24h"
_OVER = ("completed", "expired", "cancelled")
_TAG = "studio_batch"
T = TypeVar("T")
Json = Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    over: bool
    total: int
    done: int
    files: tuple[str, ...] = ()
    """Of answers and failures, once it is over."""


@dataclass(frozen=True)
class Row:
    """What a batch came back with for one question: an answer, or its failure."""

    key: str
    answer: dict[str, Any] | None
    failure: EndpointError | None


def send_batch(endpoint: Endpoint, questions: Mapping[str, Json], tag: str) -> str:
    """The service's name of the batch. ``questions``: bodies of chat completions by key. Raises EndpointError."""
    client, url = ModelClient(endpoint), f"/v1{PATHS[endpoint.api]}"
    lines = (
        {"custom_id": key, "method": "POST", "url": url, "body": client.sent(body)} for key, body in questions.items()
    )
    content = "\n".join(map(json.dumps, lines)).encode()

    def send(service: openai.OpenAI) -> str:
        file = service.files.create(file=("questions.jsonl", content), purpose="batch")
        where: Any = url
        made = service.batches.create(
            input_file_id=file.id, endpoint=where, completion_window=WINDOW, metadata={_TAG: tag}
        )
        return made.id

    return _asking(endpoint, send)


def find_batch(endpoint: Endpoint, tag: str) -> str:
    """The batch that was sent with this tag, among the latest; empty: none was. Raises EndpointError."""
    latest = _asking(endpoint, lambda service: service.batches.list(limit=100).data)
    return next((batch.id for batch in latest if (batch.metadata or {}).get(_TAG) == tag), "")


def look_at_batch(endpoint: Endpoint, name: str) -> Progress:
    """Raises EndpointError, RequestRejectedError if the service refused the batch as a whole."""
    batch = _asking(endpoint, lambda service: service.batches.retrieve(name))
    if batch.status == "failed":
        raise RequestRejectedError(f"{endpoint.name} refused the batch", detail=f": {_complaints(batch)}")
    counts, files = batch.request_counts, (batch.output_file_id, batch.error_file_id)
    return Progress(
        over=batch.status in _OVER,
        total=counts.total if counts else 0,
        done=counts.completed + counts.failed if counts else 0,
        files=tuple(file for file in files if file),
    )


def read_batch(endpoint: Endpoint, progress: Progress) -> Iterator[Row]:
    """Of questions without a row nothing is known. Raises EndpointError."""
    for file in progress.files:
        for line in _asking(endpoint, partial(_lines, file)):
            yield _row(endpoint, line)


def _lines(file: str, service: openai.OpenAI) -> list[dict[str, Any]]:
    content = service.files.content(file).content
    return [json.loads(line) for line in content.split(b"\n") if line.strip()]


def _row(endpoint: Endpoint, line: Json) -> Row:
    response = line.get("response") or {}
    status, body = int(response.get("status_code") or 0), response.get("body")
    if status == 200 and isinstance(body, dict) and not failed_in(body):
        return Row(str(line.get("custom_id")), body, None)
    problem = Problem.of(body if response else {"error": line.get("error")})
    return Row(str(line.get("custom_id")), None, failure_of(asked_of(endpoint), status or 500, {}, problem))


def _complaints(batch: Batch) -> str:
    return " ".join(error.message or error.code or "" for error in (batch.errors and batch.errors.data) or ())[:300]


def _asking(endpoint: Endpoint, ask: Callable[[openai.OpenAI], T]) -> T:
    failure: EndpointError
    try:
        with watched(Watch(endpoint.limits.whole_seconds)):
            return ask(client_for(endpoint))
    except FAILURES as error:
        failure = failure_from(endpoint, error)
    raise failure  # outside the handler: its exception carries the request with its key
