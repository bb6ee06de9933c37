"""Proposes exact checks for criteria that do not need a judge."""

from __future__ import annotations

import re

from studio.domain.checks.sources import file_mentions
from studio.domain.task import ChecklistItem, ExactCheck, TaskSpec
from studio.domain.text.exact_phrases import EVERY
from studio.domain.text.exactness import ExactForm, exactness
from studio.domain.text.prose import is_negative
from studio.domain.text.stems import stem

_ACTS = {
    stem(word): stem(act)
    for act, verbs in {
        "send": "sent send sends forwarded replied answered",
        "create": "created create added made written booked set",
        "delete": "deleted removed cleared erased delete",
        "place": "placed bought ordered purchased",
        "show": "read opened shown",
        "archive": "archived",
        "complete": "completed",
    }.items()
    for word in verbs.split()
}
_THINGS = {stem("sms"): "text message", stem("mail"): "email", stem("board"): "project", stem("shopping"): "order"}


def proposed_check(item: ChecklistItem, task: TaskSpec, tools: tuple[str, ...] = ()) -> ExactCheck | None:
    """``tools`` are those the task can call. None if a judge is needed, or the file, text or tool is ambiguous."""
    exact = exactness(item.criterion)
    if exact is None or not exact.sure or len(exact.texts) != 1:
        return None
    if exact.kind == "exists":
        return ExactCheck(kind="file_exists", path=exact.texts[0])
    if exact.kind == "tool":
        if is_negative(item.criterion):
            return None
        tool = _tool_for(item.criterion, tools)
        return ExactCheck(kind="tool_called", tool=tool) if tool else None
    if exact.kind in ("contains", "equals", "lacks") and not EVERY.match(item.criterion):
        return _text_check(exact, item.criterion, task)
    return None


def referenced_file(criterion: str, task: TaskSpec) -> str | None:
    """The file a criterion is about; empty: the reply; None: ambiguous."""
    named = {match[0] for match in file_mentions(criterion)}
    known = {*task.files_read, *task.expected_paths}
    paths = {path for path in known if path in named or path.rpartition("/")[2] in named} or named
    if not paths:
        paths = set(task.files_read) or set(task.expected_paths)
    return next(iter(paths)) if len(paths) == 1 else None if paths else ""


def _text_check(exact: ExactForm, criterion: str, task: TaskSpec) -> ExactCheck | None:
    path, text = referenced_file(criterion, task), exact.texts[0]
    if path is None:
        return None
    if path:
        return ExactCheck(kind="file_lacks" if exact.kind == "lacks" else "file_contains", path=path, text=text)
    if task.tool_evidence or _IN_A_CALL.search(criterion):
        return None
    return ExactCheck(kind="reply_lacks" if exact.kind == "lacks" else "reply_contains", text=text)


_IN_A_CALL = re.compile(
    r"\b(?:e-?mail|mail|gmail|subject|sms|text message|note|todoist|board|task|label|event|cart|order|file)\b", re.I
)
"""Content that appears neither in the reply nor in a file."""


def _tool_for(criterion: str, tools: tuple[str, ...]) -> str:
    stems = set()
    for word in re.findall(r"[a-z]+", criterion.casefold()):
        key = stem(word)
        stems |= {key, _ACTS.get(key, key), *(stem(part) for part in _THINGS.get(key, "").split())}
    best: dict[str, int] = {}
    for tool in tools:
        parts = {stem(part) for part in re.split(r"_+", tool.partition("__")[2] or tool) if len(part) > 2}
        if parts and parts <= stems:
            best[tool] = len(parts)
    most = max(best.values(), default=0)
    candidates = [tool for tool, count in best.items() if count == most]
    return candidates[0] if len(candidates) == 1 and most > 1 else ""
