"""The workspace as people look at it: which files, what changed since the turn before, one file in full."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from evaluation.models import Session, Turn
from evaluation.visibility import snapshot_before
from evaluation.workspaces.snapshots import Manifest, staged
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Blob

Change = Literal["new", "changed", "gone", ""]
LARGEST_SHOWN = 400_000
"""Bytes of a file that a page shows; the whole of it can be downloaded."""
MOST_LINES = 4_000
"""Of a file that is compared line by line."""


@dataclass(frozen=True)
class FileRow:
    path: str
    change: Change
    size: int = 0


@dataclass(frozen=True)
class FileView:
    """One file at one turn."""

    path: str
    sha256: str
    size: int
    text: str | None
    """None: not text, or too large to show."""
    change: Change


@dataclass(frozen=True)
class DiffLine:
    """Of a comparison: ``+`` added, ``-`` taken away, ``@`` where it is, blank for the same."""

    kind: Literal["+", "-", "@", " "]
    text: str


def manifest_before(session: Session, task: TaskSpec, persona: PersonaSpec) -> Manifest:
    """The workspace as the session found it."""
    snapshot = snapshot_before(session)
    earlier = snapshot.manifest if snapshot else {}
    try:
        return staged(earlier, persona, task)
    except ValueError:  # a path of the task that no workspace can hold; the session said so when it ran
        return dict(earlier)


def manifests_before(session: Session, turns: Iterable[Turn], start: Manifest) -> dict[int, Manifest]:
    """By turn: the workspace as the turn found it."""
    found: dict[int, Manifest] = {}
    last = start
    for turn in turns:
        found[turn.number] = last
        last = turn.snapshot.manifest
    return found


def changed_files(before: Manifest, after: Manifest) -> list[FileRow]:
    """What became of the files, without those that stayed as they were."""
    return [row for row in file_rows(before, after) if row.change]


def file_rows(before: Manifest, after: Manifest, sizes: Mapping[str, int] | None = None) -> list[FileRow]:
    """Every file there is or was, by path."""
    sizes = sizes or {}
    return [
        FileRow(path, _change(before.get(path), after.get(path)), sizes.get(after.get(path, ""), 0))
        for path in sorted(before.keys() | after.keys())
    ]


def sizes_of(manifest: Manifest) -> dict[str, int]:
    return dict(Blob.objects.filter(pk__in=set(manifest.values())).values_list("pk", "size"))


def open_file(path: str, before: Manifest, after: Manifest) -> FileView | None:
    """None: there is no such file at this turn."""
    sha = after.get(path)
    blob = Blob.objects.filter(pk=sha).first() if sha else None
    if sha is None or blob is None:
        return None
    text = as_text(bytes(blob.content)) if blob.size <= LARGEST_SHOWN else None
    return FileView(path, sha, blob.size, text, _change(before.get(path), sha))


def as_text(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def read_shown(sha256s: Iterable[str]) -> dict[str, str]:
    """The texts of stored files that are small enough to show, in one query."""
    file_rows = Blob.objects.filter(pk__in=set(sha256s), size__lte=LARGEST_SHOWN).values_list("pk", "content")
    texts = ((sha, as_text(bytes(content))) for sha, content in file_rows)
    return {sha: text for sha, text in texts if text is not None}


def compare(before: str, after: str) -> list[DiffLine] | None:
    """Line by line, with three lines around each difference; None: too long to compare."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return None
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return [DiffLine(_kind(line), line if line.startswith("@@") else line[1:]) for line in lines]


def _kind(line: str) -> Literal["+", "-", "@", " "]:
    first = line[:1]
    return first if first in ("+", "-", "@") else " "  # type: ignore[return-value]


def _change(before: str | None, after: str | None) -> Change:
    if before == after:
        return ""
    return "new" if before is None else "gone" if after is None else "changed"
