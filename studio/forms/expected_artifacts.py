"""Expected artifacts as rows of the task form: path, note and reference, by token or as edited text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studio.domain.base import Content
from studio.domain.task import ExpectedArtifact
from studio.files.tokens import FileTokens
from studio.files.uploads import why_invalid_path
from studio.forms.files import AddError, content_of, keyed, posted_size
from studio.forms.post_data import Posted, preserve

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
