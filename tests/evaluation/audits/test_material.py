"""What auditors are shown says what it leaves out: by turn, and also of the whole session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from annotations.packets import Kind, Material
from evaluation.audits import material
from evaluation.audits.material import shown_to_judge, whole_record
from evaluation.grading.evidence import TurnEvidence
from evaluation.grading.work import Conversation, PlayedTurn, work_after
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.versions import ProtocolName
from studio.domain.task import TaskSpec
from tests.evaluation.grading.test_work import Stored, call

LONG = "word " * 20_000


def held(*turns: tuple[Sequence[ToolRecord], Mapping[str, str]], reply: str = "Done.") -> tuple[Conversation, Stored]:
    """``turns``: the calls of each, and the files after it."""
    stored = Stored()
    played = [
        PlayedTurn(number, f"message {number}", reply, tuple(calls), stored.manifest(files))
        for number, (calls, files) in enumerate(turns, start=1)
    ]
    return Conversation(TaskSpec(task_id="t"), {}, played), stored


def shown(kind: Kind, *turns: tuple[Sequence[ToolRecord], Mapping[str, str]], reply: str = "Done.") -> Material:
    conversation, stored = held(*turns, reply=reply)
    last = conversation.turns[-1]
    evidence = TurnEvidence(
        number=last.number,
        messages=tuple(turn.message for turn in conversation.turns),
        reply=last.reply,
        replies=tuple(turn.reply for turn in conversation.turns),
        calls=last.calls,
        made=last.calls,
        read=lambda path: None,
        work=lambda: work_after(conversation, stored.read),
        rebuild=lambda folder: None,
    )
    return shown_to_judge(kind, evidence, conversation, ProtocolName.PAPER)


def test_what_is_cut_short_is_counted_by_turn():
    calls = [call("exec", command="make", result=LONG)] * 2

    left_out = shown("checklist", ([call("exec", result=LONG)], {}), (calls, {}), reply=LONG).left_out

    assert left_out == [
        "Turn 1: its reply and 1 call (exec) cut short.",
        "Turn 2: its reply and 2 calls (exec ×2) cut short.",
    ]


@pytest.mark.parametrize(("text", "left_out"), [("word " * 100, []), (LONG, ["letter.md: cut."])])
def test_what_a_call_wrote_is_left_out_only_where_its_file_is(text: str, left_out: list[str]):
    found = shown("satisfaction", ([call("write_file", path="letter.md", content=text)], {"letter.md": text}))

    assert found.left_out[:1] == left_out
    assert len(found.left_out) == 2 * len(left_out)


def test_asking_is_judged_without_the_work_which_the_packet_says_turn_by_turn():
    sent = "1 call that changed or sent something, not shown (gmail__send_email)"
    wrote = call("write_file", path="letter.md", content="Dear Ana")
    first = ([wrote, call("gmail__send_email", to="ana@example.org")], {"letter.md": "Dear Ana"})

    assert shown("follow_up", ([], {})).left_out == []
    assert shown("follow_up", first, ([], first[1])).left_out == [
        f"Turn 1: 1 file written, none shown (missing: letter.md); {sent}; its reply not shown."
    ]


def test_the_whole_record_shows_long_texts_in_full():
    conversation, stored = held(([call("exec", result=LONG[:50_000])], {"letter.md": LONG}))

    record = whole_record(conversation, stored.read)

    assert [part.text for part in record.parts if part.role == "file"] == [LONG]
    assert record.left_out == []


def test_the_whole_record_says_what_it_has_no_room_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(material, "FILES_CHARACTERS", 100_000)
    monkeypatch.setattr(material, "FILE_CHARACTERS", 60_000)
    monkeypatch.setattr(material, "VALUE_CHARACTERS", 1_000)
    conversation, stored = held(([call("exec", result=LONG)], {"a.md": LONG, "b.md": LONG, "c.md": "short"}))

    record = whole_record(conversation, stored.read)

    assert record.left_out == [
        "a.md · written in turn 1: cut.",
        "b.md · written in turn 1: not shown.",
        "c.md · written in turn 1: not shown.",
        "Turn 1: 1 call (exec) cut short.",
    ]
