"""Reports of imports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from studio.domain.episode import EpisodeSpec
from studio.domain.pack import PackFacts
from studio.domain.plan import dependency_groups
from studio.domain.problems import Problem
from studio.findings.hooks import GraderKeys
from studio.models import Persona, Revision


def totals(episodes: Sequence[EpisodeSpec], keys: Mapping[str, GraderKeys]) -> dict[str, int]:
    tasks = [task for episode in episodes for task in (*episode.tasks, *episode.unplaced)]
    items = [item for task in tasks for item in task.scored_items]
    scripts = [keys[script.sha256].keys or () for episode in episodes for script in episode.persona.scripts]
    return {
        "personas": len(episodes),
        "tasks": len(tasks),
        "hidden_intents": sum(len(task.intents) for task in tasks),
        "rubric_items": sum(item.grader == "rubric" for item in items),
        "rule_checks": sum(item.grader == "rule" for item in items) + sum(map(len, scripts)),
        "dependency_groups": sum(len(dependency_groups(episode.tasks)) for episode in episodes),
    }


@dataclass
class ImportReport:
    """What an import did, would do, or why it did nothing."""

    created: list[dict[str, Any]] = field(default_factory=list)
    """``{"persona", "task"}`` of each new task."""
    updated: list[dict[str, Any]] = field(default_factory=list)
    """``{"persona", "task", "changed": [field, …]}``; ``task`` is null for the persona itself."""
    unchanged: list[dict[str, Any]] = field(default_factory=list)
    titles: dict[str, dict[str, str]] = field(default_factory=dict)
    """By persona: titles of its new and changed tasks, by id."""
    totals: dict[str, int] = field(default_factory=lambda: totals([], {}))
    """Of the files, whether new or not."""
    warnings: list[Problem] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    left_out: list[Problem] = field(default_factory=list)
    """Where only the sound part is imported: why the rest is not."""
    publishable: list[Revision] = field(default_factory=list)
    """Versions that another owner can confirm as approved elsewhere; empty unless that is asked for."""
    not_publishable: list[dict[str, str]] = field(default_factory=list)
    """``{"persona", "task", "reason"}`` of the other tasks, if it is asked for."""
    pack: PackFacts | None = None
    """Of a release pack: its version, exceptions and approvers."""
    publication: int | None = None
    """The pk of the import that waits for that confirmation."""
    unchecked: int = 0
    """Tasks that a worker checks afterwards."""
    personas: list[Persona] = field(default_factory=list)
    """The personas as stored; empty after a dry run or with errors."""

    @property
    def ok(self) -> bool:
        return not self.errors

    def warn(self, file: str, message: str, fix: str) -> None:
        self.warnings.append(Problem(file=file, message=message, fix=fix))

    def to_json(self) -> dict[str, Any]:
        return {
            "created": len(self.created),
            "updated": len(self.updated),
            "unchanged": len(self.unchanged),
            "totals": self.totals,
            "warnings": [warning.to_json() for warning in self.warnings],
            "errors": [error.to_json() for error in self.errors],
            "left_out": [problem.to_json() for problem in self.left_out],
            "changes": {"created": self.created, "updated": self.updated, "unchanged": self.unchanged},
            "pack": self.pack.to_json() if self.pack else None,
            "publication": {
                "import": self.publication,
                "tasks": len(self.publishable),
                "skipped": self.not_publishable,
            },
            "unchecked": self.unchecked,
        }

    def to_stored(self) -> dict[str, Any]:
        """With titles, and without NUL, which PostgreSQL's json cannot hold and hostile file names may have."""
        stored: dict[str, Any] = json.loads(
            json.dumps({**self.to_json(), "titles": self.titles}).replace("\\u0000", "\ufffd")
        )
        return stored
