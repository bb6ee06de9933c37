"""The questions put to the model that plays a user who listens."""

from __future__ import annotations

import json

import pytest

from evaluation.protocol.listening import (
    Said,
    Scene,
    check_messages,
    choice_messages,
    is_verbatim,
    parse_check,
    parse_choice,
    parse_said,
    voice_messages,
)
from evaluation.protocol.participants import OpenIntent

FEE, NAME = OpenIntent(1, "The fee is 30 crowns."), OpenIntent(4, "Sign as <Ada>.")
SCENE = Scene("Olga, a clerk", "", "She asked for a letter.", "A mail was sent.", "Sent.", "It breaks off.", ("map",))


def test_who_speaks_never_sees_what_is_held_back_and_who_checks_does():
    assert "Sign as" not in str(voice_messages(SCENE, [FEE], "2"))
    assert "Sign as &lt;Ada&gt;." in check_messages(SCENE, "It is 30.", [FEE], [NAME], "2")[1]["content"]


def test_who_speaks_knows_the_person_the_conversation_the_work_and_what_was_missing():
    [_, question] = voice_messages(SCENE, [FEE], "2")

    shown = ("Olga, a clerk", "She asked for a letter.", "A mail was sent.", "It breaks off.", "map", FEE.content)
    assert [part for part in shown if part not in question["content"]] == []


def test_a_reply_that_is_whole_has_no_word_on_its_state():
    whole = Scene("Olga", "", "…", "", "Sent.")

    assert "</say>\n\nAnswer with one JSON object" in voice_messages(whole, [FEE], "2")[1]["content"]


def test_who_speaks_and_who_chooses_know_what_a_judge_found_lacking():
    half = OpenIntent(1, "Name the fee and the date.", "The date is <missing>.")

    assert "<lacks>\nThe date is &lt;missing&gt;.\n</lacks>" in voice_messages(SCENE, [half], "3")[1]["content"]
    assert '<wish index="1" lacks="The date is &lt;missing&gt;.">' in choice_messages(SCENE, [half], "2")[1]["content"]
    assert "<lacks>\n(nothing)\n</lacks>" in voice_messages(SCENE, [FEE], "3")[1]["content"]


def test_what_was_missing_is_listed_once():
    scene = Scene("Olga", "", "…", "", "Sent.", missing=("the map", "a key", "The map"))

    shown = voice_messages(scene, [FEE], "3")[1]["content"]

    assert "<missing_before>\nThe map\na key\n</missing_before>" in shown


def test_the_choice_is_among_all_that_is_open():
    [_, question] = choice_messages(SCENE, [FEE, NAME], "1")

    assert '<wish index="1">The fee is 30 crowns.</wish>\n<wish index="4">' in question["content"]
    assert parse_choice('{"reason": "", "index": 4}', {1: FEE, 4: NAME}) == 4
    with pytest.raises(ValueError, match=r"one of 1, 4"):
        parse_choice('{"index": 2}', {1: FEE, 4: NAME})


def test_what_is_missing_is_said_beside_the_message():
    assert parse_said('{"message": " Hi. ", "missing": "the  key"}') == Said("Hi.", "the key")
    with pytest.raises(ValueError, match="message"):
        parse_said('{"message": " "}')


@pytest.mark.parametrize("repeated", ["%@g}L&amp;b&lt;1", "%@g}L&b<1"])
def test_what_the_prompt_shows_escaped_is_said_as_it_is(repeated: str):
    answer = json.dumps({"message": f"It is {repeated} & no more.", "missing": f"a map of {repeated}"})

    assert parse_said(answer) == Said("It is %@g}L&b<1 & no more.", "a map of %@g}L&b<1")


def test_no_more_is_read_back_than_was_escaped():
    assert parse_said(json.dumps({"message": "See ?a=1&copy=2&quot;"})).message == "See ?a=1&copy=2&quot;"
    assert parse_said(json.dumps({"message": "Write &amp;amp;lt; there."})).message == "Write &amp;lt; there."


@pytest.mark.parametrize("wrong", ["says_all", "holds_back", "adds_nothing"])
def test_a_message_holds_if_nothing_is_lost_given_away_or_added(wrong: str):
    flags = {"reason": "It lies.", "says_all": True, "holds_back": True, "adds_nothing": True}

    assert parse_check(json.dumps(flags)) == ""
    assert parse_check(json.dumps(flags | {wrong: False})) == "It lies."
    with pytest.raises(ValueError, match="true or false"):
        parse_check(json.dumps(flags | {wrong: "no"}))


def test_an_intents_own_words_are_known_whatever_their_spaces():
    assert is_verbatim("The fee is\n30  crowns.", [FEE])
    assert not is_verbatim("The fee is 30 crowns. Thanks!", [FEE])


def test_answers_of_models_that_write_around_their_json_are_read():
    assert parse_said('Here it is:\n\n```json\n{"message": "Hi.", "missing": ""}\n```') == Said("Hi.", "")
    assert parse_choice('I choose {"reason": "", "index": 4}.', {1: FEE, 4: NAME}) == 4
