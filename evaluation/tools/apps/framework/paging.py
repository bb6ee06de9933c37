"""Lists: how apps search them, and that they come in pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from itertools import islice
from typing import Annotated, Any, TypeVar

from pydantic import Field

from evaluation.tools.apps.framework.tables import as_dict

PageIndex = Annotated[int, Field(ge=0, description="0, then next_page_index")]
PageLimit = Annotated[int, Field(ge=1, le=20, description="At most 20")]


@dataclass(frozen=True)
class Page:
    items: tuple[Any, ...]
    next_index: int | None
    """None: this is the last page."""


def paginate(items: Iterable[Any], index: int, limit: int) -> Page:
    """Records as mappings. Of an iterator no more is read than the page needs."""
    end = (index + 1) * limit
    listed: Sequence[Any] = items if isinstance(items, Sequence) else list(islice(items, end + 1))
    page = listed[index * limit : end]
    shown = tuple(as_dict(item) if is_dataclass(item) else item for item in page)
    return Page(shown, index + 1 if end < len(listed) else None)


Item = TypeVar("Item")
_WORD = re.compile(r"\w+")


def matches(query: str, *texts: str) -> bool:
    """Whether every word of ``query`` begins a word of ``texts``; an empty query matches everything."""
    return _holds(_WORD.findall(query.lower()), texts)


def search(query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]]) -> list[Item]:
    """The items that match, in their order."""
    wanted = _WORD.findall(query.lower())
    return [item for item in items if _holds(wanted, texts(item))]


def rank(query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]]) -> list[Item]:
    """Likewise, but those first whose first text holds the query as it stands."""
    lowered = query.strip().lower()
    return sorted(search(query, items, texts), key=lambda item: lowered not in texts(item)[0].lower())


def _holds(wanted: list[str], texts: tuple[str, ...]) -> bool:
    text = " ".join(texts).lower()
    if not all(word in text for word in wanted):
        return False
    words = " " + " ".join(_WORD.findall(text))
    return all(f" {word}" in words for word in wanted)
