"""The result of reading a π-Bench release."""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.domain.episode import EpisodeSpec
from studio.domain.problems import Problem, Report


@dataclass
class Reading:
    """Everything that was read. Do not use ``episodes`` if there are errors."""

    episodes: list[EpisodeSpec] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    """File contents by sha256."""
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    tasks_alone: frozenset[str] = frozenset()
    """Ids of personas of which there are only tasks: the rest of their episodes stays as it is."""

    def add_report(self, report: Report) -> None:
        self.errors += sorted(report.errors, key=_line_and_column)
        self.warnings += sorted(report.warnings, key=_line_and_column)


def _line_and_column(problem: Problem) -> tuple[int, int]:
    return problem.line or 0, problem.column or 0
