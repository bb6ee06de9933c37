"""Edits of imported documents change only what was edited."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from studio.domain.episode import EpisodeSpec
from studio.domain.pibench import read_personas, write_persona
from studio.domain.pibench.writer import episode_document, profile_document, tools_document
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExactCheck,
    HiddenIntent,
    Recovery,
    TaskSpec,
    ToolEvidence,
    Trigger,
)
from tests.studio.domain.pibench.folders import PERSONA, documents, files, task_yaml

OBJECTIVES = {
    "tools": [{"a__b": {"call": ["x"]}, "result": ["y"]}],
    "checklist": [{"criterion": "One", "x_kept": 1}, {"weight": 2, "criterion": "Two"}],
    "files_read": ["a.md"],
}


def episode(**changes: Any) -> EpisodeSpec:
    document = {"x_first": [1, 2]} | task_yaml("t2", objectives=OBJECTIVES, title=" spaced ") | changes
    reading = read_personas(files(documents(t2=document)))
    assert reading.errors == []
    return reading.episodes[0]


def written(old: EpisodeSpec, **changes: Any) -> dict[str, Any]:
    """task.yaml of t2 after an edit."""
    task = old.tasks[1].model_copy(update=changes)
    files = write_persona(old.model_copy(update={"tasks": (old.tasks[0], task)}), {})
    document = yaml.safe_load(files[f"data/{PERSONA}/tasks/t2/task.yaml"])
    assert isinstance(document, dict)
    return document


def test_edited_text_changes_only_its_own_key() -> None:
    old = episode()

    document = written(old, title="New", initial_request="Two\nlines\n")

    before = written(old)
    assert list(document) == list(before)
    assert document == before | {"title": "New", "intent": before["intent"] | {"initial_input": "Two\nlines\n"}}


def test_moved_and_edited_items_keep_their_unknown_keys() -> None:
    old = episode()
    first, second = old.tasks[1].checklist

    document = written(old, checklist=(second, first.model_copy(update={"criterion": "First", "weight": 3.0})))

    assert document["objectives"]["checklist"] == [
        {"weight": 2, "criterion": "Two"},
        {"criterion": "First", "x_kept": 1, "weight": 3},
    ]


def test_edited_tool_leaves_the_others_unchanged() -> None:
    old = episode()
    more = ToolEvidence(tool="c__d", call=("z",))

    document = written(old, tool_evidence=(*old.tasks[1].tool_evidence, more))

    assert document["objectives"]["tools"] == [*OBJECTIVES["tools"], {"c__d": {"call": ["z"], "result": []}}]


def test_studio_facts_enter_and_leave_their_block() -> None:
    old = episode()
    [intent] = old.tasks[1].intents
    persistent = intent.model_copy(
        update={"scope": "persistent", "recoverable_from": (Recovery(kind="session", ref="t1"),)}
    )

    document = written(old, intents=(persistent,), category="B", trigger=Trigger(kind="feed", payload={"a": 1}))

    assert document["studio"] == {
        "category": "B",
        "trigger": {"kind": "feed", "payload": {"a": 1}},
        "intents": [{"position": 1, "scope": "persistent", "recoverable_from": [{"kind": "session", "ref": "t1"}]}],
    }
    assert document["trigger"] == {"type": "environmental_signal"}
    again = episode(**document)
    assert written(again) == document
    back = written(again, intents=(intent,), category="", trigger=Trigger())
    assert "studio" not in back and back["trigger"] == {"type": "user"}


def test_unknown_key_in_the_block_is_preserved() -> None:
    old = episode(studio={"x_mine": 1, "category": "A"})

    assert written(old, category="B")["studio"] == {"x_mine": 1, "category": "B"}


def test_task_written_in_the_studio_survives_the_round_trip() -> None:
    intent = HiddenIntent(uid="0dbb5e1c-6f4e-4f43-9c44-6f0b1e1a5a10", content="Metric units", scope="persistent")
    task = TaskSpec(
        task_id="t2",
        user_id=PERSONA,
        title="Plan",
        task_type="long_term",
        initial_request="Plan it.",
        intents=(intent,),
        checklist=(
            ChecklistItem(
                uid="1dbb5e1c-6f4e-4f43-9c44-6f0b1e1a5a10",
                criterion="A file",
                weight=2.5,
                grader="rule",
                rule=ExactCheck(kind="file_exists", path="a.md"),
                follows_from=(intent.uid,),
            ),
        ),
        files_read=("a.md",),
        tool_evidence=(ToolEvidence(tool="a__b", call=("x",)),),
        depends_on=(Dependency(task_id="t1", carries_over="units"),),
        metadata={"difficulty": "easy"},
    )
    old = episode()

    files_written = write_persona(old.model_copy(update={"tasks": (old.tasks[0], task)}), {})

    reading = read_personas(files_written)
    assert reading.errors == []
    read = reading.episodes[0].tasks[1]
    plain = read.model_copy(
        update={
            "source": {},
            "intents": tuple(i.model_copy(update={"source": {}}) for i in read.intents),
            "checklist": tuple(i.model_copy(update={"source": {}}) for i in read.checklist),
            "tool_evidence": tuple(i.model_copy(update={"source": {}}) for i in read.tool_evidence),
        }
    )
    assert plain == task


def test_reordered_entries_keep_their_unknown_keys() -> None:
    whole = documents(t3=task_yaml("t3"))
    whole["episode.yaml"]["tasks"] = [
        {"x_note": "start"},
        {"task_id": "t1 ", "x_kept": 1},
        {"task_id": "t2", "depends_on": ["t1"]},
        {"x_note": "after t2"},
    ]
    old = read_personas(files(whole)).episodes[0]

    first, second = old.tasks
    new = old.model_copy(update={"tasks": (second.model_copy(update={"depends_on": ()}), *old.unplaced, first)})

    assert episode_document(new)["tasks"] == [
        {"x_note": "start"},
        {"task_id": "t2", "depends_on": []},
        {"x_note": "after t2"},
        {"task_id": "t3", "depends_on": []},
        {"task_id": "t1 ", "x_kept": 1},
    ]
    assert episode_document(old) == old.source


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(["a ", "a"], ["b"]), ({"x_more": 1, "tool_names": ["a"]}, {"x_more": 1, "tool_names": ["b"]})],
)
def test_tools_file_keeps_its_form(raw: Any, expected: Any) -> None:
    whole = documents() | {"tools.yaml": raw}
    persona = read_personas(files(whole)).episodes[0].persona

    assert tools_document(persona) == raw
    assert tools_document(persona.model_copy(update={"tools": ("b",)})) == expected


def test_edited_role_keeps_its_form() -> None:
    whole = documents()
    whole["profile.yaml"]["role"] = {"x_more": 1, "role_text": "Old"}
    persona = read_personas(files(whole)).episodes[0].persona

    document = profile_document(persona.model_copy(update={"role_text": "New", "name": "Nora"}))

    assert document["role"] == {"x_more": 1, "role_text": "New"}
    assert document["studio"] == {"name": "Nora"}
