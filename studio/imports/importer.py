"""Imports of π-Bench folders: all or nothing, and idempotent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypedDict, Unpack

from django.conf import settings
from django.db import connection, transaction

from studio.domain.app_data import app_names, check_records, declared_apps, read_app
from studio.domain.archive import Limits, check_names, unpack
from studio.domain.pack import MANIFEST, DamagedPackError, PackFacts, UnsupportedPackError, check_pack, read_facts
from studio.domain.pibench import Reading, read_personas
from studio.domain.problems import Problem
from studio.domain.text_origins import read_origins
from studio.drafts.validate import DraftError
from studio.files.uploads import UploadError, validate_file_sizes
from studio.findings.hooks import GraderKeys, read_keys
from studio.imports.folders import read_folder
from studio.imports.publication import request_publication, validate_may_publish
from studio.imports.report import ImportReport, totals
from studio.imports.single_tasks import is_beside, with_personas
from studio.imports.store import ImportWriter
from studio.models import Benchmark, GraderScript, Import, Task, User
from studio.models.transactions import atomic_with_retry

__all__ = ["ImportReport", "find_reading_errors", "import_archive", "import_files", "import_path", "upload_limits"]


MAX_FLAWS = 20
"""Of one app's data that an import tells."""
DEFER_ABOVE = 500
"""Tasks whose checks a person who imports would have to wait for, some seconds."""


def upload_limits() -> Limits:
    return Limits(
        archive_bytes=settings.UPLOAD_MAX_BYTES,
        file_bytes=settings.UPLOAD_MAX_FILE_BYTES,
        unpacked_bytes=settings.UPLOAD_MAX_UNPACKED_BYTES,
        files=settings.UPLOAD_MAX_FILES,
        ratio=settings.UPLOAD_MAX_RATIO,
        depth=settings.UPLOAD_MAX_DEPTH,
    )


@dataclass(frozen=True)
class ImportOptions:
    """As the keywords of ``ImportKeywords``; in a preview's confirmation, also its row."""

    by: User | None
    name: str
    published: bool = False
    dry_run: bool = False
    defer_above: int | None = None
    staged: Import | None = None


class ImportKeywords(TypedDict, total=False):
    by: Required[User | None]
    published: bool
    """Ask another owner to confirm that the tasks were approved elsewhere; PermissionDenied unless ``by`` is an
    owner."""
    dry_run: bool
    """Only report."""
    defer_above: int | None
    """Where more tasks have to be checked, a worker does that afterwards; None: they are always checked at once."""


def import_path(benchmark: Benchmark, path: Path, **how: Unpack[ImportKeywords]) -> ImportReport:
    if path.is_dir():
        unpacked = read_folder(path, upload_limits())
        if unpacked.errors:
            return _refused(unpacked.errors)
        return _import(benchmark, _read(benchmark, unpacked.files), ImportOptions(name=path.name, **how))
    if path.stat().st_size > settings.UPLOAD_MAX_BYTES:
        message = f"The file has {path.stat().st_size:,} bytes; the limit is {settings.UPLOAD_MAX_BYTES:,}."
        return _refused([Problem(file=path.name, message=message, fix="Import the personas one by one.")])
    return import_archive(benchmark, path.read_bytes(), name=path.stem, **how)


def import_archive(benchmark: Benchmark, data: bytes, *, name: str = "", **how: Unpack[ImportKeywords]) -> ImportReport:
    """``name``: the persona's id if its files are at the root of the zip."""
    upload = _read_archive(benchmark, data, name)  # keeps only those files that are stored
    return _import(benchmark, upload, ImportOptions(name=name, **how))


def preview_sound_part(
    benchmark: Benchmark, data: bytes, *, by: User | None, name: str, published: bool
) -> ImportReport:
    """What an import would do without the tasks that have errors and those that build on them, or without the personas
    that have other errors."""
    how = ImportOptions(by, name, published, dry_run=True)
    return _import(benchmark, _read_archive(benchmark, data, name, sound_only=True), how)


