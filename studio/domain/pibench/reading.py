"""The result of reading a π-Bench release."""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.domain.episode import EpisodeSpec
from studio.domain.problems import Problem, Report
from studio.domain.text_origins import Name, TextOrigin


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

    roots: dict[str, str] = field(default_factory=dict)
    """Folders of the personas in the upload, by id."""
    origins: dict[Name, tuple[TextOrigin, ...]] = field(default_factory=dict)
    left_out: list[Problem] = field(default_factory=list)
    """Where only what is sound was read: why the rest was not."""
    tasks_left_out: dict[str, set[str]] = field(default_factory=dict)
    """Of personas that are sound themselves, by persona."""

    def keep_sound(self) -> None:
        """Leave out the personas that have errors; errors that concern none of them stay."""
        for persona, root in self.roots.items():
            own = [problem for problem in self.errors if problem.file.startswith((root, f"{persona}/")) or not root]
            if own:
                self.left_out += own
                self.errors = [problem for problem in self.errors if problem not in own]
                self.warnings = [problem for problem in self.warnings if root and not problem.file.startswith(root)]
                self.episodes = [episode for episode in self.episodes if episode.persona.user_id != persona]
                self.tasks_left_out.pop(persona, None)

    def add_report(self, report: Report) -> None:
        self.errors += sorted(report.errors, key=_line_and_column)
        self.warnings += sorted(report.warnings, key=_line_and_column)


def _line_and_column(problem: Problem) -> tuple[int, int]:
    return problem.line or 0, problem.column or 0
