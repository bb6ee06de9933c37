"""Decisions of a person who plays the user, beside those that a judge proposes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from evaluation.engine.plan import SessionPlan
from evaluation.engine.store import Checkpoint, Replied, Standing
from evaluation.grading.intents import intents_decided
from evaluation.grading.work import PlayedTurn, work_after
from evaluation.models import Verdict
from evaluation.protocol.answers import occurs
from evaluation.protocol.participants import Decision, OpenIntent, Style
from evaluation.protocol.session import resolve_turn
from evaluation.workspaces.manifests import Read
from studio.domain.storable import storable

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


@dataclass(frozen=True)
class PersonsChoices:
    """What a person decided on the open intents, by index; nothing said of one means neither. An ``IntentJudge``."""

    choices: Mapping[int, Choice]
    quotes: Mapping[int, str]
    proposed: Mapping[int, IntentDecision]
    """By the judge, if there is one: it stands where the person agrees."""
    evidence: str
    """Where quotes must occur."""
    by_hand: set[int] = field(default_factory=set)
    """On which the person decided otherwise, or alone."""

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> list[Decision]:
        return [self._answer(intent.index, "met") for intent in intents]

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> list[Decision]:
        return [self._answer(intent.index, "asked") for intent in intents]

    def _answer(self, index: int, choice: Choice) -> Decision:
        decision = self._decision(index)
        if decision.choice != choice:
            return Decision(False)
        style = decision.style or ("clarify" if choice == "asked" else None)
        return Decision(True, decision.quote, decision.reason, decision.supported, style)

    def _decision(self, index: int) -> IntentDecision:
        choice, proposed = self.choices.get(index, "neither"), self.proposed.get(index)
        quote = storable(self.quotes.get(index, "").strip())[:MAX_QUOTE] if choice != "neither" else ""
        if proposed and proposed.choice == choice and quote in ("", proposed.quote):
            return proposed
        self.by_hand.add(index)
        return IntentDecision(choice, quote, supported=occurs(quote, self.evidence))


def decide_turn(
    plan: SessionPlan, standing: Standing, replied: Replied, chosen: PersonsChoices, message: str
) -> Checkpoint:
    """The user's part of the turn, as the person wants it. Without a ``message``, what the simulated user would say in
    the author's words."""
    taken, after = resolve_turn(standing.progress, replied.reply, chosen, dict)
    if message and not after.ending:
        after = replace(after, message=message)
    decided = [each for each in intents_decided({}, plan.task, taken) if each.index in chosen.by_hand]
    by_person = [replace(each, grader="person") for each in decided]
    return Checkpoint(taken, after, by_person, replied.files, replied.apps, replied.seconds)


def evidence_for(standing: Standing, replied: Replied, read: Read) -> str:
    """Where a quote may come from: the reply, and the files as it left them."""
    number, reply = standing.progress.turns + 1, replied.reply
    played = PlayedTurn(number, standing.progress.message, reply.text, reply.tool_calls, replied.files)
    work = work_after(standing.conversation.and_then(played), read)
    return "\n".join((reply.text, *(file.text for file in work.files)))


def proposals(verdicts: Iterable[Verdict], turn: int) -> dict[int, IntentDecision]:
    """By intent, what the judge would decide in the turn."""
    found: dict[int, IntentDecision] = {}
    for each in verdicts:
        if (each.turn, each.grader) == (turn, "judge") and (each.met or each.index not in found):
            found[each.index] = _proposal(each)
    return found


def _proposal(verdict: Verdict) -> IntentDecision:
    if not verdict.met:
        return IntentDecision(reason=verdict.reason)
    choice: Choice = "met" if verdict.kind == Verdict.Kind.SATISFACTION else "asked"
    style: Style | None = "options" if verdict.style == "options" else "clarify" if verdict.style else None
    return IntentDecision(choice, verdict.quote, verdict.reason, verdict.supported, style)
