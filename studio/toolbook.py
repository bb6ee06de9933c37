"""What tools do, in a sentence: authoring shows it, and those who run tools know it and register here."""

from __future__ import annotations

from collections.abc import Callable

from studio.spec.statistics import in_words, plain_tool

ToolBook = Callable[[], dict[str, str]]
"""Sentences by the tools' names."""

_books: list[ToolBook] = []


def register_tool_book(book: ToolBook) -> None:
    _books.append(book)


def functions_of(tools: list[str]) -> dict[str, str]:
    """What each tool does: as those say who run it, and else as its name says."""
    known: dict[str, str] = {}
    for book in _books:
        known |= book()
    return {tool: known.get(plain_tool(tool)) or in_words(tool) for tool in tools}
