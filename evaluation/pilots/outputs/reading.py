"""Output folders of the public π-Bench release, read as hostile input. Nothing here touches the database.

The release writes, for each model, run, user and task (docs/file-formats.md)::

    <model>[__runNN]/<user>/<task>/eval/results/<YYYYMMDD_HHMMSS>_result.json    what was decided, and the scores
    <model>[__runNN]/<user>/<task>/eval/trace_logs/<same time>/turn_*.json       each turn, tool calls included
    <model>[__runNN]/<user>/<task>/history/<time>-messages.jsonl                 the conversation

The newest result of each task counts, as in the release's own re-evaluation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.protocol.participants import ToolRecord

MAX_BYTES = 20_000_000
"""Of one file."""
MAX_FILES = 20_000
MAX_TEXT = 200_000
"""Characters of a message or a tool's result; the rest is cut."""
RESULT = re.compile(r"(\d{8}_\d{6})_result\.json")
MESSAGES = re.compile(r"(\d{8}_\d{6})-messages\.jsonl")
RUN = re.compile(r"(.+?)(?:__run(\d{1,3}))?")
CUT = "\n[cut]"
Positive = Field(ge=1, le=1000)


class OutputError(ValueError):
    """A file that cannot be imported. ``file`` is relative to the folder, ``field`` empty if it is the whole file."""

    def __init__(self, file: str, field: str, message: str) -> None:
        super().__init__(": ".join(part for part in (file, field, message) if part))
        self.file = file
        self.field = field
        self.message = message


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class CriterionScore(_Part):
    index: int = Positive
    criterion: str = Field(max_length=MAX_TEXT)
    weight: float = Field(gt=0, le=1e6, allow_inf_nan=False, strict=False)
    score: str = ""
    value: Literal[0, 1]


class TurnEvaluation(_Part):
    turn_index: int = Positive
    criterion_scores: list[CriterionScore] = Field(max_length=1000)


class Checklist(_Part):
    criterion_scores: list[CriterionScore] = Field(max_length=1000)
    turn_evaluations: list[TurnEvaluation] = Field(default=[], max_length=200)


class IntentTurn(_Part):
    assistant_turn_index: int = Positive
    inferred_indexes: list[int] = Field(default=[], max_length=1000)
    matched_indexes: list[int] = Field(default=[], max_length=1000)


class Proactiveness(_Part):
    total_hidden_intent_count: int = Positive
    intent_judge_turns: list[IntentTurn] = Field(max_length=200)


class TaskPayload(_Part):
    task_id: str = Field(min_length=1, max_length=200)
    title: str = Field(default="", max_length=MAX_TEXT)
    checklist: Checklist | None
    proactiveness: Proactiveness | None


class ResultFile(_Part):
    user_id: str = Field(min_length=1, max_length=200)
    agent_id: str = Field(min_length=1, max_length=200)
    generated_at: str = Field(default="", max_length=100)
    task: TaskPayload


@dataclass(frozen=True)
class OutputTurn:
    user_message: str
    reply: str
    calls: tuple[ToolRecord, ...] = ()


@dataclass(frozen=True)
class OutputSession:
    """One task in one run."""

    file: str
    """Its result, for messages."""
    model: str
    run: int
    user: str
    task: str
    result: ResultFile
    turns: Sequence[OutputTurn] = field(default_factory=list)


def read_outputs(folder: Path) -> list[OutputSession]:
    """Of the ``outputs`` folder, or the folder of one model. Raises OutputError."""
    root = folder.resolve()
    if not root.is_dir():
        raise OutputError(str(folder), "", "there is no such folder")
    files = _result_files(root)
    if not files:
        raise OutputError(
            str(folder), "", "no results are in it: expected <model>/<user>/<task>/eval/results/*_result.json"
        )
    return [_session(root, *place) for place in files]


def _result_files(root: Path) -> list[tuple[Path, str, int, str, str]]:
    """The newest of each task: file, model, run, user, task."""
    newest: dict[tuple[str, int, str, str], tuple[str, Path]] = {}
    for number, path in enumerate(_walk(root)):
        if number > MAX_FILES:
            raise OutputError(root.name, "", f"it has more than {MAX_FILES} files")
        parts = path.relative_to(root).parts
        match = RESULT.fullmatch(path.name)
        if match is None or parts[-3:-1] != ("eval", "results") or len(parts) not in (5, 6):
            continue
        model_folder, user, task = parts[:3] if len(parts) == 6 else (root.name, *parts[:2])
        named = RUN.fullmatch(model_folder)
        model, run = (named[1], int(named[2] or 1)) if named else (model_folder, 1)
        key = (model, max(1, run), user, task)
        if key not in newest or match[1] > newest[key][0]:
            newest[key] = (match[1], path)
    return [(path, *key) for key, (_, path) in sorted(newest.items())]


