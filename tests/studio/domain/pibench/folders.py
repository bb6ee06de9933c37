"""Personas' folders for tests: a small sound one to break, and generated ones with odd contents."""

from __future__ import annotations

import datetime
from typing import Any

import yaml
from hypothesis import strategies as st

PERSONA = "Pilot"


def task_yaml(task_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "schema_version": "v2",
        "task_id": task_id,
        "user_id": PERSONA,
        "environment_id": "env",
        "title": f"Title of {task_id}",
        "description": "",
        "task_type": "long_term",
        "trigger": {"type": "user"},
        "intent": {"initial_input": "Please plan the week.", "hidden_intent": [{"content": "Metric units"}]},
        "metadata": {"difficulty": "easy"},
    } | changes


def documents(**tasks: dict[str, Any]) -> dict[str, Any]:
    """Documents by path: t1 is a setup task, t2 builds on it and has a checklist."""
    whole = {
        "profile.yaml": {
            "schema_version": "v2",
            "user_id": PERSONA,
            "role": "A pilot.",
            "preferences": {"language": "en"},
            "long_term_goals": [],
        },
        "tools.yaml": {"tool_names": ["gmail__send_email"]},
        "episode.yaml": {
            "schema_version": "v2",
            "episode_id": "ep",
            "user_id": PERSONA,
            "tasks": [{"task_id": "t1", "depends_on": []}, {"task_id": "t2", "depends_on": ["t1"]}],
        },
        "tasks/t1/task.yaml": task_yaml("t1"),
        "tasks/t2/task.yaml": task_yaml("t2", objectives={"checklist": [{"criterion": "In metres", "weight": 2}]}),
    }
    return whole | {f"tasks/{task_id}/task.yaml": document for task_id, document in tasks.items()}


def files(whole: dict[str, Any], root: str = f"data/{PERSONA}/") -> dict[str, bytes]:
    """Documents as YAML; bytes are left as they are."""
    return {
        root + path: document if isinstance(document, bytes) else dump(document) for path, document in whole.items()
    }


def dump(document: Any) -> bytes:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode()


def parsed(files: dict[str, bytes]) -> dict[str, Any]:
    """YAML parsed by PyYAML, other files as they are; ``repr``, so that key order and kinds of numbers count."""
    return {
        path: repr(yaml.safe_load(content)) if path.endswith(".yaml") else content for path, content in files.items()
    }


text = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00\ufeff", exclude_categories=["Cs"]), max_size=60),
    st.sampled_from(
        ["", " ", "a\n", "a\nb", "\n a", "a \nb", "1e3", "0o7", "yes", "=", "<<", "~", "#x", "- a", "a: b", "'", '"\\']
    ),
).filter(lambda value: all(ord(c) >= 32 or c in "\t\n\r" for c in value))
key = st.one_of(st.text("abcxyz_- .", min_size=1, max_size=8), st.integers(-3, 3), st.booleans(), st.none(), st.dates())
scalar = st.one_of(
    text,
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.booleans(),
    st.none(),
    st.dates(datetime.date(1000, 1, 1)),
    st.datetimes(datetime.datetime(1000, 1, 1)),
    st.binary(max_size=8),
)
value = st.recursive(
    scalar, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(key, inner, max_size=3), max_leaves=6
)
extra = st.dictionaries(st.text("klmnop_", min_size=3, max_size=8).map(lambda name: f"x_{name}"), value, max_size=2)
filled = text.filter(lambda value: bool(value.strip()))


