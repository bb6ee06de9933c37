"""Rebasing of edits on later versions: merged where possible, conflicts otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from studio.domain.base import Spec
from studio.domain.merge import FieldPath, merge, value_at
from studio.drafts.validate import StaleDraftError

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
