"""Rules about tools that nobody offers, arguments that none of them has, and drafts that should have been sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from studio.domain.checks.quotes import SHORT, quote
from studio.domain.checks.rule import CheckContext, Flaw, ReadableScript, in_field, in_script, rule
from studio.domain.graders.histories import sends
from studio.domain.task import TaskSpec
from studio.domain.tool_catalog import ToolCard, tool_cards
from studio.domain.tool_names import bare_tool_name
from studio.domain.tool_servers import FOLDER

MISSPELT = 0.8
"""Least likeness of a name to the one that is meant."""


@rule("tool-not-offered", "warning", across_tasks=True)
@in_field("tools", "Choose another tool, or set up a tool server that offers it.")
def tool_not_offered(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What nobody offers, no assistant can call. Reported where a task names it, or at a persona's first session."""
    persona, known = context.episode.persona, context.known.tools
    if not known or any(file.path.startswith(f"{FOLDER}/") for file in persona.files):
        return  # what a server offers is known when it is asked
    named = task.tools_named
    first = not task.tools and not context.earlier(task)
    offered = {bare_tool_name(name) for name in known}
    for name in persona.tools:
        bare = bare_tool_name(name)
        if bare not in offered and (bare in named or first):
            yield Flaw(
                f"Nobody offers the tool “{name}”: no assistant can call it.",
                passage=name if name in task.tools else "",
                severity="warning" if bare in named else "hint",
            )


@rule("evidence-field-unknown", "warning")
def evidence_field_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges are shown arguments of a call that the tool does not take."""
    cards = _cards(entry.tool for entry in task.tool_evidence)
    for position, entry in enumerate(task.tool_evidence, 1):
        for field in entry.call:
            if flaw := _unknown(field.partition(".")[0], cards.get(entry.tool)):
                yield Flaw(*flaw, field="tool_evidence", item=position, passage=field)
    items = [(position, item.rule) for position, item in enumerate(task.checklist, 1) if item.rule]
    rules = [(position, found) for position, found in items if found.kind == "tool_called"]
    cards = _cards(found.tool for _, found in rules)
    for position, found in rules:
        for name in (*found.arguments, *found.containing):
            if flaw := _unknown(name, cards.get(found.tool)):
                yield Flaw(*flaw, field="checklist", item=position)


@rule("grader-argument-unknown", "warning")
@in_script()
def grader_argument_unknown(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A script that looks for an argument which none of its tools takes never finds it."""
    cards = _cards(script.reading.tool_names)
    if not cards or len(cards) < len(script.reading.tool_names):
        return
    taken = {parameter.name for card in cards.values() for parameter in card.parameters}
    for name in script.reading.arguments:
        alike = get_close_matches(name, taken, n=1, cutoff=MISSPELT)
        if alike and name not in taken:  # others may be keys of something else
            message = f"The script looks for the argument “{name}”, which its tools do not take."
            yield Flaw(message, f"They take “{alike[0]}”.", passage=name)


def _cards(names: Iterable[str]) -> dict[str, ToolCard]:
    """Those of which the parameters are known."""
    wanted = [name for name in names if name]
    always, named = tool_cards(wanted) if wanted else ([], [])
    return {card.name: card for card in (*always, *named) if card.known and card.name in wanted}


def _unknown(name: str, card: ToolCard | None) -> tuple[str, str] | None:
    """``card``: None where it is not known what the tool takes."""
    if card is None or name in (taken := [parameter.name for parameter in card.parameters]):
        return None
    fix = f"It takes {', '.join(taken)}." if taken else "It takes none."
    return f"The tool “{card.name}” has no argument “{name}”.", fix


_DRAFT = re.compile(
    r"\b(?:draft|prepare|write)\b(?:(?!\bsen[dt])[^.!?\n]){0,60}\b(?:e-?mail|message|reply|text|invitation|letter)s?\b",
    re.IGNORECASE,
)
_ONLY_DRAFT = re.compile(r"\bdraft(?:s|ed|ing)?\b", re.IGNORECASE)
_SEND = re.compile(r"\b(?:sen[dt]|sends|sending|mail (?:it|them|this)|forward|tell|let [a-z]+ know)\b", re.IGNORECASE)
_IS_SENT = re.compile(
    r"\b(?:e-?mail|message|reply|text|invitation|letter)s?\b[^.\n]{0,40}\b(?:is|are|was|were|has been|have been) sent\b"
    r"|\bsends? (?:an?|the|one) (?:e-?mail|message|reply|text|invitation)\b",
    re.IGNORECASE,
)


@rule("draft-or-sent", "warning", judges_language=True)
@in_field("checklist", "Ask for it to be sent, or accept the draft.")
def draft_or_sent(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A request for a draft leaves it unsent: whoever does as asked fails an item that wants it sent."""
    request = task.initial_request
    asked = _ONLY_DRAFT.search(request) and _DRAFT.search(request)
    if not asked or _SEND.search(request) or any(_SEND.search(intent.content) for intent in task.intents):
        return
    for position, item in enumerate(task.checklist, 1):
        by_rule = item.rule is not None and item.rule.kind == "tool_called" and sends(item.rule.tool)
        if by_rule or _IS_SENT.search(item.criterion):
            yield Flaw(
                f"The request asks for a draft ({quote(asked[0], SHORT)}), and this wants it sent.", item=position
            )
