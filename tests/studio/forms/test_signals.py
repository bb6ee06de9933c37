"""The signal of a task, written as fields and as JSON, and what the assistant receives of it."""

from __future__ import annotations

import json

import pytest
from django.http import QueryDict
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.opening_message import render_opening
from studio.domain.signals import SIGNAL_EXAMPLES
from studio.domain.task import Trigger
from studio.forms.post_data import MAPPING, Posted
from studio.forms.signals import SignalFormatError, read_payload, switch_format

WORDS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=12)
NAMES = WORDS.map(lambda text: " ".join(text.split())).filter(bool)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


def raw(text: str, **more: str) -> QueryDict:
    data = QueryDict(mutable=True)
    data.update({"payload_as": "raw", "payload_raw": text, "trigger": "webhook", **more})
    return data


def said(data: QueryDict) -> dict[str, object]:
    """The payload of a page's fields."""
    posted, wrong = Posted(data), {}
    rows = posted.rows("payload", MAPPING)
    payload = read_payload(
        posted.text("payload_as"), posted.text("payload_raw"), rows, {}, lambda place, why: wrong.update({place: why})
    )
    assert wrong == {}
    return payload


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_from_json_to_fields_and_back_nothing_is_lost(payload):
    fields = switch_format(raw(json.dumps(payload)), {}, "rows")
    back = switch_format(fields, {}, "raw")

    assert json.dumps(said(fields)) == json.dumps(payload)
    assert json.dumps(said(back)) == json.dumps(payload)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1,\n "b" 2}', "Line 2, column 6"),
        ("[1, 2]", "Enter an object"),
        ('{"a": NaN}', "not a valid number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_signal_is_told_with_its_place_and_not_turned(text, words):
    with pytest.raises(SignalFormatError, match=words) as refusal:
        switch_format(raw(text), {}, "rows")
    assert refusal.value.place == "payload_raw"


def test_a_name_that_fields_would_change_stays_json():
    with pytest.raises(SignalFormatError):
        switch_format(raw('{" a ": 1}'), {}, "rows")


@pytest.mark.parametrize("kind", ["webhook", "heartbeat", "feed", "file_drop"])
def test_every_kind_has_examples_that_can_be_written_both_ways(kind):
    for number, (_, payload) in enumerate(SIGNAL_EXAMPLES[kind]):
        put = switch_format(raw("", trigger=kind), {}, f"example:{number}")
        assert said(switch_format(put, {}, "rows")) == payload
        assert render_opening(Trigger(kind=kind, payload=payload), "").startswith(f"[Environment signal: {kind}]")


def test_an_example_that_is_not_there_changes_nothing():
    with pytest.raises(SignalFormatError):
        switch_format(raw("{}", trigger="user_message"), {}, "example:0")
