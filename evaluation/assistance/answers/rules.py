"""An exact rule in place of a judged criterion."""

from __future__ import annotations

from typing import Literal

from evaluation.assistance.answers.base import MAX_ROW_TEXT, AnswerModel, clean_note, clean_within
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material, available_tools
from evaluation.assistance.proposals import ProposedChange, text_of
from evaluation.protocol.answers import UnusableAnswerError
from studio.domain.archive import why_unsafe
from studio.domain.checks.quotes import join_with_and, quote
from studio.domain.checks.rule_proposals import describe_rule, words_lost
from studio.domain.task import ExactCheck


class RuleAnswer(AnswerModel):
    exact: bool
    kind: Literal["file_exists", "file_contains", "file_lacks", "reply_contains", "reply_lacks", "tool_called", ""] = ""
    path: str = ""
    text: str = ""
    tool: str = ""
    why: str = ""


def read(answer: RuleAnswer, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    """One change, without a rule if none decides the whole criterion."""
    criterion = text_of(material.task, "checklist", request.uid) or ""
    why, rule = clean_note(answer.why), _validate_rule(answer, material) if answer.exact else None
    if rule and (lost := words_lost(criterion, rule, material.task, available_tools(material))):
        why = f"It proposes that {describe_rule(rule)}, which would lose {join_with_and(map(quote, lost))}."
        rule = None
    return (ProposedChange(field="checklist", uid=request.uid, text=criterion, why=why, rule=rule),)


def _validate_rule(answer: RuleAnswer, material: Material) -> ExactCheck:
    if not answer.kind:
        raise UnusableAnswerError("The kind of the rule is missing.")
    path, text, tool = answer.path.strip(), clean_within(answer.text, MAX_ROW_TEXT), answer.tool.strip()
    needs_path, needs_text = answer.kind.startswith("file_"), answer.kind.endswith(("_contains", "_lacks"))
    if needs_path and (why := why_unsafe(path)):
        raise UnusableAnswerError(f'"{path[:80]}" is no path in the workspace. {why}')
    if needs_text and not text:
        raise UnusableAnswerError("The rule has no text to look for.")
    if answer.kind == "tool_called" and tool not in available_tools(material):
        raise UnusableAnswerError(f'There is no tool "{tool[:80]}".')
    return ExactCheck(
        kind=answer.kind,
        path=path if needs_path else "",
        text=text if needs_text else "",
        tool=tool if answer.kind == "tool_called" else "",
    )
