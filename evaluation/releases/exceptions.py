"""Blockers that somebody lets pass: for a reason, under their name, and within a scope."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import Field

from evaluation.audits.blindness import require_judges_open
from evaluation.models import ReleaseException
from evaluation.releases.readiness import Blocker
from studio.domain.base import JsonDict
from studio.domain.options import Options, OptionsError
from studio.models import Benchmark, Event, User
from studio.models.transactions import atomic_with_retry

EVIDENCE = "The evidence of a release"
MARGIN = 1e-9
"""Of figures that are the same."""


class ExceptionOptions(Options):
    rule: str = Field(max_length=80)
    """The blockers’ code, such as `task-not-piloted`."""
    scope: Literal["one", "persona", "all"] = "all"
    """One blocker; all of the rule in a persona’s tasks, also those that come later; or all as they are now."""
    persona: str = Field(default="", max_length=200)
    """User id, for *one* and *persona*."""
    task: str = Field(default="", max_length=200)
    """Its id, for *one*; empty for a blocker of the benchmark itself."""
    place: str = Field(default="", max_length=1_000)
    """For *one*: tells it from others of its rule in the same task or benchmark."""
    shown: str = Field(default="", max_length=64)
    """Hash of what blocked when it was looked at: nothing is accepted if that has changed. Empty: as it is now."""
    reason: str = Field(min_length=1, max_length=2_000)
    """Stands in the release under your name."""


class Accepted(NamedTuple):
    blocker: Blocker
    by: ReleaseException


class Exceptions:
    """Those of a benchmark."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.rows = list(ReleaseException.objects.filter(benchmark=benchmark).select_related("by"))
        self._personas = {(row.rule, row.persona): row for row in self.rows if row.persona}
        self._single: dict[tuple[str, ...], list[tuple[float, ReleaseException]]] = {}
        """With the figure up to which each covers."""
        for row in self.rows:
            for *what, figure in row.covers:
                self._single.setdefault((row.rule, *what), []).append((figure, row))

    def split(self, blockers: Iterable[Blocker]) -> tuple[list[Blocker], list[Accepted]]:
        """Those that nobody accepted, and those that somebody did."""
        standing, accepted = [], []
        for blocker in blockers:
            if blocker.acceptable and (row := self._of(blocker)):
                accepted.append(Accepted(blocker, row))
            else:
                standing.append(blocker)
        return standing, accepted

    def reach(self, rules: Collection[str]) -> tuple[set[str], set[tuple[str, str]]]:
        """Personas, and tasks with their personas, that exceptions from these rules name."""
        rows = [row for row in self.rows if row.rule in rules]
        personas = {row.persona for row in rows if row.persona}
        return personas, {(persona, task) for row in rows for persona, task, *_ in row.covers}

    def _of(self, blocker: Blocker) -> ReleaseException | None:
        what = (blocker.code, blocker.persona, blocker.task, blocker.place, blocker.state)
        for figure, row in self._single.get(what, ()):
            if blocker.figure <= figure + MARGIN:
                return row
        return self._personas.get((blocker.code, blocker.persona)) if blocker.persona else None


@atomic_with_retry
def accept_blockers(
    benchmark: Benchmark, blockers: Sequence[Blocker], options: ExceptionOptions, *, by: User
) -> ReleaseException:
    """``blockers``: those that nobody accepted. Raises OptionsError, and BlindPilotError for a person to whom evidence
    is closed."""
    require_judges_open(by, benchmark, EVIDENCE)
    of_rule = [blocker for blocker in blockers if blocker.code == options.rule]
    if options.shown and options.shown != digest(of_rule):
        raise OptionsError("", "What blocks the release has changed. Look at it again.")
    found = [blocker for blocker in of_rule if _is_meant(blocker, options)]
    if not found:
        raise OptionsError("", "Nothing of this kind blocks a release there any more. Look at the list again.")
    if not all(blocker.acceptable for blocker in found):
        raise OptionsError("", f"{found[0].message} This must be fixed; it cannot be accepted.")
    whole_persona = options.scope == "persona"
    row = ReleaseException.objects.create(
        benchmark=benchmark,
        rule=options.rule,
        persona=options.persona if whole_persona else "",
        covers=[] if whole_persona else [_covered(blocker) for blocker in found],
        reason=options.reason,
        by=by,
    )
    # neither from what nor why: auditors read it, and both may tell what judges decided
    Event.objects.create(benchmark=benchmark, actor=by, verb="exception_made", summary="Made an exception.")
    return row


@atomic_with_retry
def withdraw_exception(row: ReleaseException, *, by: User) -> None:
    """What it covered blocks a release again. Raises BlindPilotError for a person to whom evidence is closed."""
    require_judges_open(by, row.benchmark, EVIDENCE)
    summary = "Withdrew an exception."
    Event.objects.create(benchmark=row.benchmark, actor=by, verb="exception_withdrawn", summary=summary)
    row.delete()


def exception_json(blocker: Blocker, reason: str, by: str, since: str, row: ReleaseException | None = None) -> JsonDict:
    """As a release records it. ``since``: ISO date."""
    scope = "persona" if row and row.persona else "task" if blocker.task else "benchmark"
    return {"problem": blocker.to_json(), "reason": reason, "by": by, "scope": scope, "since": since}


def digest(blockers: Iterable[Blocker]) -> str:
    """Of blockers as somebody looks at them: what they are about, and how bad they are."""
    return hashlib.sha256(json.dumps(sorted(map(_covered, blockers))).encode()).hexdigest()


def _covered(blocker: Blocker) -> list[Any]:
    return [blocker.persona, blocker.task, blocker.place, blocker.state, blocker.figure]


def _is_meant(blocker: Blocker, options: ExceptionOptions) -> bool:
    if options.scope == "persona":
        return bool(options.persona) and blocker.persona == options.persona
    one = (options.persona, options.task, options.place)
    return options.scope == "all" or (blocker.persona, blocker.task, blocker.place) == one
