"""What a task is to leave behind as rows of its sheet: a path, a note, and a token or, while it is edited, the text of
the reference."""

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
        artifact_row(key, one.path, one.note, one.reference, tokens)
        for key, one in keyed("o", artifacts, lambda one: one.path).items()
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
    """The rows as a page sent them; those of ``base`` where the page had none to send."""
    if f"{LIST}_listed" not in posted.data:
        return artifact_rows(base, tokens)
    rows = posted.rows(LIST, ARTIFACT)
    for row in rows:
        place = f"{LIST}.{row['key']}.text"
        row["text"] = posted.text(place) if place in posted.data else None
        row["content"] = tokens.unseal(row["stored"])
        row["size"] = posted_size(row)
    return rows


def read_artifacts(
    rows: Sequence[dict[str, Any]], base: Sequence[ExpectedArtifact], complain: AddError
) -> tuple[ExpectedArtifact, ...]:
    """The artifacts these rows say. ``complain(place, sentence)`` hears of what cannot be kept."""
    stored = keyed("o", base, lambda one: one.path)
    found: list[ExpectedArtifact] = []
    for row in rows:
        old = stored.get(row["key"])
        place = f"{LIST}.{row['key']}.path"
        path = preserve(old.path if old else "", row["path"], one_line=True)
        path = path if old and path == old.path else path.strip()
        note = preserve(old.note if old else "", row["note"], one_line=True)
        has_reference = bool(row["stored"]) or row["text"] is not None
        if not path and not note.strip() and not has_reference:
            continue
        known = content_of(row) if has_reference else None
        if not path:
            complain(place, "Give the file a name.")
        elif any(one.path == path for one in found):
            complain(place, f"“{path}” is already listed. Remove one of the two.")
        elif has_reference and known is None:
            complain(
                place, f"The reference of “{path}” was not fully uploaded, or this page is too old. Attach it again."
            )
        elif known and (why := why_invalid_path(path, (one.path for one in found if one.reference))):
            complain(place, why)
        reference = Content(sha256=known[0], size=known[1]) if known else None
        found.append(ExpectedArtifact(path=path, note=note, reference=reference))
    return tuple(found)
