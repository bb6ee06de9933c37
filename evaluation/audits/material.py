"""What auditors are shown: of a decision exactly what its judge saw, and in truth everything that happened."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from annotations.packets import EvidencePart, Kind, Material, Role
from evaluation.grading.evidence import TurnEvidence
from evaluation.grading.work import WRITES_FILES, Conversation, PlayedTurn, ShownCall, Work, acts, file_text
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.trace import read_texts, select_fields, select_files
from evaluation.protocol.versions import ProtocolName
from evaluation.workspaces.manifests import SKILLS, Manifest, Read
from studio.domain.opening_message import EnvironmentEvent, Incoming, text_of
from studio.domain.phrases import count_of
from studio.domain.task import TaskSpec, ToolEvidence

FILE_CHARACTERS = 400_000
"""Of a file, in the whole record."""
FILES_CHARACTERS = 2_000_000
"""Of all files of the whole record; the earliest come first."""
VALUE_CHARACTERS = 60_000
"""Of an argument or a result, in the whole record."""
CUT = "[cut here"
PATHS = ("path", "notebook_path")
"""Arguments that name the file which a call writes."""
SAW: Mapping[tuple[ProtocolName, str], str] = {
    (ProtocolName.RELEASE, "satisfaction"): "The judge saw only this reply and these files.",
    (ProtocolName.RELEASE, "follow_up"): "The judge saw only this reply, no files.",
    (ProtocolName.RELEASE, "checklist"): (
        "The judge saw the user's messages, the last reply, and the tool fields and files chosen for this task."
    ),
    (ProtocolName.PAPER, "satisfaction"): (
        "The judge saw the conversation so far, the files as they were then, and the calls that changed or sent "
        "something."
    ),
    (ProtocolName.PAPER, "follow_up"): "The judge saw what the user had said and the latest reply.",
    (ProtocolName.PAPER, "checklist"): (
        "The judge saw the conversation so far, the files as they were then, and the calls that changed or sent "
        "something."
    ),
}


def shown_to_judge(kind: Kind, turn: TurnEvidence, conversation: Conversation, protocol: ProtocolName) -> Material:
    """Of one decision, with the same cuts."""
    task, saw = conversation.task, SAW[protocol, kind]
    intents = [intent.content for intent in task.intents] if kind == "checklist" else []
    reply = _reply_part(turn.number, turn.reply)
    if protocol == ProtocolName.PAPER:
        if kind == "follow_up":
            said = [_incoming_part(message, number) for number, message in enumerate(turn.messages, start=1)]
            return Material([*said, reply], left_out=_left_out(conversation.until(turn.number), (), ()), saw=saw)
        work = turn.work()
        return Material(list(_work_parts(work)), left_out=_cut_in(work), saw=saw)
    if kind == "follow_up":
        return Material([reply], left_out=_left_out(conversation.until(turn.number), (), ()), saw=saw)
    files = _file_parts(turn, task)
    paths = {part.label for part in files}
    if kind == "satisfaction":
        return Material([reply, *files], left_out=_left_out(conversation.until(turn.number), paths, ()), saw=saw)
    said = [_incoming_part(message, number) for number, message in enumerate(turn.messages, start=1)]
    left_out = _left_out(conversation.until(turn.number), paths, task.tool_evidence)
    return Material([*said, reply, *_tool_parts(turn.calls, task), *files], intents, left_out, saw)


def whole_record(conversation: Conversation, read: Read) -> Material:
    """The conversation, every call as sentences, and the files as documents, each where it was written."""
    parts: list[EvidencePart] = []
    cut: list[str] = []
    before = conversation.found
    parts += _documents(before, {}, read, "input")
    for turn in conversation.turns:
        calls = [EvidencePart(role="tool", label=call.name, text=_call_in_words(call)) for call in turn.calls]
        parts += [_incoming_part(turn.message, turn.number), *calls, _reply_part(turn.number, turn.reply)]
        parts += _documents(turn.files, before, read, f"written in turn {turn.number}")
        if deleted := sorted(before.keys() - turn.files.keys()):
            parts.append(EvidencePart(role="file", label="deleted", text=", ".join(deleted)))
        before = turn.files
        cut += _turn_cut(turn.number, "", [part.label for part in calls if CUT in part.text])
    files, about_files = _with_room(parts)
    return Material(files, left_out=[*about_files, *cut], saw="People see all that happened, not only what judges saw.")


def _documents(now: Manifest, before: Manifest, read: Read, how: str) -> Iterator[EvidencePart]:
    new = {path: sha for path, sha in sorted(now.items()) if before.get(path) != sha and _is_work(path)}
    contents = read(list(new.values()))
    for path, sha in new.items():
        text = _cut(file_text(path, contents.get(sha, b"")), FILE_CHARACTERS)
        yield EvidencePart(role="file", label=f"{path} · {how}", text=text)


def _with_room(parts: Iterable[EvidencePart]) -> tuple[list[EvidencePart], list[str]]:
    """With as many files as there is room for, and a sentence on each that is cut or not shown."""
    kept, about, room = [], [], FILES_CHARACTERS
    for part in parts:
        room -= len(part.text) if part.role == "file" else 0
        if part.role == "file" and room < 0:
            about.append(f"{part.label}: not shown.")
            continue
        if part.role == "file" and CUT in part.text:
            about.append(f"{part.label}: cut.")
        kept.append(part)
    return kept, about


def _is_work(path: str) -> bool:
    return PurePosixPath(path).parts[0] != SKILLS


def _call_in_words(call: ToolRecord) -> str:
    """What it did, with what, and what came back."""
    lines = [
        *call.changes,
        *(f"{name}: {_value(value)}" for name, value in call.arguments.items() if name != "access_token"),
    ]
    return "\n".join((*lines, f"{'answered' if call.ok else 'failed'}: {_value(call.result)}"))


def _value(value: object) -> str:
    return _cut(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), VALUE_CHARACTERS
    )


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n{CUT}: {len(text) - limit:,} more characters]"


def _work_parts(work: Work) -> Iterator[EvidencePart]:
    for turn in work.turns:
        yield _incoming_part(turn.message, turn.number)
        yield _reply_part(turn.number, turn.reply)
    for file in work.files:
        yield EvidencePart(role="file", label=f"{file.path} · {file.origin}", text=file.text)
    for call in work.calls:
        lines = [f"{name}: {_plain(value)}" for name, value in call.arguments.items()]
        text = "\n".join((*call.changes, *lines, f"{'answered' if call.ok else 'failed'}: {call.result}"))
        yield EvidencePart(role="tool", label=f"{call.name} · turn {call.turn}", text=text)
    about = [line for line in (*work.about_files, *work.about_calls) if not line.startswith("Cut:")]
    if about:
        yield EvidencePart(role="file", label="about files and calls", text="\n".join(about))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut_in(work: Work) -> list[str]:
    said = [line for line in (*work.about_files, *work.about_calls) if line.startswith("Cut:")]
    said += [f"{file.path}: cut." for file in work.files if CUT in file.text]
    whole = {file.path for file in work.files if CUT not in file.text}
    calls = [call for call in work.calls if CUT in call.result or _is_cut(call, whole)]
    for turn in work.turns:
        reply = "its reply" if CUT in turn.reply else ""
        said += _turn_cut(turn.number, reply, [call.name for call in calls if call.turn == turn.number])
    return said


def _is_cut(call: ShownCall, whole: Collection[str]) -> bool:
    """What a call wrote into a file is not missing where the file is shown."""
    if call.name in WRITES_FILES and {str(call.arguments.get(name)) for name in PATHS} & set(whole):
        return False
    return CUT in _plain(call.arguments)


def _turn_cut(turn: int, reply: str, calls: Sequence[str]) -> Iterator[str]:
    """``Turn 2: its reply and 3 calls (exec, write_file ×2) cut short.``"""
    said = [reply, f"{count_of(len(calls), 'call')} ({_counted(calls)})" if calls else ""]
    if what := " and ".join(filter(None, said)):
        yield f"Turn {turn}: {what} cut short."


def _counted(names: Iterable[str]) -> str:
    counts = sorted(Counter(names).items())
    return _names([f"{name} ×{number}" if number > 1 else name for name, number in counts])


def _left_out(conversation: Conversation, paths: Collection[str], tools: Sequence[ToolEvidence]) -> list[str]:
    """``2 files written, 1 shown; …``, turn by turn. ``paths``: shown as they are after the last turn; ``tools``: whose
    fields are shown."""
    found = []
    before = conversation.found
    last = conversation.turns[-1].number if conversation.turns else 0
    for turn in conversation.turns:
        said = [*_files_left_out(turn, before, paths), *_calls_left_out(turn, tools)]
        if turn.number != last:
            said.append("its reply not shown")
        if said:
            found.append(f"Turn {turn.number}: {'; '.join(said)}.")
        before = turn.files
    return found


def _files_left_out(turn: PlayedTurn, before: Manifest, paths: Collection[str]) -> Iterator[str]:
    written = [path for path, sha in turn.files.items() if before.get(path) != sha and _is_work(path)]
    if hidden := sorted(set(written) - set(paths)):
        shown = len(written) - len(hidden)
        yield f"{count_of(len(written), 'file')} written, {shown or 'none'} shown (missing: {_names(hidden)})"


def _calls_left_out(turn: PlayedTurn, tools: Sequence[ToolEvidence]) -> Iterator[str]:
    # of those that write files, the files are named
    acted = [call for call in turn.calls if acts(call) and call.name not in WRITES_FILES]
    hidden = [call.name for call in acted if select_fields(call, tools) is None]
    if hidden:
        yield f"{count_of(len(hidden), 'call')} that changed or sent something, not shown ({_counted(hidden)})"


def _names(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _reply_part(number: int, reply: str) -> EvidencePart:
    return EvidencePart(role="assistant", label=f"turn {number}", text=reply)


def _incoming_part(message: Incoming, turn: int) -> EvidencePart:
    role: Role = "event" if isinstance(message, EnvironmentEvent) else "user"
    return EvidencePart(role=role, label=f"turn {turn}", text=text_of(message))


def _tool_parts(calls: Iterable[ToolRecord], task: TaskSpec) -> Iterator[EvidencePart]:
    """Only the fields that the task shows its judges."""
    for call in calls:
        fields = select_fields(call, task.tool_evidence)
        if fields is not None:
            yield EvidencePart(role="tool", label=call.name, text=_format_fields(fields))


def _file_parts(turn: TurnEvidence, task: TaskSpec) -> list[EvidencePart]:
    texts = read_texts(select_files(task), turn.read)
    return [EvidencePart(role="file", label=path, text=text) for path, text in texts.items()]


def _format_fields(fields: dict[str, dict[str, object]]) -> str:
    return "\n".join(
        f"{side} {path}: {_plain(value)}" for side, values in fields.items() for path, value in values.items()
    )
