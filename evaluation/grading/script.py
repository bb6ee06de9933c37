"""Grader scripts (PIBENCH.md, section 1): ``score(tools_history) -> {key: 0 or 1}``, run in the sandbox."""

from __future__ import annotations

import hashlib
import json
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from zipfile import ZipFile

import yaml

from evaluation.grading.script_driver import ContractError, checked_values, storable
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
    turn = _grade(source, [], None)
    if turn.problem:
        raise GraderScriptError(f"score([]) gave no keys: {turn.problem}.")
    keys = tuple(turn.values)
    if not keys:
        raise GraderScriptError("score([]) returned no keys.")
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
    """Grade every turn's history in a sandbox of its own. ``rebuild``, if given, make the workspace of each turn in a
    folder, for a script that reads it.

    Given ``keys``, the call ``score([])`` that determines them is skipped. If a turn's call fails, all its keys are 0;
    missing keys are 0 and unknown ones ignored. Raises GraderScriptError, SandboxUnavailableError.
    """
    fixed = tuple(keys) if keys is not None else grader_keys(source)
    if not rebuild or CONFIG not in source:
        return GraderRun(fixed, tuple(_grade(source, history, fixed) for history in histories))
    turns: list[GraderTurn] = []
    with temporary_folder() as folder:
        folder.chmod(0o711)  # the script is nobody; others of this machine cannot guess the name
        stand = folder / secrets.token_hex(16)
        for history, make in zip(histories, rebuild, strict=True):
            turns.append(_grade(source, history, fixed, _stage(stand, make)))
    return GraderRun(fixed, tuple(turns))


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


def _grade(source: str, history: ToolHistory, keys: tuple[str, ...] | None, stand: Path | None = None) -> GraderTurn:
    """``stand``: the folder in which the script is run, read-only; None: an empty one."""
    limits = SandboxLimits(seconds=CALL_SECONDS, cpu_seconds=int(CALL_SECONDS) + 1)
    outcome = run_python(
        program_files(DRIVER, source),
        stdin=json.dumps({"history": list(history), "keys": keys, "stand": STAND if stand else None}).encode(),
        limits=limits,
        folders=((stand, STAND),) if stand else (),
    )
    if not outcome.stdout.endswith(b"\n"):
        return GraderTurn(dict.fromkeys(keys or (), 0), _no_answer(outcome, limits), broken=True)
    try:
        answer = json.loads(outcome.stdout)
        if set(answer) == {"problem"}:
            return GraderTurn(dict.fromkeys(keys or (), 0), storable(str(answer["problem"])[:500]))
        values = dict(checked_values(dict(map(tuple, answer["values"])), list(keys) if keys is not None else None))
    except (ValueError, TypeError, KeyError, RecursionError, ContractError):
        problem = "the script wrote something else in place of its result"
        return GraderTurn(dict.fromkeys(keys or (), 0), problem, broken=True)
    return GraderTurn(values if keys is None else {key: values.get(key, 0) for key in keys})


def _no_answer(outcome: SandboxResult, limits: SandboxLimits) -> str:
    signals = {128 + number: number.name for number in signal.Signals}
    match outcome.reason:
        case "timeout":
            return f"the script did not end within {limits.seconds:g} s"
        case "output":
            return "the script returned more than can be read"
        case "killed" if outcome.exit in signals:
            name = signals[outcome.exit]
            return f"the process of the script was killed ({name}), as happens at a limit of CPU time or memory"
        case "memory" | "files":
            return f"the script was stopped. {outcome.explain(limits)}"
        case _:
            return "the script ended its process without an answer"
