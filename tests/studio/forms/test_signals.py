"""The signal of a task as fields and as JSON."""

from __future__ import annotations

import json

import pytest
from django.http import QueryDict
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.opening_message import opening, text_of
from studio.domain.signals import SIGNAL_EXAMPLES
from studio.domain.task import Trigger
from studio.forms.post_data import MAPPING, Posted
from studio.forms.signals import SignalFormatError, read_payload, switch_format

TEXTS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=12)
NAMES = TEXTS.map(lambda text: " ".join(text.split())).filter(bool)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def raw(text: str, **more: str) -> QueryDict:
    data = QueryDict(mutable=True)
    data.update({"payload_as": "raw", "payload_raw": text, "trigger": "webhook", **more})
    return data


def payload_of(data: QueryDict) -> dict[str, object]:
    posted = Posted(data)
    errors: dict[str, str] = {}
    rows = posted.rows("payload", MAPPING)
    payload = read_payload(posted.text("payload_as"), posted.text("payload_raw"), rows, {}, errors.__setitem__)
    assert errors == {}
    return payload


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_converting_json_to_fields_and_back_is_lossless(payload):
    fields = switch_format(raw(json.dumps(payload)), {}, "rows")
    back = switch_format(fields, {}, "raw")

    assert json.dumps(payload_of(fields)) == json.dumps(payload)
    assert json.dumps(payload_of(back)) == json.dumps(payload)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,\n "b" 2}', "Line 2, column 6"),
        ("[1, 2]", "Enter an object"),
        ('{"a": NaN}', "not a valid number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_invalid_json_is_not_converted_and_names_its_input(text, message):
    with pytest.raises(SignalFormatError, match=message) as refusal:
        switch_format(raw(text), {}, "rows")
    assert refusal.value.input_name == "payload_raw"


def test_names_that_do_not_fit_an_input_stay_json():
    with pytest.raises(SignalFormatError):
        switch_format(raw('{" a ": 1}'), {}, "rows")


@pytest.mark.parametrize("kind", ["webhook", "heartbeat", "feed", "file_drop"])
def test_examples_of_every_kind_convert_both_ways(kind):
    for number, (_, payload) in enumerate(SIGNAL_EXAMPLES[kind]):
        data = switch_format(raw("", trigger=kind), {}, f"example:{number}")
        assert payload_of(switch_format(data, {}, "rows")) == payload
        assert text_of(opening(Trigger(kind=kind, payload=payload), "")).startswith(f"[Environment signal: {kind}]")


def test_unknown_example_is_rejected():
    with pytest.raises(SignalFormatError):
        switch_format(raw("{}", trigger="user_message"), {}, "example:0")
