"""What calls changed in apps, taken together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from studio.domain import app_changes
from studio.domain.app_changes import RecordFieldChange, compare_app_data, net_changes
from studio.domain.diff import Difference


def effect(key: int, before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any]:
    return {"app": "simple_note", "table": "notes", "key": key, "before": before, "after": after}


def test_changes_of_a_record_are_taken_together_and_what_comes_and_goes_is_left_out():
    old, new = {"note_id": 1, "title": "Plan", "pinned": False}, {"note_id": 1, "title": "Plan", "pinned": True}
    newest = {**new, "title": "Weekly plan", "tags": ["a", "b"]}
    passing = {"note_id": 2, "title": "Draft"}

    [changed, deleted] = net_changes(
        [
            effect(1, old, new),
            effect(2, None, passing),
            effect(1, new, newest),
            effect(2, passing, None),
            effect(3, {"note_id": 3, "title": "Gone"}, None),
        ]
    )

    assert (changed.app, changed.noun, changed.name, changed.kind) == ("Simple Note", "note", "Weekly plan", "changed")
    assert changed.fields == (
        RecordFieldChange("title", "Plan", "Weekly plan"),
        RecordFieldChange("pinned", "no", "yes"),
        RecordFieldChange("tags", "", "a, b"),
    )
    assert (deleted.name, deleted.kind) == ("Gone", "deleted")
    assert net_changes([]) == []


def test_a_record_of_an_app_that_is_gone_is_shown_by_its_key():
    [added] = net_changes([{"app": "fax", "table": "pages", "key": 7, "before": None, "after": {"page": 7}}])

    assert (added.app, added.noun, added.name, added.kind) == ("fax", "pages", "7", "added")


def data(**tables: Any) -> bytes:
    return json.dumps(tables).encode()


def text_of(difference: Difference) -> str:
    marks = {"gone": "[-{}-]", "new": "[+{}+]", "same": "{}"}
    return "".join(marks[kind].format(text) for kind, text in difference.pieces)


RYE = {"note_id": 1, "title": "Rye", "content": "x" * 999, "owner": "ana@example.org"}
OATS = {"note_id": 2, "title": "Oats", "content": "", "owner": "ana@example.org"}
SPELT = {"title": "Spelt", "content": "y", "owner": "ana@example.org"}
ANA = {"username": "ana@example.org", "password": "secret"}


def test_a_persons_changes_of_app_data_are_told_by_table_and_record_in_full():
    old = data(accounts=[ANA], notes=[RYE, OATS])
    new = data(accounts=[ANA], notes=[{**OATS, "title": "Oats, rolled"}, {**SPELT, "tags": ["a", "b"]}])

    [notes] = compare_app_data("simple_note", old, new)

    assert (notes.field, notes.label) == ("notes", "Notes: 1 added, 1 removed, 1 changed")
    assert [(each.kind, each.label, text_of(each)) for each in notes.differences] == [
        ("removed", "Rye", f"[-note id: 1\ntitle: Rye\ncontent: {'x' * 999}\nowner: ana@example.org-]"),
        ("added", "Spelt", "[+note id: 3\ntitle: Spelt\ncontent: y\nowner: ana@example.org\ntags: a, b+]"),
        ("changed", "Oats, rolled", "title: Oats[+, rolled+]"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b"", data(accounts=[ANA]), [("Accounts: 1 added", ["ana@example.org"])]),
        (data(notes=[RYE, OATS]), data(notes=[OATS, RYE]), [("Notes: order changed", [])]),
        (data(notes=[RYE]), data(notes=[RYE]) + b"\n", [("", [""])]),
        (data(notes=[SPELT]), data(notes=[{"note_id": 1, **SPELT}]), [("", [""])]),
        (data(notes=[RYE]), b"{", [("", [""])]),
        (data(notes=[OATS]), data(notes=[OATS], last_numbers={"notes": 9}), [("Last numbers", [""])]),
    ],
)
def test_what_is_told_of_app_data_where_records_did_not_just_change(
    old: bytes, new: bytes, told: list[tuple[str, list[str]]]
):
    found = compare_app_data("simple_note", old, new)

    assert [(each.label, [row.label for row in each.differences]) for each in found] == told


def test_a_comparison_of_app_data_says_how_many_records_it_leaves_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(app_changes, "MAX_RECORDS", 2)
    notes = [{"note_id": number, **SPELT, "title": f"Note {number}"} for number in range(1, 6)]

    [told] = compare_app_data("simple_note", b"", data(notes=notes))

    assert [row.label for row in told.differences] == ["Note 1", "Note 2", ""]
    assert text_of(told.differences[-1]) == "And 3 more records."


def test_times_of_an_episode_are_compared_as_people_read_them():
    [clock] = compare_app_data(
        "clock",
        b'{"now": "2026-05-01T09:00", "days": 1}',
        b'{"now": "2026-05-01T09:00", "days": 2, "tasks": {"bread": "2026-05-03T10:00"}}',
    )

    assert text_of(clock.differences[0]) == (
        "first session: 2026-05-01 09:00\ndays from one session to the next: [-1-][+2\nbread: 2026-05-03 10:00+]"
    )


def test_times_that_are_written_differently_are_told_to_be_the_same():
    [clock] = compare_app_data("clock", b'{"now": "2026-05-01T09:00"}', b'{"now": "2026-05-01T09:00:00"}')

    assert text_of(clock.differences[0]) == "The file is written differently, and says the same."
