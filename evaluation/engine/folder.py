"""A session kept in a folder: JSON lines that only grow, and files by their content."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from evaluation.engine.budgets import Purse, Spent
from evaluation.engine.grading import Played
from evaluation.engine.journal import MadeCall
from evaluation.engine.plan import SessionPlan
from evaluation.engine.store import Checkpoint, Closing, Standing
from evaluation.grading.decided import Decided, Place
from evaluation.grading.session import SessionGrade
from evaluation.grading.work import Conversation
from evaluation.llm import Call
from evaluation.llm.completion import read_answer
from evaluation.protocol.participants import Tokens
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import IntentState, Progress, opening_progress
from evaluation.workspaces.app_states import AppHashes, clock_at, initial_apps
from evaluation.workspaces.manifests import Manifest, stage_files
from studio.domain.task import TaskSpec

_CHECKPOINT = TypeAdapter(Checkpoint)
_CLOSING = TypeAdapter(Closing)
_DECIDED = TypeAdapter(list[Decided])
_MADE = TypeAdapter(MadeCall)
_SHA256 = re.compile(r"[0-9a-f]{64}")


class SessionHeldError(Exception):
    """Another process holds the session, or this one no longer does."""


class UnreadableLineError(Exception):
    """Something else wrote into a file of a session."""


@dataclass(frozen=True)
class Found:
    """What a session finds, or leaves to the next."""

    files: Manifest = field(default_factory=dict)
    apps: AppHashes = field(default_factory=dict)
    said: tuple[str, ...] = ()
    """By the user, in earlier sessions of the run."""


@dataclass
class Kept:
    """What a session's folder holds of it."""

    turns: list[Checkpoint] = field(default_factory=list)
    end: Mapping[str, Any] | None = None
    """``ending``, ``reason`` and ``closing``, once its conversation is over."""
    decided: dict[str, dict[Place, Decided]] = field(default_factory=lambda: {mode: {} for mode in ScoringMode})
    """On the checklist, by scoring mode."""
    grades: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """``comp`` and ``ungraded``, by scoring mode."""

    def add(self, line: Mapping[str, Any]) -> None:
        if "turn" in line:
            self.turns.append(_CHECKPOINT.validate_python(line["turn"]))
        elif "end" in line:
            self.end = line["end"]
        elif "verdicts" in line:
            self.decided[line["mode"]] |= {each.place: each for each in _DECIDED.validate_python(line["verdicts"])}
        elif "grades" in line:
            self.grades |= line["grades"]

    @property
    def ending(self) -> str | None:
        return self.end["ending"] if self.end else None

    def intents(self, task: TaskSpec) -> Sequence[IntentState]:
        """As they stand."""
        return self.turns[-1].after.intents if self.turns else opening_progress(task).intents


@dataclass(frozen=True)
class KeptCall:
    """What a call of a model used."""

    purpose: str
    answered: bool
    tokens: Tokens
    cost: Decimal | None
    """In US dollars; None: unknown."""
    ending: str = ""
    """As ``evaluation.llm.client.Call.ending``."""
    answered_by: str = ""
    """As the service says."""
    invalid_calls: int = 0
    """Calls of tools whose arguments are no JSON object."""

    @property
    def spent(self) -> Spent:
        """What was not answered cost nothing."""
        return Spent(self.tokens.total, 1, self.cost or Decimal(0)) if self.answered else Spent()


def keep_contents(folder: Path, contents: Mapping[str, bytes]) -> None:
    """By sha256. Whatever else keeps the same content at this moment, none is ever half there."""
    folder.mkdir(parents=True, exist_ok=True)
    for sha256, content in contents.items():
        if not (folder / sha256).exists():
            unfinished = folder / f"{sha256}.{os.getpid()}.{threading.get_ident()}"
            unfinished.write_bytes(content)
            unfinished.replace(folder / sha256)


def read_session(folder: Path) -> Kept:
    """Without holding it: another process may be playing it. Without the agent's state, from which only the session
    itself goes on. Raises UnreadableLineError."""
    lines = read_lines(folder / "session.jsonl")
    for line in lines:
        if "turn" in line:
            line["turn"]["taken"]["reply"]["state"] = {}
    return _kept(lines)


