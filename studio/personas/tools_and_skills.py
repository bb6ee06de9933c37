"""Tools and skills to choose from, with their descriptions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from studio.access import AnyUser, benchmarks_for
from studio.domain import skills, tool_catalog
from studio.domain.tool_catalog import ToolParameter
from studio.domain.tool_names import tool_domain, tool_label
from studio.drafts.load import load_episode
from studio.models import Blob, Persona


@dataclass(frozen=True)
class PickerCard:
    name: str
    description: str
    bound: bool
    """Whether the persona has it; a task may still name one that the persona has lost."""
    parameters: tuple[ToolParameter, ...] = ()
    domain: str = ""
    """The application a tool belongs to."""


def cards_of(persona: Persona, tools: Sequence[str], picked_skills: Sequence[str]) -> dict[str, Any]:
    bound, own_skills = list(persona.tools), list(persona.skills)
    standard, known = tool_catalog.tool_cards(_with(bound, tools))
    spec = load_episode(persona, with_tasks=False).persona
    main_files = {
        skill.name: file.sha256 for skill in spec.skills for file in skill.files if file.path == skills.SKILL_FILE
    }
    contents = Blob.objects.read(list(main_files.values()))
    descriptions = {
        name: skills.one_line_description(contents[sha256].decode("utf-8", "replace"))
        for name, sha256 in main_files.items()
    }
    return {
        "tools": _with(bound, tools),
        "always": standard,
        "tool_cards": _by_domain(
            [
                PickerCard(tool.name, tool.description, tool.name in bound, tool.parameters, tool_domain(tool.name))
                for tool in known
            ]
        ),
        "skill_cards": [
            PickerCard(name, descriptions.get(name, ""), name in own_skills)
            for name in _with(own_skills, picked_skills)
        ],
    }


def tools_to_pick(persona: Persona, user: AnyUser, picked: Sequence[str]) -> list[PickerCard]:
    """Tools that a persona can have: its own, those of every assistant, and those of other personas the user sees. One
    query."""
    visible = Persona.objects.filter(benchmark__in=benchmarks_for(user)).order_by().values_list("tools", flat=True)
    standard, _ = tool_catalog.tool_cards([])
    names = _with(list(dict.fromkeys(picked)), [card.name for card in standard])
    _, known = tool_catalog.tool_cards(_with(names, sorted(set(chain.from_iterable(visible)))))
    return _by_domain(
        [
            PickerCard(
                tool.name,
                tool.plain or tool.description or tool_label(tool.name),
                True,
                tool.parameters,
                tool_domain(tool.name),
            )
            for tool in known
        ]
    )


def _with(names: list[str], others: Collection[str]) -> list[str]:
    return names + [name for name in others if name not in names]


def _by_domain(cards: list[PickerCard]) -> list[PickerCard]:
    first: dict[str, int] = {}
    for index, card in enumerate(cards):
        first.setdefault(card.domain, index)
    return sorted(cards, key=lambda card: first[card.domain])
