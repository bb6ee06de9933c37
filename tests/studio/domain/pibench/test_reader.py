from __future__ import annotations

from typing import Any

import pytest

from studio.domain.pibench import Reading, read_personas
from studio.domain.problems import Problem
from tests.studio.domain.pibench.folders import PERSONA, documents, dump, files, task_yaml

BASE = f"data/{PERSONA}/"


def read(**tasks: Any) -> Reading:
    return read_personas(files(documents(**tasks)))


def read_with(changes: dict[str, Any]) -> Reading:
    whole = documents() | changes
    return read_personas(files({path: document for path, document in whole.items() if document is not None}))


def describe(problems: list[Problem]) -> str:
    return "\n".join(f"{problem.file}: {problem.message}" for problem in problems)


def test_sound_persona_has_neither_errors_nor_warnings() -> None:
    reading = read()

    assert (reading.errors, reading.warnings) == ([], [])
    [episode] = reading.episodes
    assert (episode.persona.user_id, episode.episode_id) == (PERSONA, "ep")
    assert [task.task_id for task in episode.tasks] == ["t1", "t2"]
    assert [d.task_id for d in episode.tasks[1].depends_on] == ["t1"]
    assert [(item.criterion, item.weight) for item in episode.tasks[1].checklist] == [("In metres", 2.0)]


def intent(*items: Any, **more: Any) -> dict[str, Any]:
    return {"intent": {"initial_input": "x", "hidden_intent": list(items), **more}}


def goals(**more: Any) -> dict[str, Any]:
    return {"objectives": {"checklist": [{"criterion": "In metres"}], **more}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_version": "v1"}, "“schema_version” is “v1”"),
        ({"schema_version": 2}, "“schema_version” is “2”"),
        ({"intent": None}, "no hidden intent"),
        ({"intent": "x"}, "“intent” is a single value and must be a mapping"),
        (intent(), "no hidden intent"),
        (intent("x"), "hidden_intent[1] is not a mapping"),
        (intent({"content": "a"}, {"content": " "}), "hidden_intent[2] has no content"),
        (intent({"content": "a", "status": "inferred"}), "hidden_intent[1].status is “inferred”"),
        (intent({"content": "a"}, detailed_intent="x"), "“detailed_intent” is not allowed"),
        (goals(rubric=[]), "unknown key “rubric”"),
        (goals(tools_checklist=[]), "unknown key “tools_checklist”"),
        ({"objectives": []}, "“objectives” is a list and must be a mapping"),
        ({"objectives": {"checklist": {"criterion": "a"}}}, "“objectives.checklist” is a mapping and must be a list"),
        ({"objectives": {"checklist": ["a"]}}, "checklist[1] is not a mapping"),
        ({"objectives": {"checklist": [{"criterion": "a", "weight": 0}]}}, "checklist[1].weight is “0”"),
        ({"objectives": {"checklist": [{"criterion": "a", "weight": "heavy"}]}}, "checklist[1].weight is “heavy”"),
        ({"objectives": {"checklist": [{"criterion": "a", "weight": float("nan")}]}}, "checklist[1].weight is “nan”"),
        ({"objectives": {"checklist": [{"criterion": "a", "weight": None}]}}, "checklist[1].weight is “None”"),
        (goals(files_read="a.md"), "“objectives.files_read” is a single value and must be a list"),
        (goals(tools=[{"a": {"call": ["x"]}, "b": None}]), "tools[1] names 2 tools"),
        (goals(tools=[{"call": ["x"]}]), "tools[1] names 0 tools"),
        (goals(tools=[{"a": {"call": [], "result": []}}]), "tools[1] shows nothing of “a”"),
        (goals(tools=[{"a": {"call": ["x", " "]}}]), "tools[1].a.call[2] is empty"),
        (goals(tools_evaluation_path="scripts/x.sh"), "is not a Python file"),
        (goals(tools_evaluation_path=""), "“tools_evaluation_path” is not a path"),
        ({"studio": {"trigger": {"kind": "bell"}}}, "“kind” is “bell”"),
        ({"studio": {"intents": [{"position": 9}]}}, "position “9”"),
        ({"studio": {"checklist": [{"rule": {"kind": "magic"}}]}}, "rule cannot be read"),
    ],
)
def test_invalid_task_is_an_error(changes: dict[str, Any], message: str) -> None:
    document = task_yaml("t2", objectives={"checklist": [{"criterion": "In metres"}]}) | changes

    [error] = read(t2=document).errors

    assert error.file == f"{BASE}tasks/t2/task.yaml"
    assert message in error.message
    assert error.line is not None and error.column is not None
    assert error.fix


