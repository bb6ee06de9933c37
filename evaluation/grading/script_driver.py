"""Runs a grader script on one history. Executed inside the sandbox; imports nothing but the standard library.

Standard input is ``{"history": [...], "keys": [...] or null, "stand": folder or null}``; the script lies beside this
file, and so does what it may import. ``stand`` is where it is run. Without ``keys`` all that it returns are read, else
others are ignored. Standard output is one line: ``{"values": [[key, 0 or 1], ...]}`` or ``{"problem": "..."}``; what
the script prints is not seen. It shares this process, so its answer is as hostile as itself: ``checked_values`` is
asked again outside.
"""

import json
import os
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

SCRIPT = "grader.py"
LIBRARIES = "libraries.zip"
MAX_KEYS = 500
MAX_KEY_LENGTH = 300


def main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    folder = os.path.dirname(sys.argv[0])
    with open(os.path.join(folder, SCRIPT), "rb") as file:
        source = file.read()
    dumps, send, leave = json.dumps, os.write, os._exit
    answers, null = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    sys.path.append(os.path.join(folder, LIBRARIES))
    try:
        if request["stand"]:
            os.chdir(request["stand"])
        line = dumps({"values": _run(source, request["history"], request["keys"])}).encode()
    except BaseException as exc:  # the script may raise anything, SystemExit included
        line = dumps({"problem": _describe(exc)}).encode()
    line += b"\n"
    while line:
        line = line[send(answers, line) :]
    leave(0)


def _run(source: bytes, history: Any, keys: list[str] | None) -> list[tuple[str, int]]:
    checked = checked_values
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


def checked_values(result: Any, keys: list[str] | None) -> list[tuple[str, int]]:
    """The values of what ``score`` returned, of these keys alone if they are given. Raises ContractError."""
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
        if "\0" in key or storable(key) != key:
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


def storable(text: str) -> str:
    """Without what the database cannot store: NUL and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


if __name__ == "__main__":
    main()
