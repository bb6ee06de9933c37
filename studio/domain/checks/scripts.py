"""The grader script of a task, for rules about grader scripts."""

from __future__ import annotations

from dataclasses import dataclass

from studio.domain.checks.rule import CheckContext
from studio.domain.graders import GraderReport, ScriptReading, read_script
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class ReadableScript:
    name: str
    source: str
    reading: ScriptReading
    report: GraderReport | None
    """None: not run yet."""


def script_of(task: TaskSpec, context: CheckContext) -> ReadableScript | None:
    """None if the task has no grader script, or it is missing or not text."""
    if not task.grader_script:
        return None
    file = context.episode.persona.script(task.grader_script)
    source = context.texts.get(file.sha256) if file else None
    if file is None or source is None:
        return None
    name = file.path.rpartition("/")[2]
    return ReadableScript(name, source, read_script(source), context.known.reports.get(file.sha256))
