"""The quick way to an unchanged document gives what merging the document with the task gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.domain.pibench import read_personas
from studio.domain.pibench.imported_task import is_as_imported
from studio.domain.pibench.task_writer import merged_document, task_document
from studio.domain.pibench.yaml_writer import is_identical
from studio.domain.task import Dependency, ExpectedArtifact, TaskSpec, Trigger
from tests.studio.domain.pibench.folders import PERSONA, documents, files, task_yaml

ODD: list[dict[str, Any]] = [
    {},
    {"title": None},
    {"title": 5, "description": ""},
    {"environment_id": "e" * 300},
    {"trigger": {"type": " user "}},
    {"trigger": None},
    {"trigger": "user"},
    {"metadata": None},
    {"metadata": {"level": 1.0, "b": True}},
    {"metadata": ["x"]},
    {"user_id": "someone else"},
    {"user_id": ""},
    {"intent": {"initial_input": "Hello", "hidden_intent": [{"content": "A", "status": "provided"}]}},
    {"intent": {"initial_input": 7, "hidden_intent": [{"content": 8}]}},
    {"intent": {"initial_input": "Hello", "hidden_intent": [{"content": "A", "status": " provided "}], "x": 1}},
    {"objectives": {"checklist": [{"criterion": "A", "weight": "2"}, {"criterion": "B", "weight": 2}]}},
    {"objectives": {"checklist": [{"criterion": " ", "weight": 3}, {"weight": True, "criterion": "C"}]}},
    {"objectives": {"checklist": None, "files_read": [" a.md", ""], "tools": None}},
    {"objectives": {"files_read": ["a.md"], "tools": [{"a__b": {"call": ["x"]}}]}},
    {"objectives": {"tools_evaluation_path": " data/x.py"}},
    {"studio": {"category": "B"}},
    {"studio": None},
]
CHANGES: list[dict[str, Any]] = [
    {},
    {"user_id": ""},
    {"user_id": "another"},
    {"title": "New"},
    {"description": "New"},
    {"environment_id": ""},
    {"initial_request": ""},
    {"category": "C", "group": "One"},
    {"trigger": Trigger(kind="webhook")},
    {"trigger": Trigger(kind="feed", payload={"a": 1})},
    {"intents": ()},
    {"checklist": ()},
    {"files_read": ("b.md",)},
    {"tool_evidence": ()},
    {"grader_script": "data/y.py"},
    {"depends_on": (Dependency(task_id="t1", carries_over="The plan."),)},
    {"tools": ("a__b",), "skills": ("reports",), "reference_workflow": "First this."},
    {"expected_artifacts": (ExpectedArtifact(path="plan.md"),)},
    {"metadata": {"level": 1}},
]


def changed(spec: TaskSpec) -> list[TaskSpec]:
    specs = [spec.model_copy(update=change) for change in CHANGES]
    if spec.intents:
        first, *rest = spec.intents
        specs += [
            spec.model_copy(update={"intents": (first.model_copy(update=update), *rest)})
            for update in ({"content": "B"}, {"scope": "persistent"}, {"initial_status": "provided"}, {"source": {}})
        ]
    if spec.checklist:
        first_item, *items = spec.checklist
        specs += [
            spec.model_copy(update={"checklist": (first_item.model_copy(update=update), *items)})
            for update in ({"criterion": "B"}, {"weight": 7.0}, {"evidence": ("a.md",)}, {"source": {}})
        ]
    return specs


def assert_same_documents(spec: TaskSpec, persona: str) -> None:
    for each in changed(spec):
        assert is_identical(task_document(each, persona), merged_document(each, persona)), each


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_odd_documents_are_written_as_by_merging(odd: dict[str, Any]) -> None:
    for episode in read_personas(files(documents(t2=task_yaml("t2") | odd))).episodes:
        for task in episode.tasks:
            assert_same_documents(task, PERSONA)


@pytest.mark.slow
def test_documents_of_the_sample_are_written_as_by_merging() -> None:
    folder = Path("fixtures/sample")
    contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for episode in read_personas({path: data for path, data in contents.items() if path.startswith("data/")}).episodes:
        for task in episode.tasks:
            assert_same_documents(task, episode.persona.user_id)


def test_an_unchanged_plain_document_is_not_read_again() -> None:
    [episode] = read_personas(files(documents(t2=task_yaml("t2")))).episodes

    assert all(map(is_as_imported, episode.tasks))
