"""New checklist items, derived from a reference."""

from __future__ import annotations

from evaluation.assistance.answers.base import (
    MAX_ROW_TEXT,
    MAX_ROWS,
    AnswerModel,
    clean_note,
    clean_within,
    comparable,
    read_rows,
    require_intent,
)
from evaluation.assistance.answers.rules import RuleFields, loss_of, read_rule
from evaluation.assistance.kinds import REFERENCE_OF, ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import occurs


class ProposedItem(AnswerModel):
    criterion: str
    follows_from: list[int] = []
    quote: str = ""
    rule: RuleFields | None = None
    why: str = ""


class ProposedItems(AnswerModel):
    items: list[ProposedItem]


def read(answer: ProposedItems, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    task = material.task
    seen = {comparable(text) for text in (*(item.criterion for item in task.checklist), *material.dismissed)}
    evidence = tuple(path for path in task.files_read if request.reference == f"{REFERENCE_OF}{path}")

    def read_item(item: ProposedItem) -> ProposedChange | None:
        text = clean_within(item.criterion, MAX_ROW_TEXT)
        if not text or comparable(text) in seen:
            return None
        for number in item.follows_from:
            require_intent(number, material)
        seen.add(comparable(text))
        quote = clean_note(item.quote)
        quoted = occurs(quote, request.reference_text)
        rule = read_rule(item.rule, material) if item.rule and item.rule.kind else None
        loss = loss_of(text, rule, material) if rule else ""
        return ProposedChange(
            field="checklist",
            text=text,
            why=clean_note(item.why),
            quote=quote if quoted else "",
            supported=quoted,
            follows_from=tuple(dict.fromkeys(task.intents[number - 1].uid for number in item.follows_from)),
            evidence=evidence,
            rule=None if loss else rule,
            notes=(loss,) if loss else (),
        )

    return read_rows(answer.items[:MAX_ROWS], read_item)
