from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.metrics.failures import IntentRecord, SessionStory, ToolUse, find_patterns, is_read, is_write

STORY = SessionStory(1, "quick", (), 0.5, (), (), {}, ())


def intent(index: int, status: str, *, lasts: bool = False) -> IntentRecord:
    return IntentRecord(index, f"wish {index}", lasts, status, index)


def patterns(story: SessionStory) -> dict[str, list[str]]:
    return {match.pattern: [one.text for one in match.evidence] for match in find_patterns([story])}


def test_lasting_intent_that_the_user_had_to_say_is_ignored_context_only_in_a_task_that_builds_on_others():
    story = replace(STORY, intents=[intent(1, "provided", lasts=True), intent(2, "inferred")])

    assert "ignored_context" not in patterns(story)
    assert patterns(replace(story, builds_on=("a",)))["ignored_context"] == ["the user had to say intent 1: wish 1"]


def test_checklist_met_with_half_of_the_intents_said_by_the_user_is_the_visible_without_the_hidden():
    story = replace(STORY, comp=0.8, intents=[intent(1, "provided"), intent(2, "inferred")])

    assert patterns(story) == {
        "missed_hidden": ["80 % of the checklist was met", "the user had to say intent 1: wish 1"]
    }
    assert list(patterns(replace(story, comp=0.75))) == ["missed_hidden"]
    assert patterns(replace(story, comp=0.74)) == patterns(replace(story, comp=None)) == {}
    assert patterns(replace(story, intents=[*story.intents, intent(3, "completed")])) == {}


def test_questions_that_hit_nothing_are_the_evidence_of_no_targeted_question():
    story = replace(STORY, intents=[intent(1, "provided")], questions={1: 2, 2: 0, 3: 1})

    assert patterns(story)["no_targeted_question"] == [
        "2 questions hit no intent", "a question hit no intent", "the user had to say intent 1: wish 1",
    ]  # fmt: skip
    assert patterns(replace(story, questions={}))["no_targeted_question"][0] == "no question was asked"
    assert patterns(replace(story, intents=[intent(1, "provided"), intent(2, "inferred")])) == {}


def test_reading_after_the_last_change_verifies_it():
    story = replace(STORY, unmet=["The fee is named."], tools=[ToolUse("write_file", 1, 3), ToolUse("read_file", 1, 2)])

    assert list(patterns(story)) == ["unverified_artifact"]
    for place in ((2, 1), (1, 4)):
        assert patterns(replace(story, tools=[*story.tools, ToolUse("list_dir", *place)])) == {}
    later = replace(story, tools=[*story.tools, ToolUse("send_email", 2, 1), ToolUse("list_dir", 1, 9)])
    assert patterns(later)["unverified_artifact"][0].startswith("send_email was the last")
    assert patterns(replace(story, unmet=[])) == {}


@pytest.mark.parametrize(
    ("name", "writes", "reads"),
    [
        ("write_file", True, False),
        ("mcp_appworld_gmail__send_email", True, False),
        ("mcp_appworld_todoist__show_task", False, True),
        ("readFile", False, True),
        ("glob", False, False),
        ("mcp_appworld_file_system__create_file", True, False),
    ],
)
def test_tools_are_told_apart_by_the_verb_in_their_name(name: str, writes: bool, reads: bool):
    assert (is_write(name), is_read(name)) == (writes, reads)
