"""Judges that are models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evaluation.call_records import CallRecord
from evaluation.models import ModelEndpoint, Session
from evaluation.protocol.answers import parse_answer
from evaluation.protocol.participants import Decision, OpenIntent
from evaluation.protocol.prompts import JudgePrompt, checklist_prompt, follow_up_prompt, satisfaction_prompt
from evaluation.protocol.scoring import ScoringMode

MAX_INTENT_TRIES = 16
MAX_CHECKLIST_TRIES = 5


class ModelIntentJudge:
    """``IntentJudge`` by the model that plays the user."""

    def __init__(self, endpoint: ModelEndpoint, record: CallRecord, turn: Callable[[], int]) -> None:
        self._endpoint = endpoint
        self._record = record
        self._turn = turn
        self.calls: dict[str, int] = {}
        """Key of the latest ModelCall, by kind of verdict."""

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        return self._ask(satisfaction_prompt(reply, files, intents))

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        return self._ask(follow_up_prompt(reply, intents))

    def _ask(self, prompt: JudgePrompt) -> Sequence[Decision]:
        decisions, call = _ask(self._record, self._endpoint, prompt, prompt.purpose, self._turn, MAX_INTENT_TRIES)
        self.calls[prompt.purpose] = call
        return decisions


class ModelChecklistJudge:
    """``ChecklistJudge`` by the pilot's judge."""

    def __init__(self, session: Session, record: CallRecord) -> None:
        self._endpoint = session.run.pilot.endpoint("judge")
        self._record = record

    def __call__(
        self, turn: int, mode: ScoringMode, intents: Sequence[str], trace: str, criteria: Sequence[tuple[int, str]]
    ) -> tuple[Sequence[Decision], int]:
        prompt = checklist_prompt(intents, trace, criteria, escaped=mode == ScoringMode.STRICT)
        return _ask(self._record, self._endpoint, prompt, f"checklist_{mode}", lambda: turn, MAX_CHECKLIST_TRIES)


def _ask(
    record: CallRecord,
    endpoint: ModelEndpoint,
    prompt: JudgePrompt,
    purpose: str,
    turn: Callable[[], int],
    max_tries: int,
) -> tuple[Sequence[Decision], int]:
    """The decisions, and the key of the ModelCall with them. Raises InfrastructureError."""
    client = record.client(endpoint, purpose, turn)
    decisions, completion = client.ask_json(
        prompt.messages,
        prompt.purpose,
        prompt.schema,
        lambda answer: parse_answer(prompt, answer),
        max_tries=max_tries,
        temperature=0,
    )
    return decisions, record.answered[completion.request_hash]
