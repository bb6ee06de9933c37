"""The questions put to the model that plays a user who listens."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from evaluation.protocol.listening import (
    Said,
    Scene,
    Wishes,
    check_messages,
    check_schema,
    choice_messages,
    parse_check,
    parse_choice,
    parse_said,
    recites,
    voice_messages,
)
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompt_files import CURRENT, VoicePromptName
from evaluation.protocol.versions import ProtocolName
from tests.evaluation.contents import beginning

FEE, NAME = OpenIntent(1, "The fee is 30 crowns."), OpenIntent(4, "Sign as <Ada>.")
SCENE = Scene("Olga, a clerk", "", "She asked for a letter.", "A mail was sent.", "Sent.", "It breaks off.", ("map",))

ASKED: Mapping[VoicePromptName, Callable[[Scene, Wishes, str], list[dict[str, str]]]] = {
    "voice": voice_messages,
    "voice_check": lambda scene, wishes, version: check_messages(scene, scene.reply, wishes, version),
}


def section(question: list[dict[str, str]], name: str) -> str:
    return question[1]["content"].partition(f"<{name}>\n")[2].partition(f"\n</{name}>")[0]


def test_who_speaks_and_who_checks_know_what_is_said_only_if_a_question_asks_for_it():
    wishes = Wishes([FEE], [NAME])

    assert section(voice_messages(SCENE, wishes, "4"), "only_if_asked") == "Sign as &lt;Ada&gt;."
    assert section(check_messages(SCENE, "It is 30.", wishes, "4"), "only_if_asked") == "Sign as &lt;Ada&gt;."
    assert "Sign as" not in str(voice_messages(SCENE, wishes, "3"))


def test_questions_of_one_session_begin_alike_up_to_the_newest_turn():
    """Services keep what begins alike in their caches; the person and the work are the longest parts."""
    first = replace(SCENE, earlier="In March she asked for a map.")
    later = replace(first, conversation=f"{SCENE.conversation} And a map.", reply="Done.", missing=())
    versions = CURRENT[ProtocolName.PAPER]
    for one, other in (
        (
            choice_messages(first, [FEE], versions["next_intent"]),
            choice_messages(later, [NAME], versions["next_intent"]),
        ),
        *(
            (
                ask(first, Wishes([FEE], [NAME]), versions[name]),
                ask(later, Wishes([NAME], settled=[FEE.content]), versions[name]),
            )
            for name, ask in ASKED.items()
        ),
    ):
        assert one[0] == other[0]
        shared = beginning(one[1]["content"], other[1]["content"])
        parts = [first.person, first.earlier, first.work, first.conversation]
        assert [part for part in parts if part not in shared] == ([first.earlier] if "<wishes>" in str(one) else [])


def test_who_speaks_and_who_checks_know_what_is_wanted_and_was_met_without_a_word():
    wishes = Wishes([FEE], settled=["Use & keep British spelling."])

    assert section(voice_messages(SCENE, wishes, "4"), "wanted_too") == "Use &amp; keep British spelling."
    assert "Use &amp; keep British spelling." in section(check_messages(SCENE, "It is 30.", wishes, "4"), "known")


def test_who_speaks_and_who_checks_are_told_that_a_no_is_a_fact_as_well():
    versions = CURRENT[ProtocolName.PAPER]

    for question in (ask(SCENE, Wishes([FEE]), versions[name]) for name, ask in ASKED.items()):
        assert '"I have no …"' in question[0]["content"]


def test_who_speaks_and_who_checks_take_an_offer_for_a_question_about_what_it_names_alone():
    versions = CURRENT[ProtocolName.PAPER]

    for question in (ask(SCENE, Wishes([FEE]), versions[name]) for name, ask in ASKED.items()):
        words = " ".join(question[0]["content"].split())
        assert '("say if you want a table") is a plain question about what it names' in words
        assert 'that names nothing ("tell me what to change") is a general question' in words


def test_who_chooses_does_so_by_stage_and_takes_the_first_only_where_all_else_is_alike():
    [system, _] = choice_messages(SCENE, [FEE], CURRENT[ProtocolName.PAPER]["next_intent"])

    words = " ".join(system["content"].split())
    assert "one that belongs to the stage that the work has reached" in words
    assert words.index("cost most work if it were said later") < words.index("the one that stands first")


def test_who_speaks_knows_the_person_the_conversation_the_work_and_what_was_missing():
    [_, question] = voice_messages(SCENE, Wishes([FEE]), "4")

    shown = ("Olga, a clerk", "She asked for a letter.", "A mail was sent.", "It breaks off.", "map", FEE.content)
    assert [part for part in shown if part not in question["content"]] == []


def test_a_reply_that_is_whole_has_no_word_on_its_state():
    whole = Scene("Olga", "", "…", "", "Sent.")

    assert "</lacks>\n\nAnswer with one JSON object" in voice_messages(whole, Wishes([FEE]), "4")[1]["content"]


def test_who_speaks_and_who_chooses_know_what_a_judge_found_lacking():
    half = OpenIntent(1, "Name the fee and the date.", "The date is <missing>.")

    assert "<lacks>\nThe date is &lt;missing&gt;.\n</lacks>" in voice_messages(SCENE, Wishes([half]), "4")[1]["content"]
    assert '<wish index="1" lacks="The date is &lt;missing&gt;.">' in choice_messages(SCENE, [half], "2")[1]["content"]
    assert section(voice_messages(SCENE, Wishes([FEE]), "4"), "lacks") == "(nothing)"


def test_what_was_missing_is_listed_once():
    scene = Scene("Olga", "", "…", "", "Sent.", missing=("the map", "a key", "The map"))

    assert section(voice_messages(scene, Wishes([FEE]), "4"), "missing_before") == "The map\na key"


def test_the_choice_is_among_all_that_is_open():
    [_, question] = choice_messages(SCENE, [FEE, NAME], "1")

    assert '<wish index="1">The fee is 30 crowns.</wish>\n<wish index="4">' in question["content"]
    assert parse_choice('{"reason": "", "index": 4}', {1: FEE, 4: NAME}) == 4
    for index in ("2", "true", '"4"', "null"):
        with pytest.raises(ValueError, match=r"one of 1, 4"):
            parse_choice(f'{{"index": {index}}}', {1: FEE, 4: NAME})
    with pytest.raises(ValueError, match="not a JSON object"):
        parse_choice("[4]", {1: FEE, 4: NAME})


def test_what_is_missing_is_said_beside_the_message():
    assert parse_said('{"message": " Hi. ", "missing": "the  key"}') == Said("Hi.", "the key")
    assert parse_said(json.dumps({"message": "Hi.", "missing": "x" * 101})).missing == "x" * 100
    for unusable in ('{"message": " "}', '{"message": 3}', '{"message": "Hi.", "missing": null}'):
        with pytest.raises(ValueError, match="message"):
            parse_said(unusable)


@pytest.mark.parametrize("repeated", ["%@g}L&amp;b&lt;1", "%@g}L&b<1"])
def test_what_the_prompt_shows_escaped_is_said_as_it_is(repeated: str):
    answer = json.dumps({"message": f"It is {repeated} & no more.", "missing": f"a map of {repeated}"})

    assert parse_said(answer) == Said("It is %@g}L&b<1 & no more.", "a map of %@g}L&b<1")


def test_no_more_is_read_back_than_was_escaped():
    assert parse_said(json.dumps({"message": "See ?a=1&copy=2&quot;"})).message == "See ?a=1&copy=2&quot;"
    assert parse_said(json.dumps({"message": "Write &amp;amp;lt; there."})).message == "Write &amp;lt; there."


FLAGS = ["answers", "says_all", "holds_back", "adds_nothing"]


@pytest.mark.parametrize("wrong", FLAGS)
def test_a_message_holds_if_questions_are_answered_and_nothing_is_lost_given_away_or_added(wrong: str):
    flags = {"reason": "", **dict.fromkeys(FLAGS, True)}

    assert parse_check(json.dumps(flags), "4") == ""
    assert parse_check(json.dumps(flags | {wrong: False, "reason": "It lies."}), "4") == "It lies."
    assert parse_check(json.dumps(flags | {wrong: False}), "4") == f"Not so: {wrong}."
    with pytest.raises(ValueError, match="true or false"):
        parse_check(json.dumps(flags | {wrong: "no"}), "4")


def test_a_check_decides_what_its_version_asks_for():
    assert check_schema("4")["required"] == ["reason", *FLAGS]
    assert check_schema("3")["required"] == ["reason", *FLAGS[1:]]
    assert parse_check(json.dumps(dict.fromkeys(FLAGS[1:], True)), "3") == ""


def test_an_intent_in_its_authors_words_is_recited_wherever_it_stands_unless_it_is_short():
    rule = OpenIntent(2, "The letter explicitly states the fee of 30 crowns.")

    assert recites("Thanks! The letter explicitly states\nthe  fee of 30 crowns.", [FEE, rule])
    assert not recites("Please name the fee of 30 crowns in the letter.", [FEE, rule])
    assert not recites("The fee is 30 crowns.", [FEE])
    assert recites("Please sign it as Ada Lovelace.", [OpenIntent(3, "sign it as Ada Lovelace. Please"), NAME]) is False
    assert recites("So: please sign it as Ada Lovelace.", [OpenIntent(3, "please sign it as Ada Lovelace.")])


def test_answers_of_models_that_write_around_their_json_are_read():
    assert parse_said('Here it is:\n\n```json\n{"message": "Hi.", "missing": ""}\n```') == Said("Hi.", "")
    assert parse_choice('I choose {"reason": "", "index": 4}.', {1: FEE, 4: NAME}) == 4
