"""All rules over an episode. The same function serves form, import, API, command and release gate."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping

from studio.domain.checks import rules
from studio.domain.checks.bounds import within_bounds
from studio.domain.checks.rule import RULES, CheckContext, Flaw, Rule
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.graders import GraderReport
from studio.domain.plan import PAPER_PLAN, Plan
from studio.domain.task import TaskSpec

for module in pkgutil.iter_modules(rules.__path__):
    importlib.import_module(f"{rules.__name__}.{module.name}")

_SEVERITIES = ("error", "warning", "hint")


def find_problems(
    episode: EpisodeSpec,
    task_id: str | None = None,
    *,
    texts: Mapping[str, str] | None = None,
    plan: Plan = PAPER_PLAN,
    reports: Mapping[str, GraderReport] | None = None,
    tools: Mapping[str, str] | None = None,
) -> list[Finding]:
    """What the rules say of every task, or of the one named: in the episode's order, errors first in each task.

    ``texts`` are contents of text files by sha256, for rules that read assets and graders; ``reports`` what running
    the graders showed, likewise. ``plan`` is the benchmark's. ``tools`` are descriptions of tools by their names.
    """
    episode = within_bounds(episode)
    context = CheckContext(episode=episode, texts=texts or {}, plan=plan, reports=reports or {}, tools=tools or {})
    findings = []
    for task in (*episode.tasks, *episode.unplaced):
        if task_id is None or task.task_id == task_id:
            own = [finding for each in RULES.values() for finding in _apply(each, task, context)]
            findings += sorted(own, key=lambda finding: _SEVERITIES.index(finding.severity))
    return findings


def _apply(each: Rule, task: TaskSpec, context: CheckContext) -> Iterator[Finding]:
    for flaw in each.check(task, context):
        called = context.episode.called(flaw.other) if flaw.other else ""
        yield Finding(
            rule=each.name,
            severity=flaw.severity or each.severity,
            message=flaw.message.replace(f"“{flaw.other}”", called) if called else flaw.message,
            mend=flaw.mend.replace(f"“{flaw.other}”", called) if called else flaw.mend,
            persona=context.episode.persona.user_id,
            task=task.task_id,
            field=flaw.field,
            item=flaw.item,
            words=flaw.words,
            other=flaw.other,
            proposal=flaw.proposal,
            text="" if flaw.words else _text(task, flaw),
            said=flaw.message,
        )


def _text(task: TaskSpec, flaw: Flaw) -> str:
    """What stands in the field, or in the row of it, that a flaw without words is about."""
    value = getattr(task, flaw.field, "")
    rows = value if isinstance(value, tuple) else (value,)
    if flaw.item and isinstance(value, tuple):
        rows = value[flaw.item - 1 : flaw.item]
    return "\n".join(str(getattr(row, "content", getattr(row, "criterion", row))) for row in rows)
