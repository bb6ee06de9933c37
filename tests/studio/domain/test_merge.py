"""Merging two people's edits of one task."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.base import Content
from studio.domain.merge import merge, take_value, value_at
from studio.domain.task import ChecklistItem, Dependency, ExpectedArtifact, HiddenIntent, TaskSpec, Trigger

texts = st.sampled_from(["rye", "rolls", "salt", "sourdough", ""])
names = texts.filter(bool)  # a line on the page cannot be empty
keys = st.sampled_from(["rye", "", "a|b", "|"])
uids = ["a", "b", "c", "d"]
references = st.sampled_from([None, Content(sha256="aa", size=1), Content(sha256="bb", size=2)])


@st.composite
def tasks(draw):
    intents = tuple(HiddenIntent(uid=uid, content=draw(texts)) for uid in draw(st.permutations(uids))[: draw(count)])
    items = tuple(
        ChecklistItem(
            uid=f"k{uid}",
            criterion=draw(texts),
            weight=draw(st.sampled_from([1.0, 2.0])),
            follows_from=tuple(draw(st.lists(st.sampled_from(uids), unique=True, max_size=2))),
        )
        for uid in draw(st.permutations(uids))[: draw(count)]
    )
    return TaskSpec(
        task_id="bread",
        title=draw(texts),
        initial_request=draw(texts),
        intents=intents,
        checklist=items,
        files_read=tuple(draw(st.lists(names, max_size=3))),
        expected_artifacts=tuple(
            ExpectedArtifact(path=path, note=draw(texts), reference=draw(references))
            for path in draw(st.lists(names, unique=True, max_size=2))
        ),
        depends_on=tuple(Dependency(task_id=name) for name in draw(st.lists(names, unique=True, max_size=2))),
        metadata=draw(st.dictionaries(keys, texts, max_size=3)),
        trigger=Trigger(payload=draw(st.dictionaries(keys, texts, max_size=2))),
    )


count = st.integers(0, 4)


@settings(max_examples=120, deadline=None)
@given(base=tasks(), other=tasks())
def test_edit_of_one_side_is_taken_unchanged(base, other):
    for merged in (merge(base, other, base), merge(base, base, other), merge(base, other, other)):
        assert merged.spec == other
        assert merged.conflicts == ()


@settings(max_examples=150, deadline=None)
@given(base=tasks(), theirs=tasks(), mine=tasks())
def test_no_edit_is_lost(base, theirs, mine):
    merged = merge(base, theirs, mine)
    merged_json = json.dumps(merged.spec.to_json())
    conflicts_json = json.dumps([conflict.theirs for conflict in merged.conflicts])

    for name in ("title", "initial_request"):
        base_value, their_value, my_value = getattr(base, name), getattr(theirs, name), getattr(mine, name)
        if my_value != base_value:
            assert getattr(merged.spec, name) == my_value
        if their_value not in (base_value, my_value):
            assert their_value in (
                getattr(merged.spec, name),
                *(conflict.theirs for conflict in merged.conflicts if conflict.path == (name,)),
            )
    before = {intent.uid: intent for intent in base.intents}
    for side in (theirs, mine):
        for intent in side.intents:
            if before.get(intent.uid) != intent:
                assert f'"{intent.uid}"' in merged_json
                assert json.dumps(intent.content) in merged_json + conflicts_json
    ids = [intent.uid for intent in merged.spec.intents]
    assert len(set(ids)) == len(ids)


@settings(max_examples=100, deadline=None)
@given(base=tasks(), theirs=tasks(), mine=tasks())
def test_conflicts_are_the_same_from_both_sides(base, theirs, mine):
    merged, mirrored = merge(base, theirs, mine), merge(base, mine, theirs)

    assert {c.path for c in merged.conflicts} == {c.path for c in mirrored.conflicts}


BASE = TaskSpec(
    task_id="bread",
    title="Bread",
    initial_request="Make the plan.",
    intents=(HiddenIntent(uid="1", content="Rye first."), HiddenIntent(uid="2", content="No salt.")),
)


def with_intents(*intents: HiddenIntent) -> TaskSpec:
    return BASE.model_copy(update={"intents": intents})


def test_different_fields_and_rows_merge_silently():
    first, second = BASE.intents
    theirs = with_intents(second, first, HiddenIntent(uid="3", content="By nine."))
    mine = with_intents(first.model_copy(update={"content": "The rye goes first."}), second).model_copy(
        update={"title": "Bread for Saturday"}
    )

    merged = merge(BASE, theirs, mine)

    assert merged.conflicts == ()
    assert merged.spec.title == "Bread for Saturday"
    assert [intent.content for intent in merged.spec.intents] == ["No salt.", "The rye goes first.", "By nine."]


def test_edits_of_different_parts_of_a_row_do_not_conflict():
    first, second = BASE.intents
    theirs = with_intents(first.model_copy(update={"scope": "persistent"}), second)
    mine = with_intents(first.model_copy(update={"content": "Rye at five."}), second)

    merged = merge(BASE, theirs, mine)

    assert merged.conflicts == ()
    assert (merged.spec.intents[0].scope, merged.spec.intents[0].content) == ("persistent", "Rye at five.")


def test_same_text_edited_by_both_is_a_conflict():
    first, second = BASE.intents
    theirs = with_intents(first.model_copy(update={"content": "Rye at four."}), second)
    mine = with_intents(first.model_copy(update={"content": "Rye at five."}), second)

    merged = merge(BASE, theirs, mine)

    assert merged.spec.intents[0].content == "Rye at five."
    [conflict] = merged.conflicts
    assert conflict.path == ("intents", "1", "content")
    assert (conflict.base, conflict.theirs, conflict.mine) == ("Rye first.", "Rye at four.", "Rye at five.")


def test_row_removed_by_one_and_edited_by_the_other_is_a_conflict():
    first, second = BASE.intents
    mine = with_intents(first.model_copy(update={"content": "Rye at five."}), second)

    for merged in (merge(BASE, with_intents(second), mine), merge(BASE, mine, with_intents(second))):
        assert [intent.content for intent in merged.spec.intents] == ["Rye at five.", "No salt."]
        assert [conflict.path for conflict in merged.conflicts] == [("intents", "1")]


@settings(max_examples=100, deadline=None)
@given(base=tasks(), theirs=tasks(), mine=tasks())
def test_taking_all_their_values_resolves_every_conflict(base, theirs, mine):
    merged = merge(base, theirs, mine)
    spec = merged.spec

    for conflict in merged.conflicts:
        spec = take_value(spec, theirs, conflict.path)
        assert value_at(spec, conflict.path) == value_at(theirs, conflict.path) == conflict.theirs
    assert merge(base, theirs, spec).conflicts == ()
