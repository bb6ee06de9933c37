"""What calls changed in apps, taken together."""

from __future__ import annotations

from typing import Any

from studio.domain.app_changes import RecordFieldChange, net_changes


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