def import_staged(staged: Import, data: bytes, *, by: User | None, name: str) -> ImportReport:
    """What was previewed, and nothing if something else would be left out now; who uploaded it is an author of what is
    imported too."""
    how = ImportOptions(by, name, staged.published, defer_above=DEFER_ABOVE, staged=staged)
    left_out = staged.report.get("left_out", [])
    upload = _read_archive(staged.benchmark, data, name, sound_only=bool(left_out))
    if left_out and [problem.to_json() for problem in upload[0].left_out] != left_out:
        return _refused([Problem(file="", message="Other parts have errors now.", fix="Upload it again.")])
    return _import(staged.benchmark, upload, how)


def import_files(
    benchmark: Benchmark, files: Mapping[str, bytes], *, name: str = "", **how: Unpack[ImportKeywords]
) -> ImportReport:
    """Import files by their paths in one transaction; with any error nothing is stored.

    Unchanged rows are left alone, a task that differs gets a new revision, and a task missing from the files stays,
    outside the episode.
    """
    if problems := check_names(files, upload_limits()):
        return _refused(problems)
    return _import(benchmark, _read(benchmark, files, name), ImportOptions(name=name, **how))


def _read_archive(
    benchmark: Benchmark, data: bytes, name: str, *, sound_only: bool = False
) -> tuple[Reading, PackFacts | None]:
    unpacked = unpack(data, upload_limits())
    if unpacked.errors:
        return Reading(errors=list(unpacked.errors)), None
    return _read(benchmark, unpacked.files, name, sound_only=sound_only)


def _read(
    benchmark: Benchmark, files: Mapping[str, bytes], name: str = "", *, sound_only: bool = False
) -> tuple[Reading, PackFacts | None]:
    """A release pack must be complete: each file as its manifest says."""
    facts, manifest = None, dict[str, Any]()
    if MANIFEST in files:
        try:
            manifest = check_pack(files)
            facts = read_facts(manifest)
        except (UnsupportedPackError, DamagedPackError) as error:
            fix = "Fetch the pack again from where it was released."
            return Reading(errors=[Problem(file=MANIFEST, message=str(error), fix=fix)]), None
    completed = with_personas(benchmark, files)
    reading = read_personas(completed.files, name=name, sound_only=sound_only)
    reading.origins |= read_origins(manifest)
    reading.tasks_alone = completed.personas
    if sound_only or not reading.errors:
        reading.errors += [*_oversized_tasks(reading), *_unknown_apps(reading)]
    if sound_only:
        reading.keep_sound()
        _keep_places(benchmark, reading)
    if reading.tasks_alone:  # what is said of files that are here already is no news
        news = [problem for problem in reading.warnings if not is_beside(problem.file, completed.tasks)]
        reading.warnings = news + completed.left_out
    return reading, facts


