"""The walk through the code that docs/architecture.md shows is the one that a session takes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.llm import ModelClient
from evaluation.models import Verdict
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]
ROOT = Path(__file__).resolve().parents[3]
MOST = 14


def documented() -> list[str]:
    """Functions, in order."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    section = text.partition("## A walk: judging a session\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w.]+)`", section, re.MULTILINE)


def called_by() -> list[str]:
    """Functions of evaluation that are being called, outermost first."""
    found = []
    frame: Any = sys._getframe(2)
    while frame is not None:
        path, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
        if path.is_relative_to(ROOT / "evaluation") and "<" not in name:
            found.append(f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}.{name}")
        frame = frame.f_back
    return found[::-1]


def test_documented_walk_is_the_one_that_a_judged_session_takes(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    asked: list[list[str]] = []
    stored: list[list[str]] = []
    ask, store = ModelClient.ask_json, type(Verdict.objects).bulk_create

    def ask_json(client: ModelClient, messages: Any, name: str, *args: Any, **options: Any) -> Any:
        if name == "checklist":
            asked.append(called_by())
        return ask(client, messages, name, *args, **options)

    def bulk_create(manager: Any, rows: Any, **options: Any) -> Any:
        if [row for row in rows if row.kind == "checklist"]:
            stored.append(called_by())
        return store(manager, rows, **options)

    monkeypatch.setattr(ModelClient, "ask_json", ask_json)
    monkeypatch.setattr(type(Verdict.objects), "bulk_create", bulk_create)
    work_through(start(stub, task("a", intents=intents("x"), checklist=(rubric("y"),))))

    task_name, *walk = documented()
    assert task_name == "evaluation.tasks.run_session"
    split = walk.index("evaluation.llm.client.ModelClient.ask_json")
    assert asked[0] == walk[:split]
    shared = [name for name in walk[:split] if name in stored[0]]
    assert stored[0] == [*shared, *walk[split + 1 :]]
    assert len(walk) + 1 <= MOST
