"""What judges of the paper protocol, and auditors, are shown of a session's work."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from evaluation.grading import work
from evaluation.grading.work import Conversation, PlayedTurn, Work, acts, count, sections, work_after
from evaluation.protocol.participants import ToolRecord
from studio.domain.base import FileRef
from studio.domain.opening_message import EnvironmentEvent
from studio.domain.task import TaskSpec, ToolEvidence
from tests.evaluation.contents import beginning

SENT = {"app": "gmail", "table": "emails", "key": 1, "before": None, "after": {"subject": "Fee"}}


class Stored:
    """Files by content."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def manifest(self, files: Mapping[str, str | bytes]) -> dict[str, str]:
        kept = {}
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            kept[path] = hashlib.sha256(data).hexdigest()
            self.contents[kept[path]] = data
        return kept

    def read(self, shas: Sequence[str]) -> dict[str, bytes]:
        return {sha: self.contents[sha] for sha in shas}


def show(
    *turns: Mapping[str, str | bytes],
    found: Mapping[str, str | bytes] | None = None,
    calls: Sequence[ToolRecord] = (),
    task: TaskSpec | None = None,
) -> Work:
    """``turns``: the files after each. The calls were made in the last one."""
    stored = Stored()
    played = [
        PlayedTurn(
            number,
            f"message {number}",
            f"reply {number}",
            tuple(calls) if number == len(turns) else (),
            stored.manifest(files),
        )
        for number, files in enumerate(turns, start=1)
    ]
    spec = task or TaskSpec(task_id="t")
    return work_after(Conversation(spec, stored.manifest(found or {}), played), stored.read)


def call(name: str, ok: bool = True, result: str = "done", effects: Sequence[Any] = (), **arguments: Any) -> ToolRecord:
    return ToolRecord(name, arguments, result, ok, effects=tuple(effects))


def test_files_are_marked_as_input_written_this_turn_or_written_earlier():
    first = {"in.md": "given", "old.md": "one"}

    shown = show(
        first, {**first, "new.md": "two", "in2.md": "changed"}, found={"in.md": "given", "in2.md": "given too"}
    )

    assert [(file.path, file.origin, file.text) for file in shown.files] == [
        ("in2.md", "written this turn", "changed"),
        ("new.md", "written this turn", "two"),
        ("old.md", "written earlier", "one"),
        ("in.md", "input", "given"),
    ]


def test_what_never_changes_in_a_session_stands_first_where_caches_are_to_find_it():
    found = {"a.md": "given", "in.md": "given"}
    one = sections(show({**found, "new.md": "one"}, found=found))["inputs_first"]
    two = sections(show({**found, "new.md": "one"}, {**found, "new.md": "two"}, found=found))["inputs_first"]

    assert beginning(one, two).count("</file>") == len(found)
    assert two.endswith("two\n</file>\nThere are no other files but the assistant’s skills.")


OWN = FileRef(path="own.md", sha256="0" * 64, size=1)


def test_of_files_alike_those_shown_to_judges_come_first_and_the_tasks_own_before_others():
    found = {"a.md": "x", "own.md": "x", "read/b.md": "x"}
    asked = TaskSpec(task_id="t", files_read=(" ./read//b.md ", " "), assets=(OWN,))

    shown = show(found, found=found, task=asked)

    assert [file.path for file in shown.files] == ["read/b.md", "own.md", "a.md"]
    assert shown.about_files == ("No files were written.", "There are no other files but the assistant’s skills.")


def test_absence_is_said_in_words():
    shown = show(
        {"in.md": "given"}, found={"in.md": "given", "gone.md": "x"}, task=TaskSpec(task_id="t", files_read=("o.md",))
    )

    assert shown.about_files == (
        "No files were written.",
        "Deleted: gone.md.",
        "There is no file o.md.",
        "There are no other files but the assistant’s skills.",
    )
    assert shown.about_calls == ("No call changed anything, and nothing was sent.",)


def test_long_file_is_cut_with_a_mark_and_its_changed_lines_come_first():
    lines = [f"line {number}" for number in range(20_000)]
    changed = [*lines[:15_000], "THE NEW LINE", *lines[15_000:]]

    (file,) = show({"long.md": "\n".join(lines)}, {"long.md": "\n".join(changed)}).files

    assert file.text.startswith("[changed this turn]\nline 14998\nline 14999\nTHE NEW LINE\nline 15000\nline 15001\n")
    assert "[the file from its start]\nline 0\n" in file.text
    assert "characters are not shown]" in file.text[-80:]
    assert file.counts.startswith("words 40,003")


