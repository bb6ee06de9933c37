"""What a release would be about, as it stands now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from evaluation.grading.script_versions import current_hashes
from evaluation.releases.evidence import Evidence, Tried, gather_evidence
from evaluation.visibility import episodes_of
from studio.models import Benchmark, Persona, Revision, Task, TaskState


class Frozen(NamedTuple):
    """A Revision without its spec."""

    pk: int
    number: int
    sha256: str


class Row(NamedTuple):
    """A Task without what a release does not ask."""

    pk: int
    name: str
    task_id: str
    state: str
    grader_path: str
    persona: Persona
    place: int
    """Of its persona in the benchmark."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Candidate:
    """What a release would be about, as it stands now. Contents are read only when one is cut."""

    benchmark: Benchmark
    rows: tuple[Row, ...]
    revisions: Mapping[int, Frozen]
    """The newest of each task, by the task's pk."""
    scripts: Mapping[int, str]
    """sha256 of the script that grades each task, by the task's pk, for those that name one."""
    evidence: Evidence

    def tried(self, row: Row) -> Tried:
        """The task as a pilot must have run it."""
        return Tried(self.revisions[row.pk].sha256, self.scripts.get(row.pk, ""))


def candidate_of(benchmark: Benchmark) -> Candidate:
    """Every task that is not retired, in the order of personas and sessions. Specs are not read."""
    episodes = episodes_of(benchmark)
    places = {pk: place for place, pk in enumerate(episodes)}
    rows = [
        Row(pk, title.strip() or task_id, task_id, state, grader_path, episodes[episode].persona, places[episode])
        for pk, title, task_id, state, grader_path, episode in Task.objects.filter(
            episode__persona__benchmark=benchmark
        )
        .exclude(state=TaskState.RETIRED)
        .order_by("position", "task_id")
        .values_list("pk", "title", "task_id", "state", "grader_path", "episode_id")
    ]
    newest = (
        Revision.objects.filter(task__episode__persona__benchmark=benchmark)
        .order_by("task_id", "-number")
        .distinct("task_id")
        .values_list("task_id", "pk", "number", "sha256")
    )
    revisions = {task: Frozen(pk, number, sha256) for task, pk, number, sha256 in newest}
    graded = [row for row in rows if row.grader_path]
    now = current_hashes(
        {row.persona.pk: row.persona.user_id for row in graded}, {(row.persona.pk, row.grader_path) for row in graded}
    )
    scripts = {row.pk: now[row.persona.pk, row.grader_path] for row in graded}
    return Candidate(
        benchmark=benchmark,
        rows=tuple(sorted(rows, key=lambda row: row.place)),
        revisions=revisions,
        scripts=scripts,
        evidence=gather_evidence(
            benchmark,
            {Tried(revisions[row.pk].sha256, scripts.get(row.pk, "")) for row in rows},
            {revisions[row.pk].sha256: row.grader_path for row in graded},
        ),
    )
