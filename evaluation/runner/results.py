"""A folder of results: what was run, the tasks as they were, and one folder a session.

run.json      what was run: pack, protocol, agent, models, limits; the plan of its sessions
tasks.jsonl   the tasks, so that results are scored without the pack
files/        contents of files, by their sha256
sessions/PERSONA/RUN/TASK/
  session.jsonl   turns, how the conversation ended, verdicts, grades
  calls.jsonl     each call of a model, with what it used
  made.jsonl      tool calls as they are made
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from evaluation.engine.budgets import Spent
from evaluation.engine.folder import Kept, KeptCall, UnreadableLineError, read_calls, read_session
from evaluation.metrics.labels import labels_of
from evaluation.metrics.scores import Outcome, TaskResult, task_result
from evaluation.metrics.sessions import SessionRow
from evaluation.protocol.scoring import ScoringMode
from evaluation.runner.document import PlannedSession, RunDocument
from evaluation.runner.errors import PibenchError
from studio.domain.episode import Split
from studio.domain.storable import read_json
from studio.domain.task import TaskSpec

RUN, TASKS, FILES, LOCK, STOPPED = "run.json", "tasks.jsonl", "files", "lock", "stopped.json"
_SHA256 = re.compile("[0-9a-f]{64}")
_OUTSIDE_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class KnownTask:
    persona: str
    task: TaskSpec
    content: str
    """``studio.domain.content.content_hash``"""
    said_in_request: Sequence[int] = ()
    split: Split = Split.PUBLIC


_KNOWN = TypeAdapter(KnownTask)


@dataclass(frozen=True)
class SessionResult:
    planned: PlannedSession
    known: KnownTask
    kept: Kept
    calls: Sequence[KeptCall]
    stopped: str
    """Why it stands still, if something failed that is not the agent's."""

    @property
    def task(self) -> TaskSpec:
        return self.known.task

    @property
    def state(self) -> str:
        if self.kept.ending == "failed":
            return "failed"
        if self.kept.ending and ScoringMode.STRICT in self.kept.grades:
            return "finished"
        return "stopped" if self.stopped else "unfinished"

    @property
    def outcome(self) -> Outcome:
        return "missing" if self.kept.ending is None else "failed" if self.kept.ending == "failed" else "finished"

    @property
    def reason(self) -> str:
        return self.stopped or str((self.kept.end or {}).get("reason") or "")

    @cached_property
    def result(self) -> TaskResult:
        comp = {mode: self.kept.grades.get(mode, {}).get("comp") for mode in ScoringMode}
        statuses = [intent.status for intent in self.kept.intents(self.task)]
        return task_result(self.task, self.outcome, statuses, comp, blocked=self.kept.ending == "blocked")

    @property
    def ungraded(self) -> int:
        return int(self.kept.grades.get(ScoringMode.STRICT, {}).get("ungraded") or 0)

    @cached_property
    def spent(self) -> Spent:
        return sum((call.spent for call in self.calls), start=Spent())

    def row(self, key: int, agent: str) -> SessionRow:
        statuses = Counter(str(intent.status) for intent in self.kept.intents(self.task))
        del statuses["open"]
        return SessionRow(
            key=key,
            agent=agent,
            persona=self.planned.persona,
            run=(0, self.planned.run),
            result=self.result,
            labels=labels_of(self.task),
            statuses=statuses,
            turns=len(self.kept.turns),
            tokens=self.spent.tokens,
            cost=float(self.spent.cost),
            unpriced=sum(call.answered and call.cost is None for call in self.calls),
        )


