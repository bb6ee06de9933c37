"""Descriptions of tools, registered by the evaluation package, which this one must not import."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from studio.domain import web_pages
from studio.domain.persona import PersonaSpec
from studio.domain.tool_names import bare_tool_name, tool_label


@dataclass(frozen=True)
class ToolParameter:
    name: str
    kind: str
    required: bool
    description: str = ""


@dataclass(frozen=True)
class ToolCard:
    name: str
    description: str = ""
    parameters: tuple[ToolParameter, ...] = ()
    known: bool = False
    """Whether the studio can simulate it; otherwise only its name is known."""
    plain: str = ""
    """Of a general tool: what an assistant does with it, in plain words."""
    lacking: str = ""
    """Why no assistant has it here, although the studio knows it."""


CardReader = Callable[[Iterable[str]], tuple[list[ToolCard], list[ToolCard]]]

_reader: CardReader | None = None


def register_card_reader(reader: CardReader) -> None:
    """Set the function that returns the cards of the tools every agent has, and of the named tools that are known."""
    global _reader
    _reader = reader


def tool_cards(names: Iterable[str]) -> tuple[list[ToolCard], list[ToolCard]]:
    names = list(names)
    always, known = _reader(map(bare_tool_name, names)) if _reader else ([], [])
    by_name = {card.name: card for card in [*always, *known]}
    return always, [replace(by_name.get(bare_tool_name(name), ToolCard(name)), name=name) for name in names]


def general_cards(persona: PersonaSpec) -> list[ToolCard]:
    """The general tools that the persona's agents have, or lack and why: all, or those among its tools."""
    always, _ = tool_cards([])
    named = [card for card in always if card.name in persona.tools]
    without_web = () if persona.web_pages else web_pages.TOOLS
    return [replace(card, lacking=web_pages.NO_PAGES) if card.name in without_web else card for card in named or always]


def tool_summaries(names: Iterable[str]) -> dict[str, str]:
    return {card.name: card.plain or card.description or tool_label(card.name) for card in tool_cards(names)[1]}


def tool_descriptions(names: Iterable[str]) -> dict[str, str]:
    """Descriptions of tools and parameters as agents see them, for these tools and those every agent has; unknown tools
    are absent."""
    always, named = tool_cards(names)
    return {
        card.name: " ".join((card.description, *(parameter.description for parameter in card.parameters)))
        for card in (*always, *named)
        if card.known
    }
