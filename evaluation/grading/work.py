"""The work of a session as the paper protocol shows it, to both judges and to whoever audits them.

What is not shown did not happen, unless a line says what was left out: absence is evidence.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, Literal

from evaluation.protocol.clock import spoken
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.prompts import escape, escape_attribute
from evaluation.protocol.trace import BINARY_FILE, select_fields, select_files
from evaluation.tools.documents import read_document
from evaluation.tools.tool import ToolError
from evaluation.workspaces.manifests import SKILLS, Manifest, Read
from studio.domain.opening_message import EnvironmentEvent, Incoming, text_of
from studio.domain.task import TaskSpec, ToolEvidence
from studio.domain.tool_names import WORKSPACE, bare_tool_name, tool_domain

Origin = Literal["input", "written this turn", "written earlier"]
FILE_CHARACTERS = 40_000
FILES_CHARACTERS = 120_000
"""Of all files together; those written come first."""
REPLY_CHARACTERS = 20_000
ARGUMENT_CHARACTERS = 6_000
RESULT_CHARACTERS = 1_500
CALLS_CHARACTERS = 60_000
"""Of all calls that changed or sent something; the latest come first."""
LOOKUPS_CHARACTERS = 30_000
"""Likewise of those that looked something up."""
WRITTEN_ARGUMENT = 200
"""Characters of what a call wrote into a file: the file itself is shown."""
COUNTED = 40
"""Characters from which a text in a call is counted."""
AROUND = 2
"""Unchanged lines shown around changed ones."""
NAMED = 12
"""Names in a list of what is left out."""
WRITES_FILES = frozenset({"write_file", "edit_file", "notebook_edit"})
ASKS_USER = "ask_user"
"""Its question and answer stand in the conversation."""
READS_WORKSPACE = frozenset({"read_file", "list_dir", "glob", "grep", ASKS_USER, "find_tools"})
READS = READS_WORKSPACE | {"web_search", "web_fetch"}
"""Tools outside of apps that change nothing."""
READS_APP = re.compile(r"__(show|search|get|list|find|download|check)_|_exists$")
READS_SERVER = re.compile(r"^mcp_[^_]+_(show|search|get|list|read|fetch|query)(_|$)")
"""Of a server's tool, nothing but the name says that it changes nothing."""
SIGNS = ("__login", "__logout")
_WORD = re.compile(r"\w+(?:[’'-]\w+)*")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


@dataclass(frozen=True)
class PlayedTurn:
    """A turn as it was stored."""

    number: int
    message: Incoming
    """The event that opened the session, or the user's words."""
    reply: str
    calls: tuple[ToolRecord, ...]
    files: Manifest
    """After the turn."""


@dataclass(frozen=True)
class Conversation:
    """As it was held, as far as it is stored."""

    task: TaskSpec
    found: Manifest
    """The files before the first turn."""
    turns: Sequence[PlayedTurn] = ()
    began: datetime | None = None
    """By the session's own clock, if it is known."""

    def until(self, number: int) -> Conversation:
        return replace(self, turns=[turn for turn in self.turns if turn.number <= number])

    def and_then(self, turn: PlayedTurn) -> Conversation:
        return replace(self, turns=[*self.turns, turn])


@dataclass(frozen=True)
class ShownTurn:
    number: int
    message: Incoming
    reply: str
    """Cut."""
    counts: str
    """Of the whole reply."""


@dataclass(frozen=True)
class ShownFile:
    path: str
    origin: Origin
    text: str
    """Cut; of a document, its text."""
    counts: str
    """Of the whole text; empty if there is none."""
    sha256: str


@dataclass(frozen=True)
class ShownCall:
    turn: int
    name: str
    arguments: Mapping[str, Any]
    """Cut."""
    result: str
    """Cut."""
    ok: bool
    acted: bool
    """Whether it changed or sent something, or tried to; else it looked something up."""
    changes: tuple[str, ...] = ()
    """What it changed, a sentence each."""
    counts: str = ""
    """Of the texts in its arguments."""