@st.composite
def shuffled(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """The document with unknown keys, in any order."""
    whole = document | draw(extra)
    return {name: whole[name] for name in draw(st.permutations(list(whole)))}


@st.composite
def wild_tasks(draw: st.DrawFn, task_id: str, *, setup: bool) -> dict[str, Any]:
    intents = draw(
        st.lists(
            st.builds(lambda content, more, status: {"content": content, **status, **more}, filled, extra, statuses),
            min_size=1,
            max_size=3,
        )
    )
    document = task_yaml(
        draw(st.sampled_from([task_id, f"{task_id} ", "other"])),
        title=draw(text),
        description=draw(value),
        task_type=draw(st.sampled_from(["val", "long_term", 3])),
        trigger={"type": draw(st.sampled_from(["user", "user_query", "environmental_signal", "env", "odd"]))},
        intent=draw(shuffled({"initial_input": draw(text), "hidden_intent": intents})),
        metadata=draw(value),
    )
    if not setup:
        items = st.builds(
            lambda criterion, weight, more: {"criterion": criterion, **weight, **more},
            filled | st.none(),
            weights,
            extra,
        )
        document["objectives"] = draw(objectives(draw(st.lists(items, max_size=3))))
    return draw(shuffled(document))


statuses = st.sampled_from([{}, {"status": "provided"}, {"status": "not_provided"}])
weights = st.sampled_from([{}, {"weight": 1}, {"weight": 1.0}, {"weight": 2.5}, {"weight": "3"}])


@st.composite
def objectives(draw: st.DrawFn, items: list[Any]) -> dict[str, Any]:
    whole = {
        "checklist": [{"criterion": "One that counts"}, *items],
        "files_read": draw(st.none() | st.lists(st.sampled_from(["a.md", " b.md ", "/abs.md", "", 7]), max_size=3)),
        "tools": draw(
            st.lists(
                st.sampled_from(
                    [
                        {"gmail__send_email": {"call": ["subject"], "result": []}},
                        {" mcp_appworld_x__y ": None, "call": ["a.b"]},
                        {"t__u": {"result": ["r"]}, "call": ["c"]},
                    ]
                ),
                max_size=2,
            )
        ),
        "tools_evaluation_path": draw(st.sampled_from([None, f"data/{PERSONA}/scripts/x.py", " scripts/gone.py "])),
    }
    chosen = draw(st.sets(st.sampled_from(list(whole)), min_size=1)) | {"checklist"}
    return {name: whole[name] for name in draw(st.permutations(sorted(chosen)))}


@st.composite
def wild_personas(draw: st.DrawFn) -> dict[str, bytes]:
    """A persona's folder that is odd in every way the format bears."""
    role = draw(text | st.builds(lambda role_text, more: {"role_text": role_text, **more}, text, extra))
    profile = {
        "schema_version": "v2",
        "user_id": draw(st.sampled_from([PERSONA, PERSONA.lower()])),
        "role": role,
        "preferences": draw(value),
        "long_term_goals": draw(st.lists(value, max_size=2) | text),
    }
    entries: list[Any] = [
        draw(shuffled({"task_id": draw(st.sampled_from(["t1", "t1 "])), "depends_on": []})),
        draw(extra),
        draw(shuffled({"task_id": "t2", "depends_on": draw(st.sampled_from([["t1"], [" t1"], None]))})),
    ]
    tools = ["gmail__send_email", " a__b ", "a__b"]
    whole: dict[str, Any] = {
        "profile.yaml": draw(shuffled(profile)),
        "tools.yaml": draw(st.sampled_from([tools, {"tool_names": tools}, {"x_more": 1, "tool_names": None}])),
        "episode.yaml": draw(shuffled({"schema_version": "v2", "episode_id": draw(text), "tasks": entries})),
        "tasks/t1/task.yaml": draw(wild_tasks("t1", setup=True)),
        "tasks/t2/task.yaml": draw(wild_tasks("t2", setup=False)),
        "tasks/t3/task.yaml": draw(wild_tasks("t3", setup=True)),
        "tasks/t1/deep/a.bin": draw(st.binary(max_size=20)),
        "tasks/t2/.history/old.json": b"{}",
        "scripts/x.py": b"def score(history):\n    return {'a': 0}\n",
        "scripts/data.csv": b"1\r\n",
        "skills/triage/SKILL.md": b"# Triage\n",
        "skills/README.md": b"loose",
        "notes.txt": b"\xff\x00",
    }
    return files(whole)
