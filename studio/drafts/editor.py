"""Saving edits: rebased on later versions, merged where possible and conflicts otherwise; validated, stored, and the
autosaved text discarded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from django.db import transaction

from studio.domain.base import Spec
from studio.domain.merge import FieldPath, merge, take_value, value_at
from studio.drafts.autosave import EditorKey, Text, autosave, discard_autosave, is_outdated, locked_text
from studio.drafts.validate import DraftError, StaleDraftError
from studio.models import User
from studio.models.transactions import atomic_with_retry

S = TypeVar("S", bound=Spec)
S_co = TypeVar("S_co", bound=Spec, covariant=True)


class Versions(Protocol[S_co]):
    """The versions of what a page edits."""

    @property
    def newest(self) -> int: ...

    def at(self, number: int) -> S_co:
        """The content of a version, or of the newest if that number does not exist."""
        ...

    def author_of(self, number: int) -> int | None:
        """Key of the user who saved a version."""
        ...


@dataclass(frozen=True)
class Rebased(Generic[S]):
    number: int
    """The version it is based on now."""
    theirs: S
    """What that version says."""
    spec: S
    """The merged edit; the user's own value wherever there is a conflict."""
    unresolved: tuple[FieldPath, ...]
    """Field paths of the conflicts that are left."""


class ConflictError(StaleDraftError):
    """Two people changed the same field; the second has to choose."""

    def __init__(self, rebased: Rebased[Any]) -> None:
        super().__init__(rebased.number)
        self.rebased = rebased


def rebase(versions: Versions[S], mine: S, *, base_version: int, unresolved: Sequence[FieldPath] = ()) -> Rebased[S]:
    """Rebase ``mine``, which was based on ``base_version``, on the newest version. ``unresolved`` are conflicts that
    the page showed and nobody resolved."""
    number, theirs = versions.newest, versions.at(versions.newest)
    conflicts = list(unresolved)
    spec = mine
    if base_version != number:
        base = versions.at(base_version)
        merged = merge(base, theirs, mine)
        spec = merged.spec
        for conflict in merged.conflicts:
            if conflict.path not in conflicts:
                conflicts.append(conflict.path)
    left = [path for path in conflicts if value_at(theirs, path) != value_at(spec, path)]
    return Rebased(number, theirs, spec, tuple(left))


@dataclass(frozen=True)
class Draft(Generic[S]):
    """An edit of version ``base_version``."""

    spec: S
    """As far as it can be read."""
    base_version: int
    unresolved: tuple[FieldPath, ...] = ()
    """Conflicts that the page showed and nobody resolved."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """What cannot be read, by input."""
    text: Text = field(default_factory=dict)
    """The page's form fields as sent."""
    number: int | None = None
    """The autosaved text that the page knows."""
    window: str = ""
    """The browser window that sent it; empty for a page without scripts."""


@dataclass(frozen=True)
class Outcome(Generic[S]):
    """What became of a draft: ``Saved``, ``Unchanged``, ``Conflicted``, ``Invalid`` or ``Autosaved``."""

    rebased: Rebased[S]
    """What the page shows from now on."""

    @property
    def version(self) -> int:
        return self.rebased.number


@dataclass(frozen=True)
class Saved(Outcome[S]):
    saved_as: int
    merged: bool
    """Whether it has changes that others saved since."""

    @property
    def version(self) -> int:
        return self.saved_as


class Unchanged(Outcome[S]):
    """The draft equals the newest version."""


class Autosaved(Outcome[S]):
    """The text is stored; no version was made."""


class Conflicted(Outcome[S]):
    """Someone else changed the same fields; the user has to choose."""


@dataclass(frozen=True)
class Invalid(Outcome[S]):
    errors: Mapping[str, str]
    """By input if the form could not be read, else by field."""
    refusal: DraftError | None = None
    """Why a draft that could be read cannot be stored."""


