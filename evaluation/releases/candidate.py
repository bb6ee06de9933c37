"""What a release would contain now."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from django.db.models import Q

from evaluation.releases.evidence import Evidence, gather_evidence
from studio.domain.episode import Split
from studio.domain.tool_catalog import tool_cards
from studio.drafts.load import load_episodes
from studio.models import Benchmark, Persona, Revision, Task, TaskState
from studio.models.tasks import personas_with
from studio.personas.tool_servers import server_cards
from studio.reports.statistics import named_tools


def missing_tools(benchmark: Benchmark) -> Mapping[int, tuple[str, ...]]:
    """The tools that are named by a task and stand for nothing, by task key."""
    names = named_tools(benchmark)
    known = {card.name for card in tool_cards(names)[1] if card.known} if names else set()
    unknown = [name for name in names if name not in known]
    if not unknown:
        return {}
    rows = (
        Task.objects.filter(persona__benchmark=benchmark)
        .exclude(state=TaskState.RETIRED)
        .filter(tools_named__overlap=unknown)
        .order_by()
        .values_list("pk", "tools_named", "persona")
    )
    tasks = list(rows)
    served = _served({persona for _, _, persona in tasks})
    lacking = {
        pk: tuple(name for name in names if name not in known and name not in served.get(persona, ()))
        for pk, names, persona in tasks
    }
    return {pk: names for pk, names in lacking.items() if names}


def _served(personas: Set[int]) -> Mapping[int, Set[str]]:
    """The tools of servers that agents get, by persona."""
    episodes = load_episodes(Persona.objects.filter(pk__in=personas), with_tasks=False)
    return {
        pk: {card.name for card in server_cards(episode.persona) if not card.lacking}
        for pk, episode in episodes.items()
    }


class RevisionRef(NamedTuple):
    """A Revision without its spec."""

    pk: int
    number: int
    sha256: str


class CandidateTask(NamedTuple):
    """The fields of a Task that a release needs."""

    pk: int
    name: str
    task_id: str
    state: str
    grader_path: str
    persona: Persona
    persona_position: int
    """In the benchmark."""
    content: str
    outdated: bool
    """It is approved, but not with the content that it has now."""
    split: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class ReleaseCandidate:
    """What a release would contain now. Specs are read only when it is cut."""

    benchmark: Benchmark
    tasks: tuple[CandidateTask, ...]
    revisions: Mapping[int, RevisionRef]
    """The newest revision of each task, by task key."""
    missing_tools: Mapping[int, tuple[str, ...]]
    """Tools that a task names and no agent gets, by task key: its pilots are no evidence."""
    evidence: Evidence

    def of(self, splits: Collection[Split]) -> ReleaseCandidate:
        """Its tasks of these splits."""
        return replace(self, tasks=tuple(task for task in self.tasks if task.split in splits))


def load_candidate(
    benchmark: Benchmark, only: Collection[int] | None = None, lacking: Mapping[int, tuple[str, ...]] | None = None
) -> ReleaseCandidate:
    """Every task that is not retired, or ``only`` these, by persona and position. Specs are not read. ``lacking``: its
    missing tools, if they were read."""
    if only is not None and not only:
        return ReleaseCandidate(benchmark, (), {}, {}, gather_evidence(benchmark, set()))
    chosen = Q() if only is None else Q(pk__in=only)
    personas = personas_with(benchmark, only)
    persona_positions = {pk: position for position, pk in enumerate(personas)}
    rows = (
        Task.objects.filter(chosen, persona__benchmark=benchmark)
        .exclude(state=TaskState.RETIRED)
        .order_by("position", "task_id")
        .only("title", "task_id", "state", "grader_path", "persona", "content", "approved_content", "split")
    )
    tasks = [candidate_task(row, personas[row.persona_id], persona_positions[row.persona_id]) for row in rows]
    newest = (
        Revision.objects.filter(task__persona__benchmark=benchmark)
        .filter(Q() if only is None else Q(task__in=only))
        .order_by("task_id", "-number")
        .distinct("task_id")
        .values_list("task_id", "pk", "number", "sha256")
    )
    revisions = {key: RevisionRef(pk, number, sha256) for key, pk, number, sha256 in newest}
    lacking = missing_tools(benchmark) if lacking is None else lacking
    return ReleaseCandidate(
        benchmark=benchmark,
        tasks=tuple(sorted(tasks, key=lambda task: task.persona_position)),
        revisions=revisions,
        missing_tools=lacking,
        evidence=gather_evidence(benchmark, {task.content for task in tasks if task.pk not in lacking}),
    )


def candidate_task(row: Task, persona: Persona, persona_position: int = 0) -> CandidateTask:
    return CandidateTask(
        row.pk, str(row), row.task_id, row.state, row.grader_path, persona, persona_position, row.content, row.outdated,
        row.split,
    )  # fmt: skip
