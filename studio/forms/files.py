"""Workspace files and expected artifacts as rows of the task form: path, what is said of it, and content by token or
as edited text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from studio.domain.base import Content, FileRef
from studio.domain.task import ExpectedArtifact
from studio.files.previews.texts import encode
from studio.files.tokens import FileTokens
from studio.files.uploads import why_invalid_path
from studio.forms.post_data import Posted, preserve

FILES, ARTIFACTS = "assets", "expected_artifacts"
T = TypeVar("T")
AddError = Callable[[str, str], None]
"""Takes the input's name and the message."""


def file_rows(files: Sequence[FileRef], tokens: FileTokens) -> list[dict[str, Any]]:
    return [file_row(key, file, tokens) for key, file in keyed("a", files, lambda file: file.path).items()]


def file_row(key: str, file: FileRef, tokens: FileTokens) -> dict[str, Any]:
    return _row(key, file.path, file, tokens) | {"description": file.description}


def posted_files(posted: Posted, base: Sequence[FileRef], tokens: FileTokens) -> list[dict[str, Any]]:
    """The rows as posted; those of ``base`` if the page did not send the list."""
    stored = file_rows(base, tokens)
    known = {row["key"]: row["stored"] for row in stored}
    return stored if f"{FILES}_listed" not in posted.data else _posted(posted, FILES, "description", tokens, known)


def _row(key: str, path: str, content: FileRef | Content | None, tokens: FileTokens) -> dict[str, Any]:
    return {
        "key": key,
        "path": path,
        "stored": tokens.seal(content.sha256, content.size) if content else "",
        "content": (content.sha256, content.size) if content else None,
        "size": content.size if content else 0,
        "form": "",
        "text": None,
    }


def _posted(
    posted: Posted, name: str, about: str, tokens: FileTokens, known: Mapping[str, str]
) -> list[dict[str, Any]]:
    """``about``: the field that says what a file is; ``known``: tokens of rows that need not send theirs."""
    rows = posted.rows(name, ("path", about, "stored", "form"))
    for row in rows:
        input_name = f"{name}.{row['key']}.text"
        row["text"] = posted.text(input_name) if input_name in posted.data else None
        if row["text"] is None:
            row["stored"] = row["stored"] or known.get(row["key"], "")
        row["content"] = tokens.unseal(row["stored"])
        row["size"] = (row["content"] or ("", 0))[1] if row["text"] is None else len(encode(row["text"], row["form"]))
    return rows


def read_files(rows: Sequence[dict[str, Any]], base: Sequence[FileRef], add_error: AddError) -> tuple[FileRef, ...]:
    stored = keyed("a", base, lambda file: file.path)
    files: list[FileRef] = []
    for row in rows:
        old = stored.get(row["key"])
        path = preserve(old.path if old else "", row["path"].strip(), one_line=True)
        input_name = f"{FILES}.{row['key']}.path"
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


def artifact_rows(artifacts: Sequence[ExpectedArtifact], tokens: FileTokens) -> list[dict[str, Any]]:
    by_key = keyed("o", artifacts, lambda artifact: artifact.path)
    return [artifact_row(key, row.path, row.note, row.reference, tokens) for key, row in by_key.items()]


def artifact_row(key: str, path: str, note: str, reference: Content | None, tokens: FileTokens) -> dict[str, Any]:
    return _row(key, path, reference, tokens) | {"note": note}


def posted_artifacts(posted: Posted, base: Sequence[ExpectedArtifact], tokens: FileTokens) -> list[dict[str, Any]]:
    """The rows as posted; those of ``base`` if the page did not send the list."""
    if f"{ARTIFACTS}_listed" not in posted.data:
        return artifact_rows(base, tokens)
    return _posted(posted, ARTIFACTS, "note", tokens, {})


def read_artifacts(
    rows: Sequence[dict[str, Any]], base: Sequence[ExpectedArtifact], add_error: AddError
) -> tuple[ExpectedArtifact, ...]:
    stored = keyed("o", base, lambda artifact: artifact.path)
    artifacts: list[ExpectedArtifact] = []
    for row in rows:
        old = stored.get(row["key"])
        input_name = f"{ARTIFACTS}.{row['key']}.path"
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
