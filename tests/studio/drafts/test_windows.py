"""Merging what one user typed in two windows."""

from __future__ import annotations

import pytest

from studio.domain.merge import merge_lines
from studio.drafts.windows import MergedText, merge_text, same_text


def test_changed_lines_that_do_not_touch_are_merged():
    assert merge_lines("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nD\ne") == "A\nb\nc\nD\ne"


@pytest.mark.parametrize("theirs", ["A\nb", "a\nB", "x\na\nb"])
def test_changes_of_the_same_or_neighbouring_lines_are_not_merged(theirs):
    assert merge_lines("a\nb", theirs, "mine\nb") is None


def test_the_same_change_on_both_sides_is_made_once():
    assert merge_lines("a\nb\nc", "a\nb\nC", "A\nb\nC") == "A\nb\nC"


def test_fields_changed_in_different_windows_are_both_kept():
    base = {"title": ["Old"], "description": ["Old"]}

    merged = merge_text(base, base | {"title": ["Theirs"]}, base | {"description": ["Mine"]})

    assert merged == MergedText({"title": ["Theirs"], "description": ["Mine"]}, ())


def test_a_field_changed_in_both_windows_is_a_conflict_that_shows_this_window():
    merged = merge_text({"title": ["Old"]}, {"title": ["Theirs"]}, {"title": ["Mine"]})

    assert merged == MergedText({"title": ["Mine"]}, ("title",))


def test_rows_added_in_both_windows_stay_and_removed_ones_go():
    base = {"intents": ["a", "b"], "intents.a.content": ["A"], "intents.b.content": ["B"]}
    theirs = base | {"intents": ["a", "b", "t"], "intents.t.content": ["T"]}
    mine = {"intents": ["b", "m"], "intents.b.content": ["B"], "intents.m.content": ["M"]}

    merged = merge_text(base, theirs, mine)

    assert (merged.text["intents"], merged.text["intents.t.content"], merged.conflicts) == (["b", "m", "t"], ["T"], ())


def test_a_row_edited_in_one_window_survives_its_removal_in_the_other():
    kept = {"intents.b.content": ["B"]}
    base = {"intents": ["a", "b"], "intents.a.content": ["A"], "intents.a.source": ["x"]} | kept
    edited, removed = base | {"intents.a.content": ["Changed"]}, {"intents": ["b"]} | kept

    assert merge_text(base, edited, removed).text == merge_text(base, removed, edited).text == edited


def test_a_box_ticked_in_one_window_is_ticked():
    assert merge_text({}, {"hidden": ["on"]}, {}).text == {"hidden": ["on"]}


def test_the_version_and_the_note_do_not_make_two_texts_differ():
    assert same_text({"title": ["A"], "note": ["x"]}, {"title": ["A"], "base_version": ["2"]})
    assert not same_text({"title": ["A"]}, {"title": ["B"]})
