"""Files posted by a page without scripts, put into the task form."""

from __future__ import annotations

from typing import Any

from django.utils.datastructures import MultiValueDict

from studio.domain.base import Content, FileRef
from studio.files.tokens import FileTokens
from studio.files.uploads import Upload, UploadError, validate_upload_size
from studio.forms.files import artifact_row, with_files
from studio.forms.tasks import TaskForm
from studio.models import Blob


def store_uploads(files: MultiValueDict[str, Any], form: TaskForm, tokens: FileTokens) -> dict[str, str]:
    """Store posted workspace files and references and put them into ``form``; return errors by input."""
    errors = {}
    sent: list[Upload] = files.getlist("uploads")
    try:
        validate_upload_size(file_sizes(form), [(file.name or "", file.size or 0) for file in sent])
        contents = [file.read() for file in sent]
        hashes = Blob.objects.store(contents)
        form.assets = with_files(
            form.assets,
            [
                FileRef(path=(file.name or "").strip(), sha256=sha256, size=len(content))
                for file, content, sha256 in zip(sent, contents, hashes, strict=True)
            ],
            tokens,
        )
    except UploadError as error:
        errors["uploads"] = str(error)
    for row in form.expected_artifacts:
        if (file := files.get(f"expected_artifacts.{row['key']}.file")) is None:
            continue
        row["path"] = row["path"].strip() or (file.name or "").strip()
        try:
            others = [file_size for file_size in file_sizes(form) if file_size["path"] != f"/{row['path']}"]
            validate_upload_size(others, [(row["path"], file.size or 0)])
        except UploadError as error:
            errors[f"expected_artifacts.{row['key']}.path"] = str(error)
            continue
        content = file.read()
        reference = Content(sha256=Blob.objects.store([content])[0], size=len(content))
        row |= artifact_row(row["key"], row["path"], row["note"], reference, tokens)
    return errors


def file_sizes(form: TaskForm) -> list[dict[str, Any]]:
    """Path and size of every file that counts towards the limits; references get paths no workspace file can have."""
    references = ({"path": f"/{row['path'].strip()}", "size": row["size"]} for row in form.references)
    return [*({"path": row["path"], "size": row["size"]} for row in form.assets), *references]
