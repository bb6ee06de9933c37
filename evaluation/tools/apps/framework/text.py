"""How apps search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from evaluation.tools.apps.framework.index import holds, words_of
from evaluation.tools.apps.framework.tables import Table

Item = TypeVar("Item")


def matches(query: str, *texts: str) -> bool:
    """Whether every word of ``query`` begins a word of ``texts``; an empty query matches everything."""
    wanted = words_of(query)
    return not wanted or holds(wanted, texts)


def search(
    query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]], beside: Table[Any] | None = None
) -> list[Item]:
    """The items that match, in their order. A table is looked up in its index; for that, ``texts`` may look at nothing
    but the record and the table ``beside``."""
    wanted = words_of(query)
    if not wanted:
        return list(items)
    if isinstance(items, Table):
        return [record for record, _ in items.matching(wanted, texts, beside)]
    return [item for item in items if holds(wanted, texts(item))]


def rank(
    query: str, items: Iterable[Item], texts: Callable[[Item], tuple[str, ...]], beside: Table[Any] | None = None
) -> list[Item]:
    """Likewise, but those first whose first text holds the query as it stands."""
    wanted, lowered = words_of(query), query.strip().lower()
    if not lowered:
        return list(items)
    if isinstance(items, Table) and wanted:
        found = items.matching(wanted, texts, beside)
    else:
        found = [(item, texts(item)[0].lower()) for item in items if not wanted or holds(wanted, texts(item))]
    first = [item for item, text in found if lowered in text]
    if len(first) < len(found):
        first += [item for item, text in found if lowered not in text]
    return first
