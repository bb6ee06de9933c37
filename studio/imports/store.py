"""Storing what was read: rows, revisions and events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from studio.domain.base import JsonDict
from studio.domain.content import pieces_of
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import Reading
from studio.domain.task import TaskSpec
from studio.drafts.authors import came_by_import, origins_of
from studio.drafts.load import load_episodes
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import SavedTask, save_tasks
from studio.drafts.validate import DraftError
from studio.findings.deferred import defer_checks
from studio.findings.hooks import GraderKeys
from studio.findings.refresh import refresh_findings
from studio.imports.report import ImportReport
from studio.imports.update import continue_from, keep_servers, with_tasks_of, with_whole_groups
from studio.models import (
    Benchmark,
    Blob,
    Event,
    GraderScript,
    Persona,
    Task,
    User,
)
from studio.notifications.notify import notify_of_import, users_allowed

TASKS_AT_ONCE = 1_000
"""Saved together."""


@dataclass
class ImportWriter:
    """One import, inside its transaction."""

    benchmark: Benchmark
    reading: Reading
    keys: Mapping[str, GraderKeys]
    report_before: ImportReport
    by: User | None
    published: bool
    uploaded_by: User | None = None

    def run(self) -> ImportReport:
        self.touched: set[int] = set()
        """Keys of the personas that changed."""
        self.report = deepcopy(self.report_before)  # so that it can run again
        Benchmark.objects.select_for_update(no_key=True).get(pk=self.benchmark.pk)
        self._store_contents()
        personas = self._personas()
        old = load_episodes(personas.values())
        new = {}
        for episode in self.reading.episodes:
            key = personas[episode.persona.user_id].pk
            if episode.persona.user_id in self.reading.tasks_alone:
                merged = with_tasks_of(episode, old[key])
            else:
                merged = continue_from(episode, old[key], self.report)
            new[key] = with_whole_groups(merged, self.report)
        if not self._may_bind_servers():
            new = {key: keep_servers(episode, old[key], self.report) for key, episode in new.items()}
        rows = self._task_rows(personas.values(), new)
        triples = [(persona, old[persona.pk], new[persona.pk]) for persona in personas.values()]
        fresh = {persona.pk for persona in personas.values() if persona.version == 0}
        changed = save_personas(triples, by=self.by, verb="imported")
        placed = [(key, task) for key, spec in new.items() for task in (*spec.tasks, *spec.unplaced)]
        saved = self._save_tasks([(rows[key, task.task_id], task) for key, task in placed])
        self._store_keys(personas.values())
        owners = {rows[key, task.task_id].pk: key for key, task in placed}
        self.touched = self._report_changes(personas, triples, changed, saved, owners, fresh)
        if self.touched:
            self._record()
        if self.published:
            self._find_publishable(saved, owners)
        self.report.personas = list(personas.values())
        return self.report

    def check(self, *, defer_above: int | None) -> None:
        """Now, or afterwards if the changed personas have more tasks than that."""
        tasks = Task.objects.filter(persona__in=self.touched)
        if defer_above is not None and tasks.count() > defer_above:
            self.report.unchecked = defer_checks(self.touched)
        elif self.touched:
            refresh_findings(Persona.objects.filter(pk__in=self.touched))

    def _may_bind_servers(self) -> bool:
        """Who imports and who uploaded, since the latter's preview has said what would happen."""
        people = {person.pk for person in (self.by, self.uploaded_by) if person}
        return people <= users_allowed(self.benchmark, "manage")

    def _store_contents(self) -> None:
        stored = set(Blob.objects.filter(pk__in=self.reading.contents).values_list("pk", flat=True))
        Blob.objects.store([data for sha, data in self.reading.contents.items() if sha not in stored])

    def _personas(self) -> dict[str, Persona]:
        names = [episode.persona.user_id for episode in self.reading.episodes]
        rows = {
            persona.user_id: persona
            for persona in Persona.objects.select_for_update(no_key=True).filter(
                benchmark=self.benchmark, user_id__in=names
            )
        }
        everyone = {
            user_id.casefold(): user_id for user_id in self.benchmark.personas.values_list("user_id", flat=True)
        }
        for name in names:
            if (other := everyone.get(name.casefold(), name)) != name and name not in rows:
                raise DraftError("user_id", f"A persona “{other}” already exists, which “{name}” cannot replace.")
        last = self.benchmark.personas.order_by("-position").values_list("position", flat=True).first() or 0
        new = []
        for number, name in enumerate((name for name in names if name not in rows), 1):
            new.append(Persona(benchmark=self.benchmark, position=last + number))
            new[-1].set_spec(PersonaSpec(user_id=name))
        Persona.objects.bulk_create(new)
        rows |= {persona.user_id: persona for persona in new}
        return {name: rows[name] for name in names}

    def _task_rows(self, personas: Iterable[Persona], new: Mapping[int, EpisodeSpec]) -> dict[tuple[int, str], Task]:
        owners = {persona.pk: persona for persona in personas}
        rows = {
            (row.persona_id, row.task_id): row
            for row in Task.objects.select_for_update(no_key=True, of=("self",))
            .filter(persona__in=owners)
            .order_by("pk")
        }
        for key, spec in new.items():
            placed = [(task, position) for position, task in enumerate(spec.tasks, 1)]
            for task, position in (*placed, *((task, None) for task in spec.unplaced)):
                if (key, task.task_id) not in rows:
                    rows[(key, task.task_id)] = Task(
                        persona=owners[key],
                        task_id=task.task_id,
                        position=position,
                        split=spec.split_of(task.task_id),
                    )
        return rows

    def _origin_authors(self, pairs: Sequence[tuple[Task, TaskSpec]]) -> list[set[int]]:
        """Who uploaded the files, and who wrote the same tasks elsewhere in the studio."""
        uploader = {self.uploaded_by.pk} if self.uploaded_by else set()
        origins = origins_of([(pieces_of(task.to_json()), row.pk) for row, task in pairs])
        return [uploader | origin.authors for origin in origins]

    def _told_of(self, row: Task, task: TaskSpec) -> JsonDict:
        """Which of its texts a model proposed elsewhere: as the files say, with the row's uid and the text."""
        origins = self.reading.origins.get((row.persona.user_id, task.task_id), ())
        placed = [(origin, place) for origin in origins if (place := origin.place_in(task))]
        rows = [origin.model_dump(mode="json") | {"uid": uid, "text": text} for origin, (uid, text) in placed]
        return {"origins": rows} if rows else {}

    def _save_tasks(self, pairs: Sequence[tuple[Task, TaskSpec]]) -> list[SavedTask]:
        """Some personas after the others, and without keeping the texts of versions, so that memory does not grow with
        what is written of each task."""
        saved: list[SavedTask] = []
        for start, end in _parts([row.persona_id for row, _ in pairs]):
            part = pairs[start:end]
            authors, told = self._origin_authors(part), [self._told_of(row, task) for row, task in part]
            done = save_tasks(part, by=self.by, verb="imported", origin_authors=authors, told=told)
            for task in done:
                task.row.__dict__.pop("spec", None)
                if task.revision:
                    task.revision.__dict__.pop("spec", None)  # read again by whoever asks
            saved += done
        return saved

    def _store_keys(self, personas: Iterable[Persona]) -> None:
        changed = []
        for script in GraderScript.objects.filter(persona__in=personas):
            if found := self.keys.get(script.blob_id):
                keys = list(found.keys) if found.keys else None
                if (script.keys, script.problem) != (keys, found.problem):
                    script.keys, script.problem = keys, found.problem
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

    def _find_publishable(self, saved: Sequence[SavedTask], owners: Mapping[int, int]) -> None:
        """Put into the report which new versions can be published: those that came by imports alone."""
        names = {persona.pk: persona.user_id for persona in self.benchmark.personas.all()}
        new = [task for task in saved if task.revision]
        imported = came_by_import([task.row for task in new])
        pieces = [(task.revision.pieces, task.row.pk) for task in new if task.revision]
        written_here = {
            pk
            for (_, pk), origin in zip(pieces, origins_of(pieces), strict=True)
            if origin.written_here or pk not in imported
        }
        for task in saved:
            reason = "" if task.revision else "Its text is unchanged."
            if task.row.pk in written_here:
                reason = "It was written in the studio."
            pack = self.report.pack
            if pack and (names[owners[task.row.pk]], task.row.task_id) not in pack.approvers:
                reason = "Nobody had approved it in that release."
            if task.revision and not reason:
                self.report.publishable.append(task.revision)
            else:
                entry = {"persona": names[owners[task.row.pk]], "task": task.row.task_id, "reason": reason}
                self.report.not_publishable.append(entry)

    def _record(self) -> None:
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
            data={"created": new, "updated": updated},
        )


def _parts(episodes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Beginnings and ends of whole episodes that have about as many tasks as are saved at once; ``episodes`` of all
    tasks, in order."""
    start = 0
    for end in range(1, len(episodes) + 1):
        if end == len(episodes) or (end - start >= TASKS_AT_ONCE and episodes[end] != episodes[end - 1]):
            yield start, end
            start = end
