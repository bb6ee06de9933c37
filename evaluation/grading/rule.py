"""Exact checks on a workspace file, the reply, the tool calls or what they changed in apps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.protocol.participants import ToolRecord
from studio.domain.app_rules import decide, find_text
from studio.domain.task import ExactCheck

ON_RECORDS = frozenset({"record_exists", "record_gone", "nothing_else_changed"})
FINAL_ONLY = frozenset({"file_lacks", "reply_lacks"}) | ON_RECORDS
"""Kinds decided by the last turn alone, since absence in an earlier turn proves nothing."""


@dataclass(frozen=True)
class RuleEvidence:
    """What a rule is checked against, as of one turn."""

    reply: str
    calls: Sequence[ToolRecord]
    read: Callable[[str], bytes | None]
    """Reads a workspace file; None if it does not exist."""
    made: Sequence[ToolRecord] = ()
    """All calls so far, for the rules on records."""
    rules: Sequence[ExactCheck] = ()
    """All rules of the task: “nothing else” is what none of them asks for."""


@dataclass(frozen=True)
class RuleResult:
    met: bool
    quote: str = ""
    """The passage that decided it, if there is one."""
    reason: str = ""


class RuleError(ValueError):
    """The rule is incomplete, so the item stays ungraded."""


def check_rule(rule: ExactCheck, evidence: RuleEvidence) -> RuleResult:
    """Raises RuleError if a field that the rule needs is empty."""
    match rule.kind:
        case "file_exists" | "file_contains" | "file_lacks":
            return _check_file(rule, evidence)
        case "reply_contains" | "reply_lacks":
            met, quote = _find_text(rule, evidence.reply)
            if rule.kind == "reply_contains":
                return RuleResult(met, quote, f"The reply {'contains' if met else 'does not contain'} “{rule.text}”.")
            return RuleResult(not met, quote, f"The reply {'contains' if met else 'does not contain'} “{rule.text}”.")
        case "tool_called":
            if not rule.tool.strip():
                raise RuleError("The rule names no tool.")
            return _decide(rule, evidence, evidence.calls)
        case "record_exists" | "record_gone":
            if not rule.app or not rule.table:
                raise RuleError("The rule does not say of which app the record is.")
            return _decide(rule, evidence, evidence.made)
        case "nothing_else_changed":
            return _decide(rule, evidence, evidence.made)


def _check_file(rule: ExactCheck, evidence: RuleEvidence) -> RuleResult:
    if not rule.path.strip():
        raise RuleError("The rule names no file.")
    content = evidence.read(rule.path)
    if content is None:
        return RuleResult(False, reason=f"There is no file {rule.path}.")
    if rule.kind == "file_exists":
        return RuleResult(True, rule.path, f"The file {rule.path} exists.")
    occurs, quote = _find_text(rule, content.decode("utf-8", "replace"))
    met = occurs if rule.kind == "file_contains" else not occurs
    return RuleResult(met, quote, f"{rule.path} {'contains' if occurs else 'does not contain'} “{rule.text}”.")


def _find_text(rule: ExactCheck, text: str) -> tuple[bool, str]:
    """Whether the rule's text occurs, and the matching passage."""
    if not rule.text.strip():
        raise RuleError("The rule names no text.")
    passage = find_text(rule.text, text)
    return passage is not None, passage or ""


def _decide(rule: ExactCheck, evidence: RuleEvidence, calls: Sequence[ToolRecord]) -> RuleResult:
    history = [
        {"tool_name": call.name, "call": call.arguments, "ok": call.ok, "changes": call.effects} for call in calls
    ]
    return RuleResult(*decide(rule.to_json(), [other.to_json() for other in evidence.rules], history))
