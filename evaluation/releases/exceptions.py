"""Blockers that somebody lets pass: for a reason, under their name, and within a scope."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from evaluation.audits.blindness import require_judges_open
from evaluation.models import ReleaseException
from evaluation.releases.readiness import Blocker
from studio.domain.base import JsonDict
from studio.domain.options import Options, OptionsError
from studio.models import Benchmark, Event, User
from studio.models.transactions import atomic_with_retry

EVIDENCE = "The evidence of a release"
Covered = tuple[str, str, str]


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
        self._single = {(row.rule, *each): row for row in self.rows for each in row.covers}

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
        return personas, {(persona, task) for row in rows for persona, task, _ in row.covers}

    def _of(self, blocker: Blocker) -> ReleaseException | None:
        single = self._single.get((blocker.code, *_covered(blocker)))
        return single or (self._personas.get((blocker.code, blocker.persona)) if blocker.persona else None)


@atomic_with_retry
def accept_blockers(
    benchmark: Benchmark, blockers: Sequence[Blocker], options: ExceptionOptions, *, by: User
) -> ReleaseException:
    """``blockers``: those that nobody accepted. Raises OptionsError, and BlindPilotError for a person to whom evidence
    is closed."""
    require_judges_open(by, benchmark, EVIDENCE)
    found = [blocker for blocker in blockers if blocker.code == options.rule and _is_meant(blocker, options)]
    if not found:
        raise OptionsError("rule", "Nothing of this kind blocks a release there any more. Look at the list again.")
    if not all(blocker.acceptable for blocker in found):
        raise OptionsError("rule", f"{found[0].message} This must be fixed; it cannot be accepted.")
    whole_persona = options.scope == "persona"
    row = ReleaseException.objects.create(
        benchmark=benchmark,
        rule=options.rule,
        persona=options.persona if whole_persona else "",
        covers=[] if whole_persona else [list(_covered(blocker)) for blocker in found],
        reason=options.reason,
        by=by,
    )
    summary = f"Made an exception: {options.reason}"  # not from what: auditors read it, and it may tell of judges
    Event.objects.create(benchmark=benchmark, actor=by, verb="exception_made", summary=summary)
    return row


@atomic_with_retry
def withdraw_exception(row: ReleaseException, *, by: User) -> None:
    """What it covered blocks a release again."""
    summary = f"Withdrew an exception: {row.reason}"
    Event.objects.create(benchmark=row.benchmark, actor=by, verb="exception_withdrawn", summary=summary)
    row.delete()


def exception_json(blocker: Blocker, reason: str, by: str, since: str, row: ReleaseException | None = None) -> JsonDict:
    """As a release records it. ``since``: ISO date."""
    scope = "persona" if row and row.persona else "task" if blocker.task else "benchmark"
    return {"problem": blocker.to_json(), "reason": reason, "by": by, "scope": scope, "since": since}


def _covered(blocker: Blocker) -> Covered:
    return blocker.persona, blocker.task, blocker.place


def _is_meant(blocker: Blocker, options: ExceptionOptions) -> bool:
    if options.scope == "persona":
        return bool(options.persona) and blocker.persona == options.persona
    return options.scope == "all" or _covered(blocker) == (options.persona, options.task, options.place)
