"""Grader scripts (PIBENCH.md, section 1): ``score(tools_history) -> {key: 0 or 1}``, run in the sandbox."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from zipfile import ZipFile

import yaml

from evaluation.sandbox import SandboxLimits, SandboxResult, run_python
from evaluation.workspaces.folders import temporary_folder

DRIVER = (Path(__file__).parent / "script_driver.py").read_bytes()
CALL_SECONDS = 5.0
"""Wall time of one call of ``score``."""

CONFIG = "nanobot.yaml"
"""Where published scripts look for the workspace: ``nanobot.workspace_dir`` in ``config/nanobot.yaml``, from where they
are run. A script that does not name it gets no workspace."""
STAND = "/run/stand"

ToolHistory = Sequence[Mapping[str, Any]]
"""Items ``{"tool_name": ..., "call": {...}, "result": {...}}``."""

_known_keys: dict[str, tuple[str, ...]] = {}
_known_keys_lock = Lock()


class GraderScriptError(Exception):
    """The script returns no keys, so nothing can be graded."""


@dataclass(frozen=True)
class GraderTurn:
    """A script's result for one turn."""

    values: Mapping[str, int]
    """0 or 1 for every key, in order."""
    problem: str = ""
    """Why all values are 0, if the call failed."""
    broken: bool = False
    """The call did not end by itself (a loop, a limit), so the values are unknown."""


class GraderRun(NamedTuple):
    """A script's results for a session."""

    keys: tuple[str, ...]
    turns: tuple[GraderTurn, ...]
    """One for each history, in order."""


def grader_keys(source: str) -> tuple[str, ...]:
    """The keys of ``score([])``, in order, cached by content. Raises GraderScriptError, SandboxUnavailableError."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    with _known_keys_lock:
        if digest in _known_keys:
            return _known_keys[digest]
    answers, outcome = _run(source, [[]], None)
    keys = _keys_of(answers, outcome)
    with _known_keys_lock:
        if len(_known_keys) > 5000:
            _known_keys.clear()
        _known_keys[digest] = keys
    return keys


def run_grader(
    source: str,
    histories: Sequence[ToolHistory],
    *,
    keys: Sequence[str] | None = None,
    rebuild: Sequence[Callable[[Path], None]] = (),
) -> GraderRun:
    """Grade every turn's history in one sandbox, restarted only if a call kills it. ``rebuild``, if given, make the
    workspace of each turn in a folder, for a script that reads it.

    Given ``keys``, the call ``score([])`` that determines them is skipped. If a turn's call fails, all its keys are 0;
    missing keys are 0 and unknown ones ignored. Raises GraderScriptError, SandboxUnavailableError.
    """
    fixed = tuple(keys) if keys is not None else grader_keys(source)
    if not rebuild or CONFIG not in source:
        return GraderRun(fixed, tuple(_grade(source, histories, fixed)))
    turns: list[GraderTurn] = []
    with temporary_folder() as folder:
        folder.chmod(0o711)  # the script is nobody; others of this machine cannot guess the name
        stand = folder / secrets.token_hex(16)
        for history, make in zip(histories, rebuild, strict=True):
            turns += _grade(source, [history], fixed, _stage(stand, make))
    return GraderRun(fixed, tuple(turns))


def _grade(
    source: str, histories: Sequence[ToolHistory], keys: tuple[str, ...], stand: Path | None = None
) -> list[GraderTurn]:
    turns: list[GraderTurn] = []
    while len(turns) < len(histories):
        remaining = histories[len(turns) :]
        answers, outcome = _run(source, remaining, keys, stand)
        turns += [_turn(keys, answer) for answer in answers]
        if len(answers) < len(remaining):
            stopped = f"the run was stopped in this turn. {outcome.explain(_limits(len(remaining)))}"
            turns.append(_turn(keys, {"problem": stopped, "broken": True}))
    return turns


def program_files(driver: bytes, source: str) -> dict[str, bytes]:
    """What a driver of a grader script finds beside it."""
    return {
        "main.py": driver,
        "grader.py": source.encode("utf-8", "surrogatepass"),
        "libraries.zip": _libraries(),
    }


@cache
def _libraries() -> bytes:
    """PyYAML, as any Python can import it."""
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for path in sorted(Path(yaml.__file__).parent.glob("*.py")):
            archive.write(path, f"yaml/{path.name}")
    return content.getvalue()


def _stage(folder: Path, rebuild: Callable[[Path], None]) -> Path:
    """Where the script is run."""
    workspace, config = folder / "workspace", folder / "config"
    workspace.mkdir(parents=True, exist_ok=True)
    config.mkdir(exist_ok=True)
    rebuild(workspace)
    (config / CONFIG).write_text(f"nanobot:\n  workspace_dir: {STAND}/workspace\n")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def _limits(calls: int) -> SandboxLimits:
    return SandboxLimits(seconds=5 + CALL_SECONDS * calls, cpu_seconds=int(CALL_SECONDS) + 1)


def _run(
    source: str, histories: Sequence[ToolHistory], keys: Sequence[str] | None, stand: Path | None = None
) -> tuple[list[dict[str, Any]], SandboxResult]:
    """``stand``: the folder in which the script is run, read-only; None: an empty one."""
    asked = {"histories": list(histories), "keys": keys, "seconds": CALL_SECONDS, "stand": STAND if stand else None}
    outcome = run_python(
        program_files(DRIVER, source),
        stdin=json.dumps(asked).encode(),
        limits=_limits(len(histories)),
        folders=((stand, STAND),) if stand else (),
    )
    answers = []
    for line in outcome.stdout.split(b"\n")[:-1][: len(histories)]:
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        answers.append(
            answer if isinstance(answer, dict) else {"problem": "its answer was not readable", "broken": True}
        )
    return answers, outcome


def _keys_of(answers: list[dict[str, Any]], outcome: SandboxResult) -> tuple[str, ...]:
    if not answers:
        raise GraderScriptError(f"score([]) gave no answer. {outcome.explain(_limits(1))}")
    if "problem" in answers[0]:
        raise GraderScriptError(f"score([]) gave no keys: {answers[0]['problem']}.")
    keys = tuple(str(key) for key, _ in answers[0]["values"])
    if not keys:
        raise GraderScriptError("score([]) returned no keys.")
    return keys


def _turn(keys: Sequence[str], answer: Mapping[str, Any]) -> GraderTurn:
    if "problem" in answer:
        return GraderTurn(dict.fromkeys(keys, 0), str(answer["problem"]), bool(answer.get("broken")))
    values = {str(key): int(value) for key, value in answer["values"]}
    return GraderTurn({key: values.get(key, 0) for key in keys})