@dataclass(frozen=True)
class Work:
    """Of a session after a turn, with what is left out in words."""

    began: datetime | None
    turns: tuple[ShownTurn, ...]
    files: tuple[ShownFile, ...]
    """Written this turn first, inputs last."""
    calls: tuple[ShownCall, ...]
    """Those that changed or sent something, and what was looked up outside of the workspace, in order."""
    about_files: tuple[str, ...]
    about_calls: tuple[str, ...]


def work_after(conversation: Conversation, read: Read) -> Work:
    """After its last turn."""
    turns, found, task = conversation.turns, conversation.found, conversation.task
    now = turns[-1].files if turns else found
    before = turns[-2].files if len(turns) > 1 else found
    files, about_files = _files(found, before, now, task, read)
    calls, about_calls = _calls(turns, task.tool_evidence)
    shown = [
        ShownTurn(turn.number, turn.message, _cut(turn.reply, REPLY_CHARACTERS), count(turn.reply)) for turn in turns
    ]
    return Work(conversation.began, tuple(shown), tuple(files), tuple(calls), tuple(about_files), tuple(about_calls))


def sections(work: Work) -> dict[str, str]:
    """Rendered and escaped, as prompts name them. ``inputs_first``: the files again, those that never change before the
    others, so that services find them in their caches from turn to turn."""
    inputs = [file for file in work.files if file.origin == "input"]
    others = [file for file in reversed(work.files) if file.origin != "input"]
    return {
        "conversation": render_conversation(work),
        "files": render_files(work),
        "inputs_first": render_files(replace(work, files=(*inputs, *others))),
        "calls": render_calls(work),
    }


def render_messages(turns: Sequence[ShownTurn]) -> str:
    """The user's, and the event that opened the session."""
    return "\n".join(_render_message(turn) for turn in turns)


def render_conversation(work: Work) -> str:
    turns = (
        f'{_render_message(turn)}\n<assistant turn="{turn.number}" counted="{turn.counts}">\n'
        f"{escape(turn.reply)}\n</assistant>"
        for turn in work.turns
    )
    began = (f"The session began on {spoken(work.began)}.",) if work.began else ()
    return "\n".join((*began, *turns))


def _render_message(turn: ShownTurn) -> str:
    text = escape(text_of(turn.message))
    if isinstance(turn.message, EnvironmentEvent):
        kind = escape_attribute(turn.message.kind)
        return f'<event turn="{turn.number}" kind="{kind}">\n{text}\n</event>'
    return f'<user turn="{turn.number}">\n{text}\n</user>'


def render_files(work: Work) -> str:
    shown = (
        f'<file path="{escape_attribute(file.path)}" status="{file.origin}" counted="{file.counts}">\n'
        f"{escape(file.text)}\n</file>"
        for file in work.files
    )
    return "\n".join((*shown, *map(escape, work.about_files)))


def render_calls(work: Work) -> str:
    return "\n".join((*map(_render_call, work.calls), *map(escape, work.about_calls)))


def _render_call(call: ShownCall) -> str:
    attributes = {
        "turn": str(call.turn),
        "tool": call.name,
        "did": _did(call),
        "ended": "well" if call.ok else "with an error",
        "counted": call.counts,
    }
    shown = " ".join(f'{name}="{escape_attribute(text)}"' for name, text in attributes.items() if text)
    return f"<call {shown}>\n{escape(_call_text(call))}\n</call>"


def _did(call: ShownCall) -> str:
    if not call.acted:
        return "looked up"
    if call.name == "exec":
        return "ran a command"
    return "acted" if call.ok or call.changes else "tried to act"


def _call_text(call: ShownCall) -> str:
    lines = [f"arguments: {_json(call.arguments)}", f"result: {call.result}"]
    return "\n".join((*lines, *(f"changed: {change}" for change in call.changes)))


