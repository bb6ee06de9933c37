import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.packets import STRUCK, Part, Sealed, Shown, find_passage, show, striker

text = st.text(max_size=80)
parts = st.lists(st.builds(Part, role=st.sampled_from(["user", "assistant", "tool", "file"]), label=text, text=text))


def test_evidence_has_no_field_for_the_decision():
    sealed = set(Sealed.model_fields)

    assert sealed == {"decision", "quote", "reason", "judge"}
    assert sealed.isdisjoint(inspect.signature(show).parameters)
    assert sealed.isdisjoint(Shown.model_fields)
    assert sealed.isdisjoint(Part.model_fields)


@settings(max_examples=50)
@given(text, parts, st.from_regex(r"[A-Za-z]{4,8}-[0-9]{1,2}", fullmatch=True))
def test_model_names_are_redacted_everywhere(subject, evidence, name):
    evidence = [*evidence, Part(role="assistant", label=f"by {name}", text=f"I am {name.upper()}, {name}; and {name}.")]

    shown = show("checklist", f"{subject} {name}", evidence, context=[f"({name})"], names=[name])

    assert name.lower() not in shown.model_dump_json().lower()


def test_names_are_redacted_as_words_longest_first():
    strike = striker(["gpt-5", "gpt-5-mini", "o1"])

    assert strike("GPT-5-mini, gpt-5, gpt-55, o1") == f"{STRUCK}, {STRUCK}, gpt-55, o1"


@given(parts)
def test_evidence_is_otherwise_verbatim(evidence):
    assert show("satisfaction", "x", evidence).parts == tuple(evidence)


@pytest.mark.parametrize(
    ("passage", "part"), [("five tomorrow", 1), ("by\n five   tomorrow", 1), ("next week", None), ("  ", None)]
)
def test_passage_is_found_regardless_of_whitespace(passage, part):
    evidence = [Part(role="user", label="", text="hello"), Part(role="assistant", label="", text="by five\ntomorrow")]

    assert find_passage(show("checklist", "x", evidence), passage) == part
