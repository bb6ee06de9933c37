"""Table 6's figures by persona, category, grader, model, judge and prompt version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from annotations.decided import AuditedQuestion, audited_questions
from annotations.models import AuditCampaign
from annotations.results import (
    AgreementRow,
    DisagreementRow,
    JudgeErrors,
    agreement_by_kind,
    by_majority,
    count_axes,
    count_disagreements,
    count_errors,
)

DIMENSIONS = {
    "persona": "Persona",
    "category": "Category",
    "grader": "Grader",
    "model": "Model",
    "judge": "Judge",
    "prompts": "Prompts",
    "protocol": "Protocol",
}


@dataclass(frozen=True)
class BreakdownRow:
    value: str
    checklist: DisagreementRow
    """By majority, as in Table 6; the intervals allow for decisions of one session being alike."""
    intents: DisagreementRow
    total: DisagreementRow
    agreement: tuple[AgreementRow, ...]
    errors: JudgeErrors
    """Of all, by majority."""


@dataclass(frozen=True)
class Breakdown:
    dimension: str
    label: str
    rows: tuple[BreakdownRow, ...]


def break_down(campaigns: Collection[AuditCampaign]) -> list[Breakdown]:
    """Without dimensions of which nothing is known, as in audits opened before they were recorded."""
    questions = [row for row in audited_questions([campaign.pk for campaign in campaigns]) if not row.is_second]
    found = [Breakdown(name, label, _rows(questions, name)) for name, label in DIMENSIONS.items()]
    return [breakdown for breakdown in found if breakdown.rows]


def _rows(questions: Iterable[AuditedQuestion], dimension: str) -> tuple[BreakdownRow, ...]:
    by_value: dict[str, list[AuditedQuestion]] = defaultdict(list)
    for row in questions:
        if value := _value(row, dimension):
            by_value[value].append(row)
    return tuple(_row(value, by_value[value]) for value in sorted(by_value))


def _value(row: AuditedQuestion, dimension: str) -> str:
    if dimension == "grader":
        return "rubric" if row.kind == "checklist" else "intents"
    if dimension == "prompts":
        versions = row.labels.get("prompts_checklist" if row.kind == "checklist" else "prompts_intents", "")
        return versions.replace("_", "-")  # as some earlier audits stored them
    return row.labels.get(dimension, "")


def _row(value: str, questions: Collection[AuditedQuestion]) -> BreakdownRow:
    decided = by_majority(questions)
    return BreakdownRow(
        value,
        *count_axes(decided),
        count_disagreements("All", decided),
        agreement=agreement_by_kind(questions),
        errors=count_errors("All", decided, {decision.kind for decision in decided}),
    )
