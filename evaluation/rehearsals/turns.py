"""A rehearsal's turns as the engine's checkpoints, and the decisions of the person who plays the user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from pydantic import TypeAdapter

from evaluation.engine.store import Checkpoint, Replied
from evaluation.grading.decided import Decided
from evaluation.grading.intents import intents_decided
from evaluation.grading.work import PlayedTurn
from evaluation.models import Rehearsal
from evaluation.protocol.answers import occurs
from evaluation.protocol.participants import AgentReply, Decision, IntentJudge, OpenIntent, Style, ToolRecord
from evaluation.protocol.session import Progress, TurnTaken, opening_progress, resolve_turn
from evaluation.protocol.trace import read_texts
from evaluation.workspaces.manifests import manifest_reader
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob

Choice = Literal["met", "asked", "neither"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
MAX_QUOTE = 1_000
_CHOSEN: Mapping[str, Choice] = {"satisfaction": "met", "follow_up": "asked"}
_TURNS = TypeAdapter(list[Checkpoint])
_REPLIED = TypeAdapter(Replied)
_CALLS = TypeAdapter(list[ToolRecord])
_DECIDED = TypeAdapter(list[Decided])


def turns_of(row: Rehearsal) -> list[Checkpoint]:
    return _TURNS.validate_python(row.turns)


def with_turn(row: Rehearsal, checkpoint: Checkpoint) -> list[Any]:
    """As JSON."""
    return [*row.turns, *_TURNS.dump_python([checkpoint], mode="json")]


def replied_in(row: Rehearsal) -> Replied | None:
    """The current turn's reply, if there is one."""
    document = row.current_turn.get("replied")
    return None if document is None else _REPLIED.validate_python(document)


def calls_in(row: Rehearsal) -> list[ToolRecord]:
    """Those of the person in the assistant's seat, in the current turn."""
    return _CALLS.validate_python(row.current_turn.get("calls", []))


def proposed_in(row: Rehearsal) -> list[Decided]:
    """What the judge would decide in the current turn."""
    return _DECIDED.validate_python(row.current_turn.get("proposal", []))


def current_turn(replied: Replied | None = None, proposal: Sequence[Decided] = ()) -> dict[str, Any]:
    """As JSON."""
    document: dict[str, Any] = {"replied": _REPLIED.dump_python(replied, mode="json")} if replied else {}
    return document | ({"proposal": _DECIDED.dump_python(list(proposal), mode="json")} if proposal else {})


def with_call(row: Rehearsal, call: ToolRecord) -> dict[str, Any]:
    """The current turn as JSON."""
    calls = _CALLS.dump_python([*calls_in(row), call], mode="json")
    return {**row.current_turn, "calls": calls}


def played_turns(row: Rehearsal) -> list[PlayedTurn]:
    """The finished turns; once the rehearsal is over, also what was done in the one that was not judged any more."""
    turns = [checkpoint.played for checkpoint in turns_of(row)]
    if row.current_turn and row.state == Rehearsal.State.FINISHED:
        replied = replied_in(row)
        reply = replied.reply if replied else AgentReply("", tuple(calls_in(row)))
        turns.append(PlayedTurn(len(turns) + 1, "", reply.text, reply.tool_calls, row.manifest))
    return turns


def progress_of(row: Rehearsal, task: TaskSpec) -> Progress:
    """With the message as the person in the user's seat wrote it."""
    turns = turns_of(row)
    return replace(turns[-1].after, message=row.message) if turns else opening_progress(task)


def resolve_current_turn(row: Rehearsal, task: TaskSpec, judge: IntentJudge) -> tuple[TurnTaken, Progress]:
    replied = replied_in(row)
    assert replied is not None
    read = manifest_reader(row.manifest, Blob.objects.read)
    return resolve_turn(progress_of(row, task), replied.reply, judge, lambda: read_texts(task.files_read, read))


def checkpoint_of(row: Rehearsal, taken: TurnTaken, after: Progress, decided: Sequence[Decided]) -> Checkpoint:
    replied = replied_in(row)
    assert replied is not None
    return Checkpoint(taken, after, decided, row.manifest, row.apps, replied.seconds)


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


def decided_by_hand(task: TaskSpec, taken: TurnTaken, manual: Mapping[int, IntentDecision]) -> list[Decided]:
    """Where the judge proposed something else, or nothing."""
    by_hand = {index for index, decision in manual.items() if decision.by == "hand"}
    return [replace(each, grader="person") for each in intents_decided({}, task, taken) if each.index in by_hand]


def decisions_of(decided: Iterable[Decided]) -> dict[int, IntentDecision]:
    """By intent, as pages show them; what a person decided goes before what a judge proposed."""
    decided = list(decided)
    judged = {each.index: _decision(each) for each in decided if each.grader == "judge"}
    by_hand = {each.index: _decision(each) for each in decided if each.grader == "person"}
    return judged | {
        index: replace(decision, by="hand", judge=judged[index].choice if index in judged else None)
        for index, decision in by_hand.items()
    }


def _decision(each: Decided) -> IntentDecision:
    if not each.met:
        return IntentDecision(reason=each.reason)
    style: Style | None = "options" if each.style == "options" else "clarify" if each.style else None
    return IntentDecision(_CHOSEN[each.kind], each.quote, each.reason, each.supported, style)
