"""Storing what was read: rows, revisions, events and approvals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from studio.domain.episode import EpisodeSpec
from studio.domain.pibench import Reading
from studio.domain.task import TaskSpec
from studio.drafts.load import load_episodes
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import SavedTask, save_tasks
from studio.drafts.validate import DraftError
from studio.findings.grader_keys import GraderKeys
from studio.findings.refresh import refresh_findings
from studio.imports.report import ImportReport
from studio.imports.update import continue_from
from studio.models import (
    Benchmark,
    Blob,
    Episode,
    Event,
    GraderScript,
    Persona,
    Review,
    Revision,
    Task,
    TaskState,
    User,
)
from studio.notifications.notify import notify_of_import

ELSEWHERE = "Marked as already approved: it comes from a published benchmark."


class ImportWriter:
    """One import, inside its transaction."""

    def __init__(
        self,
        benchmark: Benchmark,
        reading: Reading,
        keys: Mapping[str, GraderKeys],
        report: ImportReport,
        *,
        by: User | None,
        published: bool,
    ) -> None:
        self.benchmark = benchmark
        self.reading = reading
        self.keys = keys
        self.report = report
        self.by = by
        self.published = published

    def run(self) -> None:
        Benchmark.objects.select_for_update().get(pk=self.benchmark.pk)
        self._store_contents()
        personas = self._personas()
        old = load_episodes(personas.values())
        new = {
            personas[episode.persona.user_id].pk: continue_from(
                episode, old[personas[episode.persona.user_id].pk], self.report
            )
            for episode in self.reading.episodes
        }
        rows = self._task_rows(personas.values(), new)
        triples = [(persona, old[persona.pk], new[persona.pk]) for persona in personas.values()]
        fresh = {persona.pk for persona in personas.values() if persona.version == 0}
        changed = save_personas(triples, by=self.by, verb="imported")
        pairs = [
            (rows[(key, task.task_id)], task) for key, spec in new.items() for task in (*spec.tasks, *spec.unplaced)
        ]
        saved = save_tasks(pairs, by=self.by, verb="imported", touched=_regraded(pairs, old, new))
        self._store_keys(personas.values())
        owners = {
            rows[(key, task.task_id)].pk: key for key, spec in new.items() for task in (*spec.tasks, *spec.unplaced)
        }
        touched = self._report_changes(personas, triples, changed, saved, owners, fresh)
        approved = self._approve(saved) if self.published else 0
        if touched or approved:
            refresh_findings([persona for persona in personas.values() if persona.pk in touched])
            self._record(approved)
        self.report.personas = list(personas.values())

    def _store_contents(self) -> None:
        stored = set(Blob.objects.filter(pk__in=self.reading.contents).values_list("pk", flat=True))
        Blob.objects.store([data for sha, data in self.reading.contents.items() if sha not in stored])

    def _personas(self) -> dict[str, Persona]:
        names = [episode.persona.user_id for episode in self.reading.episodes]
        rows = {
            persona.user_id: persona
            for persona in Persona.objects.select_for_update().filter(benchmark=self.benchmark, user_id__in=names)
        }
        everyone = {
            user_id.casefold(): user_id for user_id in self.benchmark.personas.values_list("user_id", flat=True)
        }
        for name in names:
            if (other := everyone.get(name.casefold(), name)) != name and name not in rows:
                raise DraftError("user_id", f"A persona “{other}” already exists, which “{name}” cannot replace.")
        last = self.benchmark.personas.order_by("-position").values_list("position", flat=True).first() or 0
        new = Persona.objects.bulk_create(
            Persona(benchmark=self.benchmark, user_id=name, position=last + number)
            for number, name in enumerate((name for name in names if name not in rows), 1)
        )
        Episode.objects.bulk_create(Episode(persona=persona) for persona in new)
        rows |= {persona.user_id: persona for persona in new}
        return {name: rows[name] for name in names}

    def _task_rows(self, personas: Iterable[Persona], new: Mapping[int, EpisodeSpec]) -> dict[tuple[int, str], Task]:
        episodes = {episode.persona_id: episode for episode in Episode.objects.filter(persona__in=personas)}
        rows = {
            (row.episode.persona_id, row.task_id): row
            for row in Task.objects.select_for_update(of=("self",))
            .filter(episode__in=episodes.values())
            .select_related("group", "episode")
        }
        for key, spec in new.items():
            placed = [(task, position) for position, task in enumerate(spec.tasks, 1)]
            for task, position in (*placed, *((task, None) for task in spec.unplaced)):
                if (key, task.task_id) not in rows:
                    rows[(key, task.task_id)] = Task(episode=episodes[key], task_id=task.task_id, position=position)
        return rows

    def _store_keys(self, personas: Iterable[Persona]) -> None:
        changed = []
        for script in GraderScript.objects.filter(persona__in=personas):
            grader_keys = self.keys.get(script.blob_id)
            if grader_keys and (
                script.keys != (list(grader_keys.keys) if grader_keys.keys else None)
                or script.problem != grader_keys.problem
            ):
                script.keys = list(grader_keys.keys) if grader_keys.keys else None
                script.problem = grader_keys.problem
                changed.append(script)
        GraderScript.objects.bulk_update(changed, ["keys", "problem"], batch_size=200)

    def _report_changes(
        self,
        personas: Mapping[str, Persona],
        triples: Sequence[tuple[Persona, EpisodeSpec, EpisodeSpec]],
        changed: Sequence[tuple[str, ...]],
        saved: Sequence[SavedTask],
        owners: Mapping[int, int],
        fresh: set[int],
    ) -> set[int]:
        names = {persona.pk: name for name, persona in personas.items()}
        touched = set(fresh)
        for (persona, _, _), fields in zip(triples, changed, strict=True):
            if fields and persona.pk not in fresh:
                self.report.updated.append({"persona": persona.user_id, "task": None, "changed": list(fields)})
                touched.add(persona.pk)
        for task in saved:
            entry: dict[str, Any] = {"persona": names[owners[task.row.pk]], "task": task.row.task_id}
            if task.revision is None:
                self.report.unchanged.append(entry)
                continue
            touched.add(owners[task.row.pk])
            self.report.titles.setdefault(entry["persona"], {})[entry["task"]] = task.row.title
            if task.created:
                self.report.created.append(entry)
            else:
                self.report.updated.append({**entry, "changed": list(task.fields)})
        return touched

    def _approve(self, saved: Sequence[SavedTask]) -> int:
        final = {TaskState.APPROVED, TaskState.RELEASED, TaskState.RETIRED}
        rows = [task.row for task in saved if task.row.state not in final]
        if not rows:
            return 0
        for row in rows:
            row.state = TaskState.APPROVED
        Task.objects.bulk_update(rows, ["state"], batch_size=500)
        revisions = {task.row.pk: task.revision for task in saved}
        older = [row for row in rows if revisions[row.pk] is None]
        for revision in Revision.objects.filter(task__in=older).order_by("number") if older else ():
            revisions[revision.task_id] = revision
        Review.objects.bulk_create(
            (
                Review(revision=revisions[row.pk], decision=Review.Decision.APPROVED_ELSEWHERE, text=ELSEWHERE)
                for row in rows
            ),
            batch_size=500,
        )
        Event.objects.bulk_create(
            (
                Event(
                    benchmark=self.benchmark,
                    persona_id=row.episode.persona_id,
                    task=row,
                    actor=self.by,
                    verb="approved_elsewhere",
                    summary=ELSEWHERE,
                    data={"version": row.version},
                )
                for row in rows
            ),
            batch_size=500,
        )
        return len(rows)

    def _record(self, approved: int) -> None:
        new, updated = len(self.report.created), len(self.report.updated)
        counts = {"new": new, "changed": updated, "unchanged": len(self.report.unchanged)}
        summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "no tasks"
        summary = f"{summary}."
        notify_of_import(self.benchmark, summary, by=self.by)
        Event.objects.create(
            benchmark=self.benchmark,
            actor=self.by,
            verb="imported",
            summary=f"Imported: {summary}",
            data={"created": new, "updated": updated, "approved_elsewhere": approved},
        )


def _regraded(
    pairs: Iterable[tuple[Task, TaskSpec]], old: Mapping[int, EpisodeSpec], new: Mapping[int, EpisodeSpec]
) -> dict[int, str]:
    fields = {}
    for row, task in pairs:
        if row.pk and task.grader_script:
            key = row.episode.persona_id
            before, after = (episodes[key].persona.script(task.grader_script) for episodes in (old, new))
            if before and after and before.sha256 != after.sha256:
                fields[row.pk] = "grader_script"
    return fields
