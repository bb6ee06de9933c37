"""What people write in a persona's folder: profile, skills, grader scripts, web pages, data of apps, tool servers.

Each kind says how one is found in a version and put into the next; saving, deleting and editing are the same for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from studio.domain.base import FileRef, Spec
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.storable import normalize_newlines
from studio.drafts.autosave import EditorKey
from studio.drafts.editor import DraftEditor
from studio.drafts.load import load_episode
from studio.drafts.save_personas import save_personas
from studio.drafts.validate import StaleDraftError
from studio.findings.refresh import refresh_findings
from studio.models import Blob, Persona, User
from studio.models.transactions import atomic_with_retry

S = TypeVar("S", bound=Spec)


@dataclass(frozen=True)
class Change:
    """What becomes of the persona when one of its files changes."""

    spec: PersonaSpec
    note: str
    """Of the version, if the user gives none."""


class FileKind(ABC, Generic[S]):
    """``S``: what the form of one file holds. A file without a name is one to be added."""

    empty: S

    @abstractmethod
    def find(self, spec: PersonaSpec, name: str) -> S | None:
        """None if there is no such file; of one that cannot be read an empty text, so that it can be written anew."""

    @abstractmethod
    def put(self, episode: EpisodeSpec, name: str, text: S) -> Change:
        """The persona with the file ``name`` replaced, or one added. Raises DraftError."""

    @abstractmethod
    def drop(self, episode: EpisodeSpec, name: str) -> Change:
        """The persona without it. Raises DraftError."""


class Profile(FileKind[PersonaSpec]):
    def find(self, spec: PersonaSpec, name: str) -> PersonaSpec:
        return spec

    def put(self, episode: EpisodeSpec, name: str, text: PersonaSpec) -> Change:
        return Change(text, "")

    def drop(self, episode: EpisodeSpec, name: str) -> Change:
        raise NotImplementedError


PROFILE = Profile()


@dataclass
class FileVersions(Generic[S]):
    """The versions of a persona, reduced to one file."""

    kind: FileKind[S]
    persona: Persona
    name: str = ""

    @property
    def newest(self) -> int:
        return self.persona.version

    def at(self, number: int) -> S:
        row = self.persona.revisions.filter(number=number).first() if number != self.newest else None
        spec = PersonaSpec.model_validate(row.spec) if row else load_episode(self.persona, with_tasks=False).persona
        return self.kind.find(spec, self.name) or self.kind.empty

    def author_of(self, number: int) -> int | None:
        return self.persona.revisions.filter(number=number).values_list("created_by_id", flat=True).first()


class FileEditor(DraftEditor[S], Generic[S]):
    """One user's edits of one file; each save makes a version of the persona."""

    versions: FileVersions[S]

    def __init__(self, versions: FileVersions[S], page: str, user: User) -> None:
        self.versions, self.persona, self.user = versions, versions.persona, user
        self.key = EditorKey(persona=self.persona, name=page)

    def lock(self) -> None:
        rows = Persona.objects.select_related("benchmark")
        self.persona.refresh_from_db(from_queryset=rows.select_for_update(no_key=True, of=("self",)))

    def store(self, spec: S, *, note: str) -> int:
        kind, name = self.versions.kind, self.versions.name
        self.persona.version = save_file(kind, self.persona, name, spec, by=self.user, note=note)
        return self.persona.version


@atomic_with_retry
def save_file(
    kind: FileKind[S], persona: Persona, name: str, text: S, *, by: User | None, note: str = "", verb: str = "edited"
) -> int:
    """Replace the file ``name``, or add one if that is empty; returns the version. File contents must be stored
    (``Blob``) before. Raises DraftError."""
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona.pk)
    episode = load_episode(row)
    return apply_change(row, episode, kind.put(episode, name, text), by=by, note=note, verb=verb)


@atomic_with_retry
def delete_file(kind: FileKind[S], persona: Persona, name: str, *, by: User, base_version: int | None = None) -> int:
    """Raises DraftError, and StaleDraftError if the file has changed since ``base_version``; the history keeps it."""
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona.pk)
    versions = FileVersions(kind, row, name)
    if base_version and versions.at(base_version) != versions.at(row.version):
        raise StaleDraftError(row.version)
    episode = load_episode(row)
    return apply_change(row, episode, kind.drop(episode, name), by=by)


def apply_change(
    row: Persona, episode: EpisodeSpec, change: Change, *, by: User | None, note: str = "", verb: str = "edited"
) -> int:
    """To a locked row, as loaded now; returns the version."""
    note = (note.strip() or change.note)[:300]
    new = episode.model_copy(update={"persona": change.spec})
    [fields] = save_personas([(row, episode, new)], by=by, note=note, verb=verb)
    if fields:
        refresh_findings([row])
    return row.version


def stored_file(path: str, content: bytes) -> FileRef:
    [sha256] = Blob.objects.store([content])
    return FileRef(path=path, sha256=sha256, size=len(content))


def with_files(files: Iterable[FileRef], new: Iterable[FileRef], gone: Iterable[str] = ()) -> tuple[FileRef, ...]:
    """``files`` by path, with these new or changed and those paths gone."""
    by_path = {file.path: file for file in files}
    for path in gone:
        by_path.pop(path, None)
    return tuple(sorted((by_path | {file.path: file for file in new}).values(), key=lambda file: file.path))


def text_of(file: FileRef | None) -> str | None:
    """Its text with line feeds; what is not UTF-8 is replaced."""
    if file is None:
        return None
    return normalize_newlines(Blob.objects.read([file.sha256])[file.sha256].decode("utf-8", "replace"))
