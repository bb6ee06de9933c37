from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.domain.episode import EpisodeSpec
from studio.domain.pibench import read_personas, write_persona
from studio.domain.pibench.encoding import decode
from studio.domain.pibench.yaml_reader import parse
from studio.domain.pibench.yaml_writer import dump
from studio.domain.problems import Report
from tests.studio.domain.pibench import folders

MODEST = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@MODEST
@given(folders.wild_personas())
def test_a_persona_comes_back_document_by_document(found: dict[str, bytes]) -> None:
    reading = read_personas(found)
    assert reading.errors == []

    written = {
        path: data for episode in reading.episodes for path, data in write_persona(episode, reading.contents).items()
    }

    assert folders.parsed(written) == folders.parsed(found)


@MODEST
@given(folders.wild_personas())
def test_what_is_read_survives_being_stored_as_json(found: dict[str, bytes]) -> None:
    [episode] = read_personas(found).episodes

    assert EpisodeSpec.model_validate_json(episode.model_dump_json()).content_hash() == episode.content_hash()


@MODEST
@given(st.dictionaries(folders.key, folders.value, max_size=4))
def test_any_document_is_written_so_that_it_reads_the_same(document: dict[object, object]) -> None:
    report = Report("")
    node = parse(folders.dump(document), report)
    assert node is not None and not report.errors

    assert repr(decode(node.value)) == folders.parsed({"a.yaml": dump(node.value)})["a.yaml"]


def test_both_real_personas_come_back_document_by_document(pibench_data: Path) -> None:
    found = {
        f"data/{path.relative_to(pibench_data).as_posix()}": path.read_bytes()
        for path in pibench_data.rglob("*")
        if path.is_file()
    }
    reading = read_personas(found)
    assert reading.errors == []

    written: dict[str, bytes] = {}
    for episode in reading.episodes:
        written |= write_persona(episode, reading.contents)

    assert folders.parsed(written) == folders.parsed(found)
    again = read_personas(written)
    assert [e.content_hash() for e in again.episodes] == [e.content_hash() for e in reading.episodes]


def test_a_long_text_is_written_as_a_block() -> None:
    assert dump({"a": "First line\n\nSecond: line\n"}) == b"a: |\n  First line\n\n  Second: line\n"
