"""Files posted by a page without scripts, put into the task form."""

from __future__ import annotations

from typing import Any

from django.utils.datastructures import MultiValueDict

from studio.domain.base import Content, FileRef
from studio.files.tokens import FileTokens
from studio.files.uploads import Upload, UploadError, validate_upload_size
from studio.forms.expected_artifacts import artifact_row
from studio.forms.files import with_files
from studio.forms.tasks import TaskForm
from studio.models import Blob


def store_uploads(files: MultiValueDict[str, Any], sheet: TaskForm, tokens: FileTokens) -> dict[str, str]:
    """Store what a page without scripts sent along: files for the workspace, and references for rows. They are put
    into the sheet; what cannot be taken is answered, by the input it stands beside."""
    refused = {}
    sent: list[Upload] = files.getlist("uploads")
    try:
        validate_upload_size(file_sizes(sheet), [(file.name or "", file.size or 0) for file in sent])
        contents = [file.read() for file in sent]
        hashes = Blob.objects.store(contents)
        sheet.assets = with_files(
            sheet.assets,
            [
                FileRef(path=(file.name or "").strip(), sha256=sha256, size=len(content))
                for file, content, sha256 in zip(sent, contents, hashes, strict=True)
            ],
            tokens,
        )
    except UploadError as refusal:
        refused["uploads"] = str(refusal)
    for row in sheet.expected_artifacts:
        if (file := files.get(f"expected_artifacts.{row['key']}.file")) is None:
            continue
        row["path"] = row["path"].strip() or (file.name or "").strip()
        try:
            others = [one for one in file_sizes(sheet) if one["path"] != f"/{row['path']}"]
            validate_upload_size(others, [(row["path"], file.size or 0)])
        except UploadError as refusal:
            refused[f"expected_artifacts.{row['key']}.path"] = str(refusal)
            continue
        content = file.read()
        reference = Content(sha256=Blob.objects.store([content])[0], size=len(content))
        row |= artifact_row(row["key"], row["path"], row["note"], reference, tokens)
    return refused


def file_sizes(sheet: TaskForm) -> list[dict[str, Any]]:
    """Path and size of all that counts as a file of the task; references by a path that no workspace file has."""
    references = ({"path": f"/{row['path'].strip()}", "size": row["size"]} for row in sheet.references)
    return [*({"path": row["path"], "size": row["size"]} for row in sheet.assets), *references]
