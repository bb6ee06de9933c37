"""Workspace files and expected artifacts as rows of the task form: path, what is said of it, and content by token or
as edited text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from studio.domain.base import Content, FileRef
from studio.domain.task import ExpectedArtifact
from studio.files.previews.texts import encode
from studio.files.tokens import FileTokens
from studio.files.uploads import why_invalid_path
from studio.forms.post_data import Posted, preserve

FILE = ("path", "description", "stored", "form")
T = TypeVar("T")
AddError = Callable[[str, str], None]
"""Takes the input's name and the message."""


def file_rows(files: Sequence[FileRef], tokens: FileTokens) -> list[dict[str, Any]]:
    return [file_row(key, file, tokens) for key, file in keyed("a", files, lambda file: file.path).items()]


def file_row(key: str, file: FileRef, tokens: FileTokens) -> dict[str, Any]:
    return {
        "key": key,
        "path": file.path,
        "size": file.size,
        "description": file.description,
        "stored": tokens.seal(file.sha256, file.size),
        "content": (file.sha256, file.size),
        "form": "",
        "text": None,
    }


def posted_files(posted: Posted, name: str, base: Sequence[FileRef], tokens: FileTokens) -> list[dict[str, Any]]:
    """The rows as posted; those of ``base`` if the page did not send the list."""
    if f"{name}_listed" not in posted.data:
        return file_rows(base, tokens)
    rows = posted.rows(name, FILE)
    known = {row["key"]: row for row in file_rows(base, tokens)}
    for row in rows:
        input_name = f"{name}.{row['key']}.text"
        row["text"] = posted.text(input_name) if input_name in posted.data else None
        if row["text"] is None:
            row["stored"] = row["stored"] or known.get(row["key"], {}).get("stored", "")
        row["content"] = tokens.unseal(row["stored"])
        row["size"] = posted_size(row)
    return rows


def posted_size(row: dict[str, Any]) -> int:
    """Bytes of the row's text while it is edited, else of the file its token stands for."""
    if row["text"] is not None:
        return len(encode(row["text"], row["form"]))
    return (row["content"] or ("", 0))[1]


def read_files(
    rows: Sequence[dict[str, Any]], base: Sequence[FileRef], add_error: AddError, name: str
) -> tuple[FileRef, ...]:
    stored = keyed("a", base, lambda file: file.path)
    files: list[FileRef] = []
    for row in rows:
        old = stored.get(row["key"])
        path = preserve(old.path if old else "", row["path"].strip(), one_line=True)
        input_name = f"{name}.{row['key']}.path"
        known = content_of(row)
        if known is None:
            add_error(
                input_name, f"“{path or 'This file'}” was not fully uploaded, or this page is too old. Add it again."
            )
            continue
        file = FileRef(
            path=path,
            sha256=known[0],
            size=known[1],
            description=preserve(old.description if old else "", row["description"], one_line=True),
        )
        if not (old and old.path == path) and (why := why_invalid_path(path, (other.path for other in files))):
            add_error(input_name, why)
        files.append(file)
    return tuple(files)


def content_of(row: dict[str, Any]) -> tuple[str, int] | None:
    """SHA-256 and size of the row's content; None if it was not uploaded."""
    if row["text"] is None:
        stored: tuple[str, int] | None = row["content"]
        return stored
    content = encode(row["text"], row["form"])
    return hashlib.sha256(content).hexdigest(), len(content)


def edited_contents(rows: Iterable[dict[str, Any]]) -> list[bytes]:
    """Contents that are only on the page: store them before a spec refers to them."""
    return [encode(row["text"], row["form"]) for row in rows if row["text"] is not None]


def with_files(rows: list[dict[str, Any]], files: Iterable[FileRef], tokens: FileTokens) -> list[dict[str, Any]]:
    rows = list(rows)
    for file in files:
        same = next((row for row in rows if row["path"] == file.path), None)
        if same:
            same |= file_row(same["key"], file, tokens) | {"description": same["description"]}
        else:
            rows.append(file_row(free_key(file.path, [row["key"] for row in rows]), file, tokens))
    return sorted(rows, key=lambda row: row["path"])


def free_key(path: str, taken: Iterable[str]) -> str:
    taken, key = set(taken), key_of("a", path)
    while key in taken:
        key += "x"
    return key


def key_of(prefix: str, name: str) -> str:
    return prefix + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def keyed(prefix: str, values: Sequence[T], name: Callable[[T], str]) -> dict[str, T]:
    """Values by a key that does not change when others are added or removed."""
    by_key: dict[str, T] = {}
    for value in values:
        key = key_of(prefix, name(value))
        while key in by_key:
            key += "x"
        by_key[key] = value
    return by_key


LIST = "expected_artifacts"
ARTIFACT = ("path", "note", "stored", "form")


def artifact_rows(artifacts: Sequence[ExpectedArtifact], tokens: FileTokens) -> list[dict[str, Any]]:
    return [
        artifact_row(key, artifact.path, artifact.note, artifact.reference, tokens)
        for key, artifact in keyed("o", artifacts, lambda artifact: artifact.path).items()
    ]


def artifact_row(key: str, path: str, note: str, reference: Content | None, tokens: FileTokens) -> dict[str, Any]:
    return {
        "key": key,
        "path": path,
        "note": note,
        "stored": tokens.seal(reference.sha256, reference.size) if reference else "",
        "content": (reference.sha256, reference.size) if reference else None,
        "size": reference.size if reference else 0,
        "form": "",
        "text": None,
    }


def posted_artifacts(posted: Posted, base: Sequence[ExpectedArtifact], tokens: FileTokens) -> list[dict[str, Any]]:
    """The rows as posted; those of ``base`` if the page did not send the list."""
    if f"{LIST}_listed" not in posted.data:
        return artifact_rows(base, tokens)
    rows = posted.rows(LIST, ARTIFACT)
    for row in rows:
        input_name = f"{LIST}.{row['key']}.text"
        row["text"] = posted.text(input_name) if input_name in posted.data else None
        row["content"] = tokens.unseal(row["stored"])
        row["size"] = posted_size(row)
    return rows


def read_artifacts(
    rows: Sequence[dict[str, Any]], base: Sequence[ExpectedArtifact], add_error: AddError
) -> tuple[ExpectedArtifact, ...]:
    stored = keyed("o", base, lambda artifact: artifact.path)
    artifacts: list[ExpectedArtifact] = []
    for row in rows:
        old = stored.get(row["key"])
        input_name = f"{LIST}.{row['key']}.path"
        path = preserve(old.path if old else "", row["path"], one_line=True)
        path = path if old and path == old.path else path.strip()
        note = preserve(old.note if old else "", row["note"], one_line=True)
        has_reference = bool(row["stored"]) or row["text"] is not None
        if not path and not note.strip() and not has_reference:
            continue
        known = content_of(row) if has_reference else None
        if not path:
            add_error(input_name, "Give the file a name.")
        elif any(artifact.path == path for artifact in artifacts):
            add_error(input_name, f"“{path}” is already listed. Remove one of the two.")
        elif has_reference and known is None:
            message = f"The reference of “{path}” was not fully uploaded, or this page is too old. Attach it again."
            add_error(input_name, message)
        elif known and (why := why_invalid_path(path, (artifact.path for artifact in artifacts if artifact.reference))):
            add_error(input_name, why)
        reference = Content(sha256=known[0], size=known[1]) if known else None
        artifacts.append(ExpectedArtifact(path=path, note=note, reference=reference))
    return tuple(artifacts)
