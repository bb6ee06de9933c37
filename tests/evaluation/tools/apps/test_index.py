"""Looking through thousands of records by an index gives what looking through each of them would."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from evaluation.tools.apps.framework import matches, rank, search, tables
from evaluation.tools.apps.framework.state import AppState
from evaluation.tools.apps.simple_note.state import Note, SimpleNoteState

WORDS = ("lake", "Lakeside", "river walk", "bread", "map", "Äpfel", "")


def texts(note: Note) -> tuple[str, ...]:
    return note.title, note.content


def latest(note: Note) -> tuple[str, int]:
    return note.updated_at, note.note_id


def naive_rank(query: str, notes: list[Note]) -> list[Note]:
    found = [note for note in notes if matches(query, *texts(note))]
    return sorted(found, key=lambda note: query.strip().lower() not in note.title.lower())


def assert_same_as_one_by_one(state: SimpleNoteState) -> None:
    notes = list(state.notes)
    for query in ("lake", "la br", "äp", "walk RIVER", "nothing", "", "!?"):
        assert search(query, state.notes, texts) == [note for note in notes if matches(query, *texts(note))]
        assert rank(query, state.notes, texts) == naive_rank(query, notes)
    for owner in ("ada", "bo", "nobody"):
        assert state.notes.having("owner", owner) == [note for note in notes if note.owner == owner]
    assert list(state.notes.latest_first(latest)) == sorted(notes, key=latest, reverse=True)


def change_something(state: SimpleNoteState, chance: random.Random) -> None:
    keys = [note.note_id for note in state.notes]
    number = chance.choice([*keys, state.notes.next_id()])
    if number in state.notes and chance.random() < 0.4:
        state.notes.remove(number)
    else:
        title, content = chance.choice(WORDS), chance.choice(WORDS)
        state.notes.put(Note(number, chance.choice(("ada", "bo")), title, content, updated_at=str(chance.randrange(5))))


def fail_after_a_change(state: SimpleNoteState, chance: random.Random) -> None:
    with state.transaction():
        change_something(state, chance)
        raise KeyError


@pytest.mark.parametrize("most", [3, 500])
@pytest.mark.parametrize("seed", range(4))
def test_index_follows_every_change_and_what_is_undone(seed: int, most: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables, "MOST_CHANGES", most)
    chance = random.Random(seed)
    state = SimpleNoteState()
    state.load({"notes": [{"note_id": n, "owner": "ada", "title": WORDS[n % len(WORDS)]} for n in range(1, 9)]})
    assert_same_as_one_by_one(state)
    other: AppState = state.copy()

    for _ in range(30):
        with state.transaction():
            change_something(state, chance)
            change_something(state, chance)
            assert_same_as_one_by_one(state)
        before = list(state.notes)
        with pytest.raises(KeyError):
            fail_after_a_change(state, chance)
        assert list(state.notes) == before
        assert_same_as_one_by_one(state)

    assert isinstance(other, SimpleNoteState)
    assert len(other.notes) == 8
    assert_same_as_one_by_one(other)


def test_texts_that_look_into_another_table_follow_it():
    state = SimpleNoteState()
    state.load(
        {"notes": [{"note_id": 1, "owner": "ada@x.org", "title": "One"}], "accounts": [{"username": "ada@x.org"}]}
    )

    def with_owner(note: Note) -> tuple[str, ...]:
        return note.title, state.accounts.get(note.owner).name

    def found(query: str) -> int:
        look: Callable[[Note], tuple[str, ...]] = with_owner
        return len(search(query, state.notes, look, state.accounts))

    assert (found("lovelace"), found("ada")) == (0, 1)
    with state.transaction():
        account = state.accounts.get("ada@x.org")
        state.accounts.put(type(account)("ada@x.org", first_name="Countess", last_name="Lovelace"))
    assert (found("lovelace"), found("ada")) == (1, 0)
