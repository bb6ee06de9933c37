"""What of a model's answer is believed: nothing that names what is not there, and no words unseen."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.assistance.answers import plain, read_answer, schema_of
from evaluation.assistance.proposals import Proposal
from evaluation.protocol.answers import UnusableAnswerError
from evaluation.protocol.assistance import KINDS
from tests.evaluation.assistance.builders import I1, U1, U2, a_material, assignment, split_into

GOOD = {
    "reword": {"request": "Please make Saturday's baking plan. There are 40 loaves.", "why": "Less."},
    "intents": {
        "intents": [
            {
                "content": "The oven stays off on Sundays.",
                "scope": "persistent",
                "from": "file",
                "ref": "notes.md",
                "quote": "The oven is cold on Sundays.",
                "why": "It says so.",
            }
        ]
    },
    "split": {"parts": ["The plan names the baker.", "The plan gives the start of each shift."], "why": "Two."},
    "rule": {"exact": True, "kind": "file_contains", "path": "plan.md", "text": "rye", "tool": "", "why": "Words."},
    "checklist": {"items": [{"criterion": "Rye is first.", "follows_from": [1], "quote": "Rye at 4:00", "why": ""}]},
    "leaks": {"given_away": [{"intent": 1, "degree": "wholly", "quote": "The rye goes in first.", "why": "Said."}]},
}


def read(kind: str, answer: object, **more: object) -> tuple[Proposal, ...]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return read_answer(assignment(kind, **more), a_material(), text)


def test_each_kind_of_answer_becomes_proposals_for_the_place_it_is_about():
    found = {kind: read(kind, answer) for kind, answer in GOOD.items()}

    assert {kind: [(one.field, one.uid) for one in rows] for kind, rows in found.items()} == {
        "reword": [("initial_request", "")],
        "intents": [("intents", "")],
        "split": [("checklist", I1), ("checklist", I1)],
        "rule": [("checklist", I1)],
        "checklist": [("checklist", "")],
        "leaks": [("intents", U1)],
    }
    assert found["intents"][0].recovery.model_dump() == {
        "kind": "file",
        "ref": "notes.md",
        "note": "The oven is cold on Sundays.",
    }
    assert found["checklist"][0].follows_from == (U1,) and found["checklist"][0].evidence == ("plan.md",)


def test_an_answer_in_a_fence_or_with_words_around_it_is_read():
    fenced = f"Here you are:\n```json\n{json.dumps(GOOD['split'])}\n```\nAnything else?"

    assert len(read("split", fenced)) == 2


@pytest.mark.parametrize(
    ("kind", "answer", "why"),
    [
        ("split", '{"parts": ["The plan names', "not JSON"),
        ("split", {"parts": ["One thing."]}, "from 2 to"),
        ("split", {"parts": ["One thing.", " One thing. "]}, "different parts"),
        ("split", {"parts": ["x" * 2001, "y"]}, "at most 2000"),
        ("split", {"parts": "The plan"}, "parts"),
        ("reword", {"request": "  "}, "empty"),
        ("reword", {"request": a_material().task.initial_request}, "what it was"),
        ("rule", GOOD["rule"] | {"path": "../../etc/passwd"}, "no path"),
        ("rule", GOOD["rule"] | {"kind": "run_code"}, "kind"),
        ("rule", GOOD["rule"] | {"kind": "tool_called", "tool": "delete_all"}, "no tool"),
        ("rule", GOOD["rule"] | {"text": " "}, "no text"),
        ("checklist", {"items": [{"criterion": "A.", "follows_from": [0]}]}, "no hidden intent 0"),
        ("checklist", {"items": [{"criterion": "A.", "follows_from": [3]}]}, "no hidden intent 3"),
        ("leaks", {"given_away": [{"intent": 9, "degree": "wholly", "quote": "rye"}]}, "no hidden intent 9"),
        ("leaks", {"given_away": [{"intent": 1, "degree": "very", "quote": "rye"}]}, "degree"),
        ("intents", {"intents": [GOOD["intents"]["intents"][0] | {"ref": "secret.md"}]}, "no file"),
        ("translate", {"texts": [{"id": "intents.9", "text": "x"}]}, "no text"),
        ("translate", {"texts": []}, "missing"),
        ("translate", {"texts": [{"id": "title", "text": "a"}, {"id": "title", "text": "b"}]}, "twice"),
        ("split", "", "empty"),
        ("split", "[" * 10_000, "not JSON"),
    ],
)
def test_what_names_nothing_of_the_task_is_refused_with_a_reason(kind, answer, why):
    with pytest.raises(UnusableAnswerError, match=why):
        read(kind, answer)


def test_a_leak_without_the_words_of_the_request_is_not_told():
    made_up = {"given_away": [{"intent": 2, "degree": "wholly", "quote": "Nobody works more than 8 hours."}]}

    assert read("leaks", made_up) == ()


def test_a_quote_that_stands_nowhere_is_dropped_and_the_row_says_so():
    item = GOOD["intents"]["intents"][0] | {"quote": "The oven belongs to the mayor."}

    (found,) = read("intents", {"intents": [item]})

    assert (found.supported, found.quote, found.recovery.note) == (False, "", "")


def test_what_is_there_already_is_not_proposed_again():
    same = {"intents": [GOOD["intents"]["intents"][0] | {"content": "the rye goes in BEFORE the rolls."}]}

    assert read("intents", same) == ()
    assert read("checklist", {"items": [{"criterion": "The plan has 40 loaves.", "follows_from": []}]}) == ()


def test_numbers_that_get_lost_are_remarked():
    assert read("reword", {"request": "Please make a baking plan."})[0].remarks == ("Not in it any more: 40.",)
    assert read("reword", GOOD["reword"])[0].remarks == ()


def test_no_exact_rule_is_an_answer_too():
    assert read("rule", {"exact": False, "kind": "", "path": "", "text": "", "tool": "", "why": "It is taste."}) == ()


def test_a_translation_gives_each_text_once_and_keeps_its_place():
    texts = {"title": "Brot", "intents.1": "Roggen zuerst.", "intents.2": "Niemand über 8 Stunden."}

    rows = read("translate", {"texts": [{"id": "intents.2", "text": "Niemand."}, {"id": "intents.1", "text": "Erst."}]},
                field="intents")  # fmt: skip

    assert [(one.uid, one.text) for one in rows] == [(U1, "Erst."), (U2, "Niemand.")]
    assert rows[1].remarks == ("Not in it any more: 8.",)
    with pytest.raises(UnusableAnswerError):
        read("translate", {"texts": [{"id": name, "text": text} for name, text in texts.items()]}, field="intents")


def test_a_translation_of_a_long_text_may_be_longer_than_it():
    long = "Rye. " * 5_000
    texts = [{"id": "initial_request", "text": long + "More of it."}]

    (row,) = read_answer(
        assignment("translate", field="initial_request"),
        a_material(initial_request=long),
        json.dumps({"texts": texts}),
    )

    assert len(row.text) > len(long)
    with pytest.raises(UnusableAnswerError, match="characters"):
        read("translate", {"texts": [{"id": "initial_request", "text": long}]}, field="initial_request")


def test_words_that_hide_or_turn_others_around_are_taken_out():
    assert plain("a\u202eb\u200bc\x00d\ufeff\r\n\te ") == "abcd\n\te"
    assert plain("\ud800") == "?"


def test_schemas_name_every_field_and_allow_no_other():
    for kind in KINDS:
        schema = dict(schema_of(kind))
        for part in (schema, *schema.get("$defs", {}).values()):
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
    assert "from" in schema_of("intents")["$defs"]["SaidIntent"]["properties"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "parts why request intents items texts given_away id text intent degree quote exact kind".split()
            )
            | st.text(max_size=8),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(kind=st.sampled_from(KINDS), answer=json_values)
def test_any_json_is_read_or_refused(kind, answer):
    try:
        rows = read(kind, json.dumps(answer))
    except UnusableAnswerError:
        rows = ()
    assert all(isinstance(one, Proposal) and "\0" not in one.text for one in rows)


@given(kind=st.sampled_from(KINDS), answer=st.text())
def test_any_text_is_read_or_refused(kind, answer):
    with contextlib.suppress(UnusableAnswerError):
        read(kind, answer)


@given(parts=st.lists(st.text(min_size=1, max_size=50), min_size=2, max_size=12, unique_by=lambda part: plain(part)))
def test_a_split_keeps_its_parts_in_order(parts):
    wanted = [plain(part) for part in parts if plain(part)]
    try:
        rows = read("split", split_into(*parts))
    except UnusableAnswerError:
        assert len(wanted) < 2
    else:
        assert [one.text for one in rows] == wanted
