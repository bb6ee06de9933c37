"""Judges that are models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from evaluation.grading.evidence import TurnEvidence
from evaluation.grading.work import Work, render_messages, sections
from evaluation.llm import ModelClient
from evaluation.protocol.answers import parse_answer
from evaluation.protocol.participants import Decision, OpenIntent
from evaluation.protocol.prompt_files import PromptName
from evaluation.protocol.prompts import (
    JudgePrompt,
    checklist_on_work,
    checklist_prompt,
    follow_up_on_words,
    follow_up_prompt,
    satisfaction_on_work,
    satisfaction_prompt,
)
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.trace import read_texts, render_trace, select_files
from evaluation.protocol.versions import ProtocolName
from studio.domain.task import TaskSpec

MAX_TRIES: Mapping[PromptName, int] = {"satisfaction": 16, "follow_up": 16, "checklist": 5}
SAMPLE_STRIDE = 1_000
"""Between the sequence numbers of the requests of two samples; higher than any number of tries."""
Versions = Mapping[PromptName, str]
"""Of the judge's prompts."""
Answer = tuple[Sequence[Decision], str]
"""The decisions in the order asked, and the hash of the request that was answered with them."""
Ask = Callable[[str, int, JudgePrompt], Answer]
"""Asks a judge for a purpose, that of the call, about a turn. Raises InfrastructureError."""


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
class WorkIntentJudge(ModelIntentJudge):
    """Sees the work and the user's words instead of reply and files, as the paper protocol wants."""

    work: Callable[[], Work] = field(kw_only=True)

    def satisfied(self, reply: str, files: Mapping[str, str], intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        return self._ask(satisfaction_on_work(sections(self.work()), intents, self.versions["satisfaction"]))

    def asked_for(self, reply: str, intents: Sequence[OpenIntent]) -> Sequence[Decision]:
        said = render_messages(self.work().turns)
        return self._ask(follow_up_on_words(said, reply, intents, self.versions["follow_up"]))


def intent_judge(
    protocol: ProtocolName, ask: Ask, versions: Versions, turn: int, work: Callable[[], Work]
) -> ModelIntentJudge:
    """``work``: after the turn, asked for if it is needed."""
    if protocol == ProtocolName.RELEASE:
        return ModelIntentJudge(ask, versions, turn)
    return WorkIntentJudge(ask, versions, turn, work=cache(work))


@dataclass(frozen=True)
class ModelChecklistJudge:
    """Judges rubric criteria. Raises InfrastructureError."""

    ask: Ask
    versions: Versions
    protocol: ProtocolName

    def __call__(
        self, task: TaskSpec, evidence: TurnEvidence, mode: ScoringMode, criteria: Sequence[tuple[int, str]]
    ) -> Answer:
        version = self.versions["checklist"]
        if self.protocol == ProtocolName.PAPER:
            prompt = checklist_on_work(sections(evidence.work()), criteria, version)
        else:
            files = read_texts(select_files(task), evidence.read)
            trace = render_trace(evidence.messages, evidence.reply, evidence.calls, task.tool_evidence, files, mode)
            intents = [intent.content for intent in task.intents]
            escaped = mode == ScoringMode.STRICT
            prompt = checklist_prompt(intents, trace, criteria, escaped=escaped, version=version)
        return self.ask(f"checklist_{mode}", evidence.number, prompt)
