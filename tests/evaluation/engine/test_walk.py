"""The walk through the code that docs/architecture.md shows is the one that a session takes."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.llm import ModelClient
from evaluation.models import Verdict
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel
from tests.walks import called_by, documented

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]
MOST = 14


def test_documented_walk_is_the_one_that_a_judged_session_takes(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    asked: list[list[str]] = []
    stored: list[list[str]] = []
    ask, store = ModelClient.ask_json, type(Verdict.objects).bulk_create

    def ask_json(client: ModelClient, messages: Any, name: str, *args: Any, **options: Any) -> Any:
        if name == "checklist":
            asked.append(called_by("evaluation"))
        return ask(client, messages, name, *args, **options)

    def bulk_create(manager: Any, rows: Any, **options: Any) -> Any:
        if [row for row in rows if row.kind == "checklist"]:
            stored.append(called_by("evaluation"))
        return store(manager, rows, **options)

    monkeypatch.setattr(ModelClient, "ask_json", ask_json)
    monkeypatch.setattr(type(Verdict.objects), "bulk_create", bulk_create)
    work_through(start(stub, task("a", intents=intents("x"), checklist=(rubric("y"),))))

    task_name, *walk = documented("judging a session")
    assert task_name == "evaluation.tasks.run_session"
    split = walk.index("evaluation.llm.client.ModelClient.ask_json")
    assert asked[0] == walk[:split]
    shared = [name for name in walk[:split] if name in stored[0]]
    assert stored[0] == [*shared, *walk[split + 1 :]]
    assert len(walk) + 1 <= MOST
