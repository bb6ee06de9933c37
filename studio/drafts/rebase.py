"""What somebody wrote, put on top of what others saved since: silently where it fits, else with both versions to choose
from. Nobody is asked to choose between words that are all their own: then those on their page are the later ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from studio.domain.base import Spec
from studio.domain.merge import FieldPath, merge, take_value, value_at
from studio.drafts.validate import StaleDraftError
from studio.models import User

S = TypeVar("S", bound=Spec)
S_co = TypeVar("S_co", bound=Spec, covariant=True)


class Versions(Protocol[S_co]):
    """The versions of something that is written on a page."""

    @property
    def newest(self) -> int: ...

    def at(self, number: int) -> S_co:
        """What a version says; the newest, where there is none of that number."""
        ...

    def since(self, number: int) -> Iterable[tuple[int | None, S_co]]:
        """The versions after this one, the oldest first, each with who made it."""
        ...


@dataclass(frozen=True)
class OnTop(Generic[S]):
    """Somebody's words on top of the newest version."""

    number: int
    theirs: S
    """The newest version."""
    spec: S
    """Both together; where somebody has to choose, their own."""
    undecided: tuple[FieldPath, ...]
    """Where they have to."""


class ConflictError(StaleDraftError):
    """Two people changed the same place, and the second has to choose."""

    def __init__(self, both: OnTop[Any]) -> None:
        super().__init__(both.number)
        self.both = both


def put_on_top(
    versions: Versions[S], mine: S, *, base_version: int, by: User, undecided: Sequence[FieldPath] = ()
) -> OnTop[S]:
    """``mine``, written on top of ``base_version``, on top of the newest one. ``undecided`` are places of which the
    page showed both versions and nothing was chosen."""
    number, theirs = versions.newest, versions.at(versions.newest)
    asked = list(undecided)
    spec = mine
    if base_version != number:
        base = versions.at(base_version)
        merged = merge(base, theirs, mine)
        spec = merged.spec
        for conflict in merged.conflicts:
            if _changed_last_by(versions, base_version, base, conflict.path) == by.pk:
                spec = take_value(spec, mine, conflict.path)
            elif conflict.path not in asked:
                asked.append(conflict.path)
    left = [place for place in asked if value_at(theirs, place) != value_at(spec, place)]
    return OnTop(number, theirs, spec, tuple(left))


def _changed_last_by(versions: Versions[S], number: int, before: S, place: FieldPath) -> int | None:
    """Who made the last version that says something else at this place than the one before it."""
    last = None
    for who, spec in versions.since(number):
        if value_at(spec, place) != value_at(before, place):
            last = who
        before = spec
    return last
