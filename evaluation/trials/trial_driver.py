"""Runs a grader script once, for its author to watch. Executed inside the sandbox; standard library only.

Standard input holds ``{"history": [...], "mark": "..."}``; the script lies beside this file, and what it prints is
left alone.
The last line of standard output begins with the mark and says how the call ended. A script can write such a line
itself: it then deceives nobody but who runs it.
"""

import json
import os
import sys
import time
import traceback
import types

SCRIPT = "grader.py"
MOST_FRAMES = 20


def main() -> None:
    wanted = json.loads(sys.stdin.buffer.read())
    with open(os.path.join(os.path.dirname(sys.argv[0]), SCRIPT), "rb") as file:
        source = file.read()
    said: dict[str, object] = {}
    started = time.perf_counter()
    try:
        module = types.ModuleType("grader")
        module.__file__ = SCRIPT
        sys.modules["grader"] = module
        exec(compile(source, SCRIPT, "exec"), module.__dict__)
        module.__dict__["score"](wanted["history"])
    except BaseException as exc:  # the script may raise anything, SystemExit included
        said = {"error": _words(exc), "frames": _frames(exc)}
    said["seconds"] = time.perf_counter() - started
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(1, b"\n" + wanted["mark"].encode() + json.dumps(said).encode() + b"\n")
    os._exit(0)


def _words(exc: BaseException) -> str:
    try:
        return f"{type(exc).__name__}: {exc}"[:2000].encode("utf-8", "replace").decode()
    except BaseException:
        return type(exc).__name__


def _frames(exc: BaseException) -> list[list[object]]:
    """Line and function of the script's own frames, the outermost first."""
    if isinstance(exc, SyntaxError):
        return [[exc.lineno or 1, ""]]
    found = traceback.extract_tb(exc.__traceback__)
    return [[frame.lineno or 1, frame.name] for frame in found if frame.filename == SCRIPT][-MOST_FRAMES:]


if __name__ == "__main__":
    main()
