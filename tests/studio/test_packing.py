"""Texts and JSON in packed columns come back as they were, in less room."""

from __future__ import annotations

import pytest

from studio.models.packing import DigestField, PackedJSONField, PackedTextField, pack, unpack


@pytest.mark.parametrize("text", ["", "a", "é\u2028\N{SNOWMAN}", "The harbour fee is due. " * 40, "\0" * 100])
def test_packed_text_comes_back_as_it_was(text: str):
    assert unpack(pack(text)) == text
    assert len(pack(text)) <= len(text.encode()) + 1


def test_packed_text_takes_less_room():
    assert len(pack("The harbour fee is due on the first working day of the month. " * 20)) < 120


def test_packed_values_and_hashes_come_back_as_they_were():
    arguments = {"path": "b.md", "a": [1, 2.5, None, "é"]}
    for field, value in (
        (PackedTextField(), "A reply."),
        (PackedJSONField(), arguments),
        (PackedJSONField(), {}),
        (DigestField(), "0af1" * 16),
        (DigestField(), ""),
    ):
        stored = field.get_db_prep_value(value, None)
        back = field.from_db_value(memoryview(stored), None, None)
        assert (back, str(back)) == (value, str(value))  # with the order of keys
