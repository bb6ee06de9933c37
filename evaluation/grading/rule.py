"""Exact checks that need no code: on a workspace file, the reply or the tool calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.protocol.history import same_tool
from evaluation.protocol.participants import ToolRecord
from studio.domain.task import ExactCheck

FINAL_ONLY = frozenset({"file_lacks", "reply_lacks"})
"""Kinds that are decided by the last turn alone: that something is absent early on shows nothing."""


@dataclass(frozen=True)
class RuleEvidence:
    """What a rule is checked against, as of one turn."""

    reply: str
    calls: Sequence[ToolRecord]
    read: Callable[[str], bytes | None]
    """Content of a workspace file; None: there is none."""


@dataclass(frozen=True)
class RuleResult:
    met: bool
    quote: str = ""
    """What decided it, from the material, where there is something to show."""
    reason: str = ""


class RuleError(ValueError):
    """The rule cannot be evaluated as written; the item is ungraded. The text says why."""


def check_rule(rule: ExactCheck, material: RuleEvidence) -> RuleResult:
    """Evaluate ``rule`` exactly. Raises RuleError where a field it needs is empty."""
    match rule.kind:
        case "file_exists" | "file_contains" | "file_lacks":
            return _file(rule, material)
        case "reply_contains" | "reply_lacks":
            met, quote = _words(rule, material.reply)
            if rule.kind == "reply_contains":
                return RuleResult(met, quote, f"The reply {'contains' if met else 'does not contain'} “{rule.text}”.")
            return RuleResult(not met, quote, f"The reply {'contains' if met else 'does not contain'} “{rule.text}”.")
        case "tool_called":
            return _called(rule, material.calls)


def _file(rule: ExactCheck, material: RuleEvidence) -> RuleResult:
    if not rule.path.strip():
        raise RuleError("The rule names no file.")
    content = material.read(rule.path)
    if content is None:
        return RuleResult(False, reason=f"There is no file {rule.path}.")
    if rule.kind == "file_exists":
        return RuleResult(True, rule.path, f"The file {rule.path} exists.")
    found, quote = _words(rule, content.decode("utf-8", "replace"))
    met = found if rule.kind == "file_contains" else not found
    return RuleResult(met, quote, f"{rule.path} {'contains' if found else 'does not contain'} “{rule.text}”.")


def _words(rule: ExactCheck, text: str) -> tuple[bool, str]:
    """Whether the rule's text occurs, without regard to case and runs of white space; and how it stands there."""
    wanted = " ".join(rule.text.split())
    if not wanted:
        raise RuleError("The rule names no text.")
    flat = " ".join(text.split())
    start = flat.lower().find(wanted.lower())
    if start >= 0:
        return True, flat[start : start + len(wanted)]
    return wanted.casefold() in flat.casefold(), ""


def _called(rule: ExactCheck, calls: Sequence[ToolRecord]) -> RuleResult:
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
    """Equal in value and type: True is not 1, as it is not in the JSON of a call."""
    return isinstance(actual, bool) == isinstance(wanted, bool) and actual == wanted
