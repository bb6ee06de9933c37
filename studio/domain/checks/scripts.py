"""The grader script of a task, as several rules look at it."""

from __future__ import annotations

from dataclasses import dataclass

from studio.domain.checks.rule import CheckContext
from studio.domain.graders import GraderReport, ScriptReading, read_script
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class TaskScript:
    """A script that is there and is text."""

    name: str
    source: str
    reading: ScriptReading
    report: GraderReport | None
    """What running it showed; None: it has not been run yet."""


def script_of(task: TaskSpec, context: CheckContext) -> TaskScript | None:
    """The script the task names; None: it names none, or one that is not there or cannot be read."""
    if not task.grader_script:
        return None
    file = context.episode.persona.script(task.grader_script)
    source = context.texts.get(file.sha256) if file else None
    if file is None or source is None:
        return None
    name = file.path.rpartition("/")[2]
    return TaskScript(name, source, read_script(source), context.reports.get(file.sha256))