def _files(
    found: Manifest, before: Manifest, now: Manifest, task: TaskSpec, read: Read
) -> tuple[list[ShownFile], list[str]]:
    named = [str(PurePosixPath(path.strip())) for path in select_files(task) if path.strip()]
    own = {str(PurePosixPath(asset.path)) for asset in task.assets}
    ranks: dict[Origin, int] = {"written this turn": 0, "written earlier": 1, "input": 2}
    rows = [
        (ranks[origin], 0 if path in named else 1 if path in own else 2, path, origin)
        for path, sha in now.items()
        if (origin := _origin(path, sha, found, before)) != "input" or PurePosixPath(path).parts[0] != SKILLS
    ]
    shown: list[ShownFile] = []
    left_out: list[str] = []
    room = FILES_CHARACTERS
    for _, _, path, origin in sorted(rows):
        contents = read([now[path], *([before[path]] if path in before else [])])
        text = file_text(path, contents.get(now[path], b""))
        old = file_text(path, contents[before[path]]) if before.get(path, now[path]) != now[path] else None
        limit = min(FILE_CHARACTERS, room)
        if len(text) > limit < FILE_CHARACTERS and limit < len(text) // 4:
            left_out.append(path)
            continue
        cut = _cut(text, limit, old)
        room -= len(cut)
        shown.append(ShownFile(path, origin, cut, "" if text == BINARY_FILE else count(text), now[path]))
    return shown, list(_about_files(shown, left_out, named, found, now))


def _about_files(
    shown: Sequence[ShownFile], left_out: Sequence[str], named: Sequence[str], found: Manifest, now: Manifest
) -> Iterator[str]:
    written = {path for path, sha in now.items() if found.get(path) != sha}
    if not written:
        yield "No files were written."
    if deleted := sorted(found.keys() - now.keys()):
        yield f"Deleted: {_names(deleted)}."
    yield from (f"There is no file {path}." for path in named if path not in now)
    if left_out:
        number = len(left_out)
        yield f"Cut: {number} file{'s' if number > 1 else ''} not shown: {_names(left_out)}."
    elif shown:
        yield "There are no other files but the assistant’s skills."


def _origin(path: str, sha: str, found: Manifest, before: Manifest) -> Origin:
    if found.get(path) == sha:
        return "input"
    return "written earlier" if before.get(path) == sha else "written this turn"


def file_text(path: str, content: bytes) -> str:
    try:
        return _read_text(path, content)
    except ToolError as error:
        return f"[{error}]"


@lru_cache(64)
def _read_text(path: str, content: bytes) -> str:
    document = read_document(path, content)
    if document is not None:
        return document
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return BINARY_FILE


def _cut(text: str, limit: int, before: str | None = None) -> str:
    """At most ``limit`` characters and a mark; first the lines that ``before`` did not have."""
    if len(text) <= limit:
        return text
    changed = _changed_lines(text, before) if before is not None else ""
    if len(changed) > limit:
        return f"{changed[:limit]}\n[cut here: more was changed, and the rest of the file is not shown]"
    rest = text[: limit - len(changed)]
    mark = f"[cut here: {len(text) - len(rest):,} of {len(text):,} characters are not shown]"
    parts = (f"[changed this turn]\n{changed}\n[the file from its start]",) if changed else ()
    return "\n".join((*parts, rest, mark))


def _changed_lines(text: str, before: str) -> str:
    known = set(before.splitlines())
    lines = text.splitlines()
    near = {
        other
        for at, line in enumerate(lines)
        if line not in known
        for other in range(max(0, at - AROUND), min(len(lines), at + AROUND + 1))
    }
    kept: list[str] = []
    for at in sorted(near):
        if kept and at - 1 not in near:
            kept.append("[…]")
        kept.append(lines[at])
    return "\n".join(kept)


def _calls(turns: Sequence[PlayedTurn], evidence: Sequence[ToolEvidence]) -> tuple[list[ShownCall], list[str]]:
    made = [(turn.number, call) for turn in turns for call in turn.calls]
    shown = [_shown(number, call, evidence) for number, call in made]
    acted = [at for at, (_, call) in enumerate(made) if acts(call)]
    looked = [at for at, each in enumerate(shown) if each is not None and at not in acted]
    kept = {*_with_room(acted, shown, CALLS_CHARACTERS), *_with_room(looked, shown, LOOKUPS_CHARACTERS)}
    about = list(_said_of_acts([made[at][1] for at in acted]))
    if left_out := [at for at in (*acted, *looked) if at not in kept]:
        names = _names(sorted({made[at][1].name for at in left_out}))
        about.append(f"Cut: {len(left_out)} earlier call{'s' if len(left_out) > 1 else ''} not shown: {names}.")
    unseen = [bare_tool_name(call.name) for at, (_, call) in enumerate(made) if shown[at] is None]
    if others := Counter(name for name in unseen if name != ASKS_USER):
        names = _names([f"{name} ×{number}" if number > 1 else name for name, number in sorted(others.items())])
        about.append(f"Calls that only looked into the workspace or signed in, not shown: {names}.")
    return [each for at in sorted(kept) if (each := shown[at]) is not None], about


