"""What people hand over in the browser: the files of a task, and imports, looked at first and carried out on a second
word."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction
from django.utils.datastructures import MultiValueDict

from studio.domain.base import Content, FileRef
from studio.forms.expected_artifacts import artifact_row
from studio.forms.files import put_in, why_not
from studio.forms.tasks import Sheet
from studio.imports.importer import ImportReport, import_archive
from studio.models import Benchmark, Blob, Import, User


class Upload(Protocol):
    name: str
    size: int

    def read(self) -> bytes: ...


class UploadRefused(ValueError):
    """What was handed over cannot be looked at; the text says why and what to do."""


def take_all(files: MultiValueDict[str, Any], sheet: Sheet) -> dict[str, str]:
    """Store what a page without scripts sent along: files for the workspace, and references for rows. They are put
    into the sheet; what cannot be taken is answered, by the input it stands beside."""
    refused = {}
    sent: list[Upload] = files.getlist("uploads")
    try:
        refuse_too_much(files_in(sheet), [(file.name or "", file.size or 0) for file in sent])
        contents = [file.read() for file in sent]
        hashes = Blob.objects.keep(contents)
        sheet.assets = put_in(
            sheet.assets,
            [
                FileRef(path=(file.name or "").strip(), sha256=sha256, size=len(content))
                for file, content, sha256 in zip(sent, contents, hashes, strict=True)
            ],
        )
    except UploadRefused as refusal:
        refused["uploads"] = str(refusal)
    for row in sheet.expected_artifacts:
        if (file := files.get(f"expected_artifacts.{row['key']}.file")) is None:
            continue
        row["path"] = row["path"].strip() or (file.name or "").strip()
        try:
            others = [one for one in files_in(sheet) if one["path"] != f"/{row['path']}"]
            refuse_too_much(others, [(row["path"], file.size or 0)])
        except UploadRefused as refusal:
            refused[f"expected_artifacts.{row['key']}.path"] = str(refusal)
            continue
        content = file.read()
        reference = Content(sha256=Blob.objects.keep([content])[0], size=len(content))
        row |= artifact_row(row["key"], row["path"], row["note"], reference)
    return refused


def files_in(sheet: Sheet) -> list[dict[str, Any]]:
    """Path and size of all that counts as a file of the task; references by a path that no workspace file has."""
    references = ({"path": f"/{row['path'].strip()}", "size": row["size"]} for row in sheet.references)
    return [*({"path": row["path"], "size": row["size"]} for row in sheet.assets), *references]


def refuse_too_much(rows: Iterable[Mapping[str, Any]], files: Iterable[tuple[str, int]]) -> None:
    """Raise UploadRefused if these files, names and sizes, cannot join the rows of a task's files."""
    sizes = {str(row["path"]): int(row["size"]) for row in rows}
    for path, size in files:
        if why := why_not(path.strip()):
            raise UploadRefused(f"“{path}”: {why}")
        if size > settings.UPLOAD_MAX_FILE_BYTES:
            raise UploadRefused(f"“{path}” is larger than the {_mb(settings.UPLOAD_MAX_FILE_BYTES)} a file may have.")
        sizes[path.strip()] = size
    if len(sizes) > settings.UPLOAD_MAX_TASK_FILES:
        raise UploadRefused(
            f"A task has at most {settings.UPLOAD_MAX_TASK_FILES} files, references included: leave some out."
        )
    if sum(sizes.values()) > settings.UPLOAD_MAX_TASK_BYTES:
        raise UploadRefused(
            f"The task's files and references together are larger than {_mb(settings.UPLOAD_MAX_TASK_BYTES)}."
        )


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.0f} MB"


def zip_folder(files: Sequence[Upload], paths: str) -> bytes:
    """A folder as the browser sent it – files, and their paths as a JSON list – as one archive."""
    try:
        names = json.loads(paths)
    except ValueError:
        names = None
    if not isinstance(names, list) or len(names) != len(files) or not all(isinstance(n, str) and n for n in names):
        raise UploadRefused("The folder came without the paths of its files. Try again, or send it as a zip.")
    if sum(file.size for file in files) > settings.UPLOAD_MAX_UNPACKED_BYTES:
        raise UploadRefused("The folder is larger than this studio takes. Import its personas one by one.")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in zip(names, files, strict=True):
            if not any(part in ("__pycache__", ".git", ".DS_Store") for part in name.split("/")):
                archive.writestr(name, file.read())
    return buffer.getvalue()


def folder_name(paths: str) -> str:
    """What a folder that was handed over is called."""
    return str(json.loads(paths)[0]).split("/")[0] or "folder"


def preview(benchmark: Benchmark, data: bytes, *, name: str, by: User, published: bool) -> Import:
    """Say what the import would do, and keep the upload until someone confirms or drops it."""
    report = import_archive(benchmark, data, name=_stem(name), by=by, published=published, dry_run=True)
    return Import.objects.create(
        benchmark=benchmark,
        by=by,
        name=name[:300],
        published=published,
        state="previewed" if report.ok else "refused",
        report=_plain(report),
        upload=data if report.ok else None,
    )


@transaction.atomic
def confirm(row: Import, *, by: User) -> ImportReport:
    """Carry out what was previewed. Once: the second time raises UploadRefused."""
    row = Import.objects.select_for_update().select_related("benchmark").get(pk=row.pk)
    if row.state != "previewed" or row.upload is None:
        raise UploadRefused("This import was carried out or dropped already.")
    report = import_archive(row.benchmark, bytes(row.upload), name=_stem(row.name), by=by, published=row.published)
    row.state, row.report, row.upload = "done" if report.ok else "refused", _plain(report), None
    row.save()
    return report


def drop(row: Import) -> None:
    Import.objects.filter(pk=row.pk, state="previewed").update(state="dropped", upload=None)


def _stem(name: str) -> str:
    return name[:-4] if name.lower().endswith(".zip") else name


def _plain(report: ImportReport) -> dict[str, Any]:
    """Without NUL, which PostgreSQL's json cannot hold and hostile file names may have."""
    return json.loads(json.dumps({**report.to_json(), "titles": report.titles}).replace("\\u0000", "\ufffd"))