def _walk(root: Path) -> Iterator[Path]:
    """Files, without following links out of the folder."""
    for path in sorted(root.rglob("*_result.json")):
        if not path.resolve().is_relative_to(root):
            raise OutputError(str(path.relative_to(root)), "", "it is a link that leads out of the folder")
        if path.is_file():
            yield path


def _session(root: Path, path: Path, model: str, run: int, user: str, task: str) -> OutputSession:
    name = str(path.relative_to(root))
    payload = _load(root, path)
    try:
        result = ResultFile.model_validate_json(payload)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise OutputError(name, where, first["msg"]) from error
    if result.user_id != user:
        raise OutputError(name, "user_id", f"“{result.user_id}” does not match the folder “{user}”")
    if result.task.task_id.strip() != task.strip():
        raise OutputError(name, "task.task_id", f"“{result.task.task_id}” does not match the folder “{task}”")
    return OutputSession(name, model, run, user, task, result, _turns(root, path))


def _turns(root: Path, result: Path) -> list[OutputTurn]:
    """From the turns copied with the result, else from the conversation; none if neither is there."""
    match = RESULT.fullmatch(result.name)
    assert match is not None
    folder = result.parents[1] / "trace_logs" / match[1]
    turns = [_turn(root, path) for path in sorted(folder.glob("turn_*.json"), key=_order)] if folder.is_dir() else []
    return turns or _conversation(root, result.parents[2] / "history")


def _order(path: Path) -> tuple[int, str]:
    """``turn_2.json`` before ``turn_10.json``; names with a time are in order as they are."""
    number = path.stem.removeprefix("turn_")
    return (int(number) if number.isdecimal() and len(number) < 7 else 0, path.name)


def _turn(root: Path, path: Path) -> OutputTurn:
    name = str(path.relative_to(root))
    data = _json(name, _load(root, path))
    if not isinstance(data, dict):
        raise OutputError(name, "", "it is not a JSON object")
    steps = data.get("tool_steps") or []
    if not isinstance(steps, list):
        raise OutputError(name, "tool_steps", "it is not a list")
    calls = tuple(
        ToolRecord(_text(step["name"])[:200], _arguments(step.get("arguments")), _text(step.get("result")))
        for step in steps[:1000]
        if isinstance(step, dict) and step.get("name")
    )
    return OutputTurn(_text(data.get("input")), _text(data.get("output")), calls)


def _conversation(root: Path, folder: Path) -> list[OutputTurn]:
    found = [path for path in folder.glob("*-messages.jsonl") if MESSAGES.fullmatch(path.name)]
    if not found:
        return []
    path = max(found, key=lambda path: path.name)
    name = str(path.relative_to(root))
    turns: list[OutputTurn] = []
    said = ""
    for number, line in enumerate(_load(root, path).splitlines(), start=1):
        if not line.strip():
            continue
        entry = _json(f"{name}:{number}", line)
        if not isinstance(entry, dict):
            raise OutputError(f"{name}:{number}", "", "it is not a JSON object")
        if entry.get("role") == "user":
            said = _text(entry.get("message"))
        elif entry.get("role") == "assistant":
            turns.append(OutputTurn(said, _text(entry.get("message"))))
            said = ""
    return turns[:200]


def _load(root: Path, path: Path) -> bytes:
    name = str(path.relative_to(root))
    if not path.resolve().is_relative_to(root):
        raise OutputError(name, "", "it is a link that leads out of the folder")
    if path.stat().st_size > MAX_BYTES:
        raise OutputError(name, "", f"it is larger than {MAX_BYTES // 1_000_000} MB")
    return path.read_bytes()


def _json(name: str, text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OutputError(name, "", f"it is not JSON: {error}") from error


def _arguments(value: Any) -> dict[str, Any]:
    clean = json.loads(json.dumps(value).replace("\\u0000", "")) if value is not None else {}
    return clean if isinstance(clean, dict) else {"value": clean}


def _text(value: Any) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace("\0", "").encode(errors="replace").decode()
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + CUT
