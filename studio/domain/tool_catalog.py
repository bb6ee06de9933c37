"""What tools do and take, for those who pick them and those who count them. Tools are evaluation's, which lies above:
it registers itself here when it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from studio.domain.statistics import in_words, plain_tool


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
    always, known = _reader(map(plain_tool, names)) if _reader else ([], [])
    by_name = {card.name: card for card in [*always, *known]}
    return always, [replace(by_name.get(plain_tool(name), ToolCard(name)), name=name) for name in names]


def functions_of(names: Iterable[str]) -> dict[str, str]:
    """What each tool does in a sentence: as those say who run it, and else as its name says."""
    return {card.name: card.description or in_words(card.name) for card in cards(names)[1]}


def descriptions_of(names: Iterable[str]) -> dict[str, str]:
    """What every agent reads of these tools, and of those it always has, before it begins: what they do and take. Of
    tools that others run nothing is known."""
    always, named = cards(names)
    return {
        card.name: " ".join((card.description, *(parameter.description for parameter in card.parameters)))
        for card in (*always, *named)
        if card.known
    }
