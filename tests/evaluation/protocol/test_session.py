from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.protocol.participants import AgentReply, Decision, OpenIntent
from evaluation.protocol.session import Progress, initial_progress
from evaluation.protocol.voice import VoicedAnswer, join
from tests.evaluation.protocol.playing import play

YES, NO = Decision(True, style="clarify"), Decision(False)


class Speaker:
    """An agent that answers with the number of its turn, and records the messages."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def reply(self, message: str) -> AgentReply:
        self.heard.append(message)
        return AgentReply(str(len(self.heard)))


class Plan:
    """A judge that says YES where its plan has (turn, index)."""

    def __init__(
        self, satisfied: set[tuple[int, int]] = frozenset(), asked: set[tuple[int, int]] = frozenset()
    ) -> None:
        self.plans = {"satisfied": satisfied, "asked": asked}
        self.questions: list[tuple[str, str, list[int]]] = []

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> list[Decision]:
        return self._say("satisfied", reply, intents)

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> list[Decision]:
        return self._say("asked", reply, intents)

    def _say(self, stage: str, reply: str, intents: Sequence[OpenIntent]) -> list[Decision]:
        self.questions.append((stage, reply, [intent.index for intent in intents]))
        return [YES if (int(reply), intent.index) in self.plans[stage] else NO for intent in intents]


def statuses(progress: Progress) -> list[tuple[str, int | None]]:
    return [(item.status, item.turn) for item in progress.intents]


def test_silent_agent_is_given_each_intent_in_order():
    agent, judge = Speaker(), Plan()

    end, turns = play(initial_progress("hello", ["one", "two"]), agent, judge)

    assert agent.heard == ["hello", "one", "two"]
    assert statuses(end) == [("provided", 1), ("provided", 2)]
    assert (end.ending, end.turns, turns[-1].satisfied) == ("resolved", 3, {})


def test_satisfaction_precedes_follow_up_and_ends_the_session():
    agent, judge = Speaker(), Plan(satisfied={(1, 1), (1, 2)}, asked={(1, 1)})

    end, _ = play(initial_progress("hello", ["one", "two"]), agent, judge)

    assert statuses(end) == [("completed", 1), ("completed", 1)]
    assert (end.turns, [question[0] for question in judge.questions]) == (1, ["satisfied"])


def test_all_intents_asked_for_are_answered_in_one_message():
    agent, judge = Speaker(), Plan(satisfied={(1, 2)}, asked={(1, 1), (1, 3)})

    end, _ = play(initial_progress("hello", ["one", "two", "three", "four"]), agent, judge)

    assert agent.heard == ["hello", "one\n\nthree", "four"]
    assert statuses(end) == [("inferred", 1), ("completed", 1), ("inferred", 1), ("provided", 2)]
    assert judge.questions[1] == ("asked", "1", [1, 3, 4])


def test_provided_intent_is_never_judged():
    agent, judge = Speaker(), Plan(satisfied={(1, 1)})

    end, _ = play(initial_progress("hello", ["known"], [True]), agent, judge)

    assert statuses(end) == [("provided", None)]
    assert (end.turns, judge.questions) == (1, [])


def test_turn_limit_ends_a_session_with_open_intents():
    end, _ = play(initial_progress("hello", [str(n) for n in range(5)]), Speaker(), Plan(), max_turns=2)

    assert (end.ending, end.turns, [item.status for item in end.intents].count("open")) == ("turn_limit", 2, 3)


def test_at_the_turn_limit_the_user_is_asked_nothing_more():
    chosen: list[int] = []

    class Chooser(Sayer):
        def choose(self, intents: Sequence[OpenIntent]) -> OpenIntent:
            chosen.append(intents[-1].index)
            return super().choose(intents)

    user = Chooser()
    end, turns = play(initial_progress("hello", ["one", "two", "three"]), Speaker(), Plan(), max_turns=2, user=user)

    assert (chosen, user.held_back, turns[-1].style) == ([3], [[1, 2]], "")
    assert statuses(end) == [("provided", 2), ("open", None), ("provided", 1)]


pairs = st.sets(st.tuples(st.integers(1, 7), st.integers(1, 6)), max_size=20)


@settings(max_examples=60, deadline=None)
@given(provided=st.lists(st.booleans(), max_size=6), satisfied=pairs, asked=pairs)
def test_statuses_partition_the_intents_and_sessions_end_within_intents_plus_one_turns(
    provided: list[bool], satisfied: set[tuple[int, int]], asked: set[tuple[int, int]]
):
    contents = [f"intent {n}" for n in range(len(provided))]

    end, turns = play(initial_progress("hello", contents, provided), Speaker(), Plan(satisfied, asked))

    resolved = [index for turn in turns for index in turn.resolved]
    assert end.ending == "resolved"
    assert end.turns == len(turns) <= len(contents) + 1
    assert sorted(resolved) == [index for index, given in enumerate(provided, start=1) if not given]
    assert all(item.status in {"completed", "inferred", "provided"} for item in end.intents)
    assert all(item.status == "provided" for item, given in zip(end.intents, provided, strict=True) if given)


class Sayer:
    """A user who brings up the last open intent, and misses what they are told to miss, by turn."""

    def __init__(self, missing: Sequence[str] = ()) -> None:
        self.missing = list(missing)
        self.held_back: list[list[int]] = []

    def choose(self, intents: Sequence[OpenIntent]) -> OpenIntent:
        return intents[-1]

    def say(self, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> VoicedAnswer:
        self.held_back.append([intent.index for intent in held_back])
        missing = self.missing.pop(0) if self.missing else ""
        return VoicedAnswer(f"please: {join(told)}", "in-voice", missing)


def test_user_chooses_what_to_bring_up_and_says_it_their_way():
    agent, user = Speaker(), Sayer()

    end, turns = play(initial_progress("hello", ["one", "two"]), agent, Plan(), user=user)

    assert agent.heard == ["hello", "please: two", "please: one"]
    assert statuses(end) == [("provided", 2), ("provided", 1)]
    assert user.held_back == [[1], []]
    assert turns[0].style == "in-voice"


class Doubter(Plan):
    """A judge who says of each intent what it lacks."""

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> list[Decision]:
        return [Decision(False, reason=f"No {intent.content}.") for intent in intents]


def test_user_knows_what_the_judge_found_lacking():
    heard: list[str] = []

    class Hearer(Sayer):
        def say(self, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> VoicedAnswer:
            heard.extend(intent.lacks for intent in told)
            return super().say(told, held_back)

    play(initial_progress("hello", ["one", "two"]), Speaker(), Doubter(), user=Hearer())

    assert heard == ["No two.", "No one."]


def test_session_is_blocked_when_the_same_thing_was_missing_three_times():
    agent = Speaker()
    user = Sayer(["The password", "a map", " the  password", "the password"])

    end, turns = play(initial_progress("hello", list("abcdef")), agent, Plan({(2, 1)}), user=user)

    assert (end.ending, end.turns, end.message) == ("blocked", 4, "")
    assert end.reason == "The agent needed, 3 times, what the user does not have: the password."
    assert [status for status, _ in statuses(end)] == ["completed", *["provided"] * 5]
    assert turns[-1].resolved.keys() >= {2, 3}
