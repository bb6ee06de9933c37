"""Checks and evidence map of unsaved tasks."""

from __future__ import annotations

from collections.abc import Mapping

from studio.domain.checks import find_problems
from studio.domain.checks.opinions import questions_about
from studio.domain.episode import EpisodeSpec
from studio.domain.evidence_map import EvidenceMap, build_evidence_map
from studio.domain.findings import Finding
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episode
from studio.drafts.save_tasks import canonical
from studio.findings.opinions import read_opinions
from studio.findings.refresh import episode_tool_descriptions, load_reports, load_texts
from studio.models import Persona, Task
from studio.tasks.versions import cached_tasks


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
        plan=task.episode.persona.benchmark.plan,
        reports=load_reports([episode]),
        tools=episode_tool_descriptions([episode]),
        opinions=read_opinions(task.episode.persona.benchmark_id, questions_about(spec)),
    )


def episode_with(task: Task, spec: TaskSpec) -> EpisodeSpec:
    episode = _cached_episode(task.episode.persona)
    spec = canonical(spec)
    return episode.model_copy(
        update={
            name: tuple(spec if other.task_id == task.task_id else other for other in getattr(episode, name))
            for name in ("tasks", "unplaced")
        }
    )


def evidence_map(task: Task, spec: TaskSpec) -> EvidenceMap:
    earlier = task.episode.tasks.filter(position__lt=task.position) if task.position else Task.objects.none()
    tools = task.episode.persona.tool_bindings.values_list("name", flat=True)
    return build_evidence_map(spec, earlier=set(earlier.values_list("task_id", flat=True)), tools=set(tools))


def _cached_episode(persona: Persona) -> EpisodeSpec:
    """Reloads tasks only if one of them has changed."""
    rows = Task.objects.filter(episode__persona=persona).order_by("episode", "position", "task_id")
    key = tuple(rows.values_list("pk", "version", "updated_at", "task_id", "position", "group__name"))
    tasks = cached_tasks(key)
    bare = load_episode(persona, with_tasks=False)
    return bare.model_copy(
        update={
            "tasks": tuple(tasks[row[0]] for row in key if row[4] is not None),
            "unplaced": tuple(tasks[row[0]] for row in sorted(key, key=lambda row: row[3]) if row[4] is None),
        }
    )
