"""Documents read in the sandbox: their parsers are the studio's, what they read is anybody's."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from evaluation.sandbox.chain import SandboxUnavailableError
from evaluation.sandbox.interpreter import Interpreter, describe_interpreter, readable_by_all
from evaluation.sandbox.limits import MIB, SandboxLimits
from evaluation.sandbox.run import run_python, why_unavailable

LIMITS = SandboxLimits(seconds=15, cpu_seconds=12, output=64 * MIB, processes=2)
PACKAGES = "/opt/readers"


def may_read_documents() -> bool:
    return not why_unavailable()


def read_document(program: Path, packages: Sequence[str], arguments: Sequence[str], content: bytes) -> bytes:
    """What the program prints of the document on its standard input. ``packages`` are all that it can import beside the
    standard library. Raises TimeoutError, and ValueError if it failed."""
    try:
        outcome = run_python(
            {"main.py": program.read_bytes()},
            args=tuple(arguments),
            stdin=content,
            limits=LIMITS,
            interpreter=_interpreter(),
            folders=tuple((_place(name), f"{PACKAGES}/{name}") for name in packages),
        )
    except SandboxUnavailableError as error:  # it was there a moment ago
        raise ValueError(str(error)) from None
    if outcome.reason == "timeout":
        raise TimeoutError
    if outcome.reason != "ok":
        raise ValueError(outcome.explain(LIMITS))
    return outcome.stdout


@cache
def _interpreter() -> Interpreter:
    """The one that the packages are installed for."""
    return describe_interpreter(sys.base_prefix, f"python{sys.version_info.major}.{sys.version_info.minor}")


@cache
def _place(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return readable_by_all(Path(next(iter(spec.submodule_search_locations))))
