"""Reading answers: unknown names are rejected, and quotes are verified."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.assistance.answers import read_answer, schema_of
from evaluation.assistance.answers.base import clean_text
from evaluation.assistance.answers.rules import RuleFields, read_rule
from evaluation.assistance.checks import accept_all
from evaluation.assistance.proposals import ProposedChange, apply_changes
from evaluation.protocol.answers import UnusableAnswerError
from evaluation.protocol.assistance import KINDS
from studio.domain.app_data import AppCard, RecordKind
from studio.domain.task import ChecklistItem, ExactCheck
from studio.domain.tool_catalog import ToolCard, ToolParameter
from tests.evaluation.assistance.builders import I1, U1, U2, a_material, a_request, split_into

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


def read(kind: str, answer: object, **more: object) -> tuple[ProposedChange, ...]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return read_answer(a_request(kind, **more), a_material(), text)


def test_each_kind_of_answer_changes_the_right_field_and_row():
    changes = {kind: read(kind, answer) for kind, answer in GOOD.items()}

    assert {kind: [(change.field, change.uid) for change in rows] for kind, rows in changes.items()} == {
        "reword": [("initial_request", "")],
        "intents": [("intents", "")],
        "split": [("checklist", I1), ("checklist", I1)],
        "rule": [("checklist", I1)],
        "checklist": [("checklist", "")],
        "leaks": [("intents", U1)],
    }
    assert changes["intents"][0].recovery.model_dump() == {
        "kind": "file",
        "ref": "notes.md",
        "note": "The oven is cold on Sundays.",
    }
    assert changes["checklist"][0].follows_from == (U1,) and changes["checklist"][0].evidence == ("plan.md",)


def test_answer_in_a_code_fence_with_text_around_it_is_read():
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
        ("reword", {"request": a_material().task.initial_request}, "unchanged"),
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
def test_unusable_answer_is_rejected_with_a_reason(kind, answer, why):
    with pytest.raises(UnusableAnswerError, match=why):
        read(kind, answer)


def test_a_quote_that_is_not_in_the_request_is_left_out_of_its_leak():
    made_up = {"given_away": [{"intent": 2, "degree": "wholly", "quote": "Nobody works more than 8 hours."}]}

    [leak] = read("leaks", made_up)

    assert (leak.degree, leak.quote, leak.supported) == ("wholly", "", False)


def test_quote_that_does_not_occur_is_dropped_and_marked_unsupported():
    item = GOOD["intents"]["intents"][0] | {"quote": "The oven belongs to the mayor."}

    (changes,) = read("intents", {"intents": [item]})

    assert (changes.supported, changes.quote, changes.recovery.note) == (False, "", "")


def test_existing_rows_are_not_proposed_again():
    same = {"intents": [GOOD["intents"]["intents"][0] | {"content": "the rye goes in BEFORE the rolls."}]}

    assert read("intents", same) == ()
    assert read("checklist", {"items": [{"criterion": "The plan has 40 loaves.", "follows_from": []}]}) == ()


def test_lost_numbers_are_noted():
    assert read("reword", {"request": "Please make a baking plan."})[0].notes == ("Not in it any more: 40.",)
    assert read("reword", GOOD["reword"])[0].notes == ()


def test_model_may_answer_that_no_exact_rule_exists():
    [row] = read("rule", {"exact": False, "kind": "", "path": "", "text": "", "tool": "", "why": "It is taste."})

    assert (row.rule, row.why) == (None, "It is taste.")


@pytest.mark.parametrize(
    ("criterion", "rule", "lost"),
    [
        ("The plan gives apixaban 2.5 mg.", {"text": "2.5 mg"}, "apixaban"),
        ("The plan gives apixaban 2.5 mg.", {"text": "apixaban 2.5 mg"}, ""),
        ("The plan gives apixaban 2.5 mg.", {"text": "apixaban 12.5 mg"}, "2.5"),
        ("The plan does not mention rye.", {"text": "rye"}, "does not"),
        ("The plan does not mention rye.", {"kind": "file_lacks", "text": "rye"}, ""),
        ("The plan names rye first.", {"text": "rye"}, "first"),
    ],
)
def test_a_models_rule_that_would_lose_words_is_not_proposed(criterion, rule, lost):
    material = a_material(checklist=(ChecklistItem(uid=I1, criterion=criterion),))

    [row] = read_answer(a_request("rule"), material, json.dumps(GOOD["rule"] | rule))

    assert (row.rule is None) == bool(lost)
    assert not lost or f"which would lose “{lost}”." in row.why


def test_an_unknown_reference_costs_its_row_and_not_the_answer():
    good = GOOD["intents"]["intents"][0]
    leak = GOOD["leaks"]["given_away"][0]

    items = [{"criterion": "A.", "follows_from": [9]}, {"criterion": "B.", "follows_from": []}]

    rows = [
        read("intents", {"intents": [good | {"content": "Other.", "ref": "secret.md"}, good]}),
        read("checklist", {"items": items}),
        read("leaks", {"given_away": [leak | {"intent": 9}, leak]}),
    ]

    assert [[change.text for change in changes] for changes in rows] == [
        [good["content"]],
        ["B."],
        ["The rye goes in before the rolls."],
    ]


def test_a_row_of_the_wrong_shape_costs_itself_and_not_the_answer():
    good = GOOD["intents"]["intents"][0]
    rows = [good | {"from": "profile"}, good, {"content": 3}]

    assert [change.text for change in read("intents", {"intents": rows})] == [good["content"]]
    with pytest.raises(UnusableAnswerError, match="from"):
        read("intents", {"intents": rows[:1]})


MESSAGES = AppCard("gmail", "Gmail", "", kinds=(RecordKind("sent", "message", ("subject", "to")),))
SEND = ToolCard("mcp_appworld_gmail__send_email", parameters=(ToolParameter("subject", "string", True),), known=True)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            {"kind": "tool_called", "tool": SEND.name, "values": "subject contains rye"},
            {"tool": SEND.name, "containing": {"subject": "rye"}},
        ),
        (
            {"kind": "record_exists", "table": "gmail.sent", "values": "subject = Rye"},
            {"app": "gmail", "table": "sent", "arguments": {"subject": "Rye"}},
        ),
        (
            {"kind": "record_gone", "table": "gmail.sent", "values": "subject = Rye"},
            {"app": "gmail", "table": "sent", "arguments": {"subject": "Rye"}},
        ),
        ({"kind": "nothing_else_changed", "table": "gmail"}, {"app": "gmail"}),
        ({"kind": "file_exists", "path": "plan.md"}, {"path": "plan.md"}),
        ({"kind": "tool_called", "tool": SEND.name, "values": "colour = red"}, "takes no"),
        ({"kind": "record_exists", "table": "gmail.secrets", "values": "to = a"}, "no records"),
        ({"kind": "record_exists", "table": "gmail.sent", "values": "colour = red"}, "has no “colour”"),
        ({"kind": "record_exists", "table": "gmail.sent", "values": ""}, "says nothing"),
        ({"kind": "nothing_else_changed", "table": "phone"}, "no app"),
    ],
)
def test_a_rule_of_every_kind_is_read_and_names_only_what_there_is(rule, expected, monkeypatch):
    monkeypatch.setattr("studio.domain.rule_values.record_kinds", lambda: {"gmail": MESSAGES})
    plain = a_material()
    material = replace(
        plain,
        persona=plain.persona.model_copy(update={"tools": (SEND.name,)}),
        tools=(SEND,),
        apps={"gmail": MESSAGES},
    )

    if isinstance(expected, str):
        with pytest.raises(UnusableAnswerError, match=expected):
            read_rule(RuleFields(**rule), material)
    else:
        assert read_rule(RuleFields(**rule), material) == ExactCheck(kind=rule["kind"], **expected)


def test_a_proposed_item_has_its_rule_unless_that_loses_words_of_it():
    rule = {"kind": "file_contains", "path": "plan.md", "text": "rye"}
    items = [
        {"criterion": "plan.md contains “rye”.", "rule": rule},
        {"criterion": "plan.md contains “rye” first.", "rule": rule},
        {"criterion": "The plan is kind.", "rule": None},
    ]

    rows = read("checklist", {"items": items})

    assert [change.rule.text if change.rule else None for change in rows] == ["rye", None, None]
    assert "would lose “first”" in rows[1].notes[0]
    added = apply_changes(a_material().task, accept_all(0, rows)).checklist[-3:]
    assert [item.grader for item in added] == ["rule", "rubric", "rubric"]


def test_translation_must_cover_each_text_exactly_once():
    texts = {"title": "Brot", "intents.1": "Roggen zuerst.", "intents.2": "Niemand über 8 Stunden."}

    rows = read("translate", {"texts": [{"id": "intents.2", "text": "Niemand."}, {"id": "intents.1", "text": "Erst."}]},
                field="intents")  # fmt: skip

    assert [(change.uid, change.text) for change in rows] == [(U1, "Erst."), (U2, "Niemand.")]
    assert rows[1].notes == ("Not in it any more: 8.",)
    with pytest.raises(UnusableAnswerError):
        read("translate", {"texts": [{"id": name, "text": text} for name, text in texts.items()]}, field="intents")


def test_translation_may_be_longer_than_the_original():
    long = "Rye. " * 5_000
    texts = [{"id": "initial_request", "text": long + "More of it."}]

    (row,) = read_answer(
        a_request("translate", field="initial_request"),
        a_material(initial_request=long),
        json.dumps({"texts": texts}),
    )

    assert len(row.text) > len(long)
    with pytest.raises(UnusableAnswerError, match="characters"):
        read("translate", {"texts": [{"id": "initial_request", "text": long}]}, field="initial_request")


def test_control_and_bidirectional_characters_are_removed():
    assert clean_text("a\u202eb\u200bc\x00d\ufeff\r\n\te ") == "abcd\n\te"
    assert clean_text("\ud800") == "?"


def test_schemas_require_every_field_and_allow_no_other():
    for kind in KINDS:
        schema = dict(schema_of(kind))
        for part in (schema, *schema.get("$defs", {}).values()):
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
    assert "from" in schema_of("intents")["$defs"]["ProposedIntent"]["properties"]


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


@pytest.mark.slow
@given(kind=st.sampled_from(KINDS), answer=json_values)
def test_any_json_is_read_or_rejected(kind, answer):
    try:
        rows = read(kind, json.dumps(answer))
    except UnusableAnswerError:
        rows = ()
    assert all(isinstance(change, ProposedChange) and "\0" not in change.text for change in rows)


@given(kind=st.sampled_from(KINDS), answer=st.text())
def test_any_text_is_read_or_rejected(kind, answer):
    with contextlib.suppress(UnusableAnswerError):
        read(kind, answer)


@given(
    parts=st.lists(st.text(min_size=1, max_size=50), min_size=2, max_size=12, unique_by=lambda part: clean_text(part))
)
def test_split_preserves_order(parts):
    expected = [clean_text(part) for part in parts if clean_text(part)]
    try:
        rows = read("split", split_into(*parts))
    except UnusableAnswerError:
        assert len(expected) < 2
    else:
        assert [change.text for change in rows] == expected
