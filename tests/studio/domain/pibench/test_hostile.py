"""Any input gives problems, never a crash."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.domain.episode import EpisodeSpec
from studio.domain.pibench import read_personas, write_persona
from tests.studio.domain.pibench import folders

MODEST = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
SOUND = folders.documents(
    t2=folders.task_yaml(
        "t2",
        objectives={
            "checklist": [{"criterion": "In metres", "weight": 2}],
            "files_read": ["a.md"],
            "tools": [{"a__b": {"call": ["x"], "result": []}}],
            "tools_evaluation_path": "scripts/x.py",
        },
        studio={
            "category": "B",
            "trigger": {"kind": "feed", "payload": {}},
            "intents": [{"position": 1, "uid": "u", "recoverable_from": [{"kind": "file", "ref": "a"}]}],
            "checklist": [{"position": 1, "rule": {"kind": "file_exists", "path": "a"}, "follows_from": [1]}],
            "carries_over": {"t1": "x"},
            "assets": {"a": "b"},
            "tools": ["a"],
        },
    )
)


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner_path for key, item in inner for inner_path in paths_in(item, (*path, key)))]


PATHS = [path for path in paths_in(SOUND) if path]


@pytest.mark.slow
@MODEST
@given(st.sampled_from(PATHS), folders.value)
def test_any_value_anywhere_is_read_or_reported(path: tuple[Any, ...], odd: Any) -> None:
    whole = copy.deepcopy(SOUND)
    parent: Any = whole
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = odd

    files = folders.files(whole)
    reading = read_personas(files)

    if not reading.errors:
        [episode] = reading.episodes
        assert EpisodeSpec.model_validate_json(episode.model_dump_json()) == episode
        assert folders.parsed(write_persona(episode, reading.contents)) == folders.parsed(files)


@pytest.mark.slow
@MODEST
@given(st.sampled_from([path for path in SOUND if path.endswith(".yaml")]), st.data())
def test_any_damage_to_the_text_is_read_or_reported(path: str, data: st.DataObject) -> None:
    files = folders.files(SOUND)
    key = f"data/{folders.PERSONA}/{path}"
    text = bytearray(files[key])
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        text[start : start + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"&a ", b"*a", b"<<: ", b"!!", b"\t", b"- ", b": ", b"'", b'"\\u'])
        )

    reading = read_personas(files | {key: bytes(text)})

    for problem in (*reading.errors, *reading.warnings):
        assert problem.message and problem.fix
