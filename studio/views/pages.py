"""Pages of rows that are only counted and sliced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, cast

from django.core.paginator import Page, Paginator

T_co = TypeVar("T_co", covariant=True)


class Sliceable(Protocol[T_co]):
    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> Sequence[T_co]: ...


def page_of(rows: Sliceable[T_co], per_page: int, number: str | int | None) -> Page[T_co]:
    """The nearest page there is, for any number."""
    return Paginator(cast("Any", rows), per_page).get_page(number)  # which asks for no more than the protocol has
