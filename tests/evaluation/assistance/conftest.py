"""An author at a task, and a model over HTTP that helps the benchmark's authors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from evaluation.assistance.kinds import Assignment
from evaluation.assistance.requests import ask
from evaluation.assistance.worker import work_on
from evaluation.llm import RetryPolicy
from evaluation.models import Helper, ModelEndpoint, Suggestion
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.models import Benchmark, Task, User
from tests.evaluation.assistance.builders import NOTES, a_spec, assignment
from tests.evaluation.builders import benchmark_of, file
from tests.evaluation.factories import person
from tests.evaluation.stub_model import StubModel, serving

IMPATIENT = RetryPolicy(attempts=2, base_seconds=0.01, max_pause=2)


@dataclass
class Desk:
    task: Task
    author: User
    stub: StubModel
    helper: Helper

    @property
    def benchmark(self) -> Benchmark:
        return self.helper.benchmark

    @property
    def endpoint(self) -> ModelEndpoint:
        assert self.helper.endpoint
        return self.helper.endpoint

    @property
    def spec(self) -> TaskSpec:
        return load_task(self.fresh)

    @property
    def fresh(self) -> Task:
        return Task.objects.select_related("group", "episode__persona__benchmark").get(pk=self.task.pk)

    def says(self, *answers: Any) -> None:
        """What the model answers next; the last of them from then on."""
        queue = list(answers)
        self.stub.helper = lambda body: queue.pop(0) if len(queue) > 1 else queue[0]

    def ask(self, kind: str = "split", *, work: bool = True, fresh: bool = False, **more: Any) -> Suggestion:
        given: Assignment = assignment(kind, **more)
        row = ask(self.fresh, by=self.author, assignment=given, fresh=fresh)
        if work:
            work_on(row.pk, retry_policy=IMPATIENT)
            row.refresh_from_db()
        return row

    def answer(self, row: Suggestion) -> Suggestion:
        work_on(row.pk, retry_policy=IMPATIENT)
        row.refresh_from_db()
        return row


@pytest.fixture
def stub() -> Iterator[StubModel]:
    with serving(StubModel()) as model:
        yield model


@pytest.fixture
def desk(db: None, stub: StubModel, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr("evaluation.assistance.requests.enqueue", lambda name, ids: None)
    spec = a_spec(assets=(file("notes.md", NOTES),))
    benchmark = benchmark_of(spec)
    endpoint = ModelEndpoint.objects.create(
        name="clever", base_url=stub.base_url, model="clever-1", timeout_seconds=5, input_price=2, output_price=8
    )
    return Desk(
        task=Task.objects.get(episode__persona__benchmark=benchmark),
        author=person(benchmark, "author"),
        stub=stub,
        helper=Helper.objects.create(benchmark=benchmark, endpoint=endpoint),
    )


@pytest.fixture
def scripted_desk(desk: Desk, scripted: Any, settings: Any) -> Callable[[str], Desk]:
    """The same desk with the scripted helper, or a misbehaving one by its name."""

    def make(model: str = "scripted-helper") -> Desk:
        settings.SCRIPTED_MODEL_URL = scripted.url
        values = {"base_url": "scripted:", "model": model, "scripted": True, "timeout_seconds": 1}
        desk.helper.endpoint = ModelEndpoint.objects.update_or_create(name=model, defaults=values)[0]
        desk.helper.save()
        return desk

    return make
