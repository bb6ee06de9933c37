"""Runs a grader script. Executed inside the sandbox; imports nothing but the standard library.

Standard input is ``{"histories": [...], "keys": [...] or null, "seconds": n, "stand": folder or null}``; the script
lies beside this file, and so does what it may import. ``stand`` is where it is run.
Without ``keys``, the first history's answer determines them; other keys are ignored. Each history, in order, yields
one line of standard output: ``{"values": [[key, 0 or 1], ...]}`` or ``{"problem": "...", "broken": false}``, where
``broken`` is a call that did not end by itself. Each call runs in a process of its own that has neither our standard
output nor visible prints: the script cannot forge our output, and what it does to itself ends with the call.
"""

import contextlib
import json
import os
import select
import signal
import sys
import time
import traceback
import types
from collections.abc import Callable
from typing import Any

SCRIPT = "grader.py"
LIBRARIES = "libraries.zip"
MAX_KEYS = 500
MAX_KEY_LENGTH = 300
MAX_ANSWER = 1 << 18


def main() -> None:
    if os.uname().nodename != "sandbox" or os.getppid() != 1:
        sys.exit("The grader driver ends every process it can reach: it runs inside the sandbox only.")
    request = json.loads(sys.stdin.buffer.read())
    folder = os.path.dirname(sys.argv[0])
    with open(os.path.join(folder, SCRIPT), "rb") as file:
        source = file.read()
    answers = os.dup(1)
    os.set_inheritable(answers, False)
    _hide_descriptors()
    sys.path.append(os.path.join(folder, LIBRARIES))
    if b"yaml" in source:
        import yaml  # noqa: F401 - once, not anew in the process of each call
    if request["stand"]:
        os.chdir(request["stand"])
    keys = request["keys"]
    for history in request["histories"]:
        answer = _call(source, history, keys, float(request["seconds"]), answers)
        os.write(answers, json.dumps(answer).encode() + b"\n")
        if keys is None:
            keys = [key for key, _ in answer.get("values", ())]


def _hide_descriptors() -> None:
    """Keep the script from opening our descriptors through /proc, where the system lets us."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    except (ImportError, OSError, AttributeError):
        pass


def _call(source: bytes, history: Any, keys: list[str] | None, seconds: float, answers: int) -> dict[str, Any]:
    read, write = os.pipe()
    pid = _fork()
    if pid == 0:
        os.close(read)
        os.close(answers)
        _answer(source, history, keys, write)
    os.close(write)
    try:
        answer, in_time = _read_line(read, time.monotonic() + seconds)
    finally:
        os.close(read)
        _kill_all()
        _, status = os.waitpid(pid, 0)
    if answer.endswith(b"\n"):
        return _validate_answer(answer, keys)
    if not in_time:
        return _problem(f"the script did not end within {seconds:g} s", broken=True)
    if len(answer) >= MAX_ANSWER:
        return _problem("the script returned more than can be read", broken=True)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        message = f"the process of the script was killed ({name}), as happens at a limit of CPU time or memory"
        return _problem(message, broken=True)
    return _problem("the script ended its process without an answer", broken=True)


def _fork() -> int:
    for _ in range(100):
        try:
            return os.fork()
        except BlockingIOError:  # killed processes of the last call still count until they are reaped
            time.sleep(0.01)
    return os.fork()


def _kill_all() -> None:
    """Kill everything in the sandbox but ourselves and its first process."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def _read_line(fd: int, deadline: float) -> tuple[bytes, bool]:
    """The bytes up to the first line end or the limit, and whether they came before the deadline."""
    received = b""
    while not received.endswith(b"\n") and len(received) < MAX_ANSWER:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return received, False
        if not (data := os.read(fd, 65536)):
            break
        received += data
    return received, True


def _answer(source: bytes, history: Any, keys: list[str] | None, write: int) -> None:
    dumps, send, leave = json.dumps, os.write, os._exit
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    try:
        line = dumps({"values": _run(source, history, keys)}).encode()
    except BaseException as exc:  # the script may raise anything, SystemExit included
        line = dumps({"problem": _describe(exc)}).encode()
    send(write, line + b"\n")
    leave(0)


def _run(source: bytes, history: Any, keys: list[str] | None) -> list[tuple[str, int]]:
    checked = _check_values
    module = types.ModuleType("grader")
    module.__file__ = SCRIPT
    sys.modules["grader"] = module
    exec(compile(source, SCRIPT, "exec"), module.__dict__)
    score: Callable[[Any], Any] | None = module.__dict__.get("score")
    if not callable(score):
        raise ContractError("the script defines no function score(tools_history)")
    return checked(score(history), keys)


class ContractError(Exception):
    """The script violates the contract."""


def _check_values(result: Any, keys: list[str] | None) -> list[tuple[str, int]]:
    if not isinstance(result, dict):
        raise ContractError(f"the script returned {type(result).__name__} from score() instead of a dict")
    if len(result) > MAX_KEYS:
        raise ContractError(f"the script returned {len(result)} keys; at most {MAX_KEYS} are read")
    values = []
    for key, value in result.items():
        if keys is not None and key not in keys:
            continue
        if type(key) is not str or not key.strip() or len(key) > MAX_KEY_LENGTH:
            raise ContractError(f"the script returned a key that is not a text of 1 to {MAX_KEY_LENGTH} characters")
        if "\0" in key or _text(key) != key:
            raise ContractError(f"the script returned a key that is not text: {key[:80]!r}")
        if type(value) not in (int, bool) or value not in (0, 1):
            raise ContractError(
                f"the script returned {str(value)[:40]!r} ({type(value).__name__}) for {key[:80]!r}, not 0 or 1"
            )
        values.append((key, int(value)))
    return values


def _describe(exc: BaseException) -> str:
    if isinstance(exc, ContractError):
        return str(exc)
    try:
        line = next((f.lineno for f in reversed(traceback.extract_tb(exc.__traceback__)) if f.filename == SCRIPT), None)
        if isinstance(exc, SyntaxError):
            line = exc.lineno
        where = f" in line {line}" if line else ""
        message = str(exc)[:300]
        return f"the script raised {type(exc).__name__}{where}" + (f": {message}" if message else "")
    except BaseException:
        return "the script raised an exception that cannot be described"


def _validate_answer(answer: bytes, keys: list[str] | None) -> dict[str, Any]:
    try:
        document = json.loads(answer)
        if isinstance(document, dict) and set(document) == {"problem"}:
            return _problem(str(document["problem"]))
        return {"values": _check_values(dict(map(tuple, document["values"])), keys)}
    except (ValueError, TypeError, KeyError, RecursionError, ContractError):
        return _problem("the script wrote something else in place of its result", broken=True)


def _problem(message: str, *, broken: bool = False) -> dict[str, Any]:
    return {"problem": _text(message[:500]), "broken": broken}


def _text(text: str) -> str:
    """Without what the database cannot store: NUL and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


if __name__ == "__main__":
    main()
