"""Exact checks on a workspace file, the reply or the tool calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.protocol.history import same_tool
from evaluation.protocol.participants import ToolRecord
from studio.domain.task import ExactCheck

FINAL_ONLY = frozenset({"file_lacks", "reply_lacks"})
"""Kinds decided by the last turn alone, since absence in an earlier turn proves nothing."""


@dataclass(frozen=True)
class RuleEvidence:
    """What a rule is checked against, as of one turn."""

    reply: str
    calls: Sequence[ToolRecord]
    read: Callable[[str], bytes | None]
    """Reads a workspace file; None if it does not exist."""


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
            return _check_tool_call(rule, evidence.calls)


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
    """Whether the rule's text occurs, ignoring case and runs of white space; and the matching passage."""
    wanted = " ".join(rule.text.split())
    if not wanted:
        raise RuleError("The rule names no text.")
    collapsed = " ".join(text.split())
    start = collapsed.lower().find(wanted.lower())
    if start >= 0:
        return True, collapsed[start : start + len(wanted)]
    return wanted.casefold() in collapsed.casefold(), ""


def _check_tool_call(rule: ExactCheck, calls: Sequence[ToolRecord]) -> RuleResult:
    if not rule.tool.strip():
        raise RuleError("The rule names no tool.")
    for call in calls:
        if (
            call.ok
            and same_tool(rule.tool, call.name)
            and all(
                key in call.arguments and _same(call.arguments[key], value) for key, value in rule.arguments.items()
            )
        ):
            return RuleResult(True, call.name, f"{call.name} was called as required.")
    return RuleResult(False, reason=f"{rule.tool} was not called as required.")


def _same(actual: object, wanted: object) -> bool:
    """Equal in value and type: True is not 1, as in JSON."""
    return isinstance(actual, bool) == isinstance(wanted, bool) and actual == wanted
