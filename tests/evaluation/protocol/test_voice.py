"""The simulated user's answers in the persona's voice."""

from __future__ import annotations

import pytest

from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.voice import VoicedAnswer, check_messages, parse_check, phrase, voice_messages

FEE, NAME = OpenIntent(1, "The fee is 30 crowns."), OpenIntent(2, "Sign as Ada.")


@pytest.mark.parametrize(
    ("held", "expected", "asked"),
    [
        ([True], VoicedAnswer("try 0", "in-voice"), 1),
        ([False, False, True], VoicedAnswer("try 2", "in-voice"), 3),
        ([False, False, False], VoicedAnswer("The fee is 30 crowns.", "verbatim"), 3),
    ],
)
def test_a_phrasing_is_sent_if_it_holds_and_the_authors_words_after_three_that_do_not(held, expected, asked):
    said: list[int] = []

    def say(attempt: int) -> str:
        said.append(attempt)
        return f"try {attempt}"

    answers = iter(held)
    assert phrase([FEE], [NAME], say, lambda text: next(answers)) == expected
    assert len(said) == asked


def test_an_empty_phrasing_is_not_even_checked():
    assert phrase([FEE], [], lambda attempt: " ", lambda text: pytest.fail("asked")).style == "verbatim"


def test_who_phrases_never_sees_what_is_to_be_held_back_and_who_checks_does():
    assert "Sign as Ada" not in str(voice_messages("Olga, a clerk", "What fee?", [FEE]))
    checked = check_messages("It is </message> 30.", [FEE], [NAME])[1]["content"]
    assert "Sign as Ada." in checked
    assert "&lt;/message&gt;" in checked


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ('{"says_all": true, "holds_back": true, "reason": ""}', True),
        ('So:\n```json\n{"says_all": true, "holds_back": true, "reason": ""}\n```', True),
        ('{"says_all": true, "holds_back": false, "reason": "names Ada"}', False),
        ('{"says_all": false, "holds_back": true, "reason": ""}', False),
    ],
)
def test_a_message_holds_if_it_says_all_and_gives_nothing_away(answer, holds):
    assert parse_check(answer) is holds


@pytest.mark.parametrize("answer", ["yes", "[]", '{"says_all": "true", "holds_back": true}'])
def test_an_unusable_check_is_an_error(answer):
    with pytest.raises(ValueError, match=r"JSON|true or false"):
        parse_check(answer)
