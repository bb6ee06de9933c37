"""Exact rules: in place of a judged criterion, or proposed with a new one."""

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
from studio.domain.rule_values import ON_RECORDS, ValuesError, check_fields, read_values
from studio.domain.task import ExactCheck, RuleKind


class RuleFields(AnswerModel):
    kind: RuleKind | Literal[""] = ""
    path: str = ""
    text: str = ""
    tool: str = ""
    table: str = ""
    """``app.table``; an app alone, or nothing, for ``nothing_else_changed``."""
    values: str = ""
    """As ``read_values`` reads them."""


class RuleAnswer(RuleFields):
    exact: bool
    why: str = ""


def read_rule_answer(answer: RuleAnswer, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    """One change, without a rule if none decides the whole criterion."""
    criterion = text_of(material.task, "checklist", request.uid) or ""
    why, rule = clean_note(answer.why), read_rule(answer, material) if answer.exact else None
    if rule and (loss := loss_of(criterion, rule, material)):
        why, rule = loss, None
    return (ProposedChange(field="checklist", uid=request.uid, text=criterion, why=why, rule=rule),)


def loss_of(criterion: str, rule: ExactCheck, material: Material) -> str:
    """What of the criterion the rule would not decide, as a sentence; empty if it decides all of it."""
    lost = words_lost(criterion, rule, material.task, available_tools(material.persona.tools, material.task))
    return (
        f"It proposes that {describe_rule(rule)}, which would lose {join_with_and(map(quote, lost))}." if lost else ""
    )


def read_rule(fields: RuleFields, material: Material) -> ExactCheck:
    """Raises UnusableAnswerError."""
    kind = fields.kind
    if not kind:
        raise UnusableAnswerError("The kind of the rule is missing.")
    path, text, tool = fields.path.strip(), clean_within(fields.text, MAX_ROW_TEXT), fields.tool.strip()
    needs_path, needs_text = kind.startswith("file_"), kind.endswith(("_contains", "_lacks"))
    if needs_path and (why := why_unsafe(path)):
        raise UnusableAnswerError(f'"{path[:80]}" is no path in the workspace. {why}')
    if needs_text and not text:
        raise UnusableAnswerError("The rule has no text to look for.")
    if kind == "tool_called" and tool not in available_tools(material.persona.tools, material.task):
        raise UnusableAnswerError(f'There is no tool "{tool[:80]}".')
    app, table = _table_of(kind, fields.table.strip(), material)
    try:
        takes_values = kind == "tool_called" or kind in ON_RECORDS
        arguments, containing = read_values(clean_within(fields.values, MAX_ROW_TEXT) if takes_values else "")
        check_fields((*arguments, *containing), app, table)
    except ValuesError as error:
        raise UnusableAnswerError(str(error)) from None
    if kind in ON_RECORDS and not arguments and not containing:
        raise UnusableAnswerError("The rule says nothing of the record it looks for.")
    if kind == "tool_called":
        _check_parameters((*arguments, *containing), tool, material)
    return ExactCheck(
        kind=kind,
        path=path if needs_path else "",
        text=text if needs_text else "",
        tool=tool if kind == "tool_called" else "",
        arguments=arguments,
        containing=containing,
        app=app,
        table=table,
    )


def _table_of(kind: RuleKind, name: str, material: Material) -> tuple[str, str]:
    app, _, table = name.partition(".")
    if kind == "nothing_else_changed":
        if app and app not in material.apps:
            raise UnusableAnswerError(f'There is no app "{app[:80]}".')
        return app, ""
    if kind not in ON_RECORDS:
        return "", ""
    if app not in material.apps or table not in {each.table for each in material.apps[app].kinds}:
        raise UnusableAnswerError(f'There are no records "{name[:80]}".')
    return app, table


def _check_parameters(names: tuple[str, ...], tool: str, material: Material) -> None:
    card = next((card for card in material.tools if card.name == tool and card.known), None)
    taken = {parameter.name for parameter in card.parameters} if card else set(names)
    if unknown := next((name for name in names if name not in taken), None):
        raise UnusableAnswerError(f'The tool {tool} takes no "{unknown[:80]}".')
