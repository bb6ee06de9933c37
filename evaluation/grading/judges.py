"""Judges that are models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evaluation.call_records import CallRecord
from evaluation.grading.judgings import judge_of, prompt_version
from evaluation.models import Judging
from evaluation.protocol.answers import parse_answer
from evaluation.protocol.participants import Decision, OpenIntent
from evaluation.protocol.prompts import JudgePrompt, checklist_prompt, follow_up_prompt, satisfaction_prompt
from evaluation.protocol.scoring import ScoringMode

MAX_INTENT_TRIES = 16
MAX_CHECKLIST_TRIES = 5
SAMPLE_STRIDE = 1_000
"""Between the sequence numbers of the requests of two samples; higher than any number of tries."""


class ModelIntentJudge:
    """``IntentJudge`` by the judging's model, in a pilot the one that plays the user."""

    def __init__(self, judging: Judging, record: CallRecord, turn: Callable[[], int]) -> None:
        self.judging = judging
        self._record = record
        self._turn = turn
        self.calls: dict[str, int] = {}
        """Key of the latest ModelCall, by kind of verdict."""

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        version = prompt_version(self.judging, "satisfaction")
        return self._ask(satisfaction_prompt(reply, files, intents, version))

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        return self._ask(follow_up_prompt(reply, intents, prompt_version(self.judging, "follow_up")))

    def _ask(self, prompt: JudgePrompt) -> Sequence[Decision]:
        decisions, call = _ask(self.judging, self._record, prompt, prompt.purpose, self._turn, MAX_INTENT_TRIES)
        self.calls[prompt.purpose] = call
        return decisions


class ModelChecklistJudge:
    """``ChecklistJudge`` by the judging's model."""

    def __init__(self, judging: Judging, record: CallRecord) -> None:
        self._judging = judging
        self._record = record

    def __call__(
        self, turn: int, mode: ScoringMode, intents: Sequence[str], trace: str, criteria: Sequence[tuple[int, str]]
    ) -> tuple[Sequence[Decision], int]:
        version = prompt_version(self._judging, "checklist")
        prompt = checklist_prompt(intents, trace, criteria, escaped=mode == ScoringMode.STRICT, version=version)
        return _ask(self._judging, self._record, prompt, f"checklist_{mode}", lambda: turn, MAX_CHECKLIST_TRIES)


def _ask(
    judging: Judging,
    record: CallRecord,
    prompt: JudgePrompt,
    purpose: str,
    turn: Callable[[], int],
    max_tries: int,
) -> tuple[Sequence[Decision], int]:
    """The decisions, and the key of the ModelCall with them. Raises InfrastructureError."""
    client = record.client(judge_of(judging), purpose, turn, judging=judging)
    decisions, completion = client.ask_json(
        prompt.messages,
        prompt.purpose,
        prompt.schema,
        lambda answer: parse_answer(prompt, answer),
        max_tries=max_tries,
        first=(judging.sample - 1) * SAMPLE_STRIDE,
        temperature=0,
    )
    return decisions, record.answered[completion.request_hash]
