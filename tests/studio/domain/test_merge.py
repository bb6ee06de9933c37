"""Two people in one task: what each wrote is there afterwards, and where both wrote, both are told."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.base import Content
from studio.domain.merge import merge, take_value, value_at
from studio.domain.task import ChecklistItem, Dependency, ExpectedArtifact, HiddenIntent, TaskSpec, Trigger

words = st.sampled_from(["rye", "rolls", "salt", "sourdough", ""])
names = words.filter(bool)  # of lines: an empty one cannot be written on the page
keys = st.sampled_from(["rye", "", "a|b", "|"])
uids = ["a", "b", "c", "d"]
references = st.sampled_from([None, Content(sha256="aa", size=1), Content(sha256="bb", size=2)])


@st.composite
def tasks(draw):
    intents = tuple(HiddenIntent(uid=uid, content=draw(words)) for uid in draw(st.permutations(uids))[: draw(count)])
    items = tuple(
        ChecklistItem(
            uid=f"k{uid}",
            criterion=draw(words),
            weight=draw(st.sampled_from([1.0, 2.0])),
            follows_from=tuple(draw(st.lists(st.sampled_from(uids), unique=True, max_size=2))),
        )
        for uid in draw(st.permutations(uids))[: draw(count)]
    )
    return TaskSpec(
        task_id="bread",
        title=draw(words),
        initial_request=draw(words),
        intents=intents,
        checklist=items,
        files_read=tuple(draw(st.lists(names, max_size=3))),
        expected_artifacts=tuple(
            ExpectedArtifact(path=path, note=draw(words), reference=draw(references))
            for path in draw(st.lists(names, unique=True, max_size=2))
        ),
        depends_on=tuple(Dependency(task_id=name) for name in draw(st.lists(names, unique=True, max_size=2))),
        metadata=draw(st.dictionaries(keys, words, max_size=3)),
        trigger=Trigger(payload=draw(st.dictionaries(keys, words, max_size=2))),
    )


count = st.integers(0, 4)


@settings(max_examples=120, deadline=None)
@given(base=tasks(), other=tasks())
def test_what_only_one_changed_is_taken_as_it_is(base, other):
    for merged in (merge(base, other, base), merge(base, base, other), merge(base, other, other)):
        assert merged.spec == other
        assert merged.conflicts == ()


@settings(max_examples=150, deadline=None)
@given(base=tasks(), theirs=tasks(), mine=tasks())
def test_no_word_of_either_is_lost(base, theirs, mine):
    merged = merge(base, theirs, mine)
    kept = json.dumps(merged.spec.to_json())
    told = json.dumps([conflict.theirs for conflict in merged.conflicts])

    for name in ("title", "initial_request"):
        was, is_, own = getattr(base, name), getattr(theirs, name), getattr(mine, name)
        if own != was:
            assert getattr(merged.spec, name) == own
        if is_ not in (was, own):
            assert is_ in (
                getattr(merged.spec, name),
                *(one.theirs for one in merged.conflicts if one.path == (name,)),
            )
    before = {intent.uid: intent for intent in base.intents}
    for side in (theirs, mine):
        for intent in side.intents:
            if before.get(intent.uid) != intent:
                assert f'"{intent.uid}"' in kept
                assert json.dumps(intent.content) in kept + told
    ids = [intent.uid for intent in merged.spec.intents]
    assert len(set(ids)) == len(ids)


@settings(max_examples=100, deadline=None)
@given(base=tasks(), theirs=tasks(), mine=tasks())
def test_who_is_second_matters_only_where_both_changed(base, theirs, mine):
    one, other = merge(base, theirs, mine), merge(base, mine, theirs)

    assert {c.path for c in one.conflicts} == {c.path for c in other.conflicts}


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


def test_one_row_changed_in_two_parts_by_two_is_no_conflict():
    first, second = BASE.intents
    theirs = with_intents(first.model_copy(update={"scope": "persistent"}), second)
    mine = with_intents(first.model_copy(update={"content": "Rye at five."}), second)

    merged = merge(BASE, theirs, mine)

    assert merged.conflicts == ()
    assert (merged.spec.intents[0].scope, merged.spec.intents[0].content) == ("persistent", "Rye at five.")


def test_the_same_sentence_changed_by_both_is_told_with_both():
    first, second = BASE.intents
    theirs = with_intents(first.model_copy(update={"content": "Rye at four."}), second)
    mine = with_intents(first.model_copy(update={"content": "Rye at five."}), second)

    merged = merge(BASE, theirs, mine)

    assert merged.spec.intents[0].content == "Rye at five."
    [conflict] = merged.conflicts
    assert conflict.path == ("intents", "1", "content")
    assert (conflict.base, conflict.theirs, conflict.mine) == ("Rye first.", "Rye at four.", "Rye at five.")


def test_a_row_that_one_removes_and_the_other_changes_stays_and_is_told():
    first, second = BASE.intents
    mine = with_intents(first.model_copy(update={"content": "Rye at five."}), second)

    for merged in (merge(BASE, with_intents(second), mine), merge(BASE, mine, with_intents(second))):
        assert [intent.content for intent in merged.spec.intents] == ["Rye at five.", "No salt."]
        assert [one.path for one in merged.conflicts] == [("intents", "1")]


@settings(max_examples=100, deadline=None)
@given(base=tasks(), theirs=tasks(), mine=tasks())
def test_who_takes_all_of_theirs_has_nothing_left_to_choose(base, theirs, mine):
    merged = merge(base, theirs, mine)
    spec = merged.spec

    for conflict in merged.conflicts:
        spec = take_value(spec, theirs, conflict.path)
        assert value_at(spec, conflict.path) == value_at(theirs, conflict.path) == conflict.theirs
    assert merge(base, theirs, spec).conflicts == ()
