"""An author with a task, and an assistant model served over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.requests import request_proposal
from evaluation.assistance.worker import work_on
from evaluation.llm import RetryPolicy
from evaluation.models import AssistantModel, ModelEndpoint, Proposal
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.models import Benchmark, Task, User
from tests.evaluation.assistance.builders import NOTES, a_request, a_spec
from tests.evaluation.builders import benchmark_of, file
from tests.evaluation.factories import person
from tests.evaluation.stub_model import StubModel
from tests.shared_rows import fresh

IMPATIENT = RetryPolicy(attempts=2, base_seconds=0.01, max_pause=2)


@dataclass
class Authoring:
    task: Task
    author: User
    stub: StubModel
    assistant: AssistantModel

    @property
    def benchmark(self) -> Benchmark:
        return self.assistant.benchmark

    @property
    def endpoint(self) -> ModelEndpoint:
        assert self.assistant.endpoint
        return self.assistant.endpoint

    @property
    def spec(self) -> TaskSpec:
        return load_task(self.fresh)

    @property
    def fresh(self) -> Task:
        return Task.objects.select_related("persona__benchmark").get(pk=self.task.pk)

    def model_answers(self, *answers: Any) -> None:
        """Queue answers; the last one repeats."""
        queue = list(answers)
        self.stub.helper = lambda body: queue.pop(0) if len(queue) > 1 else queue[0]

    def request(self, kind: str = "split", *, work: bool = True, fresh: bool = False, **more: Any) -> Proposal:
        proposal_request: ProposalRequest = a_request(kind, **more)
        row = request_proposal(self.fresh, by=self.author, request=proposal_request, fresh=fresh)
        if work:
            work_on(row.pk, retry_policy=IMPATIENT)
            row.refresh_from_db()
        return row

    def work(self, row: Proposal) -> Proposal:
        work_on(row.pk, retry_policy=IMPATIENT)
        row.refresh_from_db()
        return row


@pytest.fixture(scope="module")
def shared_authoring(module_db: None) -> tuple[Task, User, AssistantModel]:
    spec = a_spec(assets=(file("notes.md", NOTES),))
    benchmark = benchmark_of(spec)
    endpoint = ModelEndpoint.objects.create(
        name="clever", base_url="http://127.0.0.1/", model="clever-1", timeout_seconds=5, input_price=2, output_price=8
    )
    return (
        Task.objects.get(persona__benchmark=benchmark),
        person(benchmark, "author"),
        AssistantModel.objects.create(benchmark=benchmark, endpoint=endpoint),
    )


@pytest.fixture
def authoring(
    db: None,
    shared_authoring: tuple[Task, User, AssistantModel],
    stub: StubModel,
) -> Authoring:
    task, author, assistant = fresh(shared_authoring)
    assert assistant.endpoint
    assistant.endpoint.base_url = stub.base_url
    assistant.endpoint.save()
    return Authoring(task=task, author=author, stub=stub, assistant=assistant)


@pytest.fixture
def scripted_authoring(authoring: Authoring, scripted: Any, settings: Any) -> Callable[[str], Authoring]:
    """With a scripted assistant model, by default without faults."""

    def make(model: str = "scripted-helper") -> Authoring:
        settings.SCRIPTED_MODEL_URL = scripted.url
        values = {"base_url": "scripted:", "model": model, "scripted": True, "timeout_seconds": 1}
        authoring.assistant.endpoint = ModelEndpoint.objects.update_or_create(name=model, defaults=values)[0]
        authoring.assistant.save()
        return authoring

    return make
