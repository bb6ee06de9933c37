"""What tools do and take, for those who pick them. Tools are evaluation's, which lies above: it registers itself here
when it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str
    required: bool
    description: str = ""


@dataclass(frozen=True)
class ToolCard:
    """A tool as a person reads of it."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    known: bool = False
    """False: nothing here can play it; it is a name that another system gives a meaning."""


Reader = Callable[[Iterable[str]], tuple[list[ToolCard], list[ToolCard]]]

_reader: Reader | None = None


def register_reader(reader: Reader) -> None:
    """Name the function that gives the cards of the tools every assistant has, and of those named as far as known."""
    global _reader
    _reader = reader


def cards(names: Iterable[str]) -> tuple[list[ToolCard], list[ToolCard]]:
    """The cards of the tools every assistant has, and one for each of the names, in their order."""
    names = list(names)
    always, known = _reader(names) if _reader else ([], [])
    by_name = {card.name: card for card in known}
    return always, [by_name.get(name, ToolCard(name)) for name in names]