def read_calls(folder: Path) -> list[KeptCall]:
    """Likewise, its calls of models."""
    return [_call_in(line) for line in read_lines(folder / "calls.jsonl")]


def _call_in(line: Mapping[str, Any]) -> KeptCall:
    cost = None if line["cost"] is None else Decimal(line["cost"])
    call = KeptCall(line["purpose"], line["response"] is not None, Tokens(**line["tokens"]), cost, line["ending"])
    if not call.answered:
        return call
    answer = read_answer(line["response"])
    told = " · ".join(filter(None, astuple(answer.answered_by)))
    return replace(call, answered_by=told, invalid_calls=sum(not each.is_valid for each in answer.tool_calls))


def _kept(lines: Iterable[Mapping[str, Any]]) -> Kept:
    kept = Kept()
    for line in lines:
        kept.add(line)
    return kept


def read_lines(path: Path) -> list[dict[str, Any]]:
    """None if there is no file; without a line that is not finished. Raises UnreadableLineError."""
    content = path.read_bytes() if path.exists() else b""
    try:
        return [json.loads(line) for line in content[: content.rfind(b"\n") + 1].splitlines()]
    except ValueError as error:
        raise UnreadableLineError(f"{path} has a line that is not JSON: {error}") from None


class FolderStore:
    """``contents``: where files are kept, which sessions share. Raises SessionHeldError.

    A line that a killed process did not finish never was.
    """

    def __init__(
        self, folder: Path, contents: Path | None = None, found: Found | None = None, purse: Purse | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._contents = contents or folder / "files"
        self._contents.mkdir(parents=True, exist_ok=True)
        self._found = found or Found()
        self._purse = purse
        self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise SessionHeldError(f"Another process plays the session in {folder}.") from None
        self._held = True
        self._session = _Lines(folder / "session.jsonl")
        self._calls = _Lines(folder / "calls.jsonl")
        self.kept = _kept(self._session.read)
        self._spent = sum((_call_in(line).spent for line in self._calls.read), start=Spent())
        self._answers = {line["hash"]: line["response"] for line in self._calls.read if line["response"] is not None}
        self.made = FolderMadeCalls(folder / "made.jsonl", self)

    def close(self) -> None:
        if self._held:
            self._held = False
            if self._purse is not None:
                self._purse.leave(self)
            os.close(self._lock)

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        return self._answers.get(request_hash)

    def check(self, purpose: str = "", worst: Decimal | None = None) -> None:
        if not self._held:
            raise SessionHeldError("The session is closed.")
        if purpose and self._purse is not None:
            self._purse.check(self, self._spent, worst)

    def call(self, call: Call, purpose: str, turn: int) -> None:
        line = self._calls.append(
            {
                "hash": call.request_hash,
                "purpose": purpose,
                "turn": turn,
                "model": call.endpoint.model,
                "request": call.request,
                "response": call.response,
                "error": call.error,
                "ending": call.ending,
                "tokens": asdict(call.tokens),
                "cost": None if call.cost is None else str(call.cost),
                "milliseconds": call.milliseconds,
                "attempts": call.attempts,
            }
        )
        if call.response is not None:
            self._answers[call.request_hash] = call.response
        self._spent += (spent := _call_in(line).spent)
        if self._purse is not None:
            self._purse.spend(self, spent)

    def turn(self, checkpoint: Checkpoint) -> None:
        self._append({"turn": _CHECKPOINT.dump_python(checkpoint, mode="json")})

    def end(self, progress: Progress, closing: Closing | None) -> None:
        document = None if closing is None else _CLOSING.dump_python(closing, mode="json")
        self._append({"end": {"ending": progress.ending, "reason": progress.reason, "closing": document}})

    def verdicts(self, mode: ScoringMode, decided: Sequence[Decided]) -> None:
        self._append({"mode": mode, "verdicts": _DECIDED.dump_python(list(decided), mode="json")})

    def finish(self, grades: Mapping[ScoringMode, SessionGrade]) -> None:
        self._append(
            {"grades": {mode: {"comp": each.comp, "ungraded": each.ungraded} for mode, each in grades.items()}}
        )

    def read(self, sha256s: Sequence[str]) -> dict[str, bytes]:
        paths = {sha: self._contents / sha for sha in sha256s if _SHA256.fullmatch(sha)}
        return {sha: path.read_bytes() for sha, path in paths.items() if path.is_file()}

    def keep(self, contents: Sequence[bytes]) -> list[str]:
        self.check()
        shas = [hashlib.sha256(content).hexdigest() for content in contents]
        keep_contents(self._contents, dict(zip(shas, contents, strict=True)))
        return shas

    @property
    def is_ended(self) -> bool:
        """Whether its conversation is over."""
        return self.kept.end is not None

    @property
    def last_turn(self) -> int:
        return self.kept.turns[-1].taken.number if self.kept.turns else 0

    def standing(self, plan: SessionPlan) -> Standing:
        conversation = self._conversation(plan)
        said = self._found.said
        if self.kept.turns:
            last = self.kept.turns[-1]
            return Standing(last.after, last.files, last.apps, conversation, last.taken.reply.state, said)
        self.keep([b""])  # an empty memory
        apps = {**initial_apps(plan.persona), **self._found.apps}
        return Standing(opening_progress(plan.task), conversation.found, apps, conversation, said_earlier=said)

    def played(self, plan: SessionPlan, mode: ScoringMode, final_files: Manifest | None = None) -> Played:
        """``final_files``: at the end of the episode, unless that ended with this session."""
        final = self.left.files if final_files is None else final_files
        known = {place: each.met for place, each in self.kept.decided[mode].items()}
        return Played(self._conversation(plan), known, final if mode == ScoringMode.COMPAT else None)

    def _conversation(self, plan: SessionPlan) -> Conversation:
        found = stage_files(self._found.files, plan.persona, plan.task, with_memory=plan.terms.with_memory)
        began = clock_at(plan.moment, plan.persona, self.read).start
        return Conversation(plan.task, found, [checkpoint.played for checkpoint in self.kept.turns], began)

    @property
    def left(self) -> Found:
        """To the next session."""
        said = [checkpoint.taken.message for checkpoint in self.kept.turns]
        all_said = (*self._found.said, *(message for message in said if isinstance(message, str)))
        if self.kept.end is not None and self.kept.end["closing"] is not None:
            closing = _CLOSING.validate_python(self.kept.end["closing"])
            return Found(closing.files, closing.apps, all_said)
        last = self.kept.turns[-1] if self.kept.turns else self._found
        return Found(last.files, last.apps, all_said)

    def _append(self, line: Mapping[str, Any]) -> None:
        self.check()
        self.kept.add(self._session.append(line))


class FolderMadeCalls:
    """``evaluation.engine.journal.MadeCalls``"""

    def __init__(self, path: Path, store: FolderStore) -> None:
        self._lines = _Lines(path)
        self._store = store
        self._made: dict[str, MadeCall] = {}
        for line in self._lines.read:
            if "dropped" in line:
                self._made.pop(line["dropped"], None)
            else:
                call = _MADE.validate_python(line)
                self._made[call.key] = call

    def all(self) -> list[MadeCall]:
        return [call for call in self._made.values() if call.outside or call.turn > self._store.last_turn]

    def put(self, call: MadeCall) -> None:
        if call.outside and call.record is None:
            self._store.check()
        self._lines.append(_MADE.dump_python(call, mode="json"))
        self._made[call.key] = call

    def drop(self, key: str) -> None:
        self._lines.append({"dropped": key})
        self._made.pop(key, None)


class _Lines:
    """A file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        content = path.read_bytes() if path.exists() else b""
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            os.truncate(path, whole)
        self.read = read_lines(path)

    def append(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """On disk when it returns. The line."""
        with self._path.open("ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.read.append(dict(line))
        return self.read[-1]
