import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.packets import STRUCK, Part, Sealed, Shown, find_passage, show, striker

text = st.text(max_size=80)
parts = st.lists(st.builds(Part, role=st.sampled_from(["user", "assistant", "tool", "file"]), label=text, text=text))


def test_nothing_an_auditor_sees_could_carry_what_the_judge_decided():
    sealed = set(Sealed.model_fields)

    assert sealed == {"decision", "quote", "reason", "judge"}
    assert sealed.isdisjoint(inspect.signature(show).parameters)
    assert sealed.isdisjoint(Shown.model_fields)
    assert sealed.isdisjoint(Part.model_fields)


@settings(max_examples=50)
@given(text, parts, st.from_regex(r"[A-Za-z]{4,8}-[0-9]{1,2}", fullmatch=True))
def test_no_model_name_given_is_left_anywhere_in_what_is_shown(subject, evidence, name):
    evidence = [*evidence, Part(role="assistant", label=f"by {name}", text=f"I am {name.upper()}, {name}; and {name}.")]

    shown = show("checklist", f"{subject} {name}", evidence, context=[f"({name})"], names=[name])

    assert name.lower() not in shown.model_dump_json().lower()


def test_a_name_is_struck_as_a_word_and_the_longer_one_first():
    strike = striker(["gpt-5", "gpt-5-mini", "o1"])

    assert strike("GPT-5-mini, gpt-5, gpt-55, o1") == f"{STRUCK}, {STRUCK}, gpt-55, o1"


@given(parts)
def test_evidence_is_shown_to_the_letter(evidence):
    assert show("satisfaction", "x", evidence).parts == tuple(evidence)


@pytest.mark.parametrize(
    ("passage", "part"), [("five tomorrow", 1), ("by\n five   tomorrow", 1), ("next week", None), ("  ", None)]
)
def test_a_passage_is_found_where_it_stands_whatever_the_white_space(passage, part):
    evidence = [Part(role="user", label="", text="hello"), Part(role="assistant", label="", text="by five\ntomorrow")]

    assert find_passage(show("checklist", "x", evidence), passage) == part
