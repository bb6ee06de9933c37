"""Lists come in pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

PageIndex = Annotated[int, Field(ge=0, description="0, then next_page_index")]
PageLimit = Annotated[int, Field(ge=1, le=20, description="At most 20")]


@dataclass(frozen=True)
class Page:
    items: tuple[Any, ...]
    next_index: int | None
    """None: this is the last page."""


def paginate(items: Iterable[Any], index: int, limit: int, show: Callable[[Any], Any] | None = None) -> Page:
    """``show`` makes of an item what the page holds. Of an iterator no more is read than the page needs."""
    end = (index + 1) * limit
    listed: Sequence[Any] = items if isinstance(items, Sequence) else list(islice(items, end + 1))
    page = listed[index * limit : end]
    return Page(tuple(map(show, page) if show else page), index + 1 if end < len(listed) else None)