class DraftEditor(ABC, Generic[S]):
    """One user's edits of one page."""

    key: EditorKey
    user: User
    versions: Versions[S]

    @abstractmethod
    def lock(self) -> None:
        """Reload and lock the row until the transaction ends."""

    @abstractmethod
    def store(self, spec: S, *, note: str) -> int:
        """Make a version of the locked row, unless nothing differs; return the newest number. Raises DraftError."""

    def canonical(self, spec: S) -> S:
        return spec

    def rebase(self, draft: Draft[S]) -> Rebased[S]:
        """A draft that cannot be read yet stays on its version."""
        if draft.errors:
            return self._as_sent(draft)
        return rebase(
            self.versions,
            self.canonical(draft.spec),
            base_version=draft.base_version,
            unresolved=draft.unresolved,
        )

    @atomic_with_retry
    def commit(self, draft: Draft[S], *, note: str = "") -> Outcome[S]:
        """Make a version of the draft and later changes of others; the user's autosaved text stays. Raises
        ConflictError, DraftError."""
        self.lock()
        rebased = self.rebase(draft)
        if rebased.unresolved:
            raise ConflictError(rebased)
        return self._store(rebased, draft, note)

    @atomic_with_retry
    def save(self, draft: Draft[S], *, note: str = "") -> Outcome[S]:
        """Make a version and discard the autosaved text; a draft that cannot be saved is autosaved."""
        if draft.errors:
            return self._refuse(draft, Invalid(self._as_sent(draft), draft.errors))
        try:
            outcome = self.commit(draft, note=note)
        except ConflictError as error:
            return self._refuse(draft, Conflicted(error.rebased))
        except DraftError as error:
            return self._refuse(draft, Invalid(self._as_sent(draft), {error.field: str(error)}, error))
        discard_autosave(self.key, self.user, saved=draft.text, number=draft.number)
        return outcome

    @transaction.atomic
    def resolve(self, draft: Draft[S], *, theirs: Sequence[FieldPath], mine: Sequence[FieldPath]) -> Outcome[S]:
        rebased = self.rebase(draft)
        if draft.errors:
            return self._refuse(draft, Invalid(rebased, draft.errors))
        spec = rebased.spec
        for path in theirs:
            spec = take_value(spec, rebased.theirs, path)
        left = tuple(path for path in rebased.unresolved if path not in (*theirs, *mine))
        return self._refuse(draft, Autosaved(replace(rebased, spec=spec, unresolved=left)))

    @atomic_with_retry
    def autosave(self, draft: Draft[S], *, save: bool = False, note: str = "") -> Outcome[S]:
        """Store the draft's text; with ``save``, make a version of it.

        Raises DraftError for text that cannot be stored.
        """
        if save:  # what others save meanwhile must be in the outcome, not only in the version
            self.lock()
        rebased = self.rebase(draft)
        autosave(self.key, self.user, draft.text, base_version=draft.base_version, window=draft.window)
        if draft.errors:
            return Invalid(rebased, draft.errors)
        if rebased.unresolved:
            return Conflicted(rebased)
        outcome: Outcome[S] = Unchanged(rebased)
        if rebased.spec != rebased.theirs:
            if not save:
                return Autosaved(rebased)
            try:
                with transaction.atomic():
                    outcome = self._store(rebased, draft, note)
            except DraftError as error:
                return Invalid(rebased, {error.field: str(error)}, error)
        discard_autosave(self.key, self.user, saved=draft.text)
        return outcome

    def _store(self, rebased: Rebased[S], draft: Draft[S], note: str) -> Outcome[S]:
        number = self.store(rebased.spec, note=note)
        if number == rebased.number:
            return Unchanged(rebased)
        return Saved(rebased, number, merged=rebased.number != draft.base_version)

    def _as_sent(self, draft: Draft[S]) -> Rebased[S]:
        return Rebased(draft.base_version, self.versions.at(draft.base_version), draft.spec, draft.unresolved)

    def _refuse(self, draft: Draft[S], outcome: Outcome[S]) -> Outcome[S]:
        row = locked_text(self.key, self.user)
        if row is not None and is_outdated(row, draft.text, number=draft.number):
            return outcome  # another window's text stays stored, this one's on the page
        with suppress(DraftError):  # what cannot be stored stays on the page alone
            autosave(self.key, self.user, draft.text, base_version=draft.base_version)
        return outcome
