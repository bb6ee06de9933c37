"""What tools do and take, for those who pick them and those who count them. Tools are evaluation's, which lies above:
it registers itself here when it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from studio.domain.statistics import bare_tool_name, tool_label


@dataclass(frozen=True)
class ToolParameter:
    name: str
    kind: str
    required: bool
    description: str = ""


@dataclass(frozen=True)
class ToolCard:
    """A tool as a person reads of it."""

    name: str
    description: str = ""
    parameters: tuple[ToolParameter, ...] = ()
    known: bool = False
    """False: nothing here can play it; it is a name that another system gives a meaning."""


CardReader = Callable[[Iterable[str]], tuple[list[ToolCard], list[ToolCard]]]

_reader: CardReader | None = None


def register_card_reader(reader: CardReader) -> None:
    """Name the function that gives the cards of the tools every assistant has, and of those named as far as known."""
    global _reader
    _reader = reader


def tool_cards(names: Iterable[str]) -> tuple[list[ToolCard], list[ToolCard]]:
    """The cards of the tools every assistant has, and one for each of the names, in their order."""
    names = list(names)
    always, known = _reader(map(bare_tool_name, names)) if _reader else ([], [])
    by_name = {card.name: card for card in [*always, *known]}
    return always, [replace(by_name.get(bare_tool_name(name), ToolCard(name)), name=name) for name in names]


def tool_summaries(names: Iterable[str]) -> dict[str, str]:
    """What each tool does in a sentence: as those say who run it, and else as its name says."""
    return {card.name: card.description or tool_label(card.name) for card in tool_cards(names)[1]}


def tool_descriptions(names: Iterable[str]) -> dict[str, str]:
    """What every agent reads of these tools, and of those it always has, before it begins: what they do and take. Of
    tools that others run nothing is known."""
    always, named = tool_cards(names)
    return {
        card.name: " ".join((card.description, *(parameter.description for parameter in card.parameters)))
        for card in (*always, *named)
        if card.known
    }
