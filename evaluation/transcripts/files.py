"""The files of a workspace as pages show them, with their changes since the turn before."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from evaluation.models import Session, Turn
from evaluation.store.snapshots import snapshot_before
from evaluation.workspaces.manifests import Manifest, stage_files
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Blob

Change = Literal["new", "changed", "gone", ""]
LineKind = Literal["+", "-", "@", " "]
LINE_KINDS: Mapping[str, LineKind] = {"+": "+", "-": "-", "@": "@"}
MAX_SHOWN_BYTES = 400_000
"""Larger files can only be downloaded."""
MAX_COMPARED_LINES = 4_000


@dataclass(frozen=True)
class FileRow:
    path: str
    change: Change
    size: int = 0


@dataclass(frozen=True)
class FileView:
    path: str
    sha256: str
    size: int
    text: str | None
    """None if it is not text or too large to show."""
    change: Change


@dataclass(frozen=True)
class DiffLine:
    """``kind`` is + for added, - for removed, @ for a position, blank for unchanged."""

    kind: LineKind
    text: str


def manifest_before(session: Session, task: TaskSpec, persona: PersonaSpec) -> Manifest:
    snapshot = snapshot_before(session)
    earlier = snapshot.manifest if snapshot else {}
    try:
        return stage_files(earlier, persona, task, with_memory=session.run.terms.with_memory)
    except ValueError:  # a task's path is not valid in a workspace; the session reported it when it ran
        return dict(earlier)


def manifests_before(session: Session, turns: Iterable[Turn], start: Manifest) -> dict[int, Manifest]:
    manifests: dict[int, Manifest] = {}
    last = start
    for turn in turns:
        manifests[turn.number] = last
        last = turn.snapshot.manifest
    return manifests


def changed_files(before: Manifest, after: Manifest) -> list[FileRow]:
    return [row for row in file_rows(before, after) if row.change]


def file_rows(before: Manifest, after: Manifest, sizes: Mapping[str, int] | None = None) -> list[FileRow]:
    sizes = sizes or {}
    return [
        FileRow(path, _change(before.get(path), after.get(path)), sizes.get(after.get(path, ""), 0))
        for path in sorted(before.keys() | after.keys())
    ]


def sizes_of(manifest: Manifest) -> dict[str, int]:
    return dict(Blob.objects.filter(pk__in=set(manifest.values())).values_list("pk", "size"))


def open_file(path: str, before: Manifest, after: Manifest) -> FileView | None:
    """None if the file does not exist at this turn."""
    sha = after.get(path)
    blob = Blob.objects.filter(pk=sha).first() if sha else None
    if sha is None or blob is None:
        return None
    text = decode_text(bytes(blob.content)) if blob.size <= MAX_SHOWN_BYTES else None
    return FileView(path, sha, blob.size, text, _change(before.get(path), sha))


def decode_text(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def read_small_files(sha256s: Iterable[str]) -> dict[str, bytes]:
    """Of the stored files those that are small enough to show, in one query."""
    rows = Blob.objects.filter(pk__in=set(sha256s), size__lte=MAX_SHOWN_BYTES).values_list("pk", "content")
    return {sha: bytes(content) for sha, content in rows}


def compare_texts(before: str, after: str) -> list[DiffLine] | None:
    """A unified diff with three lines of context; None if the texts are too long."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_COMPARED_LINES:
        return None
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return [DiffLine(_kind(line), line if line.startswith("@@") else line[1:]) for line in lines]


def _kind(line: str) -> LineKind:
    return LINE_KINDS.get(line[:1], " ")


def _change(before: str | None, after: str | None) -> Change:
    if before == after:
        return ""
    return "new" if before is None else "gone" if after is None else "changed"
