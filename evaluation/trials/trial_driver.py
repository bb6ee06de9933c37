"""Runs a grader script once, for its author to watch. Executed inside the sandbox, with the standard library and
PyYAML.

Standard input is ``{"history": [...], "mark": "..."}``; the script lies beside this file, and its output is passed
through. The last line of standard output starts with the mark and says how the call ended. A script could forge such
a line, which deceives only its author.
"""

import json
import os
import sys
import time
import traceback
import types

SCRIPT = "grader.py"
LIBRARIES = "libraries.zip"
MAX_FRAMES = 20


def main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    folder = os.path.dirname(sys.argv[0])
    sys.path.append(os.path.join(folder, LIBRARIES))
    with open(os.path.join(folder, SCRIPT), "rb") as file:
        source = file.read()
    report: dict[str, object] = {}
    started = time.perf_counter()
    try:
        module = types.ModuleType("grader")
        module.__file__ = SCRIPT
        sys.modules["grader"] = module
        exec(compile(source, SCRIPT, "exec"), module.__dict__)
        module.__dict__["score"](request["history"])
    except BaseException as error:  # the script may raise anything, SystemExit included
        report = {"error": _describe(error), "frames": _frames(error)}
    report["seconds"] = time.perf_counter() - started
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(1, b"\n" + request["mark"].encode() + json.dumps(report).encode() + b"\n")
    os._exit(0)


def _describe(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:2000].encode("utf-8", "replace").decode()
    except BaseException:
        return type(error).__name__


def _frames(error: BaseException) -> list[list[object]]:
    if isinstance(error, SyntaxError):
        return [[error.lineno or 1, ""]]
    stack = traceback.extract_tb(error.__traceback__)
    return [[frame.lineno or 1, frame.name] for frame in stack if frame.filename == SCRIPT][-MAX_FRAMES:]


if __name__ == "__main__":
    main()
