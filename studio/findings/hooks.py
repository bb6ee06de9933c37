"""Hooks for running grader scripts and for a model's second opinions. ``evaluation``, which ``studio`` cannot import,
registers itself at startup."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import OpinionQuestion

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


OpinionReader = Callable[[int, Iterable[OpinionQuestion]], Mapping[str, Opinion] | None]
OpinionRequester = Callable[[Collection[int]], None]

_read_opinions: OpinionReader | None = None
_request_opinions: OpinionRequester | None = None


def register_second_opinions(*, read: OpinionReader, request: OpinionRequester) -> None:
    """``read`` takes a benchmark's key and questions, and returns the opinions on record by the questions' keys, or
    None if no model is asked there. ``request`` lets a worker ask about tasks, by key, after the transaction commits.
    It must not raise."""
    global _read_opinions, _request_opinions
    _read_opinions, _request_opinions = read, request


def read_opinions(benchmark: int, questions: Iterable[OpinionQuestion]) -> Mapping[str, Opinion] | None:
    """None if no model is asked there; ``questions`` are not made then."""
    return _read_opinions(benchmark, questions) if _read_opinions else None


def request_opinions(tasks: Collection[int]) -> None:
    if _request_opinions and tasks:
        _request_opinions(tasks)
