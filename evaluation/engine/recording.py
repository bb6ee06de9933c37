"""Models that take part in a session, each of whose calls the store keeps with the turn that it is made in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evaluation.engine.plan import SessionPlan
from evaluation.engine.store import Store
from evaluation.grading.judges import Answer, ask_model
from evaluation.llm import Call, ModelClient
from evaluation.protocol.prompts import JudgePrompt


@dataclass
class Recording:
    plan: SessionPlan
    store: Store
    turn: int = 0
    """Which it is now."""

    def client(self, purpose: str) -> ModelClient:
        endpoint = self.plan.endpoint(purpose)
        return ModelClient(endpoint, recorder=_Recorder(self, purpose), lane=self.plan.lane)

    def ask(self, purpose: str, turn: int, prompt: JudgePrompt) -> Answer:
        """``evaluation.grading.judges.Ask``"""
        self.turn = turn
        return ask_model(self.client(purpose), prompt)


@dataclass(frozen=True)
class _Recorder:
    """``evaluation.llm.client.Recorder``"""

    recording: Recording
    purpose: str

    def lookup(self, request_hash: str) -> Mapping[str, Any] | None:
        return self.recording.store.answer(request_hash)

    def check(self, worst: Decimal | None = None) -> None:
        self.recording.store.check(self.purpose, worst)

    def record(self, call: Call) -> None:
        self.recording.store.call(call, self.purpose, self.recording.turn)
