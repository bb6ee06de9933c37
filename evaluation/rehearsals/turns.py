"""A rehearsal's turns, in their stored form and in the protocol's types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from evaluation.models import Rehearsal
from evaluation.protocol.answers import occurs
from evaluation.protocol.participants import AgentReply, Decision, OpenIntent, Style, ToolRecord
from evaluation.protocol.session import Progress, TurnTaken, opening_progress
from studio.domain.opening_message import text_of
from studio.domain.storable import storable
from studio.domain.task import TaskSpec

Choice = Literal["met", "asked", "neither"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
MAX_QUOTE = 1_000


@dataclass(frozen=True)
class IntentDecision:
    choice: Choice = "neither"
    quote: str = ""
    reason: str = ""
    supported: bool = False
    style: Style | None = None
    by: Literal["judge", "hand"] = "judge"
    judge: Choice | None = None
    """The judge's proposal, if the user decided."""

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


class ManualIntentJudge:
    """An ``IntentJudge`` that returns a user's decisions."""

    def __init__(self, decided: Mapping[int, IntentDecision]) -> None:
        self._decided = decided

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> list[Decision]:
        return [self._decision(intent.index, "met") for intent in intents]

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> list[Decision]:
        return [self._decision(intent.index, "asked") for intent in intents]

    def _decision(self, index: int, choice: Choice) -> Decision:
        decision = self._decided.get(index, IntentDecision())
        if decision.choice != choice:
            return Decision(False)
        style = decision.style or ("clarify" if choice == "asked" else None)
        return Decision(True, decision.quote, decision.reason, decision.supported, style)


def manual_decisions(
    choices: Mapping[int, Choice], quotes: Mapping[int, str], proposal: Mapping[int, IntentDecision], evidence: str
) -> dict[int, IntentDecision]:
    """The user's choices, or the judge's decision where they agree. Quotes must occur in ``evidence``."""
    decided = {}
    for index, choice in choices.items():
        proposed = proposal.get(index)
        quote = storable(quotes.get(index, "").strip())[:MAX_QUOTE]
        if proposed and proposed.choice == choice and quote in ("", proposed.quote):
            decided[index] = proposed
            continue
        quote = quote if choice != "neither" else ""
        decided[index] = IntentDecision(
            choice, quote, supported=occurs(quote, evidence), by="hand", judge=proposed.choice if proposed else None
        )
    return decided


def judge_decisions(taken: TurnTaken) -> dict[int, IntentDecision]:
    by_index: dict[int, IntentDecision] = {}
    stages: tuple[tuple[Choice, Mapping[int, Decision]], ...] = (("met", taken.satisfied), ("asked", taken.asked_for))
    for choice, decisions in stages:
        for index, decision in decisions.items():
            by_index[index] = IntentDecision(
                choice if decision.yes else "neither",
                decision.quote if decision.yes else "",
                decision.reason,
                decision.yes and decision.supported,
                decision.style,
            )
    return by_index


def decisions_to_json(decided: Mapping[int, IntentDecision]) -> dict[str, Any]:
    return {str(index): decision.to_json() for index, decision in decided.items()}


def decisions_from_json(document: Mapping[str, Any] | None) -> dict[int, IntentDecision]:
    return {int(index): IntentDecision(**fields) for index, fields in (document or {}).items()}


def reply_document(reply: AgentReply, milliseconds: int = 0) -> dict[str, Any]:
    document = {
        "text": reply.text,
        "note": reply.note,
        "tokens": reply.tokens.total,
        "milliseconds": milliseconds,
        "calls": [call_document(call) for call in reply.tool_calls],
        "thoughts": [asdict(thought) for thought in reply.thoughts],
    }
    return dict(storable(document))


def call_document(call: ToolRecord) -> dict[str, Any]:
    return {
        "name": call.name,
        "arguments": dict(call.arguments),
        "result": call.result,
        "ok": call.ok,
        "milliseconds": int(call.seconds * 1000),
        "changes": list(call.changes),
        "effects": [dict(effect) for effect in call.effects],
    }


def call_of(document: Mapping[str, Any]) -> ToolRecord:
    return ToolRecord(
        document["name"],
        document["arguments"],
        document["result"],
        document["ok"],
        document["milliseconds"] / 1000,
        tuple(document.get("changes", ())),
        effects=tuple(document.get("effects", ())),
    )


def reply_of(document: Mapping[str, Any]) -> AgentReply:
    return AgentReply(document["text"], tuple(map(call_of, document["calls"])), note=document["note"])


def turn_document(
    taken: TurnTaken,
    reply: Mapping[str, Any],
    decided: Mapping[int, IntentDecision],
    manifest: Mapping[str, str],
) -> dict[str, Any]:
    return {
        "number": taken.number,
        "message": text_of(taken.message),
        "reply": dict(reply),
        "decided": decisions_to_json(decided),
        "settled": {str(index): status for index, status in taken.resolved.items()},
        "manifest": dict(manifest),
    }


def graded_turns(rehearsal: Rehearsal) -> list[Mapping[str, Any]]:
    """The finished turns; once the rehearsal is over, also what was done in the one that was not judged any more."""
    last = rehearsal.current_turn
    if not last or rehearsal.state != Rehearsal.State.FINISHED:
        return list(rehearsal.turns)
    reply = last.get("reply") or {"text": "", "calls": last.get("calls", [])}
    return [*rehearsal.turns, {"reply": reply, "manifest": rehearsal.manifest}]


def progress_of(rehearsal: Rehearsal, task: TaskSpec) -> Progress:
    progress = opening_progress(task)
    resolved = {
        int(index): (status, turn["number"]) for turn in rehearsal.turns for index, status in turn["settled"].items()
    }
    intents = tuple(
        replace(item, status=resolved[item.index][0], turn=resolved[item.index][1]) if item.index in resolved else item
        for item in progress.intents
    )
    return Progress(intents, len(rehearsal.turns), rehearsal.message)