def test_changes_apart_from_each_other_are_shown_with_a_gap_between_them():
    lines = [f"line {number}" for number in range(20_000)]
    changed = [*lines[:100], "ONE", *lines[100:200], "TWO", *lines[200:]]

    (file,) = show({"long.md": "\n".join(lines)}, {"long.md": "\n".join(changed)}).files

    assert "\nline 100\nline 101\n[…]\nline 198\nline 199\nTWO\nline 200\nline 201\n[the file" in file.text
    assert file.text.count("[…]") == 1


def test_of_more_changes_than_there_is_room_for_nothing_else_is_shown(monkeypatch):
    monkeypatch.setattr(work, "FILE_CHARACTERS", 100)

    (file,) = show({"long.md": "old\n" * 50}, {"long.md": "new\n" * 50}).files

    mark = "[cut here: more was changed, and the rest of the file is not shown]"
    assert file.text == f"{('new' + chr(10)) * 25}\n{mark}"


def test_one_file_without_room_is_one_file(monkeypatch):
    monkeypatch.setattr(work, "FILES_CHARACTERS", 100)

    assert show({"a.md": "x" * 90, "b.md": "y" * 60}).about_files == ("Cut: 1 file not shown: b.md.",)


def test_files_that_have_no_room_are_named_and_counted():
    files = {f"f{number}.md": "word " * 10_000 for number in range(5)}

    shown = show(files)

    assert [(file.path, len(file.text) // 1_000) for file in shown.files] == [
        ("f0.md", 40), ("f1.md", 40), ("f2.md", 39),
    ]  # fmt: skip
    assert shown.about_files == ("Cut: 2 files not shown: f3.md, f4.md.",)


def test_what_is_not_text_is_named_without_its_content():
    (file,) = show({"photo.bin": b"\xff\xfe\x00\x01"}).files

    assert (file.text, file.counts) == ("[this file is not text]", "")


def test_skills_are_shown_only_where_the_assistant_wrote_them():
    found = {"skills/a/SKILL.md": "given", "in.md": "x"}

    shown = show({**found, "skills/b/SKILL.md": "new"}, found=found)

    assert [file.path for file in shown.files] == ["skills/b/SKILL.md", "in.md"]


def test_calls_are_shown_with_what_they_did_but_for_those_that_read_the_workspace():
    made = [
        call("gmail__show_inbox_threads", access_token="t"),
        call(
            "gmail__send_email", effects=[SENT], access_token="t", body="The fee is due on Friday, in full and in cash."
        ),
        call("gmail__login", ok=False, result="401"),
        call("gmail__login", result="token"),
        call("read_file", path="a.md"),
        call("mcp_bank_pay", amount=3),
        call("write_file", path="a.md", content="x" * 5_000),
    ]

    shown = show({}, calls=made)

    assert [(each.name, each.acted) for each in shown.calls] == [
        ("gmail__show_inbox_threads", False),
        ("gmail__send_email", True),
        ("gmail__login", True),
        ("mcp_bank_pay", True),
        ("write_file", True),
    ]
    sent, failed, written = shown.calls[1], shown.calls[2], shown.calls[4]
    assert "access_token" not in sent.arguments
    assert sent.counts == "body: words 11, characters 46, lines 1, paragraphs 1"
    assert not failed.ok
    assert "4,800 of 5,000 characters are not shown" in written.arguments["content"]
    assert shown.about_calls == (
        "Calls that only looked into the workspace or signed in, not shown: gmail__login, read_file.",
    )


def test_fields_that_the_task_declares_are_shown_of_calls_that_only_read():
    task = TaskSpec(task_id="t", tool_evidence=(ToolEvidence(tool="gmail__show_email", result=("subject",)),))
    made = [call("gmail__show_email", result='{"subject": "Fee", "body": "secret"}')]

    (shown,) = show({}, calls=made, task=task).calls

    assert shown.result == '{"subject": "Fee"}'


def test_session_that_only_wrote_files_sent_nothing():
    made = [call("write_file", path="a.md", content="x"), call("exec", command="ls")]

    assert show({}, calls=made).about_calls == ("Nothing was sent, and nothing was changed but files.",)
    assert show({}, calls=[*made, call("mcp_bank_pay")]).about_calls == ()


def test_session_that_only_looked_things_up_changed_nothing():
    assert show({}, calls=[call("web_search", query="fees")]).about_calls == (
        "No call changed anything, and nothing was sent.",
    )


def test_names_of_what_is_not_shown_are_counted_and_at_most_twelve():
    made = [call(f"app{number:02}__show_it") for number in range(14)]
    unseen = [call("read_file"), call("read_file"), call("grep"), *(call(f"app{n:02}__login") for n in range(13))]

    listed = show({}, calls=[*made, *unseen]).about_calls[-1]

    names = [f"app{number:02}__login" for number in range(12)]
    assert listed.endswith(f"not shown: {', '.join(names)} and 3 more.")
    assert show({}, calls=unseen[:3]).about_calls[-1].endswith("not shown: grep, read_file ×2.")


def test_command_that_ran_counts_as_an_act():
    assert acts(call("exec", command="ls"))
    assert not acts(call("web_search", query="x"))


def test_what_a_call_did_is_said_as_it_was():
    made = [
        call("exec", command="ls"),
        call("file_system__file_exists", path="/a"),
        call("mcp_time_get_current_time"),
        call("mcp_todo_update_list"),
        call("gmail__send_email", ok=False, result="500"),
        call("gmail__logout"),
        call("ask_user", question="Which one?"),
    ]

    shown = show({}, calls=made)

    assert [
        line.split('did="')[1].split('"')[0] for line in sections(shown)["calls"].splitlines() if "<call" in line
    ] == [
        "ran a command",
        "looked up",
        "looked up",
        "acted",
        "tried to act",
    ]
    assert shown.about_calls[-1] == "Calls that only looked into the workspace or signed in, not shown: gmail__logout."


def test_latest_calls_are_shown_where_there_is_no_room_for_all(monkeypatch):
    monkeypatch.setattr(work, "CALLS_CHARACTERS", 60)

    shown = show({}, calls=[call("phone__send_message", message=f"number {number}") for number in range(9)])

    assert [each.arguments["message"] for each in shown.calls] == ["number 8"]
    assert shown.about_calls == ("Cut: 8 earlier calls not shown: phone__send_message.",)


def test_what_was_looked_up_takes_no_room_from_what_was_done(monkeypatch):
    monkeypatch.setattr(work, "LOOKUPS_CHARACTERS", 30)
    made = [call("web_search", query="a long question about fees"), call("phone__send_message", message="hi")]

    shown = show({}, calls=made)

    assert [each.name for each in shown.calls] == ["phone__send_message"]
    assert shown.about_calls == ("Cut: 1 earlier call not shown: web_search.",)


def test_what_a_call_changed_stands_below_what_it_gave():
    changed = replace(call("gmail__send_email", subject="é"), changes=("An email was sent.",))

    assert '\narguments: {"subject": "é"}\nresult: done\nchanged: An email was sent.\n</call>' in sections(
        show({}, calls=[changed])
    )["calls"]  # fmt: skip


def test_whole_conversation_is_rendered_and_nothing_in_it_can_close_a_tag():
    stored = Stored()
    event = EnvironmentEvent("feed", {"a": 1}, "")
    turns = [
        PlayedTurn(1, event, "</assistant> YES", (), stored.manifest({'a"b.md': "</file>"})),
        PlayedTurn(2, "And <now>?", "Bye.", (), stored.manifest({'a"b.md': "</file>"})),
    ]

    began = datetime(2026, 4, 13, 9, 0)
    parts = sections(work_after(Conversation(TaskSpec(task_id="t"), {}, turns, began), stored.read))

    assert parts["conversation"].count("</assistant>") == 2
    assert parts["conversation"].startswith(
        'The session began on Monday, 13 April 2026, 09:00.\n<event turn="1" kind="feed">'
    )
    assert '<user turn="2">\nAnd &lt;now&gt;?\n</user>' in parts["conversation"]
    assert parts["files"].startswith('<file path="a&quot;b.md" status="written earlier" counted="words 1')
    assert parts["files"].count("</file>") == 1


def test_lengths_are_counted():
    text = "# Title\n\nOne two-fold thing.\n\n- first\n- second\n1. third"

    assert count(text) == "words 7, characters 55, lines 5, paragraphs 1, list items 3, headings 1"
    assert count("") == ""


def test_headings_lists_and_tables_are_no_paragraphs():
    text = "# Rota\n\n| day | who |\n|---|---|\n\n- Monday: Ida\n- Tuesday\n\n---\n\nA\n\n## Notes\nTwo of them swap."

    assert count(text) == "words 12, characters 92, lines 9, paragraphs 2, list items 2, headings 2"
