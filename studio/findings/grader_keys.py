"""What authoring asks of grader scripts that needs code to be run: the keys, and what earns them.

Running code is evaluation's business, which lies above; it registers itself here when it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

AT_ONCE = 4


@dataclass(frozen=True)
class GraderKeys:
    """What ``score([])`` of a script returned, in order, or why nothing came."""

    keys: tuple[str, ...] | None = None
    problem: str = ""


KeyReader = Callable[[bytes], GraderKeys]

Examiner = Callable[[Iterable[str]], None]

_reader: KeyReader | None = None
_examine_now: Examiner | None = None
_examine_later: Examiner | None = None


def register_key_reader(reader: KeyReader) -> None:
    """Name the function that runs a script in the sandbox. It never raises."""
    global _reader
    _reader = reader


def read_keys(scripts: Iterable[bytes]) -> list[GraderKeys]:
    """The keys of each script, in order."""
    scripts = list(scripts)
    if _reader is None:
        return [GraderKeys(problem="Grader scripts cannot be run here.")] * len(scripts)
    if not scripts:
        return []
    with ThreadPoolExecutor(min(AT_ONCE, len(scripts))) as pool:
        return list(pool.map(_reader, scripts))


def register_examiners(*, now: Examiner, later: Examiner) -> None:
    """Name the functions that make the ``ScriptReport`` of each script, by sha256, where there is none yet: at once,
    and by a worker once the transaction is stored. Neither raises."""
    global _examine_now, _examine_later
    _examine_now, _examine_later = now, later


def request_reports(scripts: Iterable[str], *, wait: bool = False) -> None:
    """See to it that these scripts, named by sha256, have a report. Without a sandbox they keep none."""
    chosen = _examine_now if wait else _examine_later
    if chosen is not None and (wanted := list(scripts)):
        chosen(wanted)