def find_reading_errors(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Why these files could not be imported anywhere. Stores nothing."""
    problems = check_names(files, upload_limits()) or read_personas(files).errors
    return [problem.to_json() for problem in problems]


def _refused(errors: Sequence[Problem]) -> ImportReport:
    return ImportReport(errors=list(errors))


def _import(benchmark: Benchmark, upload: tuple[Reading, PackFacts | None], how: ImportOptions) -> ImportReport:
    reading, pack = upload
    if how.published:
        validate_may_publish(benchmark, how.by)
    report = ImportReport(warnings=reading.warnings, errors=reading.errors, left_out=reading.left_out, pack=pack)
    if report.errors:
        return report
    report.warnings += _flaws_of_app_data(reading)
    keys = _grader_keys(reading, report)
    report.totals = totals(reading.episodes, keys)
    try:
        uploaded_by = how.staged.by if how.staged else None
        writer = ImportWriter(
            benchmark, reading, keys, report, by=how.by, published=how.published, uploaded_by=uploaded_by
        )
        stored = _store(writer, how)
    except DraftError as error:
        return _refused([Problem(file="", message=str(error), fix="Correct it and import again.")])
    if how.dry_run:
        stored.personas, stored.publication = [], None
    return stored


@atomic_with_retry
def _store(writer: ImportWriter, how: ImportOptions) -> ImportReport:
    report = writer.run()
    if not how.dry_run:  # nobody would see what the checks find
        writer.check(defer_above=how.defer_above)
    if report.publishable and how.by:
        row = how.staged or Import.objects.create(
            benchmark=writer.benchmark, by=how.by, name=how.name[:300], published=True, state="done"
        )
        report.publication = row.pk
        request_publication(row, report.publishable, by=how.by)
        if not how.staged:
            row.report = report.to_stored()
            row.save(update_fields=["report"])
    connection.check_constraints()
    transaction.set_rollback(how.dry_run)
    return report


def _keep_places(benchmark: Benchmark, reading: Reading) -> None:
    """Of an episode that is here with a task that is left out, the others are updated where they stand."""
    for persona, tasks in sorted(reading.tasks_left_out.items()):
        if Task.objects.filter(persona__benchmark=benchmark, persona__user_id=persona, task_id__in=tasks).exists():
            reading.tasks_alone |= {persona}
            reading.warnings.append(
                Problem(
                    file=f"{reading.roots[persona]}episode.yaml",
                    message="The profile and the order of the tasks stay as they are in the studio.",
                    fix="Correct the tasks that are left out, and import the whole folder.",
                )
            )


def _oversized_tasks(reading: Reading) -> Iterator[Problem]:
    """Tasks with more or larger files than the editor takes."""
    for episode in reading.episodes:
        for task in (*episode.tasks, *episode.unplaced):
            try:
                validate_file_sizes((*task.assets, *task.references))
            except UploadError as problem:
                folder = f"{episode.persona.user_id}/tasks/{task.task_id}"
                yield Problem(file=folder, message=str(problem), fix="Leave files out, or split the task.")


def _unknown_apps(reading: Reading) -> Iterator[Problem]:
    for episode in reading.episodes:
        for app, file in episode.persona.app_data.items():
            if app not in app_names():
                yield Problem(
                    file=f"{episode.persona.user_id}/{file.path}",
                    message=f"There is no simulated app “{app[:80]}”.",
                    fix=f"Leave the file out, or name it after one of: {', '.join(app_names())}.",
                )


def _flaws_of_app_data(reading: Reading) -> Iterator[Problem]:
    """Data that no app could read, and dates, addresses, choices and references in it that are none."""
    for episode in reading.episodes:
        for app, file in episode.persona.app_data.items():
            if app not in declared_apps():
                continue
            content = reading.contents[file.sha256]
            flaws = [error] if (error := read_app(app, content).error) else []
            if not flaws:
                flaws = [f"{flaw.table}: {flaw}" for flaw in check_records(app, json.loads(content))[:MAX_FLAWS]]
            fix = "Correct it here, or later among the simulated apps."
            yield from (Problem(file=f"{episode.persona.user_id}/{file.path}", message=flaw, fix=fix) for flaw in flaws)


def _grader_keys(reading: Reading, report: ImportReport) -> dict[str, GraderKeys]:
    scripts = {script.sha256: script for episode in reading.episodes for script in episode.persona.scripts}
    keys = {
        sha: GraderKeys(keys=tuple(stored or ()))
        for sha, stored in GraderScript.objects.filter(blob__in=scripts, keys__isnull=False).values_list("blob", "keys")
    }
    unknown = [sha for sha in scripts if sha not in keys]
    keys |= zip(unknown, read_keys(reading.contents[sha] for sha in unknown), strict=True)
    for episode in reading.episodes:
        for script in episode.persona.scripts:
            if keys[script.sha256].keys is None:
                report.warn(
                    f"{episode.persona.user_id}/{script.path}",
                    f"Its rule checks cannot be counted: {keys[script.sha256].problem}",
                    "Let score([]) return every key with 0.",
                )
    return keys
