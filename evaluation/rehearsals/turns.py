"""A rehearsal's turns: as they are stored, and as the protocol takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from evaluation.models import Rehearsal
from evaluation.protocol.answers import occurs
from evaluation.protocol.participants import AgentReply, Decision, OpenIntent, Style, ToolRecord
from evaluation.protocol.session import Progress, TurnTaken, initial_progress
from studio.domain.opening_message import opening_message
from studio.domain.storable import storable
from studio.domain.task import TaskSpec

Choice = Literal["met", "asked", "neither"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
MAX_QUOTE = 1_000


@dataclass(frozen=True)
class Settling:
    """What was decided of one open intent in one turn."""

    choice: Choice = "neither"
    quote: str = ""
    reason: str = ""
    supported: bool = False
    style: Style | None = None
    by: Literal["judge", "hand"] = "judge"
    judge: Choice | None = None
    """What the judge had proposed, where a person decided."""

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


class Hand:
    """A person in the user's seat as the protocol's judge of intents (``IntentJudge``)."""

    def __init__(self, decided: Mapping[int, Settling]) -> None:
        self._decided = decided

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> list[Decision]:
        return [self._decision(intent.index, "met") for intent in intents]

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> list[Decision]:
        return [self._decision(intent.index, "asked") for intent in intents]

    def _decision(self, index: int, choice: Choice) -> Decision:
        one = self._decided.get(index, Settling())
        if one.choice != choice:
            return Decision(False)
        return Decision(
            True, one.quote, one.reason, one.supported, one.style or ("clarify" if choice == "asked" else None)
        )


def decided_by_hand(
    choices: Mapping[int, Choice], quotes: Mapping[int, str], proposal: Mapping[int, Settling], shown: str
) -> dict[int, Settling]:
    """What a person chose; where they agree with the judge, its word stays. Quotes are taken from ``shown``."""
    decided = {}
    for index, choice in choices.items():
        proposed = proposal.get(index)
        quote = storable(quotes.get(index, "").strip())[:MAX_QUOTE]
        if proposed and proposed.choice == choice and quote in ("", proposed.quote):
            decided[index] = proposed
            continue
        quote = quote if choice != "neither" else ""
        decided[index] = Settling(
            choice, quote, supported=occurs(quote, shown), by="hand", judge=proposed.choice if proposed else None
        )
    return decided


def settlings(taken: TurnTaken) -> dict[int, Settling]:
    """What the judge said of each open intent: the decision that counts."""
    found: dict[int, Settling] = {}
    for choice, decisions in (("met", taken.satisfied), ("asked", taken.asked_for)):
        for index, one in decisions.items():
            found[index] = Settling(
                choice if one.yes else "neither",  # type: ignore[arg-type]
                one.quote if one.yes else "",
                one.reason,
                one.yes and one.supported,
                one.style,
            )
    return found


def stored(decided: Mapping[int, Settling]) -> dict[str, Any]:
    return {str(index): one.to_json() for index, one in decided.items()}


def restored(document: Mapping[str, Any] | None) -> dict[int, Settling]:
    return {int(index): Settling(**one) for index, one in (document or {}).items()}


def reply_document(reply: AgentReply, milliseconds: int = 0) -> dict[str, Any]:
    document = {
        "text": reply.text,
        "note": reply.note,
        "tokens": reply.tokens.total,
        "milliseconds": milliseconds,
        "calls": [
            {
                "name": call.name,
                "arguments": dict(call.arguments),
                "result": call.result,
                "ok": call.ok,
                "milliseconds": int(call.seconds * 1000),
            }
            for call in reply.tool_calls
        ],
    }
    return dict(storable(document))


def reply_of(document: Mapping[str, Any]) -> AgentReply:
    calls = tuple(
        ToolRecord(call["name"], call["arguments"], call["result"], call["ok"], call["milliseconds"] / 1000)
        for call in document["calls"]
    )
    return AgentReply(document["text"], calls, note=document["note"])


def turn_document(
    taken: TurnTaken,
    reply: Mapping[str, Any],
    decided: Mapping[int, Settling],
    manifest: Mapping[str, str],
) -> dict[str, Any]:
    return {
        "number": taken.number,
        "message": taken.message,
        "reply": dict(reply),
        "decided": stored(decided),
        "settled": {str(index): status for index, status in taken.resolved.items()},
        "manifest": dict(manifest),
    }


def progress_of(rehearsal: Rehearsal, task: TaskSpec) -> Progress:
    """How the rehearsal stands after its last turn."""
    contents = [intent.content for intent in task.intents]
    progress = initial_progress(
        opening_message(task), contents, [intent.initial_status == "provided" for intent in task.intents]
    )
    settled = {
        int(index): (status, turn["number"]) for turn in rehearsal.turns for index, status in turn["settled"].items()
    }
    intents = tuple(
        replace(item, status=settled[item.index][0], turn=settled[item.index][1]) if item.index in settled else item
        for item in progress.intents
    )
    return Progress(intents, len(rehearsal.turns), rehearsal.message)
