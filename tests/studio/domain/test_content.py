from __future__ import annotations

from typing import Any

import pytest

from studio.domain.base import FileRef, fields_of
from studio.domain.content import content_hash, parts_of_tasks
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.task import (
    Dependency,
    ExpectedArtifact,
    HiddenIntent,
    TaskSpec,
    ToolEvidence,
    Trigger,
)
from tests.factories import a_task_spec

FILE = FileRef(path="notes.md", sha256="a" * 64, size=1)
OTHER: dict[str, Any] = {
    "trigger": Trigger(kind="webhook", payload={"source": "till"}),
    "initial_request": "Something else.",
    "intents": (HiddenIntent(uid="u", content="Something else."),),
    "checklist": (),
    "files_read": (),
    "tool_evidence": (ToolEvidence(tool="show_note"),),
    "grader_script": "data/baker/scripts/grade.py",
    "depends_on": (Dependency(task_id="first"),),
    "group": "baking",
    "assets": (FILE,),
    "tools": ("show_note",),
    "skills": ("baking",),
    "expected_artifacts": (ExpectedArtifact(path="plan.md"),),
}
PERSONA: dict[str, Any] = {
    "name": "Else",
    "role_text": "Else",
    "occupation": "Else",
    "routines": "Else",
    "working_style": "Else",
    "attributes": {"age": 3},
    "preferences": {"tone": "dry"},
    "long_term_goals": ("More rye.",),
    "tools": ("show_note",),
    "skills": (Skill(name="baking", files=(FILE,)),),
    "scripts": (FileRef(path="scripts/grade.py", sha256="b" * 64, size=1),),
    "files": (FileRef(path="apps/clock.json", sha256="c" * 64, size=1),),
}
UNSEEN = {"user_id", "profile_source", "tools_source"}
"""Of a persona: what only exports keep."""


def content(task: TaskSpec, persona: PersonaSpec) -> str:
    return content_hash(parts_of_tasks([task.to_json()], persona)[task.task_id])


def test_every_field_is_either_apart_or_among_those_tried_here() -> None:
    apart = {name for name, about in fields_of(TaskSpec).items() if about.apart or about.exported_only}

    assert TaskSpec.model_fields.keys() == apart | OTHER.keys()
    assert PersonaSpec.model_fields.keys() == UNSEEN | PERSONA.keys()


@pytest.mark.parametrize("field", OTHER)
def test_field_of_a_task_changes_its_content(field: str) -> None:
    task, persona = a_task_spec(), PersonaSpec(user_id="baker")

    assert content(task.model_copy(update={field: OTHER[field]}), persona) != content(task, persona)


@pytest.mark.parametrize("field", PERSONA)
def test_field_of_a_persona_changes_the_content_of_its_tasks(field: str) -> None:
    task = a_task_spec(grader_script="data/baker/scripts/grade.py")
    persona = PersonaSpec(user_id="baker")

    assert content(task, persona.model_copy(update={field: PERSONA[field]})) != content(task, persona)


@pytest.mark.parametrize("path", ["apps/clock.json", "mcp/sky.json", "mcp/sky.py", "web/rye.md"])
def test_each_file_of_a_persona_that_an_agent_meets_changes_the_content_of_its_tasks(path: str) -> None:
    task, persona = a_task_spec(), PersonaSpec(user_id="baker")
    file = FileRef(path=path, sha256="c" * 64, size=1)

    assert content(task, persona.model_copy(update={"files": (file,)})) != content(task, persona)


def test_what_only_the_imported_file_had_changes_nothing() -> None:
    task, persona = a_task_spec(), PersonaSpec(user_id="baker")
    [intent] = task.intents
    changed = {
        "title": "Else",
        "source": {"extra": 1},
        "intents": (intent.model_copy(update={"source": {"extra": 1}}),),
    }

    assert content(task.model_copy(update=changed), persona) == content(task, persona)


def test_payload_of_a_signal_counts_whatever_its_keys_are_called() -> None:
    one, two = (a_task_spec(trigger=Trigger(kind="webhook", payload={"source": name})) for name in ("till", "oven"))

    assert content(one, PersonaSpec(user_id="baker")) != content(two, PersonaSpec(user_id="baker"))


@pytest.mark.parametrize("needs", [("first",), ("second",)])
def test_what_earlier_tasks_hand_over_counts_directly_and_through_others(needs: tuple[str, ...]) -> None:
    first, second, third = (a_task_spec(task_id=name) for name in ("first", "second", "third"))
    second = second.model_copy(update={"depends_on": (Dependency(task_id="first"),)})
    third = third.model_copy(update={"depends_on": tuple(Dependency(task_id=name) for name in needs)})
    other = first.model_copy(update={"initial_request": "Something else."})
    persona = PersonaSpec(user_id="baker")

    before, after = (
        parts_of_tasks([task.to_json() for task in (earlier, second, third)], persona) for earlier in (first, other)
    )

    assert [name for name in before if content_hash(before[name]) != content_hash(after[name])] == [
        *("first", "second", "third"),
    ]
