from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.domain.episode import EpisodeSpec
from studio.domain.pibench import read_personas, write_persona
from studio.domain.pibench.encoding import decode
from studio.domain.pibench.yaml_reader import parse_yaml
from studio.domain.pibench.yaml_writer import dump_yaml
from studio.domain.problems import Report
from tests.studio.domain.pibench import folders

MODEST = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.slow
@MODEST
@given(folders.wild_personas())
def test_persona_survives_the_round_trip(files: dict[str, bytes]) -> None:
    reading = read_personas(files)
    assert reading.errors == []

    written = {
        path: data for episode in reading.episodes for path, data in write_persona(episode, reading.contents).items()
    }

    assert folders.parsed(written) == folders.parsed(files)


@pytest.mark.slow
@MODEST
@given(folders.wild_personas())
def test_episode_survives_storage_as_json(files: dict[str, bytes]) -> None:
    [episode] = read_personas(files).episodes

    assert EpisodeSpec.model_validate_json(episode.model_dump_json()).content_hash() == episode.content_hash()


@pytest.mark.slow
@MODEST
@given(st.dictionaries(folders.key, folders.value, max_size=4))
def test_any_document_survives_the_round_trip(document: dict[object, object]) -> None:
    report = Report("")
    node = parse_yaml(folders.dump(document), report)
    assert node is not None and not report.errors

    assert repr(decode(node.value)) == folders.parsed({"a.yaml": dump_yaml(node.value)})["a.yaml"]


@pytest.mark.slow
def test_real_personas_survive_the_round_trip(pibench_data: Path) -> None:
    files = {
        f"data/{path.relative_to(pibench_data).as_posix()}": path.read_bytes()
        for path in pibench_data.rglob("*")
        if path.is_file()
    }
    reading = read_personas(files)
    assert reading.errors == []

    written: dict[str, bytes] = {}
    for episode in reading.episodes:
        written |= write_persona(episode, reading.contents)

    assert folders.parsed(written) == folders.parsed(files)
    again = read_personas(written)
    assert [e.content_hash() for e in again.episodes] == [e.content_hash() for e in reading.episodes]


def test_long_text_is_written_as_a_block() -> None:
    assert dump_yaml({"a": "First line\n\nSecond: line\n"}) == b"a: |\n  First line\n\n  Second: line\n"


DAY = datetime.date(2024, 5, 1)
PAYLOAD = {"source": "feed", "event": "papers", "payload": {"z": [{"id": 1.0, "new": True}, None], "a": "2024-05-01"}}


@pytest.mark.parametrize("payload", [json.dumps(PAYLOAD), json.dumps(PAYLOAD, indent=2) + "\n", PAYLOAD])
def test_signal_of_type_env_opens_the_session_and_is_preserved(payload: Any) -> None:
    intent = {"initial_input": payload, "hidden_intent": [{"content": "Only the new ones"}]}
    files = folders.files(folders.documents(t1=folders.task_yaml("t1", trigger={"type": "env"}, intent=intent)))

    reading = read_personas(files)

    assert (reading.errors, reading.warnings) == ([], [])
    [episode] = reading.episodes
    assert episode.tasks[0].trigger.kind == "webhook"
    assert json.dumps(json.loads(episode.tasks[0].initial_request)) == json.dumps(PAYLOAD)
    assert folders.parsed(write_persona(episode, reading.contents)) == folders.parsed(files)


def test_edited_task_keeps_its_trigger_type_env() -> None:
    document = folders.task_yaml("t1", trigger={"type": "env"})
    reading = read_personas(folders.files(folders.documents(t1=document)))
    [episode] = reading.episodes
    edited = episode.tasks[0].model_copy(update={"initial_request": "One paper.", "category": "B"})

    written = write_persona(episode.model_copy(update={"tasks": (edited, *episode.tasks[1:])}), reading.contents)

    [path] = [path for path in written if path.endswith("t1/task.yaml")]
    assert yaml.safe_load(written[path]) == document | {
        "intent": document["intent"] | {"initial_input": "One paper."},
        "studio": {"category": "B"},
    }


@pytest.mark.parametrize(
    ("kind", "payload"), [("user", PAYLOAD), ("env", [PAYLOAD]), ("env", {datetime.date(2024, 5, 1): "x"})]
)
def test_other_structured_opening_messages_are_errors(kind: str, payload: Any) -> None:
    intent = {"initial_input": payload, "hidden_intent": [{"content": "Only the new ones"}]}
    document = folders.task_yaml("t1", trigger={"type": kind}, intent=intent)
    reading = read_personas(folders.files(folders.documents(t1=document)))

    assert [problem.message for problem in reading.errors] == ["“initial_input” is not one text."]
