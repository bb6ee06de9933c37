"""Runs all rules over an episode; used by the editor, imports, API, commands and releases."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from time import thread_time
from typing import Any

from studio.domain.anchors import ROW_TEXTS, TEXT_FIELDS
from studio.domain.checks import rules
from studio.domain.checks.rule import LONGEST, RULES, CheckContext, Flaw, Known, Rule
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.task import TaskSpec

for module in pkgutil.iter_modules(rules.__path__):
    importlib.import_module(f"{rules.__name__}.{module.name}")

for name in sorted(RULES):  # findings stand in this order, wherever the rules are written
    RULES[name] = RULES.pop(name)

ACROSS_TASKS = tuple(rule for rule in RULES.values() if rule.across_tasks)
STOPPED = "checks-stopped"
"""The rule of findings about tasks that took too long."""
_SEVERITIES = ("error", "warning", "hint")
BUDGET_SECONDS = 20.0
"""Processor time of one run. The largest tasks the limits allow need less, and a hundred ordinary tasks do."""


def find_problems(
    episode: EpisodeSpec,
    task_id: str | None = None,
    *,
    texts: Mapping[str, str] | None = None,
    known: Known | None = None,
    unchanged: Collection[str] = (),
    seconds: float = BUDGET_SECONDS,
) -> list[Finding]:
    """Findings for all tasks, or for the one named, in the episode's order, errors first within a task. Once
    ``seconds`` of processor time are spent, no further rule is asked, and tasks not checked to the end have an error
    that says so.

    ``texts`` are contents of text files by sha256. The tasks with the ids ``unchanged`` are checked only by rules that
    read several tasks, because the findings of the others are known.
    """
    episode = _within_bounds(episode)
    context = CheckContext(episode, texts or {}, known or Known())
    findings, deadline = [], thread_time() + seconds
    for task in (*episode.tasks, *episode.unplaced):
        if task_id is None or task.task_id == task_id:
            alone = None if task.task_id in unchanged else _with_only(task, context)
            task_findings = []
            for rule in ACROSS_TASKS if alone is None else RULES.values():
                if thread_time() > deadline:
                    task_findings.append(_stopped(task, context, seconds))
                    break
                flaws = rule.check(task, context if alone is None or rule.across_tasks else alone)
                task_findings += [_finding(rule, flaw, task, context) for flaw in _once_each(flaws)]
            findings += sorted(task_findings, key=lambda finding: _SEVERITIES.index(finding.severity))
    return findings


def _within_bounds(episode: EpisodeSpec) -> EpisodeSpec:
    """The episode with every text cut to LONGEST + 1 characters; the same object if nothing is longer."""
    cut = {name: tuple(map(_cut, getattr(episode, name))) for name in ("tasks", "unplaced")}
    unchanged = all(a is b for name in cut for a, b in zip(cut[name], getattr(episode, name), strict=True))
    return episode if unchanged else episode.model_copy(update=cut)


def _cut(task: TaskSpec) -> TaskSpec:
    changed: dict[str, Any] = {
        name: text[: LONGEST + 1] for name in TEXT_FIELDS if len(text := getattr(task, name)) > LONGEST
    }
    for name, part in ROW_TEXTS.items():
        rows = getattr(task, name)
        if any(len(getattr(row, part)) > LONGEST for row in rows):
            changed[name] = tuple(row.model_copy(update={part: getattr(row, part)[: LONGEST + 1]}) for row in rows)
    return task.model_copy(update=changed) if changed else task


def _once_each(flaws: Iterable[Flaw]) -> Iterable[Flaw]:
    """A passage that a text repeats is one flaw."""
    return {(flaw.field, flaw.item, flaw.passage, flaw.other, flaw.message): flaw for flaw in flaws}.values()


def _with_only(task: TaskSpec, context: CheckContext) -> CheckContext:
    episode = context.episode.model_copy(update={"tasks": (task,), "unplaced": ()})
    return replace(context, episode=episode, _computed={})


def _stopped(task: TaskSpec, context: CheckContext, seconds: float) -> Finding:
    return Finding(
        rule=STOPPED,
        severity="error",
        message=f"Checks stopped after {seconds:g} s, so this task was not checked to the end.",
        fix="Shorten the task’s texts, or split it into several tasks.",
        persona=context.episode.persona.user_id,
        task=task.task_id,
        field="title",
    )


def _finding(rule: Rule, flaw: Flaw, task: TaskSpec, context: CheckContext) -> Finding:
    label = context.episode.task_label(flaw.other) if flaw.other else ""
    alike = ("field", "item", "passage", "other", "proposal", "data", "about")
    return Finding(
        **{name: getattr(flaw, name) for name in alike},
        rule=rule.name,
        severity=flaw.severity or rule.severity,
        message=flaw.message.replace(f"“{flaw.other}”", label) if label else flaw.message,
        fix=flaw.fix.replace(f"“{flaw.other}”", label) if label else flaw.fix,
        persona=context.episode.persona.user_id,
        task=task.task_id,
        field_text="" if flaw.passage else "\n".join(map(_text, _rows(task, flaw))),
        row="".join(map(_identity, _rows(task, flaw))) if flaw.item else "",
        stable_message=flaw.message,
    )


def _rows(task: TaskSpec, flaw: Flaw) -> tuple[Any, ...]:
    """The row that a flaw is about, or all of its field; a text is one."""
    value = getattr(task, flaw.field, "")
    if not isinstance(value, tuple):
        return (value,)
    return value[flaw.item - 1 : flaw.item] if flaw.item else value


def _identity(row: Any) -> str:
    names = ("uid", "task_id", "path", "tool")
    return next((str(value) for name in names if (value := getattr(row, name, ""))), "")


def _text(row: Any) -> str:
    return str(getattr(row, "content", getattr(row, "criterion", row)))
