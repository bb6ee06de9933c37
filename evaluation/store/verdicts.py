"""Decisions of a judging as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.call_records import CallRecord
from evaluation.grading.decided import Decided, Place
from evaluation.grading.judges import Answer, ask_model
from evaluation.judging.judgings import judge_of
from evaluation.models import Judging, Verdict
from evaluation.protocol.prompts import JudgePrompt


@dataclass(frozen=True)
class JudgeOnRecord:
    """Asks the judging's model; its calls are stored."""

    judging: Judging
    record: CallRecord

    def __call__(self, purpose: str, turn: int, prompt: JudgePrompt) -> Answer:
        client = self.record.client(judge_of(self.judging), purpose, lambda: turn, judging=self.judging)
        return ask_model(client, prompt, sample=self.judging.sample)


def known_of(judging: Judging) -> dict[Place, bool | None]:
    rows = judging.verdicts.order_by().values_list("kind", "turn", "index", "met")
    return {(kind, turn, index): met for kind, turn, index, met in rows}


def verdict_rows(judging: Judging, decided: Sequence[Decided], calls: Mapping[str, int]) -> list[Verdict]:
    """Not saved. ``calls``: keys by hash of the request."""
    return [
        Verdict(
            judging=judging,
            kind=each.kind,
            turn=each.turn,
            index=each.index,
            uid=each.uid or None,
            label=each.label,
            grader=each.grader,
            met=each.met,
            quote=each.quote,
            reason=each.reason,
            supported=each.supported,
            style=each.style,
            error=each.error,
            model_call_id=calls[each.call] if each.call else None,
        )
        for each in decided
    ]
