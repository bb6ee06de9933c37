"""Uploaded imports, previewed first and confirmed afterwards."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence

from django.conf import settings

from studio.files.uploads import Upload, UploadError
from studio.imports.importer import ImportReport, import_archive, import_staged, preview_sound_part
from studio.models import Benchmark, Import, User
from studio.models.transactions import atomic_with_retry
from studio.notifications.notify import users_allowed


def zip_folder(files: Sequence[Upload], paths: str) -> bytes:
    try:
        names = json.loads(paths)
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or len(names) != len(files) or not all(isinstance(n, str) and n for n in names):
        raise UploadError("The folder arrived without its file paths. Try again, or upload it as a zip.")
    if sum(file.size or 0 for file in files) > settings.UPLOAD_MAX_UNPACKED_BYTES:
        raise UploadError("The folder exceeds the size limit. Import its personas one by one.")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in zip(names, files, strict=True):
            if not any(part in ("__pycache__", ".git", ".DS_Store") for part in name.split("/")):
                archive.writestr(name, file.read())
    return buffer.getvalue()


def folder_name(paths: str) -> str:
    return str(json.loads(paths)[0]).split("/")[0] or "folder"


def preview(benchmark: Benchmark, data: bytes, *, name: str, by: User, published: bool) -> Import:
    """Report what the import would do, and store the upload until it is confirmed or dropped.

    Of files with errors, the part without them is offered, if it has anything new. A release pack tells by itself what
    was approved: an owner is offered to have that confirmed.
    """
    report = import_archive(benchmark, data, name=_stem(name), by=by, published=published, dry_run=True)
    if not report.ok:
        part = preview_sound_part(benchmark, data, name=_stem(name), by=by, published=published)
        report = part if part.ok and (part.created or part.updated) else report
    if (
        report.pack
        and report.pack.approvers
        and not (published or report.left_out)
        and by.pk in users_allowed(benchmark, "manage")
    ):
        published = True
        report = import_archive(benchmark, data, name=_stem(name), by=by, published=True, dry_run=True)
    return Import.objects.create(
        benchmark=benchmark,
        by=by,
        name=name[:300],
        published=published,
        state="previewed" if report.ok else "refused",
        report=report.to_stored(),
        upload=data if report.ok else None,
    )


@atomic_with_retry
def confirm(row: Import, *, by: User, published: bool | None = None) -> ImportReport:
    """Carry out a previewed import, whose uploader is an author too. ``published`` replaces the choice of the upload.
    Raises UploadError the second time."""
    row = Import.objects.select_for_update(no_key=True).select_related("benchmark").get(pk=row.pk)
    if row.state != "previewed" or row.upload is None:
        raise UploadError("This import has already been completed or discarded.")
    if published is not None:
        row.published = published
    report = import_staged(row, bytes(row.upload), by=by, name=_stem(row.name))
    row.state, row.report, row.upload = "done" if report.ok else "refused", report.to_stored(), None
    row.save()
    return report


def drop(row: Import) -> None:
    Import.objects.filter(pk=row.pk, state="previewed").update(state="dropped", upload=None)


def _stem(name: str) -> str:
    return name[:-4] if name.lower().endswith(".zip") else name
