"""Rules and grader scripts on answers that take no work, and on reference solutions, without a model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import pytest

from evaluation.feasibility.kinds import KINDS, Outcome
from evaluation.feasibility.seats import files_before, given_turn, task_told
from evaluation.feasibility.turns import decide_turn
from evaluation.protocol.given import GivenCall, GivenTurn
from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.opening_message import EnvironmentEvent, opening_of
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, ExactCheck, HiddenIntent, TaskSpec, Trigger
from studio.domain.tool_servers import ToolServerPolicy
from tests.fixtures.sample import read_sample, solution

UID = "11111111-1111-4111-8111-11111111111{}"


class Contents(dict[str, bytes]):
    def add(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self[sha256] = content
        return sha256

    def read(self, sha256s: Sequence[str]) -> Mapping[str, bytes]:
        return {sha256: self[sha256] for sha256 in sha256s if sha256 in self}


@pytest.fixture
def contents() -> Contents:
    return Contents()


def intent(number: int, content: str) -> HiddenIntent:
    return HiddenIntent(uid=UID.format(number), content=content)


def rule(number: int, check: ExactCheck) -> ChecklistItem:
    return ChecklistItem(uid=UID.format(number), criterion=f"{check.kind} {check.text}", grader="rule", rule=check)


def a_task(task_id: str = "sheet", *checks: ExactCheck, **fields: object) -> TaskSpec:
    items = tuple(rule(number, check) for number, check in enumerate(checks, 1))
    fields.setdefault("initial_request", "Write the sheet.")
    return TaskSpec(task_id=task_id, checklist=items, **fields)  # type: ignore[arg-type]


def an_episode(*tasks: TaskSpec) -> EpisodeSpec:
    return EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=tasks)


def met(task: TaskSpec, episode: EpisodeSpec, turn: GivenTurn, contents: Contents) -> list[bool | None]:
    return [item.met for item in decide_turn(task, episode, turn, {}, contents.read, ToolServerPolicy())]


def test_rules_say_what_an_answer_without_work_earns(contents: Contents) -> None:
    task = a_task(
        "sheet", ExactCheck(kind="reply_contains", text="done"), ExactCheck(kind="file_exists", path="sheet.md")
    )
    episode = an_episode(task)
    done = given_turn("done", task, episode, {}, contents.read)
    assert done is not None
    assert met(task, episode, done, contents) == [True, False]


def test_a_solution_s_text_is_written_as_agents_write_it_and_its_other_files_are_laid(contents: Contents) -> None:
    task = a_task(
        "sheet",
        ExactCheck(kind="tool_called", tool="write_file", arguments={"path": "out/sheet.md"}),
        ExactCheck(kind="file_contains", path="out/sheet.md", text="Tuesday"),
        ExactCheck(kind="file_exists", path="out/cover.bin"),
    )
    files = {"out/sheet.md": contents.add(b"On Tuesday."), "out/cover.bin": contents.add(b"\xff\xfe\x00")}
    assert met(task, an_episode(task), GivenTurn("Here.", files=files), contents) == [True, True, True]


def test_calls_are_made_anew_and_what_they_left_is_not_written_again(contents: Contents) -> None:
    written = GivenCall("write_file", {"path": "sheet.md", "content": "On Tuesday."})
    task = a_task("sheet", ExactCheck(kind="file_contains", path="sheet.md", text="Tuesday"))
    turn = GivenTurn("Here.", (written,), {"sheet.md": contents.add(b"On Tuesday.")})
    items = decide_turn(task, an_episode(task), turn, {}, contents.read, ToolServerPolicy())
    assert [item.met for item in items] == [True]
    wrong = GivenTurn("Here.", (GivenCall("no_such_tool"),))
    assert met(task, an_episode(task), wrong, contents) == [False]


def test_a_file_that_cannot_be_laid_earns_nothing_and_says_why(contents: Contents) -> None:
    task = a_task("sheet", ExactCheck(kind="reply_contains", text="here"))
    turn = GivenTurn("Here.", files={"../sheet.md": contents.add(b"\xff")})
    (item,) = decide_turn(task, an_episode(task), turn, {}, contents.read, ToolServerPolicy())
    assert item.met is False
    assert "could not be written" in item.why


def test_criteria_for_judges_stay_undecided(contents: Contents) -> None:
    item = ChecklistItem(uid=UID.format(1), criterion="It is friendly.")
    task = TaskSpec(task_id="sheet", initial_request="Write.", checklist=(item,))
    assert met(task, an_episode(task), GivenTurn("Done."), contents) == [None]


def test_earlier_tasks_leave_their_files_and_what_their_solutions_made(contents: Contents) -> None:
    asset = FileRef(path="notes.md", sha256=contents.add(b"Notes."), size=6)
    earlier = a_task("earlier", assets=(asset,))
    made = GivenTurn("Made.", files={"plan.md": contents.add(b"A plan.")})
    later = a_task(
        "later",
        ExactCheck(kind="file_exists", path="notes.md"),
        ExactCheck(kind="file_contains", path="plan.md", text="plan"),
        depends_on=(Dependency(task_id="earlier"),),
    )
    episode = an_episode(earlier, a_task("between"), later)
    assert set(files_before(later, episode, {"earlier": made})) == {"notes.md", "plan.md"}
    items = decide_turn(later, episode, GivenTurn(""), {"earlier": made}, contents.read, ToolServerPolicy())
    assert [item.met for item in items] == [True, True]


def test_what_is_told_is_in_the_request_and_no_intent_is_left() -> None:
    earlier = a_task("earlier", initial_request="Plan it.", intents=(intent(1, "In metres."),))
    later = a_task(
        "later",
        ExactCheck(kind="reply_contains", text="the checklist"),
        intents=(intent(2, "With a title."),),
        depends_on=(Dependency(task_id="earlier"),),
    )
    episode = an_episode(earlier, later)
    told, built_on, alone = (task_told(name, later, episode) for name in ("told", "built-on", "alone"))
    assert "With a title." in told.initial_request
    assert "In metres." not in told.initial_request
    assert "In metres." in built_on.initial_request
    assert "Plan it." in built_on.initial_request
    assert "With a title." not in built_on.initial_request
    assert alone.initial_request == "Write the sheet."
    for each in (told, built_on, alone):
        assert each.intents == ()
        assert "the checklist" not in each.initial_request


def test_what_is_told_of_an_event_stands_in_its_note() -> None:
    event = a_task("event", trigger=Trigger(kind="webhook", payload={"id": 1}), intents=(intent(1, "In metres."),))
    opening = opening_of(task_told("told", event, an_episode(event)))
    assert isinstance(opening, EnvironmentEvent)
    assert "In metres." in opening.note


def test_answers_without_work_are_what_they_say(contents: Contents) -> None:
    asset = FileRef(path="notes.md", sha256=contents.add(b"Fridge 4 was off."), size=17)
    task = a_task("sheet", assets=(asset,))
    other = a_task("other", initial_request="Plan the week.", intents=(intent(1, "In metres."),))
    near = a_task("near", initial_request="Go on.", depends_on=(Dependency(task_id="sheet"),))
    episode = an_episode(task, near, other)

    def reply(kind: str) -> str:
        turn = given_turn(kind, task, episode, {}, contents.read)
        assert turn is not None
        return turn.reply

    assert reply("nothing") == ""
    assert reply("repeats") == "Write the sheet."
    assert reply("done") == "Done."
    assert "Fridge 4 was off." in reply("pastes")
    assert reply("asks").count("?") >= 8
    assert "Plan the week." in reply("other")
    assert "In metres." in reply("other")
    assert given_turn("reference", task, episode, {}, contents.read) is None
    solved = GivenTurn("The week.", files={"week.md": "0" * 64})
    answer = given_turn("other", task, episode, {"near": GivenTurn("Gone on."), "other": solved}, contents.read)
    assert answer == solved


def test_sample_gives_nothing_to_answers_without_work_and_much_to_good_work() -> None:
    reading = read_sample()
    contents = Contents(reading.contents)
    episode = next(each for each in reading.episodes if each.persona.user_id == "radio_producer")
    task = next(each for each in episode.tasks if each.task_id == "radio_07_pledge_reads")
    files = solution(task.task_id)
    reply = files.pop("reply.md")
    good = GivenTurn(reply, files={path: contents.add(text.encode()) for path, text in files.items()})
    for kind in ("done", "repeats", "other"):
        turn = given_turn(kind, task, episode, {}, contents.read)
        assert turn is not None
        assert (
            Outcome(KINDS[kind], decide_turn(task, episode, turn, {}, contents.read, ToolServerPolicy()), {}).earned
            == 0
        )
    items = decide_turn(task, episode, good, {}, contents.read, ToolServerPolicy())
    assert all(item.met for item in items if item.met is not None)
    assert sum(item.met is True for item in items) >= 3
