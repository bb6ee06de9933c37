"""Judges that are models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluation.llm import ModelClient
from evaluation.protocol.answers import parse_answer
from evaluation.protocol.participants import Decision, OpenIntent
from evaluation.protocol.prompt_files import PromptName
from evaluation.protocol.prompts import JudgePrompt, checklist_prompt, follow_up_prompt, satisfaction_prompt
from evaluation.protocol.scoring import ScoringMode

MAX_TRIES: Mapping[PromptName, int] = {"satisfaction": 16, "follow_up": 16, "checklist": 5}
SAMPLE_STRIDE = 1_000
"""Between the sequence numbers of the requests of two samples; higher than any number of tries."""
Versions = Mapping[PromptName, str]
"""Of the judge's prompts."""
Answer = tuple[Sequence[Decision], str]
"""The decisions in the order asked, and the hash of the request that was answered with them."""


class Ask(Protocol):
    """Asks a judge about a turn. ``purpose`` is that of the call. Raises InfrastructureError."""

    def __call__(self, purpose: str, turn: int, prompt: JudgePrompt) -> Answer: ...


def ask_model(client: ModelClient, prompt: JudgePrompt, *, sample: int = 1) -> Answer:
    """Raises InfrastructureError."""
    decisions, completion = client.ask_json(
        prompt.messages,
        prompt.purpose,
        prompt.schema,
        lambda answer: parse_answer(prompt, answer),
        max_tries=MAX_TRIES[prompt.purpose],
        first=(sample - 1) * SAMPLE_STRIDE,
        temperature=0,
    )
    return decisions, completion.request_hash


@dataclass(frozen=True)
class ModelIntentJudge:
    """``IntentJudge`` of one turn, in a pilot the model that plays the user."""

    ask: Ask
    versions: Versions
    turn: int
    calls: dict[str, str] = field(default_factory=dict)
    """Hash of the latest request, by kind of decision."""

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        return self._ask(satisfaction_prompt(reply, files, intents, self.versions["satisfaction"]))

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        return self._ask(follow_up_prompt(reply, intents, self.versions["follow_up"]))

    def _ask(self, prompt: JudgePrompt) -> Sequence[Decision]:
        decisions, self.calls[prompt.purpose] = self.ask(prompt.purpose, self.turn, prompt)
        return decisions


@dataclass(frozen=True)
class ModelChecklistJudge:
    """``ChecklistJudge`` by a model."""

    ask: Ask
    versions: Versions

    def __call__(
        self, turn: int, mode: ScoringMode, intents: Sequence[str], trace: str, criteria: Sequence[tuple[int, str]]
    ) -> Answer:
        escaped = mode == ScoringMode.STRICT
        prompt = checklist_prompt(intents, trace, criteria, escaped=escaped, version=self.versions["checklist"])
        return self.ask(f"checklist_{mode}", turn, prompt)
