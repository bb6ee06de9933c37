"""Imports of π-Bench folders: all or nothing, told in full, and nothing happens the second time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from studio.drafts.findings import refresh_findings
from studio.drafts.loading import load_episodes
from studio.drafts.refusing import DraftRefused
from studio.drafts.saving import SavedTask, save_personas, save_tasks
from studio.folders import read_folder
from studio.graderkeys import GraderKeys, read_keys
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
from studio.spec.archive import Limits, check_names, unpack
from studio.spec.changes import changed_fields
from studio.spec.episode import EpisodeSpec
from studio.spec.graph import dependency_groups
from studio.spec.matching import keep_uids
from studio.spec.pack import MANIFEST, DamagedPack, UnsupportedPack, check_pack
from studio.spec.pibench import Reading, read_personas
from studio.spec.problems import Problem
from studio.spec.task import TaskSpec

ELSEWHERE = "Taken over as approved elsewhere: it comes from a published benchmark."


@dataclass
class ImportReport:
    """What an import did, or would do, or why it did nothing."""

    created: list[dict[str, Any]] = field(default_factory=list)
    """``{"persona", "task"}`` of each new task."""
    updated: list[dict[str, Any]] = field(default_factory=list)
    """``{"persona", "task", "changed": [field, …]}``; ``task`` is null for the persona itself."""
    unchanged: list[dict[str, Any]] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=lambda: _totals([], {}))
    """What the files hold, whether new here or not."""
    warnings: list[Problem] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    personas: list[Persona] = field(default_factory=list)
    """The personas as stored; empty after a dry run or with errors."""

    @property
    def ok(self) -> bool:
        return not self.errors

    def to_json(self) -> dict[str, Any]:
        return {
            "created": self.created,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "totals": self.totals,
            "warnings": [warning.to_json() for warning in self.warnings],
            "errors": [error.to_json() for error in self.errors],
        }


def upload_limits() -> Limits:
    """What settings allow people to hand in."""
    return Limits(
        archive_bytes=settings.UPLOAD_MAX_BYTES,
        file_bytes=settings.UPLOAD_MAX_FILE_BYTES,
        unpacked_bytes=settings.UPLOAD_MAX_UNPACKED_BYTES,
        files=settings.UPLOAD_MAX_FILES,
        ratio=settings.UPLOAD_MAX_RATIO,
        depth=settings.UPLOAD_MAX_DEPTH,
    )


def import_path(
    benchmark: Benchmark, path: Path, *, by: User | None, published: bool = False, dry_run: bool = False
) -> ImportReport:
    """Import a folder or a zip on this machine."""
    if path.is_dir():
        found = read_folder(path, upload_limits())
        if found.errors:
            return _refused(found.errors)
        return _import(benchmark, _read(found.files), by=by, published=published, dry_run=dry_run)
    if path.stat().st_size > settings.UPLOAD_MAX_BYTES:
        message = f"The file has {path.stat().st_size:,} bytes; at most {settings.UPLOAD_MAX_BYTES:,} are taken."
        return _refused([Problem(file=path.name, message=message, mend="Import the personas one by one.")])
    return import_archive(benchmark, path.read_bytes(), name=path.stem, by=by, published=published, dry_run=dry_run)


def import_archive(
    benchmark: Benchmark,
    data: bytes,
    *,
    by: User | None,
    name: str = "",
    published: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Import a zip. ``name`` is what a persona is called whose files lie at the zip's root."""
    unpacked = unpack(data, upload_limits())
    if unpacked.errors:
        return _refused(unpacked.errors)
    reading = _read(unpacked.files, name)
    return _import(benchmark, reading, by=by, published=published, dry_run=dry_run)


