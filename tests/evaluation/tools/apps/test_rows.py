"""Records that are parsed when they are asked for: whatever was read, changed and written, nothing is lost."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

import pytest

from evaluation.tools.apps import AppDataError, World
from evaluation.tools.apps.catalog import APPS
from evaluation.tools.apps.framework import rows
from evaluation.tools.apps.framework.rows import Shape
from tests.bench.apps import MAIN, data_of

HARD = [
    '"',
    "\\",
    '\\"',
    '"}],"emails":[{"email_id":1,',
    '},{"note_id":',
    "Zoë 🌊 \u2028",
    "\n\t",
    '",' + "\\" * 3 + '"',
]


def written(app: str, count: int = 40) -> bytes:
    return World({app: data_of(app, count)}).state(app).to_json()


@pytest.mark.parametrize("app", APPS)
def test_what_a_session_left_is_taken_over_without_being_parsed(app: str):
    content = written(app)
    parsed = APPS[app].new_state(json.loads(content))
    state = APPS[app].state_type()

    assert state.load_written(content)

    table, key, _ = MAIN[app]
    assert state.tables[table]._rows.shared._all is None, "nothing is parsed yet"
    some = next(iter(json.loads(content)[table]))[key]
    assert state.tables[table].find(some) == parsed.tables[table].find(some)
    for name, each in parsed.tables.items():
        assert list(state.tables[name]) == list(each)
        assert (len(state.tables[name]), state.tables[name].last) == (len(each), each.last)


@pytest.mark.parametrize("few", [0, 3, 100])
@pytest.mark.parametrize("seed", range(6))
def test_changed_records_are_written_as_if_all_were_written_anew(seed: int, few: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rows, "FEW", few)
    monkeypatch.setattr(rows, "MANY", 5)
    chance = random.Random(seed)
    notes = [
        {"owner": "ada@example.com", "title": chance.choice(HARD), "content": chance.choice(HARD)} for _ in range(9)
    ]
    files = [{"file_path": f"/home/ada/{each} {number}", "owner": "ada@example.com", "content": each}
             for number, each in enumerate(HARD)]  # fmt: skip
    accounts = [{"username": "ada@example.com", "password": "x"}]
    seeds = {
        "simple_note": {"accounts": accounts, "notes": notes},
        "file_system": {"accounts": accounts, "files": files},
    }
    world = World(World.from_data(seeds).snapshot())
    for app, name in (("simple_note", "notes"), ("file_system", "files")):
        content = world.state(app).to_json()
        for _ in range(4):
            state = APPS[app].state_type()
            assert state.load_written(content)
            table = state.tables[name]
            plain = {
                getattr(record, table.key): record for record in APPS[app].new_state(json.loads(content)).tables[name]
            }
            with state.transaction():
                for key in chance.sample(list(plain), min(3, len(plain))):
                    if chance.random() < 0.5:
                        table.remove(key)
                        del plain[key]
                    else:
                        plain[key] = table.put(table.record_type(**{**vars(plain[key]), "owner": chance.choice(HARD)}))
                if chance.random() < 0.7:
                    key = table.next_id() if name == "notes" else f"/new {chance.random()} {chance.choice(HARD)}"
                    plain[key] = table.put(table.record_type(key, "ada@example.com", chance.choice(HARD)))
            content = state.to_json()
            assert list(APPS[app].new_state(json.loads(content)).tables[name]) == list(plain.values()) == list(table)


@pytest.mark.parametrize(
    "content",
    [b"{}", b'{"last_numbers":{}}', b'{"notes": [],"last_numbers":{}}', b'{"notes":[],"last_numbers":{"notes":1}}'],
)
def test_what_people_wrote_is_read_as_before(content: bytes):
    assert not APPS["simple_note"].state_type().load_written(content)
    assert not list(World({"simple_note": content}).state("simple_note").tables["notes"])


def test_numbers_that_are_none_are_refused_as_in_what_people_wrote():
    content = written("simple_note", 3).replace(b'"last_numbers":{', b'"last_numbers":{"x":"1",')

    with pytest.raises(AppDataError, match="whole number"):
        World({"simple_note": content}).state("simple_note")


def test_a_damaged_record_is_named_when_it_is_asked_for():
    content = written("simple_note", 3).replace(b'"note_id":2', b'"note_id":2,"colour":[')

    with pytest.raises(AppDataError, match="cannot be read"):
        World({"simple_note": content}).state("simple_note").tables["notes"].find(2)


def test_a_type_whose_parts_begin_with_its_key_is_refused():
    @dataclass(frozen=True)
    class Whole:
        part_id: int
        parts: tuple[Part, ...] = ()

    with pytest.raises(TypeError, match="begins with its key"):
        Shape(Whole)


@dataclass(frozen=True)
class Part:
    part_id: int
