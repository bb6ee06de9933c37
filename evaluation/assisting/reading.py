"""A suggestion as a page shows it: each row with what it changes to the word, what it rests on, and what checks say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.assisting.kinds import AT_ONCE, NAMES, ROW_FIELDS
from evaluation.assisting.proposals import Proposal, number_of, text_at
from evaluation.models import Suggestion, SuggestionDecision
from studio.history import Piece, word_pieces
from studio.spec.task import TaskSpec

FIELD_WORDS = {
    "initial_request": "Request",
    "reference_workflow": "Reference workflow",
    "intents": "Intent",
    "checklist": "Item",
}
RULE_WORDS = {
    "file_exists": "The file exists",
    "file_contains": "The file contains",
    "file_lacks": "The file does not contain",
    "reply_contains": "The last reply contains",
    "reply_lacks": "The last reply does not contain",
    "tool_called": "The tool was called",
}
LONG_DIFF = 8_000
"""Characters of both texts from which on a word by word comparison would keep people waiting."""


@dataclass(frozen=True)
class RowView:
    row: int
    proposal: Proposal
    label: str
    pieces: tuple[Piece, ...]
    """The way from what stands there; empty for what is new."""
    text: str
    """What would be taken; what was taken or last typed."""
    findings: tuple[Mapping[str, Any], ...]
    decision: SuggestionDecision | None
    rule: str = ""
    conflict: str | None = None
    """What stands there now, where somebody changed it since."""


@dataclass(frozen=True)
class SuggestionView:
    suggestion: Suggestion
    title: str
    rows: tuple[RowView, ...]
    problem: str = ""

    @property
    def findings(self) -> tuple[Mapping[str, Any], ...]:
        """What the checks say of all rows together."""
        return tuple(self.suggestion.findings.get("", ()))

    @property
    def open(self) -> tuple[RowView, ...]:
        return tuple(one for one in self.rows if one.decision is None)

    @property
    def at_once(self) -> bool:
        return self.suggestion.kind in AT_ONCE

    @property
    def taken(self) -> tuple[RowView, ...]:
        return tuple(one for one in self.rows if one.decision and one.decision.taken)

    @property
    def conflict(self) -> bool:
        return any(one.conflict is not None for one in self.rows)

    @property
    def version_before(self) -> int | None:
        result = self.suggestion.result
        return result.number - 1 if result and result.number > 1 else None


def view_of(
    suggestion: Suggestion,
    *,
    problem: str = "",
    conflict: tuple[int, str] | None = None,
    typed: Mapping[int, str] | None = None,
) -> SuggestionView:
    """``suggestion`` comes with its ``revision`` and ``decisions``; ``typed`` is what stands in its fields unsent."""
    spec = TaskSpec.model_validate(suggestion.revision.spec)
    decisions = {one.row: one for one in suggestion.decisions.all()}
    proposals = [Proposal.model_validate(one) for one in suggestion.rows or ()]
    rows: list[RowView] = []
    for place, proposal in enumerate(proposals):
        decision = decisions.get(place)
        before = text_at(spec, proposal.field, proposal.uid)
        shows_diff = suggestion.kind in ("reword", "translate") and before is not None
        small = before is not None and len(before) + len(proposal.text) < LONG_DIFF
        rows.append(
            RowView(
                row=place,
                proposal=proposal,
                label=_label(proposal, spec, further=suggestion.kind == "split" and place > 0),
                pieces=word_pieces(before or "", proposal.text) if shows_diff and small else (),
                text=decision.text if decision else (typed or {}).get(place, proposal.text),
                findings=tuple(suggestion.findings.get(str(place), ())),
                decision=decision,
                rule=_rule_words(proposal),
                conflict=conflict[1] if conflict and conflict[0] == place else None,
            )
        )
    return SuggestionView(suggestion, _title(suggestion, spec), tuple(rows), problem)


def _title(suggestion: Suggestion, spec: TaskSpec) -> str:
    name = NAMES[suggestion.kind]
    number = number_of(spec, suggestion.field, str(suggestion.item)) if suggestion.item else None
    if number:
        name += f" of {FIELD_WORDS[suggestion.field].lower()} {number}"
    if language := suggestion.options.get("language"):
        name += f" into {language}"
    if reference := suggestion.options.get("reference"):
        name += f" from {reference}"
    return name


def _label(proposal: Proposal, spec: TaskSpec, *, further: bool) -> str:
    """``further`` halves of a split become rows of their own."""
    field = proposal.field
    word = FIELD_WORDS.get(field, field.replace("_", " ").capitalize())
    number = number_of(spec, field, proposal.uid) if proposal.uid and not further else None
    if field in ROW_FIELDS:
        return f"{word} {number}" if number else f"New {word.lower()}"
    return word


def _rule_words(proposal: Proposal) -> str:
    rule = proposal.rule
    if rule is None:
        return ""
    parts = [RULE_WORDS[rule.kind], rule.path or rule.tool, f"“{rule.text}”" if rule.text else ""]
    return " ".join(part for part in parts if part)