@dataclass(frozen=True)
class Results:
    folder: Path
    run: RunDocument
    tasks: Mapping[tuple[str, str], KnownTask]

    @property
    def agent(self) -> str:
        """As tables name it."""
        return self.run.agent.named(self.run.models.agent.name)

    @cached_property
    def sessions(self) -> list[SessionResult]:
        """As they stand when they are first asked for. Raises PibenchError."""
        stopped = self.stopped
        try:
            return [
                SessionResult(
                    planned,
                    self.tasks[planned.persona, planned.task],
                    read_session(self.folder / planned.folder),
                    read_calls(self.folder / planned.folder),
                    stopped.get(planned.folder, ""),
                )
                for planned in self.run.sessions
            ]
        except (UnreadableLineError, KeyError, TypeError, ValueError, RecursionError) as error:
            told = str(error) if isinstance(error, UnreadableLineError) else f"{self.folder} has another form."
            raise PibenchError(told, "Something else wrote into the results; run them again.") from None

    @property
    def splits(self) -> list[Split]:
        """Of its tasks."""
        found = {each.split for each in self.tasks.values()}
        return [split for split in Split if split in found]

    def of_split(self, split: Split) -> Results:
        """Those of its tasks alone. Raises PibenchError if there are none."""
        tasks = {key: each for key, each in self.tasks.items() if each.split == split}
        if not tasks:
            had = ", ".join(each.label for each in self.splits)
            raise PibenchError(f"{self.folder} has no {split.label} tasks.", f"They are {had}.")
        sessions = tuple(each for each in self.run.sessions if (each.persona, each.task) in tasks)
        splits = {name: number for name, number in self.run.splits.items() if name == split}
        return Results(self.folder, self.run.model_copy(update={"splits": splits, "sessions": sessions}), tasks)

    def rows(self) -> list[SessionRow]:
        return [session.row(at, self.agent) for at, session in enumerate(self.sessions)]

    @property
    def stopped(self) -> dict[str, str]:
        """By folder of a session: why it stands still."""
        path = self.folder / STOPPED
        return dict(json.loads(path.read_text())) if path.exists() else {}

    def read(self, sha256: str) -> bytes | None:
        path = self.folder / FILES / sha256
        return path.read_bytes() if _SHA256.fullmatch(sha256) and path.is_file() else None


def folder_of(persona: str, run: int, position: int, task: str) -> str:
    """``persona`` with its number: names come from packs, and may differ only in characters that no folder has."""
    return f"sessions/{_plain(persona)}/run-{run}/{position:03}-{_plain(task)}"


def _plain(name: str) -> str:
    return _OUTSIDE_NAMES.sub("-", name)[:80]


def read_results(folder: Path) -> Results:
    """Raises PibenchError."""
    try:
        run = read_json((folder / RUN).read_text("utf-8"))
        lines = (folder / TASKS).read_text("utf-8").splitlines()
    except OSError:
        raise PibenchError(f"{folder} holds no results.", "Give the folder that `pibench run --out` made.") from None
    except ValueError as error:
        raise PibenchError(f"{folder / RUN} is not JSON: {error}.") from None
    version = run.get("results_version") if isinstance(run, dict) else None
    if version != 1:
        raise PibenchError(f"{folder} has results of version {version!r}; this pibench reads version 1.")
    try:
        document = RunDocument.model_validate(run)
        known_tasks = [_KNOWN.validate_python(read_json(line)) for line in lines]
        tasks = {(each.persona, each.task.task_id): each for each in known_tasks}
        known = all((each.persona, each.task) in tasks for each in document.sessions)
    except (KeyError, TypeError, ValueError):
        known = False
    if not known:
        raise PibenchError(f"{folder} has another form than pibench writes.", "Run it again into a new folder.")
    return Results(folder, document, tasks)


def write_results(folder: Path, run: RunDocument, tasks: Sequence[KnownTask]) -> Results:
    """Begin them, or go on with those that are there, if they are of the same run. Raises PibenchError."""
    if (folder / RUN).exists():
        known = read_results(folder)
        _refuse_other(folder, known.run, run)
        return known
    if folder.exists() and any(entry.name != LOCK for entry in folder.iterdir()):
        raise PibenchError(f"{folder} holds something else already.", "Give --out a new folder.")
    lines = [
        _KNOWN.dump_python(each, mode="json", exclude={"task"}) | {"task": without_source(each.task)} for each in tasks
    ]
    _write(folder / TASKS, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    _write(folder / RUN, json.dumps(run.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n")
    return read_results(folder)


def without_source(task: TaskSpec) -> dict[str, Any]:
    """As JSON, without the documents that it was read from."""
    document = task.model_dump(mode="json")
    for row in (document, *document["intents"], *document["checklist"], *document["tool_evidence"]):
        if "source" in row:
            row["source"] = {}
    return document


def write_stopped(folder: Path, stopped: Mapping[str, str]) -> None:
    _write(folder / STOPPED, json.dumps(stopped, ensure_ascii=False, indent=1) + "\n")


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(path)


MAY_DIFFER = {"pibench", "started", "budgets"}
"""Of ``run.json``, when results are gone on with."""


def _refuse_other(folder: Path, known: RunDocument, wanted: RunDocument) -> None:
    names = sorted(RunDocument.model_fields.keys() - MAY_DIFFER)
    different = [name for name in names if getattr(known, name) != getattr(wanted, name)]
    if different:
        raise PibenchError(
            f"{folder} has results of another run: {', '.join(different)} differ.",
            "Repeat the command with which it was begun to go on with it, or give --out another folder.",
        )


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """No other process works in the folder meanwhile. Raises PibenchError."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PibenchError(f"Another pibench works in {folder}.", "Wait for it, or end it.") from None
        yield
    finally:
        os.close(lock)
