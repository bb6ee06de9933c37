"""Limits on uploaded files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from django.conf import settings

from studio.domain.archive import Limits, check_names, why_unsafe
from studio.domain.base import FileRef
from studio.domain.checks.rules.files import RESERVED


class Upload(Protocol):
    @property
    def name(self) -> str | None: ...

    @property
    def size(self) -> int | None: ...

    def read(self) -> bytes: ...


class UploadError(ValueError):
    """An upload that cannot be accepted; the message says why and what to do."""


def validate_upload_size(rows: Iterable[Mapping[str, Any]], files: Iterable[tuple[str, int]]) -> None:
    """Raise UploadError if these files, as names and sizes, exceed the limits together with the task's own."""
    sizes = {str(row["path"]): int(row["size"]) for row in rows}
    for path, size in files:
        if why := why_invalid_path(path.strip()):
            raise UploadError(f"“{path}”: {why}")
        _validate_size(path, size)
        sizes[path.strip()] = size
    _validate_total(list(sizes.values()))


def validate_file_sizes(files: Sequence[FileRef]) -> None:
    """Raise UploadError if a task cannot have these files and references because of their number or sizes."""
    for file in files:
        _validate_size(file.path, file.size)
    _validate_total([file.size for file in files])


def _validate_size(path: str, size: int) -> None:
    if size > settings.UPLOAD_MAX_FILE_BYTES:
        raise UploadError(f"“{path}” is larger than the {_mb(settings.UPLOAD_MAX_FILE_BYTES)} a file may have.")


def _validate_total(sizes: Sequence[int]) -> None:
    if len(sizes) > settings.UPLOAD_MAX_TASK_FILES:
        raise UploadError(
            f"A task has at most {settings.UPLOAD_MAX_TASK_FILES} files, references included: leave some out."
        )
    if sum(sizes) > settings.UPLOAD_MAX_TASK_BYTES:
        raise UploadError(
            f"The task's files and references together are larger than {_mb(settings.UPLOAD_MAX_TASK_BYTES)}."
        )


def _mb(size: int) -> str:
    return f"{size / 1_000_000:.0f} MB"


def why_invalid_path(path: str, others: Iterable[str] = ()) -> str:
    """Why a task cannot have a file of this name beside the others; empty if it can."""
    if not path:
        return "Give the file a name."
    if path.split("/")[0] in RESERVED:
        return f"“{path.split('/')[0]}” belongs to the format: choose another name."
    if why := why_unsafe(path):
        return f"{why} Write it like notes/plan.md."
    problems = [problem for problem in check_names([*others, path], Limits()) if problem.file == path]
    return " ".join(f"{problem.message} {problem.fix}" for problem in problems[:1])
