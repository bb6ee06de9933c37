import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.packets import (
    REDACTED,
    EvidencePart,
    Material,
    PacketContent,
    Sealed,
    build_content,
    find_passage,
    make_redactor,
)

text = st.text(max_size=80)
parts = st.lists(
    st.builds(EvidencePart, role=st.sampled_from(["user", "assistant", "tool", "file"]), label=text, text=text)
)


def test_evidence_has_no_field_for_the_decision():
    sealed = set(Sealed.model_fields)

    assert sealed == {"answers", "quotes", "reasons", "judge", "shares", "thoughts"}
    assert sealed.isdisjoint(inspect.signature(build_content).parameters)
    assert sealed.isdisjoint(PacketContent.model_fields)
    assert sealed.isdisjoint(EvidencePart.model_fields)


@settings(max_examples=50)
@given(text, parts, st.from_regex(r"[A-Za-z]{4,8}-[0-9]{1,2}", fullmatch=True))
def test_model_names_are_redacted_everywhere(subject, evidence, name):
    evidence = [
        *evidence,
        EvidencePart(role="assistant", label=f"by {name}", text=f"I am {name.upper()}, {name}; and {name}."),
    ]

    material = Material(evidence, context=[f"({name})"], left_out=[f"by {name}"])
    shown = build_content("checklist", f"{subject} {name}", material, redact=make_redactor([name]))

    assert name.lower() not in shown.model_dump_json().lower()


def test_names_are_redacted_as_words_longest_first():
    redact = make_redactor(["gpt-5", "gpt-5-mini", "o1"])

    assert redact("GPT-5-mini, gpt-5, gpt-55, o1") == f"{REDACTED}, {REDACTED}, gpt-55, o1"


@pytest.mark.parametrize("name", ["user", "judge", "Agent", "assistant", "harbour"])
def test_a_model_called_by_an_ordinary_word_masks_nothing_of_the_record(name):
    own = "The user asks the judge, the agent and the assistant for the harbour fees"
    record = [EvidencePart(role="user", label="user", text=f"{own}, says gpt-5.")]

    content = build_content("checklist", own, Material(record), redact=make_redactor([name, "gpt-5"], own))

    assert content.subject == own
    assert [(part.label, part.text) for part in content.parts] == [("user", f"{own}, says {REDACTED}.")]


@pytest.mark.slow
@given(parts)
def test_evidence_is_otherwise_verbatim(evidence):
    assert build_content("satisfaction", "x", Material(evidence)).parts == tuple(evidence)


@pytest.mark.parametrize(
    ("passage", "part"), [("five tomorrow", 1), ("by\n five   tomorrow", 1), ("next week", None), ("  ", None)]
)
def test_passage_is_found_regardless_of_whitespace(passage, part):
    evidence = [
        EvidencePart(role="user", label="", text="hello"),
        EvidencePart(role="assistant", label="", text="by five\ntomorrow"),
    ]

    assert find_passage(build_content("checklist", "x", Material(evidence)), passage) == part


@pytest.mark.parametrize(
    ("role", "label", "prose"),
    [
        ("file", "letters/Reply.docx · written in turn 2", True),
        ("file", "note.md", True),
        ("file", "cases.csv · input", False),
        ("tool", "note.md", False),
    ],
)
def test_files_of_words_are_read_as_documents_and_tables_are_not(role, label, prose):
    assert EvidencePart(role=role, label=label, text="x").is_prose is prose


def test_ordinary_words_stay_whatever_an_endpoint_is_called():
    own = "Write to Harper about the lease."
    redact = make_redactor(["user", "Judge", "harper", "sonnet", "harper-2"], own)

    text = redact("The user asked the judge; Harper is not Sonnet, nor harper-2.")

    assert text == f"The user asked the judge; Harper is not {REDACTED}, nor {REDACTED}."
