"""Checks and evidence map of unsaved tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studio.domain.checks import Known, find_problems
from studio.domain.checks.questions import questions_about
from studio.domain.episode import EpisodeSpec
from studio.domain.evidence_map import EvidenceMap, build_evidence_map
from studio.domain.findings import Finding
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episode
from studio.drafts.save_tasks import canonical
from studio.findings.hooks import read_opinions
from studio.findings.refresh import episode_tool_descriptions, load_reports, load_texts
from studio.models import Task


def check_unsaved(
    task: Task, spec: TaskSpec, *, texts: Mapping[str, str] | None = None, episode: EpisodeSpec | None = None
) -> list[Finding]:
    """Findings of the task if it were saved as ``spec``.

    ``texts``: contents, by hash, of files that are not stored yet; ``episode``: the result of ``episode_with(task,
    spec)``, if available.
    """
    episode = episode or episode_with(task, spec)
    return find_problems(
        episode,
        spec.task_id,
        texts={**load_texts([episode]), **(texts or {})},
        known=Known(
            plan=task.persona.benchmark.plan,
            reports=load_reports([episode]),
            tools=episode_tool_descriptions([episode]),
            opinions=read_opinions(task.persona.benchmark_id, questions_about(spec)) or {},
        ),
    )


def episode_with(task: Task, spec: TaskSpec) -> EpisodeSpec:
    episode = load_episode(task.persona)
    spec = canonical(spec)
    return episode.model_copy(
        update={
            name: tuple(spec if other.task_id == task.task_id else other for other in getattr(episode, name))
            for name in ("tasks", "unplaced")
        }
    )


def evidence_map(task: Task, spec: TaskSpec) -> EvidenceMap:
    earlier = {task_id for task_id, _, position in placed_tasks(task) if position < (task.position or 0)}
    return build_evidence_map(spec, earlier=earlier, tools=set(task.persona.tools))


def placed_tasks(task: Task) -> Sequence[tuple[str, str, int]]:
    """Id, title and position of the tasks that its episode runs."""
    placed = Task.objects.filter(persona=task.persona_id, position__isnull=False).order_by("position")
    return [
        (task_id, title, position or 0)
        for task_id, title, position in placed.values_list("task_id", "title", "position")
    ]