def _said_of_acts(acted: Sequence[ToolRecord]) -> Iterator[str]:
    if not acted:
        yield "No call changed anything, and nothing was sent."
    elif all(call.name in WRITES_FILES or call.name == "exec" for call in acted):
        yield "Nothing was sent, and nothing was changed but files."


def _with_room(places: Sequence[int], shown: Sequence[ShownCall | None], room: int) -> Iterator[int]:
    """The latest, as long as there is room."""
    for at in reversed(places):
        each = shown[at]
        room -= len(_call_text(each)) if each is not None else 0
        if room < 0:
            return
        yield at


def acts(call: ToolRecord) -> bool:
    """Whether a call changed or sent something, or tried to."""
    name = bare_tool_name(call.name)
    if call.effects or call.changes:
        return True
    if tool_domain(name) == WORKSPACE:
        return name not in READS and not READS_SERVER.search(name)
    return not READS_APP.search(name) and not (call.ok and name.endswith(SIGNS))


def _shown(turn: int, call: ToolRecord, evidence: Sequence[ToolEvidence]) -> ShownCall | None:
    """None: it only looked into the workspace, whose files are shown, or signed in."""
    arguments = {name: value for name, value in call.arguments.items() if name != "access_token"}
    if acts(call):
        written = call.name in WRITES_FILES
        arguments = _cut_leaves(arguments, WRITTEN_ARGUMENT if written else ARGUMENT_CHARACTERS)
        counts = "" if written else "; ".join(_counted(arguments))
        result = _cut(call.result, RESULT_CHARACTERS)
        return ShownCall(turn, call.name, arguments, result, call.ok, True, call.changes, counts)
    if (fields := select_fields(call, evidence)) is not None:
        arguments = _cut_leaves(fields["call"], ARGUMENT_CHARACTERS)
        return ShownCall(turn, call.name, arguments, _cut(_json(fields["result"]), ARGUMENT_CHARACTERS), call.ok, False)
    if bare_tool_name(call.name) in READS_WORKSPACE or call.name.endswith(SIGNS):
        return None
    arguments = _cut_leaves(arguments, RESULT_CHARACTERS)
    return ShownCall(turn, call.name, arguments, _cut(call.result, RESULT_CHARACTERS), call.ok, False)


def _cut_leaves(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return _cut(value, limit)
    if isinstance(value, Mapping):
        return {name: _cut_leaves(inner, limit) for name, inner in value.items()}
    return [_cut_leaves(inner, limit) for inner in value] if isinstance(value, list | tuple) else value


def _counted(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        if isinstance(value, str) and len(value) >= COUNTED:
            yield f"{name}: {count(value)}"


def count(text: str) -> str:
    """Lengths and numbers in words, so that no judge has to count."""
    lines = [line for line in text.splitlines() if line.strip()]
    numbers = {
        "words": sum(len(_WORD.findall(_ITEM.sub("", line, count=1))) for line in lines),
        "characters": len(text.strip()),
        "lines": len(lines),
        "paragraphs": sum(map(_is_paragraph, re.split(r"\n\s*\n", text))),
        "list items": sum(_ITEM.match(line) is not None for line in lines),
        "headings": sum(line.lstrip().startswith("#") for line in lines),
    }
    return ", ".join(f"{what} {number:,}" for what, number in numbers.items() if number)


def _is_paragraph(block: str) -> bool:
    """Whether it has a line that is neither a heading, a list item nor a row of a table."""
    lines = (line.strip() for line in block.splitlines())
    return any(line and line.strip("-*_ ") and line[0] not in "#|" and not _ITEM.match(line) for line in lines)


def _names(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
