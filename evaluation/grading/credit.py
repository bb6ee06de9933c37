"""Credit rules: what a graded item's decisions, over the turns of a session and over samples, come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName

TurnValues = Sequence[tuple[int, bool | None]]
"""An item's decisions by one judging, as pairs of turn and value, in order of turns. None: not decided."""


@dataclass(frozen=True)
class Credit:
    value: bool | None
    """None: ungraded because the grader is missing or broken, which is never the same as not met."""
    turn: int | None = None
    """The turn in which it was met; with samples, the turn by which most of them had met it."""
    regressed: bool = False
    """Whether it was met in an earlier turn, and no longer is."""


@dataclass(frozen=True)
class TurnRule:
    label: str
    over_turns: Callable[[TurnValues], Credit]
    every_turn: bool
    """Whether it needs decisions on later turns after an item was met."""


@dataclass(frozen=True)
class SampleRule:
    label: str
    over_samples: Callable[[Sequence[Credit]], Credit]


def any_turn(values: TurnValues) -> Credit:
    """Met if met in any turn, else ungraded if a turn could not be graded."""
    for turn, value in values:
        if value:
            return Credit(True, turn)
    return Credit(None if not values or any(value is None for _, value in values) else False)


def last_turn(values: TurnValues) -> Credit:
    """As in the last turn: what was met before and is no longer met does not count."""
    if not values:
        return Credit(None)
    turn, value = values[-1]
    regressed = value is False and any(earlier for _, earlier in values)
    return Credit(value, turn if value else None, regressed)


def majority(samples: Sequence[Credit]) -> Credit:
    """Met if met in more than half of the samples that decided."""
    decided = [credit for credit in samples if credit.value is not None]
    if not decided:
        return Credit(None)
    turns = sorted(credit.turn or 0 for credit in decided if credit.value)
    needed = len(decided) // 2
    if len(turns) > needed:
        return Credit(True, turns[needed] or None)
    return Credit(False, regressed=any(credit.regressed for credit in decided))


def first_sample(samples: Sequence[Credit]) -> Credit:
    return samples[0] if samples else Credit(None)


TURN_RULES: Mapping[str, TurnRule] = {
    "any_turn": TurnRule("any turn that met it", any_turn, every_turn=False),
    "first_credited": TurnRule("the first turn that met it", any_turn, every_turn=False),
    "last_turn": TurnRule("the last turn", last_turn, every_turn=True),
}
"""The first two differ in what is judged: after the first credit, ``first_credited`` asks no more."""
SAMPLE_RULES: Mapping[str, SampleRule] = {
    "majority": SampleRule("the majority of samples", majority),
    "first_sample": SampleRule("the first sample", first_sample),
}


@dataclass(frozen=True)
class CreditRule:
    """Names in TURN_RULES and SAMPLE_RULES."""

    turns: str
    samples: str = "majority"

    def credit(self, samples: Sequence[TurnValues]) -> Credit:
        credits = [TURN_RULES[self.turns].over_turns(values) for values in samples]
        return SAMPLE_RULES[self.samples].over_samples(credits)


def default_rules(protocol: ProtocolName) -> Mapping[ScoringMode, CreditRule]:
    """The paper protocol credits the state at the end of a session."""
    strict = "last_turn" if protocol == ProtocolName.PAPER else "first_credited"
    return {ScoringMode.COMPAT: CreditRule("any_turn"), ScoringMode.STRICT: CreditRule(strict)}
