"""A proposal as pages and the API show it: each row with its diff, evidence and findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from evaluation.assistance.kinds import DECIDED_AS_ONE, ROW_FIELDS
from evaluation.assistance.proposals import IntentChoice, ProposedChange, row_number, text_of
from evaluation.assistance.sources import name_of_source, notes_on, sources_for
from evaluation.models import Proposal, ProposalDecision
from evaluation.protocol.assistance import NAMES
from studio.domain.checks.rule_proposals import describe_rule
from studio.domain.descriptions import SOURCE_LABELS
from studio.domain.diff import Piece, word_pieces
from studio.domain.task import ExactCheck, TaskSpec

FIELD_LABELS = {
    "initial_request": "Request",
    "reference_workflow": "Reference workflow",
    "intents": "Intent",
    "checklist": "Item",
}
PROPOSED = IntentChoice()
LONG_DIFF = 8_000
"""Characters of both texts beyond which a word diff is too slow."""


@dataclass(frozen=True)
class RowView:
    row: int
    change: ProposedChange
    label: str
    pieces: tuple[Piece, ...]
    """Word diff against ``before``; empty for new or very long text."""
    text: str
    """The accepted text; before that, the edited or proposed text."""
    findings: tuple[Mapping[str, Any], ...]
    decision: ProposalDecision | None
    before: str = ""
    """The text the request was about; empty for a new row."""
    rule: str = ""
    """As a sentence; empty if none is proposed."""
    conflict: str | None = None
    """The current text, if it has changed since the request."""
    choice: IntentChoice = PROPOSED
    """As chosen on the page just now."""
    notes: tuple[str, ...] = ()
    """On the chosen source; before that, the proposal's."""

    @property
    def source(self) -> str:
        """The chosen source; before that, the proposed one."""
        return self.choice.source or (name_of_source(self.change.recovery) if self.change.recovery else "")

    @property
    def scope(self) -> str:
        return self.choice.scope or self.change.scope


@dataclass(frozen=True)
class ProposalView:
    proposal: Proposal
    title: str
    rows: tuple[RowView, ...]
    problem: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)
    """What an intent can be found out from: labels by name."""

    @property
    def findings(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(self.proposal.findings.get("", ()))

    @property
    def hides_all_intents(self) -> bool:
        return self.proposal.kind == "reword" and bool(self.undecided) and not any(row.findings for row in self.rows)

    @property
    def undecided(self) -> tuple[RowView, ...]:
        return tuple(row for row in self.rows if row.decision is None)

    @property
    def decided_as_one(self) -> bool:
        return self.proposal.kind in DECIDED_AS_ONE

    @property
    def keeps_judge(self) -> bool:
        return self.proposal.kind == "rule" and not any(row.rule for row in self.rows)

    @property
    def has_conflict(self) -> bool:
        return any(row.conflict is not None for row in self.rows)

    @property
    def version_before(self) -> int | None:
        result = self.proposal.result
        return result.number - 1 if result and result.number > 1 else None


def proposals_with_details() -> QuerySet[Proposal]:
    return Proposal.objects.select_related(
        "revision", "endpoint", "result", "replay_of", "requested_by", "decided_by", "task__persona__benchmark"
    ).prefetch_related("decisions__by", "decisions__revision")


def build_view(
    proposal: Proposal,
    *,
    problem: str = "",
    conflict: tuple[int, str] | None = None,
    typed: Mapping[int, str] | None = None,
    choices: Mapping[int, IntentChoice] | None = None,
) -> ProposalView:
    """``conflict`` is a row and its current text; ``typed`` and ``choices`` are unsaved, by row."""
    spec = TaskSpec.model_validate(proposal.revision.spec)
    decisions = {decision.row: decision for decision in proposal.decisions.all()}
    changes = [ProposedChange.model_validate(row) for row in proposal.rows or ()]
    rows: list[RowView] = []
    for number, change in enumerate(changes):
        decision = decisions.get(number)
        before = text_of(spec, change.field, change.uid)
        shows_diff = proposal.kind in ("reword", "translate") and before is not None
        choice = (choices or {}).get(number, PROPOSED)
        is_short = before is not None and len(before) + len(change.text) < LONG_DIFF
        rows.append(
            RowView(
                row=number,
                change=change,
                label=_label(change, spec, is_new_part=proposal.kind == "split" and number > 0),
                pieces=word_pieces(before or "", change.text) if shows_diff and is_short else (),
                text=decision.text if decision else (typed or {}).get(number, change.text),
                findings=tuple(proposal.findings.get(str(number), ())),
                decision=decision,
                before=before or "",
                rule=_sentence_of(change.rule) if change.rule else "",
                conflict=conflict[1] if conflict and conflict[0] == number else None,
                choice=choice,
                notes=notes_on(proposal.task, choice.source) if choice.source else change.notes,
            )
        )
    sources: dict[str, str] = {}
    if proposal.kind == "intents" and proposal.state == Proposal.State.READY and rows:
        known = sources_for(proposal.task, spec) | {
            row.source: row.change.recovery for row in rows if row.change.recovery and row.source
        }
        sources = {name: f"{SOURCE_LABELS[each.kind]} {each.ref}".strip() for name, each in known.items()}
    return ProposalView(proposal, _title(proposal, spec), tuple(rows), problem, sources)


def _title(proposal: Proposal, spec: TaskSpec) -> str:
    name = NAMES[proposal.kind]
    number = row_number(spec, proposal.field, str(proposal.item)) if proposal.item else None
    if number:
        name += f" of {FIELD_LABELS[proposal.field].lower()} {number}"
    if language := proposal.options.get("language"):
        name += f" into {language}"
    if reference := proposal.options.get("reference"):
        name += f" from {reference}"
    return name


def _label(change: ProposedChange, spec: TaskSpec, *, is_new_part: bool) -> str:
    field = change.field
    name = FIELD_LABELS.get(field, field.replace("_", " ").capitalize())
    number = row_number(spec, field, change.uid) if change.uid and not is_new_part else None
    if field in ROW_FIELDS:
        return f"{name} {number}" if number else f"New {name.lower()}"
    return name


def _sentence_of(rule: ExactCheck) -> str:
    text = describe_rule(rule)
    return f"{text[0].upper()}{text[1:]}."
