"""Rehearsals for tests."""

from __future__ import annotations

from typing import Any

from evaluation.models import ModelEndpoint, Rehearsal
from evaluation.pilots import session_work
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.lifecycle import start_rehearsal
from evaluation.rehearsals.transcript import RehearsalTranscript, load_rehearsal
from studio.models import Task, User
from tests.evaluation.builders import benchmark_of, intents, task
from tests.evaluation.factories import person
from tests.evaluation.stub_model import StubModel


def real(stub: StubModel, name: str = "real", **fields: Any) -> ModelEndpoint:
    return ModelEndpoint.objects.create(name=name, base_url=stub.base_url, model="m", timeout_seconds=10, **fields)


def draft(**spec: Any) -> tuple[Task, User]:
    values: dict[str, Any] = {"intents": intents("Name the fee.", "Sign it.", "Be brief.")}
    benchmark = benchmark_of(task("a", **(values | spec)))
    return Task.objects.get(persona__benchmark=benchmark), person(benchmark, "author")


def started(seat: str, judge: ModelEndpoint | None, agent: ModelEndpoint | None = None, **spec: Any) -> Rehearsal:
    row, author = draft(**spec)
    return start_rehearsal(row, by=author, seat=seat, judge=judge, agent=agent)


def reloaded(row: Rehearsal) -> Rehearsal:
    return Rehearsal.objects.get(pk=row.pk)


def after_reply(row: Rehearsal, text: str) -> Rehearsal:
    lifecycle.submit_reply(row.pk, text)
    work_on(row)
    return reloaded(row)


def work_on(row: Rehearsal) -> None:
    """As a worker does."""
    session_work.work_on(row.session_id)


def shown(row: Rehearsal) -> RehearsalTranscript:
    return load_rehearsal(reloaded(row))


def statuses(row: Rehearsal) -> list[str]:
    return [intent.status for intent in shown(row).session.intents]