def entries(*rows: Any) -> dict[str, Any]:
    return {"episode.yaml": {"schema_version": "v2", "episode_id": "ep", "user_id": PERSONA, "tasks": list(rows)}}


T1: dict[str, Any] = {"task_id": "t1"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (entries(T1, {"task_id": "t2", "depends_on": ["t9"]}), "depends on “t9”, which the episode does not name"),
        (entries({"task_id": "t2", "depends_on": ["t1"]}, T1), "depends on “t1”, which runs later"),
        (entries(T1, {"task_id": "t2", "depends_on": ["t2"]}), "depends on itself"),
        (entries(T1, {"task_id": "t2", "depends_on": ["t1", "t1 "]}), "depends on “t1” twice"),
        (entries(T1, {"task_id": "t2", "depends_on": "t1"}), "must be a list"),
        (entries(T1, T1, {"task_id": "t2"}), "appears twice"),
        (entries(T1, {"task_id": "t2"}, {"task_id": "t3"}), "There is no task “t3”"),
        (entries(T1, "t2"), "tasks[2] is not a mapping"),
        (entries(T1, {"task_id": None}), "tasks[2].task_id is empty"),
        ({"tasks/t2/task.yaml": task_yaml("t2")}, "has neither criteria nor a grader script"),
        (
            {"tasks/t1/task.yaml": task_yaml("t1", objectives={"checklist": [{"criterion": "x"}]})},
            "depends on “t1”, which has criteria",
        ),
        ({"profile.yaml": None}, "The file is missing"),
        ({"episode.yaml": None}, "The file is missing"),
        ({"profile.yaml": b"a: b: c"}, "Not valid YAML"),
        ({"tools.yaml": {"tool_names": "all"}}, "“tool_names” is a single value and must be a list"),
    ],
)
def test_invalid_persona_is_an_error(changes: dict[str, Any], message: str) -> None:
    assert message in describe(read_with(changes).errors)


def test_all_problems_of_all_files_are_reported_together() -> None:
    reading = read(
        t1=task_yaml(
            "t1", schema_version="v3", intent={"hidden_intent": [{"content": ""}, {"content": "a", "status": "x"}]}
        ),
        t2=task_yaml("t2", title="", objectives={"bad": 1, "worse": 2}),
    )

    assert [(error.file.removeprefix(BASE), error.line, error.message.split()[0]) for error in reading.errors] == [
        ("tasks/t1/task.yaml", 1, "“schema_version”"),
        ("tasks/t1/task.yaml", 12, "hidden_intent[1]"),
        ("tasks/t1/task.yaml", 14, "hidden_intent[2].status"),
        ("tasks/t2/task.yaml", 17, "“objectives”"),
        ("tasks/t2/task.yaml", 18, "“objectives”"),
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task_id": "t2 "}, "“task_id” has spaces around it"),
        ({"task_id": "t7"}, "“task_id” is “t7” and the folder is called “t2”"),
        ({"task_id": None}, "“task_id” is empty"),
        ({"user_id": "pilot"}, "“user_id” is “pilot”"),
        ({"title": ""}, "The title is empty"),
        ({"title": 7}, "“title” is not text; it is read as “7”"),
        ({"description": ["x"]}, "“description” is a list, not text"),
        ({"task_type": "val"}, "“task_type” is “val”"),
        ({"trigger": {"type": "bell"}}, "trigger type “bell”"),
        ({"metadata": ["x"]}, "“metadata” is a list"),
        ({"x_more": 1}, "The key “x_more” is not part of the format"),
        (goals(files_read=["/abs.md"]), "“/abs.md” is not a path inside the workspace"),
        (goals(tools_evaluation_path="data/Pilot/scripts/gone.py"), "its rule checks cannot be counted"),
        ({"objectives": {"checklist": [{"criterion": "a", "weight": "2"}]}}, "weight is not a number; it is read as 2"),
        ({"objectives": {"checklist": [{"criterion": "a"}, {"criterion": "", "weight": -1}]}}, "has no criterion"),
        ({"objectives": {"checklist": [{"criterion": "a", "evaluation": "human"}]}}, "evaluation is “human”"),
    ],
)
def test_odd_task_is_a_warning(changes: dict[str, Any], message: str) -> None:
    reading = read(t2=task_yaml("t2", objectives={"checklist": [{"criterion": "In metres"}]}) | changes)

    assert reading.errors == []
    assert message in describe(reading.warnings)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (entries(T1, {"note": "later"}, {"task_id": " t2 "}), "tasks[2] has no task_id"),
        ({"tasks/t3/task.yaml": task_yaml("t3")}, "No entry of episode.yaml names this task"),
        ({"tasks/t3/notes.md": b"x"}, "has no task.yaml"),
        ({"scripts/x.py": b""}, "No task names this grader"),
        ({"tools.yaml": None}, "There is no list of tools"),
        ({"tools.yaml": ["a", " a", ""]}, "“a” appears twice"),
        ({"profile.yaml": {"user_id": PERSONA, "role": {"role_text": ""}}}, "“role” is empty"),
    ],
)
def test_odd_persona_is_a_warning(changes: dict[str, Any], message: str) -> None:
    reading = read_with(changes)

    assert reading.errors == []
    assert message in describe(reading.warnings)


