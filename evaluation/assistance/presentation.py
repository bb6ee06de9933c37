"""A suggestion as a page shows it: each row with what it changes to the word, what it rests on, and what checks say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from evaluation.assistance.kinds import AT_ONCE, ROW_FIELDS
from evaluation.assistance.proposals import Proposal, number_of, text_at
from evaluation.models import Suggestion, SuggestionDecision
from evaluation.protocol.assistance import NAMES
from studio.domain.diff import Piece, word_pieces
from studio.domain.task import ExactCheck, TaskSpec

FIELD_WORDS = {
    "initial_request": "Request",
    "reference_workflow": "Reference workflow",
    "intents": "Intent",
    "checklist": "Item",
}
RULE_WORDS = {
    "file_exists": ("The file", "is there"),
    "file_contains": ("The file", "contains"),
    "file_lacks": ("The file", "does not contain"),
    "reply_contains": ("The last reply", "contains"),
    "reply_lacks": ("The last reply", "does not contain"),
    "tool_called": ("The tool", "was called"),
}
"""What stands before and after the name of a file or tool."""
LONG_DIFF = 8_000
"""Characters of both texts from which on a word by word comparison would keep people waiting."""


@dataclass(frozen=True)
class RuleWords:
    """An exact rule as a sentence in parts: “The file”, its path, “contains”, the words."""

    begins: str
    about: str
    says: str
    text: str

    def __str__(self) -> str:
        quoted = f"“{self.text}”" if self.text else ""
        return " ".join(part for part in (self.begins, self.about, self.says, quoted) if part) + "."


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
    before: str = ""
    """What stands there, as it was asked about; empty for what is new."""
    rule: RuleWords | None = None
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
    def says_nothing_hidden(self) -> bool:
        """A rewording in which the checks find none of the intents any more."""
        return self.suggestion.kind == "reword" and bool(self.open) and not any(one.findings for one in self.rows)

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


def suggestions() -> QuerySet[Suggestion]:
    """With what showing them needs."""
    return Suggestion.objects.select_related(
        "revision", "endpoint", "result", "replay_of", "asked_by", "decided_by", "task__episode__persona__benchmark"
    ).prefetch_related("decisions__by", "decisions__revision")


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
                before=before or "",
                rule=_rule_words(proposal.rule),
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


def _rule_words(rule: ExactCheck | None) -> RuleWords | None:
    if rule is None:
        return None
    begins, says = RULE_WORDS[rule.kind]
    return RuleWords(begins, rule.path or rule.tool, says, rule.text)
