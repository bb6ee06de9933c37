from __future__ import annotations

from typing import Any

import pytest

from evaluation.llm.thoughts import read_message, said_in, split_thoughts


@pytest.mark.parametrize(
    ("text", "thoughts", "said"),
    [
        ("<think>\nHm.\n</think>\n\nYes.", "Hm.", "Yes."),
        ("\n<think>Hm.</think>Yes.", "Hm.", "Yes."),
        ("<mm:think>Hm.</mm:think>Yes.", "Hm.", "Yes."),
        ("◁think▷Hm.◁/think▷Yes.", "Hm.", "Yes."),
        ("<THINK>Hm.</think>Yes.", "Hm.", "Yes."),
        ("<thinking>Hm. </think> is a tag.</thinking>Yes.", "Hm. </think> is a tag.", "Yes."),
        ("<think>İİİ</think>Yes.", "İİİ", "Yes."),  # longer in small letters
        ("Hm.\n</think>\n\nYes.", "Hm.", "Yes."),  # the opening stood in the prompt
        ("<think>It never", "It never", ""),
        ("<think>Only that.</think>", "Only that.", ""),
        ("<think></think>\n\nYes.", "", "Yes."),
        ("Write <think>Hm.</think> around it.", "", "Write <think>Hm.</think> around it."),
        ("A tag such as </think> closes it.", "", "A tag such as </think> closes it."),
        ("First <think> opens,\n</think>\nthen closes.", "", "First <think> opens,\n</think>\nthen closes."),
        ("Yes.", "", "Yes."),
    ],
)
def test_thoughts_are_split_off_where_they_open_the_answer_and_stay_text_elsewhere(text: str, thoughts: str, said: str):
    assert split_thoughts(text) == (thoughts, said)


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Yes.", "reasoning_content": "Hm."},
        {"content": "Yes.", "reasoning": "Hm."},
        {"content": "Yes.", "reasoning": None, "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        {"content": "Yes.", "reasoning_details": [{"type": "reasoning.summary", "summary": "Hm."}]},
        {"content": "Yes.", "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "Zm9v"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                     {"type": "text", "text": "Yes."}]},
        {"content": "<think>Hm.</think>Yes."},
    ],
)  # fmt: skip
def test_thoughts_are_read_from_where_a_service_puts_them(message: dict[str, Any]):
    assert read_message(message) == ("Hm.", "Yes.")
    assert said_in(message) == "Yes."


def test_thoughts_in_a_field_and_those_that_open_the_answer_are_both_kept():
    assert read_message({"content": "<think>Well.</think>Yes.", "reasoning_content": "Hm."}) == ("Hm.\n\nWell.", "Yes.")


def test_encrypted_thoughts_are_not_read():
    details = [{"type": "reasoning.encrypted", "data": "Zm9v"}]

    assert read_message({"content": "Yes.", "reasoning_details": details}) == ("", "Yes.")