def import_files(
    benchmark: Benchmark,
    files: Mapping[str, bytes],
    *,
    by: User | None,
    name: str = "",
    published: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Import files by their paths, as a browser's folder upload hands them over.

    One transaction: with any error nothing is stored. What is there already and says the same is left
    alone; a task that differs gets its next revision; a task that is missing from the files stays, outside
    the episode. ``published`` takes the tasks as approved elsewhere. ``dry_run`` tells all and stores nothing.
    """
    if problems := check_names(files, upload_limits()):
        return _refused(problems)
    reading = _read(files, name)
    return _import(benchmark, reading, by=by, published=published, dry_run=dry_run)


def _read(files: Mapping[str, bytes], name: str = "") -> Reading:
    """What the files hold. A release pack must be whole: each of its files as its manifest says."""
    if MANIFEST in files:
        try:
            check_pack(files)
        except (UnsupportedPack, DamagedPack) as problem:
            mend = "Fetch the pack again from where it was released."
            return Reading(errors=[Problem(file=MANIFEST, message=str(problem), mend=mend)])
    return read_personas(files, name=name)


def find_reading_errors(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Why these files could not be imported anywhere; nothing, if they can. Stores nothing."""
    problems = check_names(files, upload_limits()) or read_personas(files).errors
    return [problem.to_json() for problem in problems]


def _refused(errors: Sequence[Problem]) -> ImportReport:
    return ImportReport(errors=list(errors))


def _import(benchmark: Benchmark, reading: Reading, *, by: User | None, published: bool, dry_run: bool) -> ImportReport:
    report = ImportReport(warnings=reading.warnings, errors=reading.errors)
    if reading.errors:
        return report
    keys = _grader_keys(reading, report)
    report.totals = _totals(reading.episodes, keys)
    try:
        with transaction.atomic():
            _Storing(benchmark, reading, keys, report, by=by, published=published).run()
            connection.check_constraints()
            transaction.set_rollback(dry_run)
    except DraftRefused as refusal:
        return _refused([Problem(file="", message=str(refusal), mend="Correct it and import again.")])
    if dry_run:
        report.personas = []
    return report


def _totals(episodes: Sequence[EpisodeSpec], keys: Mapping[str, GraderKeys]) -> dict[str, int]:
    tasks = [task for episode in episodes for task in (*episode.tasks, *episode.unplaced)]
    items = [item for task in tasks for item in task.scored_items]
    scripts = [keys[script.sha256].keys or () for episode in episodes for script in episode.persona.scripts]
    return {
        "personas": len(episodes),
        "tasks": len(tasks),
        "hidden_intents": sum(len(task.intents) for task in tasks),
        "rubric_items": sum(item.grader == "rubric" for item in items),
        "rule_checks": sum(item.grader == "rule" for item in items) + sum(map(len, scripts)),
        "dependency_groups": sum(len(dependency_groups(episode.tasks)) for episode in episodes),
    }


def _grader_keys(reading: Reading, report: ImportReport) -> dict[str, GraderKeys]:
    """What each script checks, by the script's sha256; run only where no one has run it before."""
    scripts = {script.sha256: script for episode in reading.episodes for script in episode.persona.scripts}
    known = {
        sha: GraderKeys(keys=tuple(found or ()))
        for sha, found in GraderScript.objects.filter(blob__in=scripts, keys__isnull=False).values_list("blob", "keys")
    }
    unknown = [sha for sha in scripts if sha not in known]
    known |= zip(unknown, read_keys(reading.contents[sha] for sha in unknown), strict=True)
    for episode in reading.episodes:
        for script in episode.persona.scripts:
            if known[script.sha256].keys is None:
                report.warnings.append(
                    Problem(
                        file=f"{episode.persona.user_id}/{script.path}",
                        message=f"Its rule checks cannot be counted: {known[script.sha256].problem}",
                        mend="Let score([]) return every key with 0.",
                    )
                )
    return known


class _Storing:
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
        self._keep_contents()
        personas = self._personas()
        old = load_episodes(personas.values())
        new = {
            personas[episode.persona.user_id].pk: self._continued(episode, old[personas[episode.persona.user_id].pk])
            for episode in self.reading.episodes
        }
        rows = self._task_rows(personas.values(), new)
        triples = [(persona, old[persona.pk], new[persona.pk]) for persona in personas.values()]
        fresh = {persona.pk for persona in personas.values() if persona.version == 0}
        changed = save_personas(triples, by=self.by, verb="imported")
        pairs = [
            (rows[(key, task.task_id)], task) for key, spec in new.items() for task in (*spec.tasks, *spec.unplaced)
        ]
        saved = save_tasks(pairs, by=self.by, verb="imported")
        self._store_keys(personas.values())
        owners = {
            rows[(key, task.task_id)].pk: key for key, spec in new.items() for task in (*spec.tasks, *spec.unplaced)
        }
        touched = self._tell(personas, triples, changed, saved, owners, fresh)
        approved = self._approve(saved) if self.published else 0
        if touched or approved:
            refresh_findings([persona for persona in personas.values() if persona.pk in touched])
            self._record(approved)
        self.report.personas = list(personas.values())

    def _keep_contents(self) -> None:
        stored = set(Blob.objects.filter(pk__in=self.reading.contents).values_list("pk", flat=True))
        Blob.objects.keep([data for sha, data in self.reading.contents.items() if sha not in stored])

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
                raise DraftRefused("user_id", f"There is a persona “{other}” already, which “{name}” must not replace.")
        last = self.benchmark.personas.order_by("-position").values_list("position", flat=True).first() or 0
        new = Persona.objects.bulk_create(
            Persona(benchmark=self.benchmark, user_id=name, position=last + number)
            for number, name in enumerate((name for name in names if name not in rows), 1)
        )
        Episode.objects.bulk_create(Episode(persona=persona) for persona in new)
        rows |= {persona.user_id: persona for persona in new}
        return {name: rows[name] for name in names}

    def _continued(self, read: EpisodeSpec, stored: EpisodeSpec) -> EpisodeSpec:
        """What was read, as the next version of what is stored: ids of intents stay, missing tasks stay aside."""
        known = {task.task_id: task for task in (*stored.tasks, *stored.unplaced)}
        names = {task.task_id for task in (*read.tasks, *read.unplaced)}
        missing = [task for name, task in sorted(known.items()) if name not in names]
        for task in missing:
            self.report.warnings.append(
                Problem(
                    file=f"{read.persona.user_id}/tasks/{task.task_id}",
                    message=f"“{task.task_id}” is in the studio and not among the files.",
                    mend="It stays as a draft outside the episode; retire it if it is not needed any more.",
                )
            )
        persona = read.persona

        def next_version(task: TaskSpec) -> TaskSpec:
            old = known.get(task.task_id)
            if old is None:
                return task
            return _unless_native(keep_uids(task, old, persona=persona.user_id), old)

        if not stored.persona.profile_source and stored.persona.role_text:
            plain = {"profile_source": {}, "tools_source": stored.persona.tools_source}
            if not changed_fields(persona.model_copy(update=plain), stored.persona):
                persona = stored.persona
        same_order = [task.task_id for task in read.tasks] == [task.task_id for task in stored.tasks]
        native = not stored.source and bool(stored.tasks) and same_order
        return read.model_copy(
            update={
                "persona": persona,
                "source": {} if native else read.source,
                "tasks": tuple(map(next_version, read.tasks)),
                "unplaced": tuple(
                    [
                        *map(next_version, read.unplaced),
                        *(task.model_copy(update={"depends_on": ()}) for task in missing),
                    ]
                ),
            }
        )

    def _task_rows(
        self, personas: Sequence[Persona] | Any, new: Mapping[int, EpisodeSpec]
    ) -> dict[tuple[int, str], Task]:
        episodes = {episode.persona_id: episode for episode in Episode.objects.filter(persona__in=personas)}
        rows = {
            (row.episode.persona_id, row.task_id): row
            for row in Task.objects.select_for_update(of=("self",))
            .filter(episode__in=episodes.values())
            .select_related("group", "episode")
        }
        created = Task.objects.bulk_create(
            (
                Task(episode=episodes[key], task_id=task.task_id)
                for key, spec in new.items()
                for task in (*spec.tasks, *spec.unplaced)
                if (key, task.task_id) not in rows
            ),
            batch_size=500,
        )
        return rows | {(row.episode.persona_id, row.task_id): row for row in created}

    def _store_keys(self, personas: Sequence[Persona] | Any) -> None:
        changed = []
        for script in GraderScript.objects.filter(persona__in=personas):
            found = self.keys.get(script.blob_id)
            if found and (script.keys != (list(found.keys) if found.keys else None) or script.problem != found.problem):
                script.keys = list(found.keys) if found.keys else None
                script.problem = found.problem
                changed.append(script)
        GraderScript.objects.bulk_update(changed, ["keys", "problem"], batch_size=200)

    def _tell(
        self,
        personas: Mapping[str, Persona],
        triples: Sequence[tuple[Persona, EpisodeSpec, EpisodeSpec]],
        changed: Sequence[tuple[str, ...]],
        saved: Sequence[SavedTask],
        owners: Mapping[int, int],
        fresh: set[int],
    ) -> set[int]:
        """Fill the report; return the personas that something changed of."""
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
            if task.created:
                self.report.created.append(entry)
            else:
                self.report.updated.append({**entry, "changed": list(task.fields)})
        return touched

    def _approve(self, saved: Sequence[SavedTask]) -> int:
        settled = {TaskState.APPROVED, TaskState.RELEASED, TaskState.RETIRED}
        rows = [task.row for task in saved if task.row.state not in settled]
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
        Event.objects.create(
            benchmark=self.benchmark,
            actor=self.by,
            verb="imported",
            summary=f"Imported: {new} tasks new, {updated} changed, {len(self.report.unchanged)} as they were.",
            data={"created": new, "updated": updated, "approved_elsewhere": approved},
        )


def _unless_native(new: TaskSpec, old: TaskSpec) -> TaskSpec:
    """``old`` where it was written here and ``new`` is its own export: then the document adds nothing to it."""
    if old.source:
        return new
    plain = new.model_copy(
        update={
            "source": {},
            "intents": tuple(intent.model_copy(update={"source": {}}) for intent in new.intents),
            "checklist": tuple(item.model_copy(update={"source": {}}) for item in new.checklist),
            "tool_evidence": tuple(entry.model_copy(update={"source": {}}) for entry in new.tool_evidence),
        }
    )
    before = old.model_copy(update={"user_id": new.user_id}) if not old.user_id else old
    return old if not changed_fields(plain, before) else new