def test_location_decides_the_purpose_of_a_file() -> None:
    reading = read_with(
        {
            "tasks/t1/a.txt": b"a",
            "tasks/t1/deep/b.txt": b"b",
            "tasks/t1/.history/c.txt": b"c",
            "tasks/t1/.result/d.txt": b"d",
            "tasks/t1/.eval_result/e.json": b"{}",
            "skills/triage/SKILL.md": b"s",
            "scripts/x.py": b"x",
            "scripts/readme": b"r",
            ".DS_Store": b"junk",
        }
    )

    [episode] = reading.episodes
    assert [file.path for file in episode.tasks[0].assets] == ["a.txt", "deep/b.txt"]
    assert [(skill.name, [file.path for file in skill.files]) for skill in episode.persona.skills] == [
        ("triage", ["SKILL.md"])
    ]
    assert [file.path for file in episode.persona.scripts] == ["scripts/x.py"]
    assert [file.path for file in episode.persona.files] == [
        "scripts/readme",
        "tasks/t1/.eval_result/e.json",
        "tasks/t1/.history/c.txt",
        "tasks/t1/.result/d.txt",
    ]


@pytest.mark.parametrize("root", ["", "Pilot/", "data/Pilot/", "wrapped-1.0/data/Pilot/"])
def test_persona_is_found_in_any_folder(root: str) -> None:
    reading = read_personas(files(documents(), root), name=PERSONA)

    assert reading.errors == []
    assert [episode.persona.user_id for episode in reading.episodes] == [PERSONA]


def test_two_personas_and_a_manifest_are_read_together() -> None:
    release_files = files(documents(), "data/A/") | files(documents(), "data/B/") | {"pack.json": b"{}"}

    reading = read_personas(release_files)

    assert [episode.persona.user_id for episode in reading.episodes] == ["A", "B"]
    assert not any("belong to no persona" in warning.message for warning in reading.warnings)


def test_files_without_a_persona_are_rejected() -> None:
    assert describe(read_personas({"readme.md": b"x"}).errors) == ": There is no persona here."


def test_studio_block_is_read() -> None:
    document = task_yaml(
        "t2",
        trigger={"type": "environmental_signal"},
        objectives={"checklist": [{"criterion": "In metres"}]},
        studio={
            "category": "B",
            "group": "units",
            "trigger": {"kind": "feed", "payload": {"z": 1, "a": 2}},
            "intents": [{"position": 1, "scope": "persistent", "recoverable_from": [{"kind": "session", "ref": "t1"}]}],
            "checklist": [{"follows_from": [1], "grader": "rule", "rule": {"kind": "file_exists", "path": "a.md"}}],
            "carries_over": {"t1": "the units"},
        },
    )

    reading = read(t2=document)

    assert (reading.errors, reading.warnings) == ([], [])
    task = reading.episodes[0].tasks[1]
    assert (task.category, task.group, task.trigger.kind, list(task.trigger.payload)) == (
        "B",
        "units",
        "feed",
        ["z", "a"],
    )
    assert task.intents[0].scope == "persistent"
    assert task.checklist[0].follows_from == (task.intents[0].uid,)
    assert task.checklist[0].rule is not None and task.checklist[0].rule.path == "a.md"
    assert task.depends_on[0].carries_over == "the units"


def test_wrongly_encoded_file_does_not_hide_other_errors() -> None:
    reading = read_with({"tasks/t1/task.yaml": b"\xff", "tasks/t2/task.yaml": dump({"schema_version": "v9"})})

    assert {error.file for error in reading.errors} == {f"{BASE}tasks/t1/task.yaml", f"{BASE}tasks/t2/task.yaml"}
