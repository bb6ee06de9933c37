"""Hooks for running grader scripts. ``evaluation``, which ``studio`` cannot import, registers itself at startup."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

MAX_PARALLEL = 4
"""Scripts run in parallel."""


@dataclass(frozen=True)
class GraderKeys:
    """The keys that ``score([])`` returned, in order, or why it returned none."""

    keys: tuple[str, ...] | None = None
    problem: str = ""


KeyReader = Callable[[bytes], GraderKeys]

ReportMaker = Callable[[Iterable[str]], None]

_reader: KeyReader | None = None
_make_reports_now: ReportMaker | None = None
_make_reports_later: ReportMaker | None = None


def register_key_reader(reader: KeyReader) -> None:
    """The function runs a script in the sandbox and must not raise."""
    global _reader
    _reader = reader


def read_keys(scripts: Iterable[bytes]) -> list[GraderKeys]:
    scripts = list(scripts)
    if _reader is None:
        return [GraderKeys(problem="Grader scripts cannot be run here.")] * len(scripts)
    if not scripts:
        return []
    with ThreadPoolExecutor(min(MAX_PARALLEL, len(scripts))) as pool:
        return list(pool.map(_reader, scripts))


def register_report_makers(*, now: ReportMaker, later: ReportMaker) -> None:
    """Two functions that make missing ``ScriptReport`` rows by the scripts' sha256, one immediately and one in a worker
    after the transaction commits. Neither may raise."""
    global _make_reports_now, _make_reports_later
    _make_reports_now, _make_reports_later = now, later


def request_reports(scripts: Iterable[str], *, wait: bool = False) -> None:
    make = _make_reports_now if wait else _make_reports_later
    if make is not None and (wanted := list(scripts)):
        make(wanted)
