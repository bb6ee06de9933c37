"""An exact rule in place of a judged criterion."""

from __future__ import annotations

from typing import Literal

from evaluation.assistance.answers.base import MAX_ROW_TEXT, AnswerModel, clean_note, clean_within
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material, available_tools
from evaluation.assistance.proposals import ProposedChange, text_of
from evaluation.protocol.answers import UnusableAnswerError
from studio.domain.archive import why_unsafe
from studio.domain.task import ExactCheck


class RuleAnswer(AnswerModel):
    exact: bool
    kind: Literal["file_exists", "file_contains", "file_lacks", "reply_contains", "reply_lacks", "tool_called", ""] = ""
    path: str = ""
    text: str = ""
    tool: str = ""
    why: str = ""


def read(answer: RuleAnswer, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    if not answer.exact:
        return ()
    criterion = text_of(material.task, "checklist", request.uid) or ""
    rule = _validate_rule(answer, material)
    return (ProposedChange(field="checklist", uid=request.uid, text=criterion, why=clean_note(answer.why), rule=rule),)


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
