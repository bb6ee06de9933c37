"""The grader script of a task, for rules about grader scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps

from studio.domain.checks.rule import Check, CheckContext, Flaw, in_field
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


ScriptCheck = Callable[[ReadableScript, TaskSpec, CheckContext], Iterable[Flaw]]


def in_script(fix: str = "") -> Callable[[ScriptCheck], Check]:
    """Of a rule that looks at the task's grader script, if there is one to be read; else as ``in_field``."""

    def complete(check: ScriptCheck) -> Check:
        @in_field("grader_script", fix)
        @wraps(check)
        def run(task: TaskSpec, context: CheckContext) -> Iterable[Flaw]:
            script = script_of(task, context)
            return check(script, task, context) if script else ()

        return run

    return complete
